"""How fast programs compute, against plain CPython of the host, with fuel and every guard on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import geometric_mean, median

from benchmarks.arms.tasks import Task
from benchmarks.contest import AtMost, Measure, Row, Trial
from benchmarks.contestant import OURS, Contestant
from benchmarks.measure import Spread
from benchmarks.programs import PROGRAMS

EMPTY = Task("fresh")
TARGETS = {"wasm": AtMost(3.3), "restricted": AtMost(1.6)}
MEAN = "geometric mean"
NOTE = "of the ratios of programs, each spread by the means of its edges"


def _ratio(task: Task) -> Measure:
    def inside(who: Contestant, rounds: int) -> list[float]:
        without = median(who.samples(EMPTY, 10, warmup=1))
        return [sample - without for sample in who.samples(task, rounds)]

    def measure(who: Contestant, reference: Contestant, rounds: int) -> list[float]:
        plain = median(inside(reference, rounds))
        return [sample / plain for sample in inside(who, rounds)]

    return measure


def summary(rows: Sequence[Row]) -> Iterator[list[Row]]:
    """The geometric mean of everyone's ratios. Those that run a part of the programs stand beside ours over that part."""
    ran: dict[str, dict[str, Spread]] = {}
    for row in rows:
        mine = ran.setdefault(row.who, {})
        if row.spread is not None:
            mine[row.case] = row.spread
    ours = [entry.name for entry in OURS]
    most = max(len(mine) for mine in ran.values())
    for programs in dict.fromkeys(frozenset(mine) for mine in ran.values()):
        exactly = [who for who, mine in ran.items() if set(mine) == programs]
        if not programs:
            yield [Row(MEAN, who, "x", NOTE, TARGETS.get(who), skipped="none of the programs ran") for who in exactly]
            continue
        those = [*(who for who in ours if who not in exactly and programs <= set(ran.get(who, ()))), *exactly]
        part = f", the {len(programs)} that {' and '.join(exactly)} can run" if len(programs) < most else ""
        yield [_mean(f"{MEAN}{part}", who, [ran[who][name] for name in sorted(programs)]) for who in those]


def _mean(case: str, who: str, found: Sequence[Spread]) -> Row:
    mean = Spread(
        n=len(found),
        least=geometric_mean(one.least for one in found),
        p10=geometric_mean(one.p10 for one in found),
        median=geometric_mean(one.median for one in found),
        p90=geometric_mean(one.p90 for one in found),
    )
    return Row(case, who, "x", NOTE, TARGETS.get(who) if case == MEAN else None, mean)


CASES = tuple(
    Trial(
        name, "x", "the time of a whole run less that of 1+1, by what plain CPython takes for the same text",
        10, _ratio(Task("fresh", program, wanted)),
    )
    for name, (program, wanted) in PROGRAMS.items()
)  # fmt: skip
