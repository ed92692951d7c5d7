"""What the host asks and what it is told.

A request is JSON, and a parcel of files where there are any; a reply is a line of JSON, the text of a value, and,
after another line break, a parcel where there is one.
"""

from __future__ import annotations

import builtins
import sys
from collections.abc import Mapping
from types import MappingProxyType
from typing import NotRequired, TypedDict

from . import (
    advice,
    codec,
    console,
    entropy,
    faults,
    files,
    interpreter,
    jsontext,
    loop,
    parcel,
    scene,
    system,
    tools,
)


class Opening(TypedDict):
    """What a world is told with its first program.

    Attributes:
        tools: the names of tools, with spaces between them.
        awaited: those of them whose calls are awaited.
        actions: the names of what can be proposed.
        leaflet: see `tools.Leaflet`.
        describer: the tool that tells of those that the leaflet does not have.
        seed: 32 bytes of randomness, hexadecimal.
        stack: frames of recursion.
        depth: levels of nesting in a value that crosses.
        room: bytes that files may hold, and how many files and directories there may be.
        concurrency: calls that may be under way at the same time.
    """

    tools: str
    awaited: str
    actions: NotRequired[str]
    leaflet: str
    describer: NotRequired[str]
    seed: str
    stack: int
    depth: int
    room: tuple[int, int]
    concurrency: int


class Request(TypedDict):
    """One program.

    Attributes:
        source: the text of the program.
        number: its place among the programs of this world, from 1.
        opening: comes with the first program only.
        fixed: the paths of files in the parcel that stay as they are.
    """

    source: str
    number: int
    opening: NotRequired[Opening]
    fixed: NotRequired[list[str]]


# `loads` would look for white space around the text, with an expression that fresh worlds have to warm up.
_read = jsontext.reader()
_write = jsontext.writer(ascii_only=True)


def run(text: str) -> str:
    """Run one program. Nothing is raised."""
    try:
        request, end = _read(text, 0)
        if "rehearsal" in request:
            rehearse(request["rehearsal"])
            return ""
        return _run(request, parcel.unpack(text, end, count=len(text), size=len(text)))
    except BaseException as error:  # noqa: BLE001  # the host must be told of everything
        return _reply(interpreter.Ending(error=error))


def rehearse(source: str) -> None:
    """Run a program as a host would, and forget it."""
    opening: Opening = {
        "tools": "rehearse",
        "awaited": "",
        "leaflet": _write({"rehearse": ["rehearse() -> None", "", []]}),
        "seed": "00" * 32,
        "stack": 1000,
        "depth": 100,
        "concurrency": 100,
        "room": (1 << 20, 100),
    }
    run(_write({"source": source, "number": 1, "opening": opening}))
    interpreter.install()


_depth = 0
_granted = tools.Granted("", "", "", tools.Leaflet("{}", 0))


def _run(request: Request, inputs: dict[str, bytes | None]) -> str:
    global _depth, _granted  # noqa: PLW0603  # one room, one state
    console.reset()
    loop.reset()
    system.begin()
    opening = request.get("opening")
    if opening is not None:
        _depth = opening["depth"]
        entropy.reseed(bytes.fromhex(opening["seed"]))
        leaflet = tools.Leaflet(opening["leaflet"], _depth, opening.get("describer"))
        _granted = tools.Granted(opening["tools"], opening["awaited"], opening.get("actions", ""), leaflet)
        builtins.tools = _granted.tools  # type: ignore[attr-defined]
        if _granted.actions is not None:
            builtins.actions = _granted.actions  # type: ignore[attr-defined]
        interpreter.limit(opening["stack"])
        tools.traffic.most = opening["concurrency"]
        files.limit(*opening["room"])
    files.workspace.begin(inputs, frozenset(request.get("fixed", ())))
    inputs.clear()  # the workspace has its own copy
    ending = interpreter.run(request["source"], request["number"])
    value = "null"
    if ending.error is None and ending.value is not None:
        try:
            value = codec.encode(ending.value, _depth)
        except BaseException as error:  # noqa: BLE001  # the program's own classes take part in this
            ending.error = error
    try:
        files.flush()
    except OSError as error:
        ending.error = ending.error or error
    console.flush()
    return _reply(ending, value, files.workspace.changes())


def _importable() -> frozenset[str]:
    return sys.stdlib_module_names.difference(advice.MODULES)


def _reply(
    ending: interpreter.Ending, value: str = "null", changes: Mapping[str, bytearray | None] = MappingProxyType({})
) -> str:
    head = {
        "finished": ending.finished,
        "bound": ending.bound,
        "unbound": ending.unbound,
        "unawaited": tools.ledger.close(),
        "exit": ending.exit_code,
        "fault": None if ending.error is None else _fault(ending, ending.error),
    }
    reply = f"{_write(head)}\n{value if ending.error is None else 'null'}"
    return f"{reply}\n{parcel.pack(changes)}" if changes else reply


def _fault(ending: interpreter.Ending, error: BaseException) -> dict[str, object]:
    fault = faults.describe(error, scene.Scene(interpreter.texts.get, _granted.signatures(), sys.modules, _importable))
    if isinstance(error, codec.Uncrossable):
        fault["kind"], fault["type"] = "value", "TypeError"
    elif ending.unreadable:
        fault["kind"] = "syntax"
    return fault
