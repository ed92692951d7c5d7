"""The meter: counts the work of a program and ends it.

A tick has to cost next to nothing, so it is a C iterator: `chain.from_iterable(source).__next__` over chunks of one
tuple that is full of True, so that nothing is made for a tick, and Python code runs only where one chunk ends and the
next is fetched. There the meter asks whether the host has lost patience, and whether the process has grown too much.
Once the meter is spent, its last chunk is an iterator that raises at every step, so a program that catches the stop
meets it again at its next tick.
"""

from __future__ import annotations

import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar
from itertools import chain, compress, islice
from operator import itemgetter
from types import FunctionType
from typing import Any, NoReturn

from codeact.engines import Fault
from codeact.engines.restricted.growth import Growth
from codeact.engines.restricted.watchdog import watchdog
from codeact.limits import Limits

_MUCH = 2 * 10_000  # ticks: what is nested deeper than a small stack holds is made with more of them
_LEFT = 20_000  # blocks of memory, a few for an object

CHUNK = 10_000
"""Ticks between two looks at the clock: well below a millisecond of empty loops."""

_TICKS = (True,) * CHUNK

_FEW = 16
"""Ticks in a round, at the most, where one of them may take milliseconds in C code."""

_SLOW = 0.005
"""Seconds after which a round has taken long, and the next one is short."""


class Stopped(GeneratorExit):
    """The run is over; the reason is `Meter.fault`.

    It is a GeneratorExit so that a suspended generator that meets it while it is being closed ends in silence,
    where any other exception would be printed to the host's stderr.
    """


_TICKING: Any = (FunctionType, itemgetter)
"""A program's own functions tick, and some of the interpreter's own do hardly anything."""

current: ContextVar[Meter] = ContextVar("meter")
"""The meter of the run that is under way in this context, for what all worlds share."""


