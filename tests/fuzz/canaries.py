"""What no program may ever get hold of, put where hostile programs look, and the runs that show whether one did.

A canary stands in a module's globals, in the environment, in the closure of a tool and in a frame below the run.
"""

from __future__ import annotations

import builtins
import os
import sys
import time
import types
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from codeact import Limits, Sandbox, Tool, tool
from codeact.engines import Answer, CallDoor, Doors, Face, Fault, Outcome, Program, Refusal, Reply
from codeact.engines.restricted.engine import RestrictedEngine, RestrictedInstance
from codeact.engines.restricted.grants import PLAIN
from codeact.engines.restricted.world import World

CANARY = "codeact-canary-77e0b1"
MODULE_CANARY = {"secret": CANARY}
"""In a module's globals."""

KEY = "CODEACT_CANARY"
"""In the environment."""

LIMITS = Limits(timeout=3.0, fuel=200_000, memory=64 * 1024 * 1024, output=20_000, calls=50)
WASM_LIMITS = Limits(timeout=3.0, output=20_000, calls=50)
TIMEOUT = Fault("timeout", "TimeoutError", "too late")
FACES = (
    Face("probe", "probe(value: object) -> object", "Give it back.", awaitable=False),
    Face("fetch", "async fetch(value: object) -> object", "Give it back, later.", awaitable=True),
)

STOOD_FOR = frozenset(
    [
        "__build_class__", "ascii", "delattr", "dir", "format", "getattr", "hasattr", "hash", "help", "id", "isinstance",
        "issubclass", "iter", "max", "min", "open", "pow", "print", "range", "repr", "round", "setattr", "sorted", "sum",
        "type", "vars",
    ]
)  # fmt: skip
"""Builtins that are granted as something of the world's own."""

WITHHELD = frozenset(dir(builtins)) - set(PLAIN) - STOOD_FOR - {"None", "True", "False", "__name__", "__doc__"}
"""Builtins that are not granted at all."""


@contextmanager
def environment() -> Iterator[None]:
    """The canary in the environment."""
    with patch.dict(os.environ, {KEY: CANARY}):
        yield


# --- restricted ----------------------------------------------------------------------------------------------


def run_restricted(sources: Sequence[str]) -> tuple[RestrictedInstance, str, list[Outcome]]:
    """The instance after a session of these programs, all that was printed, and how each of them ended."""
    printed: list[str] = []
    in_a_frame = CANARY
    until = time.monotonic() + LIMITS.timeout * len(sources)
    call = _closure()
    doors = Doors(
        call=call,
        submit=call,
        wait=lambda _seconds: (),
        cancel=lambda _ticket: None,
        refuse=lambda name, reason: Refusal("TypeError", f"{name}: {reason}"),
        write=printed.append,
        interrupted=lambda: None if time.monotonic() < until else TIMEOUT,
        now=lambda: 0,
        monotonic=time.monotonic_ns,
        seed=bytes(32),
    )
    instance = RestrictedEngine().open(FACES, LIMITS)
    outcomes = [instance.run(Program(source, number), doors) for number, source in enumerate(sources, 1)]
    assert in_a_frame
    return instance, "".join(printed), outcomes


def _closure() -> CallDoor:
    secret = CANARY

    def call(name: str, args: tuple[object, ...], _kwargs: dict[str, object], _line: int = 0) -> Reply:
        assert secret
        return Answer(args[0]) if len(args) == 1 else Refusal("TypeError", f"{name}() takes one argument")

    return call


def check_restricted(sources: Sequence[str]) -> None:
    """Run a session on `restricted` and look for what it has got hold of.

    Raises:
        AssertionError: something of the host's.
    """
    began = time.monotonic()
    instance, printed, outcomes = run_restricted(sources)
    assert time.monotonic() - began < LIMITS.timeout * len(sources) + _LATE
    world = instance._world
    assert CANARY not in printed
    assert CANARY not in repr(outcomes)
    for outcome in outcomes:
        assert outcome.fault is None or outcome.fault.kind != "host", outcome.fault
    held = {name: value for name, value in world.globals.items() if name not in {"__builtins__", "__name__", "__doc__"}}
    seen = _Search(world)
    for name, value in held.items():
        found = seen.look(value, _DEPTH)
        assert found is None, f"{name} is {found}"
    instance.close()


_LATE = 10.0
"""Seconds that a busy machine may take more."""

_DEPTH = 4
_ITEMS = 50

_INSIDE = {types.FrameType, types.CodeType}
"""A traceback is what `__exit__` is given: a program may hold it, and its attributes lead nowhere."""

