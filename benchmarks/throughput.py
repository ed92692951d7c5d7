"""How many fresh runs there are in a second, from one process and from two."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from benchmarks.arms.tasks import Task
from benchmarks.contest import AtLeast, Measure, Row, Trial
from benchmarks.contestant import Contestant

THREADS = (1, 2, 4)
TASK = Task("rate", seconds=1.0)
NOTE = "runs of 1+1 in fresh worlds, in one second"
BEST = "the best from one process"


def _threads(count: int) -> Measure:
    def measure(who: Contestant, _reference: Contestant, rounds: int) -> list[float]:
        return who.samples(replace(TASK, count=count), rounds)

    return measure


def _sustained(who: Contestant, _reference: Contestant, rounds: int) -> list[float]:
    return who.samples(replace(TASK, kind="sustained"), rounds)


def _both(one: Contestant, two: Contestant) -> float:
    one.ask(TASK, 1)
    two.ask(TASK, 1)
    return one.answer()[0] + two.answer()[0]


def _two(who: Contestant, _reference: Contestant, rounds: int) -> list[float]:
    with Contestant(who.entry) as twin:
        twin.samples(TASK, 1)
        return [_both(who, twin) for _ in range(rounds)]


def _gain(who: Contestant, _reference: Contestant, rounds: int) -> list[float]:
    with Contestant(who.entry) as twin:
        twin.samples(TASK, 1)
        return [_both(who, twin) / who.samples(TASK, 1)[0] for _ in range(rounds)]


def summary(rows: Sequence[Row]) -> Iterator[list[Row]]:
    """The best that everyone reaches with any number of threads."""
    best: dict[str, tuple[float, Row]] = {}
    for row in rows:
        if row.case in _BY_THREADS and row.spread is not None:
            found = row.spread.median
            if row.who not in best or found > best[row.who][0]:
                best[row.who] = found, row
    note = "of the numbers of threads above"
    yield [replace(row, case=BEST, note=note, target=TARGETS.get(who)) for who, (_, row) in best.items()]


TARGETS = {"wasm": AtLeast(900)}
_BY_THREADS = {f"from {count} thread{'s' * (count > 1)}": count for count in THREADS}
CASES = (
    *(Trial(name, "/s", NOTE, 10, _threads(count)) for name, count in _BY_THREADS.items()),
    Trial(
        "from one thread, worlds made ready", "/s",
        f"{NOTE}, of which those are made ready on another thread that there is time for (ready=4)", 10, _sustained,
    ),
    Trial("from two processes", "/s", f"{NOTE}, of both together, a thread in each", 10, _two),
    Trial(
        "two processes against one", "x", "one right after the other, a thread in each",
        10, _gain, {"wasm": AtLeast(1.7)},
    ),
)  # fmt: skip
