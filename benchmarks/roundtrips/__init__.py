"""What code as action saves against tool calls, and what it does not: counted, without a live model.

`docs/roundtrips.md` holds the method and all numbers.
"""
