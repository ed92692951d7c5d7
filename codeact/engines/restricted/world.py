"""What belongs to one world and to no other: its doors, its meter, its own classes, its chance."""

from __future__ import annotations

import time
from abc import ABCMeta
from collections.abc import Callable
from decimal import ROUND_HALF_EVEN, Context, DivisionByZero, InvalidOperation, Overflow
from enum import EnumMeta
from random import Random
from types import FunctionType
from typing import TYPE_CHECKING, Any, NoReturn

from codeact.engines import Doors, Face, Fault
from codeact.engines.restricted.meter import Meter
from codeact.engines.restricted.passage import Passage
from codeact.engines.restricted.sizes import EXPONENT
from codeact.engines.restricted.spaces import Space
from codeact.limits import Limits
from wasm_runtime.guest.program import filename
from wasm_runtime.guest.unawaited import Ledger

if TYPE_CHECKING:
    from codeact.engines.restricted.files import Files
    from codeact.engines.restricted.library.sources import Sources
    from codeact.engines.restricted.supply import Supply

receiver_of_super: Any = super.__dict__["__self__"].__get__
_class_dict: Any = type.__dict__["__dict__"].__get__
_TRAPS = [InvalidOperation, DivisionByZero, Overflow]


class World:
    """One world.

    Attributes:
        faces: the tools and actions granted.
        doors: the way out of the program that runs.
        number: which of the world's programs that is, from 1.
        program: the name of its file.
        limits: what a run may use.
        meter: counts the work.
        passage: the way of its calls to the doors.
        ledger: its calls that have not been awaited.
        own: the classes that the program has made.
        module: the `__module__` of its classes.
        setters: for types that are granted and can be changed within bounds: what stands in for their instances
            where an attribute is written.
        metaclasses: the types that may stand behind `metaclass=`.
        hooks: functions of the engine's that a program's class may have as its own.
        modules: the modules imported so far.
        globals: the program's names.
        decimals: the decimal context that its runs begin with.
        make_files: makes its files, when they are first asked for.
        made_files: the same, once they are made.
        stand_ins: what stands in for types that a program may know and not have, by type.
        builtins: what its programs have; made with the world, by the engine.
        texts: the texts of its programs, by the names of their files.
        sources: its modules that are made from the library's text, once there are any.
    """

    module = "__main__"
    metaclasses: frozenset[type] = frozenset({type, ABCMeta, EnumMeta})

    doors: Doors
    builtins: Supply
    make_files: Callable[[], Files]

    def __init__(self, faces: tuple[Face, ...], limits: Limits, fuel: int) -> None:
        self.faces = faces
        self.number = 0
        self.program = filename(1)
        self.limits = limits
        self.meter = Meter(limits, fuel)
        self.passage = Passage(limits, self.meter)
        self.ledger = Ledger()
        self.own: set[type] = set()
        self.hooks: set[Callable[..., Any]] = set()
        self.setters: dict[type, Callable[[Any], Any]] = {}
        self.modules: dict[str, Any] = {}
        self.globals: dict[str, Any] = {}
        self.texts: dict[str, str] = {}
        self.decimals = Context(28, ROUND_HALF_EVEN, -EXPONENT, EXPONENT, 1, 0, [], _TRAPS)
        self.made_files: Files | None = None
        self.stand_ins: dict[type, Any] = {}
        self.sources: Sources | None = None
        self._chance: Random | None = None
        self._seed = b""
        self._started = 0.0

    def start(self, doors: Doors, number: int) -> None:
        """Note the beginning of a run."""
        self.doors = doors
        self.passage.start(doors)
        self.number = number
        self.program = filename(number)
        self._seed = self._seed or doors.seed
        self._started = time.monotonic()

    @property
    def files(self) -> Files:
        """Its files."""
        if self.made_files is None:
            self.made_files = self.make_files()
        return self.made_files

    def owns(self, target: Any) -> bool:
        """Whether a class, or the class of an object, is the program's own."""
        kind = target if isinstance(target, type) else type(target)
        # A class that is made again, with slots, is seen by its bases before it is registered.
        return kind in self.own or (
            _class_dict(kind).get("__module__") == self.module and not self.own.isdisjoint(kind.__mro__)
        )

    def owns_super(self, target: Any) -> bool:
        """Whether it is `super()` of an object of the program's own."""
        return type(target) is super and self.owns(receiver_of_super(target))

    def wrote(self, function: FunctionType) -> bool:
        """Whether a function is the program's own."""
        names = function.__globals__
        return names is self.globals or type(names) is Space

    def now(self) -> int:
        """The wall clock, nanoseconds since the epoch."""
        return self.doors.now()

    def monotonic(self) -> int:
        """A clock that never goes back, nanoseconds."""
        return self.doors.monotonic()

    def left(self) -> float:
        """Seconds that a call may take which cannot be interrupted."""
        return max(0.01, self._started + self.limits.timeout - time.monotonic())

    def overdue(self) -> NoReturn:
        """End the run, because such a call has used them up."""
        self.meter.look()
        message = f"the program was terminated after {self.limits.timeout:g} s (limit timeout)"
        self.meter.stop(Fault("timeout", "TimeoutError", message))

    @property
    def chance(self) -> Random:
        """The world's randomness, drawn from the seed it was given."""
        if self._chance is None:
            self._chance = Random(int.from_bytes(self._seed, "big"))  # noqa: S311 - a program's dice
        return self._chance

    def write(self, text: str) -> None:
        """Print text. It leaves at once."""
        if self.meter.ended():
            self.meter.look()
        fault = self.doors.write(text)
        if fault is not None:
            self.meter.stop(fault)
