"""Cases, and what comes out when everyone who takes part is put to them."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Protocol, Self

from benchmarks.arms import CannotError, WrongAnswerError
from benchmarks.contestant import OURS, PLAIN, Contestant, Entry
from benchmarks.measure import Spread, spread

UNITS = {"s": 1.0, "ms": 1e3, "µs": 1e6, "MB": 1e-6, "/s": 1.0, "x": 1.0, "": 1.0}
"""What a sample is multiplied by, by the unit that it is told in."""

BLOCKS = 5
"""The rounds of a case are taken in so many blocks, and everyone has one before anyone has the next: when the machine
is slow for a while it is so for all."""


PATIENCE = 8.0
"""Seconds after which nothing more is asked of who takes so long: the number of samples tells."""


class Target(Protocol):
    """What was promised."""

    def kept(self, median: float) -> bool:
        """Whether a median keeps it."""
        ...


@dataclass(frozen=True, slots=True)
class AtMost:
    """A median that is no more than this, in the unit of the case."""

    bound: float

    def kept(self, median: float) -> bool:
        """See `Target`."""
        return median <= self.bound

    def __str__(self) -> str:
        return f"<= {self.bound:g}"


@dataclass(frozen=True, slots=True)
class AtLeast:
    """A median that is no less than this, in the unit of the case."""

    bound: float

    def kept(self, median: float) -> bool:
        """See `Target`."""
        return median >= self.bound

    def __str__(self) -> str:
        return f">= {self.bound:g}"


Measure = Callable[[Contestant, Contestant, int], list[float]]
"""Gives so many samples of who is measured, with plain CPython at hand: seconds, bytes, or what has no unit."""


class Case(Protocol):
    """One thing to measure."""

    @property
    def name(self) -> str:
        """What a user would call it."""
        ...

    def rows(self, field: Field, *, quick: bool) -> list[Row]:
        """Put everyone whom it is for to it; with fewer rounds when it is to be quick."""
        ...


@dataclass(frozen=True, slots=True)
class Trial:
    """A case in which everyone does the same.

    Attributes:
        name: what a user would call it.
        unit: the unit it is told in, see `UNITS`.
        note: what exactly is measured.
        rounds: samples of each; fewer when the benchmark is asked to be quick.
        measure: how.
        targets: what was promised, by name of who is measured.
        only: the names of those that it is for; empty for all.
    """

    name: str
    unit: str
    note: str
    rounds: int
    measure: Measure
    targets: Mapping[str, Target] = field(default_factory=dict)
    only: tuple[str, ...] = ()

    def rows(self, field: Field, *, quick: bool) -> list[Row]:
        """See `Case`."""
        rounds = max(1, self.rounds // 10) if quick else self.rounds
        contestants = field.of(self.only)
        samples: dict[str, list[float]] = {one.name: [] for one in contestants}
        cannot: dict[str, str] = {}
        failed: dict[str, str] = {}
        spent = dict.fromkeys(samples, 0.0)
        for block in blocks(rounds):
            for one in contestants:
                if one.name in cannot or one.name in failed or spent[one.name] > PATIENCE:
                    continue
                began = time.monotonic()
                try:
                    samples[one.name] += self.measure(one, field.reference, block)
                except CannotError as error:
                    cannot[one.name] = str(error)
                except WrongAnswerError as error:
                    # Of a peer it is an answer too: this is what it cannot do.
                    (failed if one.entry in (*OURS, PLAIN) else cannot)[one.name] = str(error)
                except subprocess.CalledProcessError as error:
                    failed[one.name] = f"a child process ended with code {error.returncode}; see stderr"
                spent[one.name] += time.monotonic() - began
        return [
            Row(
                self.name,
                name,
                self.unit,
                self.note,
                self.targets.get(name),
                spread(sample * UNITS[self.unit] for sample in found) if found else None,
                cannot.get(name),
                failed.get(name),
            )
            for name, found in samples.items()
        ]


@dataclass(frozen=True, slots=True)
class Row:
    """A case as it came out for one of those that were put to it.

    Attributes:
        case: its name.
        who: whose.
        unit: the unit of the spread.
        note: what exactly was measured.
        target: what was promised; None where nothing was.
        spread: the samples; None where there are none.
        skipped: why it cannot be measured; None where it can.
        failed: what went wrong while it was measured; None where nothing did.
        points: for a curve, what was measured at each size.
    """

    case: str
    who: str
    unit: str
    note: str
    target: Target | None = None
    spread: Spread | None = None
    skipped: str | None = None
    failed: str | None = None
    points: tuple[tuple[float, float], ...] = ()

    @property
    def kept(self) -> bool | None:
        """Whether its target is kept; None where there is nothing to keep."""
        return None if self.target is None or self.spread is None else self.target.kept(self.spread.median)


class Field:
    """All that take part: codeact's engines, the peers that were asked for, and plain CPython as the reference."""

    def __init__(self, peers: Iterable[Entry] = ()) -> None:
        self.reference = Contestant(PLAIN)
        self.contestants = [Contestant(entry) for entry in (*OURS, *peers)]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for contestant in (self.reference, *self.contestants):
            contestant.close()

    def of(self, only: tuple[str, ...]) -> list[Contestant]:
        """Those of some names; of none, all but the reference."""
        return [one for one in (*self.contestants, self.reference) if one.name in only] if only else self.contestants


def blocks(rounds: int) -> list[int]:
    """The rounds of each block, none of them empty."""
    number = min(BLOCKS, rounds)
    return [rounds * (place + 1) // number - rounds * place // number for place in range(number)]
