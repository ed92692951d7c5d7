"""CPython-on-WASI as a capability machine. It knows nothing of agents, and imports nothing from codeact."""
