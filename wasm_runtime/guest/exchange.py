"""What the host asks and what it is told: a request in JSON, a reply of one line of JSON and a value."""

from __future__ import annotations

import builtins
import json
from typing import TypedDict

from . import codec, console, entropy, faults, interpreter, loop, tools


class Request(TypedDict):
    """One program and what it may use.

    Attributes:
        source: the text of the program.
        tools: of each tool the name, signature, doc, and whether its calls are awaited.
        seed: 32 bytes of randomness, hexadecimal.
        stack: frames of recursion.
        depth: levels of nesting in a value that crosses.
    """

    source: str
    tools: list[tuple[str, str, str, bool]]
    seed: str
    stack: int
    depth: int


# `loads` would look for white space around the text, with an expression that fresh worlds have to warm up.
_read = json.JSONDecoder().raw_decode
_write = json.JSONEncoder().encode


def run(text: str) -> str:
    """Run one program. Nothing is raised."""
    try:
        return _run(_read(text)[0])
    except BaseException as error:  # noqa: BLE001  # the host must be told of everything
        return _reply(interpreter.Ending(error=error))


def _run(request: Request) -> str:
    depth = request["depth"]
    console.reset()
    loop.reset()
    entropy.reseed(bytes.fromhex(request["seed"]))
    builtins.tools = tools.granted(request["tools"], depth)  # type: ignore[attr-defined]
    ending = interpreter.run(request["source"], request["stack"])
    value = "null"
    if ending.error is None and ending.value is not None:
        try:
            value = codec.encode(ending.value, depth)
        except BaseException as error:  # noqa: BLE001  # the program's own classes take part in this
            ending.error = error
    console.flush()
    return _reply(ending, value)


def _reply(ending: interpreter.Ending, value: str = "null") -> str:
    head = {
        "finished": ending.finished,
        "bound": ending.bound,
        "exit": ending.exit_code,
        "fault": None if ending.error is None else _fault(ending, ending.error),
    }
    return f"{_write(head)}\n{value if ending.error is None else 'null'}"


def _fault(ending: interpreter.Ending, error: BaseException) -> dict[str, object]:
    fault = faults.describe(error)
    if isinstance(error, codec.Uncrossable):
        fault["kind"], fault["type"] = "value", "TypeError"
    elif ending.unreadable:
        fault["kind"] = "syntax"
    return fault
