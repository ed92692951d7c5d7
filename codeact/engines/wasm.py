"""The wasm engine: the program in a CPython of its own, inside wasmtime. This one is the boundary.

The guest has no imports but the doors, so there is nothing else it could reach: no file, clock, socket,
environment or process of the host. What it says is data: whether a run went well, which calls it made and how
long it took come from the host's own records.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from codeact.engines import Doors, EngineUnavailable, Face, Fault, Frame, Kind, Outcome, Program, describer_of
from codeact.engines.room import HEADER, LONGEST, Room, bounded
from codeact.limits import FUEL, Limits
from codeact.values import Uncrossable
from wasm_runtime.guest.jsontext import number_reader
from wasm_runtime.guest.names import ACTIONS, SHOWN
from wasm_runtime.guest.parcel import pack, unpack

try:
    from wasm_runtime.instance import Instance, Trap
    from wasm_runtime.machine import GUEST, GuestUnavailable, Machine
except ImportError as error:
    msg = f"engine='wasm': wasmtime cannot be imported ({error}); reinstall codeact on a platform it has wheels for"
    raise EngineUnavailable(msg) from error

if TYPE_CHECKING:
    from wasm_runtime.remote import Remote

_REPORTED: frozenset[Kind] = frozenset({"syntax", "denied", "runtime", "tool", "memory", "stack", "value"})
"""The kinds of fault that a guest may report; all others are for the host to say."""

_LISTED = 50
"""Frames, and calls that were never awaited, that are read."""

_LAST = 2**31 - 1
"""The last size or position that the guest knows: it is a machine of 32 bits."""


class WasmEngine:
    """Makes worlds inside wasmtime.

    Args:
        guest: the component that worlds are made of; by default the one that codeact carries.

    Raises:
        EngineUnavailable: the guest is missing, or wasmtime cannot load it.
    """

    name = "wasm"
    default_fuel = FUEL["wasm"]

    def __init__(self, guest: Path = GUEST) -> None:
        self.guest = guest
        try:
            self.machine = Machine(guest)
        except GuestUnavailable as error:
            msg = f"engine='wasm': {error}"
            raise EngineUnavailable(msg) from error

    def open(self, faces: tuple[Face, ...], limits: Limits) -> WasmInstance:
        """Make a fresh world."""
        return WasmInstance(self._make, faces, limits, limits.fuel or self.default_fuel)

    def _make(self, memory: int) -> Instance:
        return Instance(self.machine, memory=memory)


class WasmInstance:
    """One world inside wasmtime.

    Args:
        make: makes it, in this process or another one, with so many bytes of memory.
        faces: the tools that its programs see.
        limits: what each of them may use.
        fuel: units that each may spend.
    """

    def __init__(
        self, make: Callable[[int], Instance | Remote], faces: tuple[Face, ...], limits: Limits, fuel: int
    ) -> None:
        self._faces = faces
        self._limits = limits
        self._fuel = fuel
        self._instance: Instance | Remote | None = None
        self._opened = False
        self._unfit: Fault | None = None
        try:
            self._instance = make(limits.memory)
        except Trap as trap:
            self._unfit = self._fault(trap)

    @property
    def alive(self) -> bool:
        """Whether it can run another program."""
        return self._instance is not None

    def run(self, program: Program, doors: Doors) -> Outcome:
        """Run a program; see `codeact.engines.Instance`."""
        instance = self._instance
        if instance is None:
            return Outcome(fault=self._unfit or Fault("host", "RuntimeError", "this world is closed"))
        room = Room(doors, self._limits)
        try:
            answer = instance.run(self._request(program, doors), room, self._fuel)
        except Trap as trap:
            fault = self._fault(trap, room)
            spent = instance.fuel
            self.close()
            return Outcome(fault=fault, fuel=spent)
        fuel = instance.fuel
        return replace(self._outcome(answer, fuel, program.number), memory=instance.memory)

    def close(self) -> None:
        """Destroy the world."""
        if self._instance is not None:
            self._instance.close()
            self._instance = None

    def _request(self, program: Program, doors: Doors) -> str:
        request: dict[str, object] = {"source": program.source, "number": program.number}
        if not self._opened:
            self._opened = True
            request["opening"] = {
                **_offered(self._faces),
                "seed": doors.seed.hex(),
                "stack": self._limits.stack,
                "depth": self._limits.value_depth,
                "room": [self._limits.workspace, self._limits.files],
                "concurrency": self._limits.concurrency,
            }
        if program.fixed:
            request["fixed"] = sorted(program.fixed)
        return json.dumps(request) + pack(program.files)

    def _outcome(self, answer: str, fuel: int, number: int) -> Outcome:
        end = answer.find("\n", 0, HEADER)
        rest = answer.find("\n", end + 1) if end >= 0 else -1
        try:
            header = json.loads(answer[:end] if end >= 0 else answer[:HEADER], parse_int=number_reader())
            # As many files again as there may be can be gone.
            most, size = 2 * self._limits.files, self._limits.workspace
            files = unpack(answer, rest + 1, count=most, size=size) if rest >= 0 else {}
            outcome = replace(_read(header, fuel, number), files=files)
            if outcome.fault is not None:
                return replace(outcome, fault=self._named(outcome.fault))
        except (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError):
            forged = Fault("runtime", "ProtocolError", "the program's answer was no answer of the interpreter's")
            return Outcome(fault=forged, fuel=fuel)
        try:
            value = answer[end + 1 : rest if rest >= 0 else None] if end >= 0 else "null"
            return replace(outcome, value=bounded(value, self._limits))
        except Uncrossable as error:
            return replace(outcome, fault=Fault("value", "TypeError", str(error)))
        except (ValueError, RecursionError) as error:
            return replace(outcome, fault=Fault("value", "TypeError", f"value: {error}"))

    def _named(self, fault: Fault) -> Fault:
        """The fault with the limit it has met named: the interpreter inside does not know whose limit it is."""
        match fault.kind:
            case "memory":
                limit = f"no more memory (limit memory={self._limits.memory:,} bytes)"
                if fault.type == "OverflowError":  # where there are 64 bits a position may be as large
                    limit += f"; sizes and positions end at {_LAST:,}"
            case "stack":
                limit = f"{fault.message} (limit stack={self._limits.stack:,} frames)"
            case _:
                return fault
        return replace(fault, message=limit)

    def _fault(self, trap: Trap, room: Room | None = None) -> Fault:
        match trap.reason:
            case "fuel":
                return Fault("fuel", "FuelExhausted", f"the program used up its {self._fuel:,} units (limit fuel)")
            case "stack":
                return Fault("stack", "RecursionError", "the program overflowed the stack; its world is lost")
            case "memory":
                text = f"no more memory (limit memory={self._limits.memory:,} bytes); the world is lost"
                return Fault("memory", "MemoryError", text)
            case "unmade":
                text = f"memory={self._limits.memory:,} bytes is less than the interpreter itself needs"
                return Fault("memory", "MemoryError", text, hint="raise the limit memory; 64 MiB and more are useful")
            case "absent":
                text = f"the program reached for what does not exist in the sandbox ({trap.detail})"
                return Fault("denied", "PermissionError", text, hint="use the tools; there is nothing else here")
            case "stopped" if room is not None and room.stop is not None:
                # Where, the host knows only when the guest was at a door.
                frames = (Frame(room.line, "<module>"),) if 0 < room.line < LONGEST else ()
                return replace(room.stop, frames=frames)
            case "lost":
                text = f"the worker process {trap.detail}; this world is lost"
                hint = "run it again: another worker is there for it; tell the operator where that fails too"
                return Fault("host", "WorkerDied", text, hint=hint)
            case _:
                text = f"the interpreter inside gave up ({trap.detail}); its world is lost"
                return Fault("runtime", "SystemError", text)


_SANDBOXES = 64

_known: dict[int, tuple[tuple[Face, ...], dict[str, object]]] = {}
"""What worlds are told, by where the faces are: to hash thousands of them would take longer than a run."""


def _offered(faces: tuple[Face, ...]) -> dict[str, object]:
    """What a world is told of its tools and actions."""
    known = _known.get(id(faces))
    if known is None or known[0] is not faces:
        if len(_known) >= _SANDBOXES:
            _known.clear()
        known = _known[id(faces)] = faces, _told(faces)
    return known[1]


def _told(faces: tuple[Face, ...]) -> dict[str, object]:
    describer = describer_of(faces)
    leaflet = {face.name: (face.signature, face.doc, face.records) for face in faces if face.doc or describer is None}
    actions = [face.name.removeprefix(ACTIONS) for face in faces if face.name.startswith(ACTIONS)]
    return {
        "tools": " ".join(face.name for face in faces if not face.name.startswith(ACTIONS)),
        "awaited": " ".join(face.name for face in faces if face.awaitable),
        "leaflet": json.dumps(leaflet),
        **({"actions": " ".join(actions)} if actions else {}),
        **({"describer": describer} if describer else {}),
    }


def _read(header: Any, fuel: int, number: int) -> Outcome:
    """The guest's own account of a run, taken only as far as it has the right shape."""
    code = header["exit"]
    if type(code) not in {int, type(None)}:
        raise TypeError
    fault = None if header["fault"] is None else _reported(header["fault"], number)
    bound, unbound = _names(header["bound"]), _names(header["unbound"])
    unawaited = tuple((_text(name, SHOWN), _number(line)) for name, line in header["unawaited"][:_LISTED])
    return Outcome(None, fault, header["finished"] is True, bound, unbound, code, fuel, unawaited=unawaited)


def _names(names: Any) -> tuple[str, ...]:
    if type(names) is not list or not all(type(name) is str for name in names):
        raise TypeError
    return tuple(filter(str.isidentifier, names))  # `globals()` takes any text, and no program could write it


def _reported(fault: Any, number: int) -> Fault:
    kind, offset = fault["kind"], fault["offset"]
    return Fault(
        kind if type(kind) is str and kind in _REPORTED else "runtime",
        _text(fault["type"], 200),
        _text(fault["message"], 4000),
        tuple(_frame(frame, number) for frame in fault["frames"][:_LISTED]),
        None if offset is None else _number(offset),
        _optional(fault["hint"]),
        _number(fault["omitted"]),
        _optional(fault["cause"]),
    )


def _frame(frame: Any, number: int) -> Frame:
    line, function, program = frame
    earlier = program if 0 < _number(program) < number else 0
    return Frame(_number(line), _text(function, 200), earlier)


def _optional(text: object) -> str | None:
    return None if text is None else _text(text, 1000)


def _text(value: object, longest: int) -> str:
    if type(value) is not str:
        raise TypeError
    return value[:longest]


def _number(value: object) -> int:
    if type(value) is not int or not 0 <= value < LONGEST:
        raise TypeError
    return value
