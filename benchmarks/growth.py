"""How cost grows with size: curves, each with the exponent of its upper half. One is linear, none is constant."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from statistics import linear_regression, median
from typing import Any

from benchmarks.arms import WrongAnswerError
from benchmarks.arms.shop import increment
from benchmarks.contest import AtMost, Field, Row
from benchmarks.contestant import ENGINES
from benchmarks.measure import spread
from codeact import EngineUnavailable, Limits, Sandbox
from codeact.engines import load

LINEAR = AtMost(1.15)
"""An exponent that counts as linear or better: a cache that is outgrown costs a little, and is no quadratic term."""

ROUNDS = 5
QUICK = 30
"""When it is to be quick, sizes end at the largest one by this."""

_MIB = 1024 * 1024
LIMITS = Limits(timeout=120.0, fuel=2**50, memory=1024 * _MIB, source=64 * _MIB, value_bytes=64 * _MIB, calls=1_000_000)

Once = Callable[[], object]
"""Does it once."""


@dataclass(frozen=True, slots=True)
class Curve:
    """A cost over sizes, of codeact's engines.

    Attributes:
        name: what grows.
        unit: what its sizes count.
        note: what exactly is measured.
        sizes: at which; the exponent is that of the upper half.
        prepare: given an engine and a size, gives what is timed.
    """

    name: str
    unit: str
    note: str
    sizes: tuple[int, ...]
    prepare: Callable[[str, int], Once]

    def rows(self, field: Field, *, quick: bool) -> list[Row]:
        """See `Case`."""
        sizes = [size for size in self.sizes if size * QUICK <= self.sizes[-1]] if quick else list(self.sizes)
        engines = field.of(tuple(entry.name for entry in ENGINES))
        return [self._row(one.name, sizes, 1 if quick else ROUNDS) for one in engines]

    def _row(self, engine: str, sizes: Sequence[int], rounds: int) -> Row:
        try:
            load(engine)
        except EngineUnavailable as error:
            return Row(self.name, engine, "", self.note, LINEAR, skipped=str(error))
        seconds: dict[int, list[float]] = {}
        try:
            for size in sizes:
                once = self.prepare(engine, size)
                once()
                seconds[size] = [_seconds(once) for _ in range(rounds)]
        except WrongAnswerError as error:
            return Row(self.name, engine, "", self.note, LINEAR, failed=str(error))
        points = tuple((float(size), median(found)) for size, found in seconds.items())
        exponents = [exponent([(size, found[turn]) for size, found in seconds.items()]) for turn in range(rounds)]
        first, last = points[0], points[-1]
        note = (
            f"{self.note}; {engine} takes {first[1] * 1e3:,.3g} ms for {first[0]:,.0f} {self.unit} and"
            f" {last[1] * 1e3:,.3g} ms for {last[0]:,.0f}"
        )
        return Row(self.name, engine, "", note, LINEAR, spread(exponents), points=points)


def exponent(points: Sequence[tuple[float, float]]) -> float:
    """The slope of the upper half of a curve, both axes in logarithms."""
    upper = points[len(points) // 2 if len(points) > 3 else 0 :]
    return linear_regression([math.log(x) for x, _ in upper], [math.log(y) for _, y in upper]).slope


def _seconds(once: Once) -> float:
    began = time.perf_counter()
    once()
    return time.perf_counter() - began


def _run(sandbox: Sandbox, program: str, wanted: object) -> None:
    result = sandbox.run(program)
    if result.value != wanted:
        raise WrongAnswerError("; ".join(line.strip() for line in result.observation().splitlines())[:300])


def _statements(engine: str, size: int) -> Once:
    program = "\n".join(f"name_{number} = {number}" for number in range(size)) + "\n1+1"
    return partial(_run, Sandbox(engine=engine, limits=LIMITS), program, 2)


def _text(engine: str, size: int) -> Once:
    text = "x" * size

    def give() -> str:
        """Give a text."""
        return text

    return partial(_run, Sandbox([give], engine=engine, limits=LIMITS), "len(tools.give())", size)


def _rows(engine: str, size: int) -> Once:
    rows = [{"id": number, "name": f"item {number}", "price": number / 4} for number in range(size)]

    def give() -> list[dict[str, Any]]:
        """Give rows."""
        return rows

    return partial(_run, Sandbox([give], engine=engine, limits=LIMITS), "len(tools.give())", size)


def _tools(engine: str, size: int) -> Once:
    granted = {f"tool_{number}": increment for number in range(size)}
    return partial(_run, Sandbox(granted, engine=engine, limits=LIMITS), f"tools.tool_{size - 1}(1)", 2)


def _calls(engine: str, size: int) -> Once:
    program = f"number = 0\nfor _ in range({size}):\n    number = tools.increment(number)\nnumber"
    return partial(_run, Sandbox([increment], engine=engine, limits=LIMITS), program, size)


def _sessions(engine: str, size: int) -> Once:
    sandbox = Sandbox(engine=engine, limits=LIMITS)

    def once() -> None:
        with ExitStack() as live:
            sessions = [live.enter_context(sandbox.session()) for _ in range(size)]
            for session in sessions:
                result = session.run("1+1")
                if result.value != 2:
                    raise WrongAnswerError("; ".join(result.observation().splitlines())[:300])

    return once


def _thirds(most: int) -> tuple[int, ...]:
    """1, 3, 10, 30 … up to a size."""
    sizes = [each * 10**power for power in range(9) for each in (1, 3)]
    return tuple(size for size in sizes if size <= most)


CASES = (
    Curve("program size", "statements", "a run of so many assignments", _thirds(30_000), _statements),
    Curve("value size, text", "bytes", "a run with a call that gives a text", _thirds(10_000_000), _text),
    Curve("value size, rows", "dicts", "a run with a call that gives so many dicts", _thirds(100_000), _rows),
    Curve("tools", "tools", "a run with one call, of so many tools granted", _thirds(1000), _tools),
    Curve("calls", "calls", "a run that makes so many calls", _thirds(10_000), _calls),
    Curve("live sessions", "sessions", "to open so many, run 1+1 in each, and close all", (*_thirds(1000), 2000), _sessions),
)  # fmt: skip
