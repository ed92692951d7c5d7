"""The component's entry. Importing this makes the room; then it is snapshotted."""

from __future__ import annotations

import builtins
import importlib
import sys

from . import clock, entropy, errnos, world

# Modules take functions of `time` and `os` with them when they are imported, and numbers of errors: nothing comes
# before these three.
errnos.install()
clock.install()
entropy.install_stream()

from . import library, packages, snapshot  # noqa: E402

shelf = library.load()
baked = packages.load()
importlib.import_module("componentize_py_async_support")  # its runtime asks for it after this module

# What every run uses comes last, in memory that holds nothing else.
snapshot.fill()

from . import exchange, faults, interpreter, loop, system, tools, zones  # noqa: E402

_REHEARSED = (
    "1+1",
    "import json, re\ndef f(x):\n    return [i for i in range(x)]\nd = {'a': f(3), 'b': f'{len(tools)}'}\nprint(d)\nd",
    "rows = [{'a': i, 'b': str(i)} for i in range(3)]\nif rows:\n    return sorted(rows, key=lambda row: row['a'])",
    "class A:\n    x: int = 1\ntry:\n    A().y\nexcept AttributeError as error:\n    print(error)\nmissing",
)
"""Programs like those that will come: a value, functions and printing, a `return`, a fault."""


class WitWorld(world.Exports):  # type: ignore[misc]  # generated from world.wit
    """What the component exports."""

    def run(self, request: str) -> str:
        """Run one program; see `world.wit`."""
        return exchange.run(request)


_terminal = sys.stdout, sys.stderr, sys.stdin, sys.__stdout__, sys.__stderr__, sys.__stdin__
entropy.install_generators()
zones.install()
loop.install()
interpreter.install()
tools.install()
faults.ToolError.__module__ = "builtins"
builtins.ToolError = faults.ToolError  # type: ignore[attr-defined]
library.close(shelf, baked)
system.install(shelf)
errnos.settle()
snapshot.settle(exchange.rehearse, _REHEARSED)
# Until the snapshot is taken, what goes wrong must reach whoever makes the component.
sys.stdout, sys.stderr, sys.stdin, sys.__stdout__, sys.__stderr__, sys.__stdin__ = _terminal  # type: ignore[misc]
world.open_doors()
snapshot.take()
