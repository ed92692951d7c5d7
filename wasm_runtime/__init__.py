"""CPython-on-WASI as a capability machine. It knows nothing of agents, and imports nothing from codeact."""

REHEARSAL = '{"rehearsal": "1+1"}'
"""The request that lets a guest run a program of its own and forget it."""