class Meter:
    """The fuel of one world. It is set for each run, and spent between runs.

    Attributes:
        stream: gives something true for one unit of work; each `next` is a tick.
        fault: why the program must end; None while it may go on.
    """

    _blocks: int | None = None
    _interrupted: Callable[[], Fault | None]

    def __init__(self, limits: Limits, fuel: int) -> None:
        self.limits = limits
        self.fault: Fault | None = None
        self._fuel = fuel
        self._given = 0
        self._chunk: Any = iter(())
        self._closed = True
        self._growth = Growth(limits.memory)
        self.stream: Iterator[bool] = chain.from_iterable(_Source(self._next))

    def tick(self) -> bool:
        """One unit of work. It may be kept: it goes by the stream that there is, also when that was made anew."""
        return next(self.stream)

    def dead(self) -> bool:
        """Whether the stream of ticks has ended by itself.

        It does when the recursion limit is met just where the next chunk would be fetched: then that fetch fails,
        and every tick after it.
        """
        if self._closed or self.fault is not None or self._chunk.__length_hint__():
            return False
        try:
            self.tick()
        except StopIteration:
            return True
        except Stopped:
            return False
        self._given -= 1
        return False

    def revive(self) -> None:
        """Make the stream of ticks anew."""
        self._chunk = iter(())
        self.stream = chain.from_iterable(_Source(self._next))

    def start(self, interrupted: Callable[[], Fault | None]) -> None:
        """Fill the meter for a run that goes on until `interrupted` gives a reason why not.

        Raises:
            RuntimeError: there can be no thread for the watchdog; the meter stays spent.
        """
        self._interrupted = interrupted
        self.fault = None
        self._given = 0
        self._closed = False
        self._growth.start()
        try:
            watchdog.watch(self)
        except RuntimeError:  # the process can have no more threads
            self.finish()
            raise

    @property
    def grown(self) -> int:
        """Bytes that the process had grown by in any of its runs, at the most that was seen."""
        return self._growth.most

    def finish(self) -> None:
        """Spend what is left: whatever still ticks from now on, ends."""
        watchdog.forget(self)
        self._given = self.fuel
        self._closed = True
        self._growth.finish()
        self.cut()

    @property
    def fuel(self) -> int:
        """Ticks spent."""
        left: int = self._chunk.__length_hint__()
        return self._given - left

    def stop(self, fault: Fault) -> NoReturn:
        """End the run from the program's own thread; the first reason stays."""
        self.end(fault)
        raise Stopped

    def end(self, fault: Fault) -> None:
        """Note that the run must end; the next tick ends it."""
        if self.fault is None and not self._closed:
            self.fault = fault
            self._given = self.fuel
            self.cut()

    def cut(self) -> None:
        """Make the next tick look whether it may go on."""
        chunk = self._chunk
        left = chunk.__length_hint__()
        if left:
            chunk.__setstate__(sys.maxsize)

    def look(self) -> None:
        """Ask now whether the program may go on; for work that takes long between two ticks.

        Raises:
            Stopped: it may not.
        """
        if self.fault is None and not self._closed:
            fault = self._interrupted() or self._growth.fault()
            if fault is not None:
                self.stop(fault)
        if self.fault is not None or self._closed:
            raise Stopped

    def overdue(self) -> bool:
        """Whether the host wants the run to end; asked by the watchdog from its own thread."""
        fault = self._interrupted() or self._growth.fault()
        if fault is None:
            return False
        self.end(fault)
        return True

    def charge(self, units: int) -> None:
        """Spend several ticks at once.

        Raises:
            Stopped: there are not so many left.
        """
        if units > self._fuel:
            self.stop(self._empty())
        if units > 0:
            deque(islice(self.stream, units), 0)

    def charged(self, items: Iterable[Any]) -> Iterator[Any]:
        """The same items, each for one tick, without a line of Python in between."""
        return compress(items, self.stream)

    def closely(self, items: Iterable[Any]) -> Iterator[Any]:
        """The same where every item may take long in C code: then nothing else would let the watchdog run."""
        size, asked = 1, time.monotonic()

        def few() -> Any:
            nonlocal size, asked
            now = time.monotonic()
            size = min(2 * size, _FEW) if now - asked < _SLOW else 1
            asked = now
            # The first one is taken here: were the stream to end by itself, rounds without a tick would not.
            return chain((self.tick(),), islice(self.stream, size - 1))

        return compress(items, chain.from_iterable(_Source(few)))

    def ticking(self, function: Any) -> Any:
        """A function that a builtin is to call for every item, so that each call is a tick; a program's own ticks."""
        if function is None or type(function) in _TICKING:
            return function
        tick = self.tick

        def call(item: Any) -> Any:
            tick()
            return function(item)

        return call

    def _next(self) -> Any:
        """The next chunk of ticks, or the end of them."""
        if self.fault is None and not self._closed:
            fault = self._interrupted() or self._growth.fault()
            left = self._fuel - self._given
            if fault is None and left > 0:
                size = min(CHUNK, left)
                self._given += size
                if self._blocks is None and self._given > _MUCH:
                    self._blocks = sys.getallocatedblocks()
                self._chunk = iter(_TICKS[:size])
                return self._chunk
            if self.fault is None:
                self.fault = fault or self._empty()
        self._chunk = iter(())
        return _Spent(self)

    def ended(self) -> bool:
        """Whether ticks fail now."""
        return self._closed or self.fault is not None

    def left_much(self) -> bool:
        """Whether there is much more in the process's memory than there was when the program had hardly begun."""
        return self._blocks is not None and sys.getallocatedblocks() - self._blocks > _LEFT

    def _empty(self) -> Fault:
        return Fault(
            "fuel",
            "FuelExhausted",
            f"the program used up its {self._fuel:,} ticks, one for a round of a loop or a call (limit fuel)",
        )


class _Source:
    """Gives chunks; unlike a generator it can be asked again after it has raised."""

    __slots__ = ("_next",)

    def __init__(self, following: Callable[[], Any]) -> None:
        self._next = following

    def __iter__(self) -> _Source:
        return self

    def __next__(self) -> Any:
        return self._next()


class _Spent:
    """The chunk of a meter that is spent: every step raises, until the meter is filled again."""

    __slots__ = ("_meter",)

    def __init__(self, meter: Meter) -> None:
        self._meter = meter

    def __iter__(self) -> _Spent:
        return self

    def __next__(self) -> NoReturn:
        if self._meter.ended():
            raise Stopped
        raise StopIteration
