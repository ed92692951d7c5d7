"""The component's entry: one request in, one reply out. Importing this makes the room; then it is snapshotted."""

from __future__ import annotations

import builtins
import gc
import importlib
import json

from . import codec, console, faults, files, interpreter, library, tools, world


class WitWorld(world.Exports):  # type: ignore[misc]  # generated from world.wit
    """What the component exports."""

    def run(self, request: str) -> str:
        """Run one program; see `world.wit`."""
        try:
            return _run(json.loads(request))
        except BaseException as error:
            return _reply(interpreter.Ending(error=error))


def _run(request: dict[str, object]) -> str:
    depth = request["depth"]
    console.reset()
    builtins.tools = tools.granted(request["tools"], depth)
    ending = interpreter.run(request["source"], request["stack"])
    value = "null"
    if ending.error is None:
        try:
            value = codec.encode(ending.value, depth)
        except BaseException as error:
            ending.error = error
    console.flush()
    return _reply(ending, value)


def _reply(ending: interpreter.Ending, value: str = "null") -> str:
    head = {
        "finished": ending.finished,
        "bound": ending.bound,
        "exit": ending.exit_code,
        "fault": None if ending.error is None else _fault(ending),
    }
    return f"{json.dumps(head)}\n{value if ending.error is None else 'null'}"


def _fault(ending: interpreter.Ending) -> dict[str, object]:
    fault = faults.describe(ending.error)
    if isinstance(ending.error, codec.Uncrossable):
        fault["kind"] = "value"
    elif ending.unreadable:
        fault["kind"] = "syntax"
    return fault


shelf = library.load()
importlib.import_module("componentize_py_async_support")  # its runtime asks for it after this module
interpreter.install()
builtins.ToolError = faults.ToolError
library.close(shelf)
files.install()
world.open_doors()
gc.collect()
gc.freeze()