_KINDS = (
    type, memoryview, types.FunctionType, types.MethodType, types.CodeType, types.FrameType, types.GeneratorType,
    types.CoroutineType, types.AsyncGeneratorType, types.ModuleType, types.TracebackType, types.CellType,
)  # fmt: skip
"""Types that make or open what a program must not: they are granted as something that stands for them, or not at all."""

_GRANTED = {id(value) for value in PLAIN.values()}
_BUILTINS = {id(getattr(builtins, name)): f"the builtin {name}" for name in {*WITHHELD, *STOOD_FOR} - {"__package__"}}
_FORBIDDEN = {key: what for key, what in _BUILTINS.items() if key not in _GRANTED}
_FORBIDDEN |= {id(kind): f"the type {kind.__name__}" for kind in _KINDS}


class _Search:
    """Looks through what a world's programs hold, without a line of theirs being run."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._modules = {id(module): name for name, module in sys.modules.items() if type(module) is types.ModuleType}
        self._names = {
            id(vars(module)): name for name, module in sys.modules.items() if type(module) is types.ModuleType
        }
        self._names[id(os.environ)] = "os.environ"
        self._names[id(MODULE_CANARY)] = "a module's"

    def look(self, value: object, depth: int) -> str | None:
        """What of the host's a value is or holds; None where it is nothing of it."""
        kind = type(value)
        if kind in _INSIDE:
            return f"a {kind.__name__}"
        if id(value) in self._modules:
            return f"the module {self._modules[id(value)]}"
        if id(value) in self._names:
            return f"the names of {self._names[id(value)]}"
        if id(value) in _FORBIDDEN:
            return _FORBIDDEN[id(value)]
        if kind is str and CANARY in str.__str__(value):  # type: ignore[arg-type]
            return "the canary"
        return self._within(value, depth - 1) if depth else None

    def _within(self, value: object, depth: int) -> str | None:
        return next((found for part in self._parts(value) if (found := self.look(part, depth))), None)

    def _parts(self, value: Any) -> list[object]:
        kind = type(value)
        if kind in {list, tuple, set, frozenset}:
            return list(value)[:_ITEMS]
        if kind is dict:
            return [part for pair in list(value.items())[:_ITEMS] for part in pair]
        if kind is types.FunctionType and value.__code__.co_filename.startswith("<program"):
            return [*map(_held, value.__closure__ or ()), *(value.__defaults__ or ())]
        if isinstance(value, BaseException):
            return [*BaseException.args.__get__(value), *_dict_of(value)]  # type: ignore[attr-defined]
        if kind in self._world.own:
            return _dict_of(value)
        if kind is type and value in self._world.own:
            return list(type.__dict__["__dict__"].__get__(value).values())[:_ITEMS]
        return []


def _dict_of(value: object) -> list[object]:
    try:
        return list(object.__getattribute__(value, "__dict__").values())[:_ITEMS]
    except AttributeError:
        return []


def _held(cell: Any) -> object:
    try:
        return cell.cell_contents
    except ValueError:
        return None


# --- wasm ----------------------------------------------------------------------------------------------------


def _tools() -> list[Tool[..., Any]]:
    secret = CANARY

    @tool
    def probe(value: object) -> object:
        """Give it back."""
        assert secret
        return value

    @tool
    async def fetch(value: object) -> object:
        """Give it back, later."""
        assert secret
        return value

    return [probe, fetch]


def check_wasm(sources: Sequence[str]) -> None:
    """Run programs on `wasm`, as a session and then as one; look at all that leaves.

    Raises:
        AssertionError: something of the host's, or a fault of the sandbox itself.
    """
    sandbox = Sandbox(_tools(), engine="wasm", limits=WASM_LIMITS)
    in_a_frame = CANARY
    with sandbox.session() as session:
        results = [session.run(source) for source in sources]
    results.append(sandbox.run(whole(sources)))
    assert in_a_frame
    for result in results:
        assert CANARY not in result.observation()
        assert CANARY not in str(result.to_dict())
        assert result.error is None or result.error.kind != "host", result.error


def whole(parts: Sequence[str]) -> str:
    """The same as one program, each part in a `try` of its own: the refusal of one does not spare the next."""
    guarded = []
    for part in parts:
        if part.startswith("global") or "import *" in part:
            guarded.append(part)
            continue
        body = "\n".join(f"    {line}" for line in part.split("\n"))
        guarded.append(f"try:\n{body}\nexcept Exception as error:\n    print(error)")
    return "\n".join(guarded)
