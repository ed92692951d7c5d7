"""The seam between a sandbox and what runs the program.

An engine is handed what a world may hold and gives back an instance; an instance runs programs, one after the
other, each behind doors of its own, and gives back an outcome for each. Engines know nothing about tools beyond
the doors, and nothing about results beyond the outcome.
Engines of others register under the entry point group `codeact.engines`: what the entry point names is called without
arguments and gives an `Engine` of the entry point's name. The names of codeact's own engines cannot be taken: `wasm` is
what says that it is the boundary. `python -m codeact.testing.conformance NAME` puts one to the test.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol, runtime_checkable

from codeact.engines.code_cache import TenantCache
from codeact.limits import Limits

if TYPE_CHECKING:
    from importlib.metadata import EntryPoints

__all__ = [
    "Answer",
    "CallDoor",
    "Doors",
    "Engine",
    "EngineUnavailable",
    "Face",
    "Fault",
    "Frame",
    "Instance",
    "Kind",
    "Outcome",
    "Program",
    "Refusal",
    "RefuseDoor",
    "Reply",
    "Stop",
    "SubmitDoor",
    "engine_names",
    "load",
]

Kind = Literal[
    "syntax", "denied", "runtime", "tool", "timeout", "fuel", "memory", "stack", "calls", "output", "value", "host"
]
"""Why a run failed. `syntax`, `denied`, `runtime`, `tool` and `value` are the program's to mend; `timeout`,
`fuel`, `memory`, `stack`, `calls` and `output` are limits; `host` is a fault of the sandbox itself."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One frame of the program's own traceback: `line` counts from 1 in the text that ran.

    Attributes:
        line: the line.
        function: the function it is in; `<module>` at top level.
        program: the earlier program of the session whose text it is, by its number; 0 for the one that runs.
    """

    line: int
    function: str
    program: int = 0


@dataclass(frozen=True, slots=True)
class Fault:
    """Why a program did not finish, as the engine saw it.

    Attributes:
        kind: see `Kind`.
        type: the name of the exception's type, or of the limit's error (`TimeoutError`, `MemoryError` …).
        message: its text, already bounded and free of host paths.
        frames: the program's own frames, outermost first; the last one names the failing line.
        offset: for a syntax error the column, from 1; otherwise None.
        hint: what to do next, where the engine knows better than the general rules; otherwise None.
        omitted: how many frames between the outermost and the innermost ones were left out.
        cause: the exception it was raised from, or while handling, in a few words; None where there is none.
    """

    kind: Kind
    type: str
    message: str
    frames: tuple[Frame, ...] = ()
    offset: int | None = None
    hint: str | None = None
    omitted: int = 0
    cause: str | None = None


@dataclass(frozen=True, slots=True)
class Face:
    """What a program may see of a tool or an action: nothing that leads back to the host.

    Attributes:
        name: the name inside, by which the door knows it: `get_charges` is `tools.get_charges`, and what begins with
            `actions.` is found there. Where no face does, there is no name `actions`.
        signature: `get_charges(customer_id: str) -> list[Charge]`, with `async` before it where calls are awaited.
        doc: what the model is told about it.
        awaitable: whether calling it gives an awaitable (the host's tool is `async def`).
        records: the declarations of the records that it gives and the dicts that it takes.
        describes: whether a call of it with the name of another one tells what that is, and with an empty name what there is.
            Where one does, there are too many to tell of each beforehand: for those without documentation an engine asks
            it, and a name that no face has it takes to the door, whose refusal says what there is instead.
    """

    name: str
    signature: str
    doc: str
    awaitable: bool
    records: tuple[str, ...] = ()
    describes: bool = False


def describer_of(faces: Iterable[Face]) -> str | None:
    """The name of the tool that tells what the others are; None where each face says that of itself."""
    return next((face.name for face in faces if face.describes), None)


@dataclass(frozen=True, slots=True)
class Answer:
    """A tool's result, as plain values (see `codeact.values`)."""

    value: object


@dataclass(frozen=True, slots=True)
class Refusal:
    """A call that gave no result: the program meets it as an exception of the type named.

    Attributes:
        type: `ToolError` for a tool that raised; `TypeError` for arguments that do not fit the signature;
            `AttributeError` for a tool that was not granted.
        message: the text of the exception.
    """

    type: Literal["ToolError", "TypeError", "AttributeError"]
    message: str


@dataclass(frozen=True, slots=True)
class Stop:
    """The run is over: the engine ends the program at once, whatever the program would rather do."""

    fault: Fault


Reply = Answer | Refusal | Stop
"""What comes of a call."""


@dataclass(frozen=True, slots=True)
class Program:
    """What an instance is to run.

    Attributes:
        source: its text.
        number: its place among the programs of one world, from 1. Frames of earlier ones are told by it.
        files: what is put into the world's workspace before it runs: contents by path.
        fixed: the paths of those that it can read and not change.
        last: whether nothing else will be run in this world, but for another reading of the same text where that is no
            Python. An engine may destroy it early.
        cache: where an engine may keep what it makes of texts, for the same tenant of the same sandbox; None where
            nothing is kept.
    """

    source: str
    number: int = 1
    files: Mapping[str, bytes] = field(default_factory=dict)
    fixed: frozenset[str] = frozenset()
    last: bool = False
    cache: TenantCache | None = None


class CallDoor(Protocol):
    """The door to the tools; see `Doors.call`."""

    def __call__(self, name: str, args: tuple[object, ...], kwargs: dict[str, object], line: int = 0, /) -> Reply:
        """Name, positional and keyword arguments as plain values, and the program's line that calls, 0 for none."""
        ...


class SubmitDoor(Protocol):
    """The same for calls that nobody stands still for; see `Doors.submit`."""

    def __call__(self, name: str, args: tuple[object, ...], kwargs: dict[str, object], line: int = 0, /) -> int | Reply:
        """As `CallDoor`."""
        ...


class RefuseDoor(Protocol):
    """Where calls go that cannot be read; see `Doors.refuse`."""

    def __call__(self, name: str, reason: str, line: int = 0, /) -> Reply:
        """Name, reason, and the program's line that calls, 0 for none."""
        ...


@dataclass(frozen=True, slots=True)
class Doors:
    """Everything a program can reach outside itself.

    The functions never raise and may be called from any thread.

    Attributes:
        call: the one door to them: name, positional and keyword arguments as plain values, and the line of the program
            that calls where the engine can tell, to a reply. A call of an action goes by the name of its face.
        submit: the same for a tool whose face is awaitable, without waiting: gives a ticket, or the reply where
            there is nothing to wait for. The call is under way by the next `wait`. No more of them may be than the
            limit `concurrency` allows.
        wait: what has been answered since, tickets and replies: waits until something is, or so many seconds have
            passed. None waits for as long as a call is under way. The run's end ends it too.
        cancel: gives a call up by its ticket; nothing more is heard of it.
        refuse: puts a call on record whose arguments could not even be read: name and reason, to a reply.
        write: takes printed text; gives None, or why the program must end when it has printed too much.
        interrupted: gives None while the program may go on, otherwise why it must end. Engines ask at short
            intervals (every few milliseconds of guest time) and when a call comes back.
        now: the wall clock, nanoseconds since the epoch.
        monotonic: a clock that never goes back, nanoseconds.
        seed: 32 bytes from which the randomness of a world is drawn. The doors of its first program count.
        waiting: entered by an engine that lets a program wait for its turn until that has come: the program's own time
            begins then. The engine sees to it that nobody waits for ever.
    """

    call: CallDoor
    submit: SubmitDoor
    wait: Callable[[float | None], tuple[tuple[int, Reply], ...] | Stop]
    cancel: Callable[[int], None]
    refuse: RefuseDoor
    write: Callable[[str], Fault | None]
    interrupted: Callable[[], Fault | None]
    now: Callable[[], int]
    monotonic: Callable[[], int]
    seed: bytes
    waiting: Callable[[], AbstractContextManager[None]] = nullcontext


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a run ended, from the host's own records wherever the host can know.

    Attributes:
        value: the program's value, as plain values; None when there is a fault.
        fault: why it failed; None when it finished.
        finished: whether the program ended in an expression, a `return` or `sys.exit`: then None is its value
            and not an empty success.
        bound: the public names the program bound at top level, in order: no modules, none that begin with `_`.
        unbound: public names of earlier programs that it deleted.
        exit_code: what it gave to `sys.exit`; None when it did not.
        fuel: units spent.
        memory: peak bytes of the guest's memory, its interpreter included; None where the engine cannot know.
        files: what has become of the workspace's files since the run began: contents by path, in the order of the
            paths; None for a file that is gone. Temporary files are not among them.
        unawaited: calls of async tools that it never awaited, and which were not made: name and line.
        begun: whether anything may have become of the world; False where its turn never came, and it is as it was.
    """

    value: object = None
    fault: Fault | None = None
    finished: bool = False
    bound: tuple[str, ...] = ()
    unbound: tuple[str, ...] = ()
    exit_code: int | None = None
    fuel: int = 0
    memory: int | None = None
    files: Mapping[str, bytes | None] = field(default_factory=dict)
    unawaited: tuple[tuple[str, int], ...] = ()
    begun: bool = True


class Instance(Protocol):
    """One world. It is used by one thread at a time, not always the same one."""

    @property
    def alive(self) -> bool:
        """Whether it can run another program, with the names that the earlier ones have bound."""
        ...

    def run(self, program: Program, doors: Doors) -> Outcome:
        """Run a program. Never raises for anything the program does.

        A fault of kind `syntax` means that nothing of it was run.
        """
        ...

    def close(self) -> None:
        """Destroy the world. Harmless when called twice."""
        ...


@runtime_checkable
class Engine(Protocol):
    """What can make worlds."""

    name: str

    def open(self, faces: tuple[Face, ...], limits: Limits) -> Instance:
        """Make a fresh world.

        Args:
            faces: the tools and actions that its programs see.
            limits: what each of them may use.

        Raises:
            EngineUnavailable: the engine cannot be set up here. There is no falling back to another one.
        """
        ...


class EngineUnavailable(RuntimeError):
    """An engine cannot be set up on this machine; the message says why and what to do."""


_OWN = {
    "wasm": "codeact.engines.wasm:WasmEngine",
    "restricted": "codeact.engines.restricted.engine:RestrictedEngine",
}
_loaded: dict[str | tuple[object, ...], Engine] = {}
_loading = threading.RLock()


def _after_fork() -> None:
    global _loading  # noqa: PLW0603 - another thread may have held it, and is not in the child
    _loading = threading.RLock()


os.register_at_fork(after_in_child=_after_fork)


def engine_names() -> tuple[str, ...]:
    """The names that `Sandbox(engine=…)` takes here, sorted."""
    return tuple(sorted({*_OWN, *(point.name for point in _points())}))


def _points() -> EntryPoints:
    from importlib.metadata import entry_points  # noqa: PLC0415 - slow to import, and only for engines of others

    return entry_points(group="codeact.engines")


def load(name: str, guest: Path | None = None) -> Engine:
    """The engine of that name, made once a process; with a guest of one's own, once for each state of its file.

    Args:
        name: see `engine_names`.
        guest: for `wasm`, the component that worlds are made of, in place of the one that codeact carries.

    Raises:
        ValueError: there is none of that name, or it has no guest.
        EngineUnavailable: there is, but it cannot be set up here.
    """
    if guest is not None and name != "wasm":
        msg = f"guest={str(guest)!r}: a guest is what engine='wasm' runs; engine={name!r} has none"
        raise ValueError(msg)
    key = name if guest is None else (name, *_state(guest))
    with _loading:
        if key not in _loaded:
            _loaded[key] = _make(name, guest)
        return _loaded[key]


def _state(guest: Path) -> tuple[object, ...]:
    """What tells one content of a file from another: reading all of it for every sandbox would take too long."""
    try:
        found = guest.stat()
    except OSError:
        return (guest,)  # whoever reads it will say why it cannot be read
    return guest.resolve(), found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def _make(name: str, guest: Path | None) -> Engine:
    if name not in _OWN:
        return _made_by_others(name)
    module, _, attribute = _OWN[name].partition(":")
    try:
        factory = getattr(import_module(module), attribute)
    except ImportError as error:
        msg = f"engine={name!r} cannot be imported: {error}; reinstall codeact"
        raise EngineUnavailable(msg) from error
    engine: Engine = factory() if guest is None else factory(guest)
    return engine


def _made_by_others(name: str) -> Engine:
    """An engine that another package registers. Whatever is wrong with it is said in one way."""
    points = [point for point in _points() if point.name == name]
    if not points:
        msg = f"engine={name!r}: no such engine; choose one of {', '.join(engine_names())}"
        raise ValueError(msg)
    whose = ", ".join(sorted({point.dist.name if point.dist else point.value for point in points}))
    if len({point.value for point in points}) > 1:
        msg = f"engine={name!r}: several packages register one of that name ({whose}); uninstall all but one"
        raise EngineUnavailable(msg)
    try:
        engine = points[0].load()()
    except EngineUnavailable:
        raise
    except Exception as error:
        msg = f"engine={name!r}: the package {whose} cannot set it up: {type(error).__name__}: {error}"
        raise EngineUnavailable(msg) from error
    if not isinstance(engine, Engine):
        msg = f"engine={name!r}: what the package {whose} makes, {type(engine).__name__}, has no name or no open: see codeact.Engine"
        raise EngineUnavailable(msg)
    if engine.name != name:
        msg = f"engine={name!r}: the package {whose} registers it by that name, and it calls itself {engine.name!r}"
        raise EngineUnavailable(msg)
    return engine
