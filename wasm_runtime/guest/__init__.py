"""The Python inside the room.

`main` and the modules that only make sense inside (`clock`, `entropy`, `library`, `world`) are snapshotted
into the component. `codec`, `records`, `bounds`, `program` and `faults` are plain and pure: hosts import them too,
so that both sides of the boundary run the same lines.
"""
