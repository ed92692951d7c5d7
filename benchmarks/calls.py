"""What a call costs above the time of the tool itself, which is the time of the same program in plain CPython."""

from __future__ import annotations

from statistics import median

from benchmarks.arms.tasks import Task
from benchmarks.contest import AtMost, Measure, Trial
from benchmarks.contestant import Contestant

CALLS = 1000
GATHERED = 100

LOOP = Task(
    "fresh",
    f"""
number = 0
for _ in range({CALLS}):
    number = tools.increment(number)
number
""",
    CALLS,
    "five",
)

GATHER = Task(
    "fresh",
    f"""
import asyncio
sum(await asyncio.gather(*[tools.later(number) for number in range({GATHERED})]))
""",
    sum(range(1, GATHERED + 1)),
    "later",
)

EMPTY = Task("fresh", "1+1", 2, "later")


def _above(task: Task, count: int) -> Measure:
    def measure(who: Contestant, reference: Contestant, rounds: int) -> list[float]:
        own = median(reference.samples(task, rounds, warmup=1))
        return [(sample - own) / count for sample in who.samples(task, rounds, warmup=1)]

    return measure


def _alone(who: Contestant, reference: Contestant, rounds: int) -> list[float]:
    without = median(who.samples(EMPTY, 2 * rounds, warmup=1))
    return [sample - without for sample in _above(GATHER, 1)(who, reference, rounds)]


CASES = (
    Trial(
        "one tool call", "µs", f"a whole run of a loop of {CALLS:,} calls, less the tool's own time, by their number",
        30, _above(LOOP, CALLS), {"wasm": AtMost(20), "restricted": AtMost(3)},
    ),
    Trial(
        f"{GATHERED} async calls gathered", "ms", "a whole run in a fresh world, less the tools' own time",
        50, _above(GATHER, 1), {"wasm": AtMost(1.5), "restricted": AtMost(1)},
    ),
    Trial(
        f"{GATHERED} async calls gathered, without the run", "ms", "the same, less a run of 1+1",
        50, _alone,
    ),
)  # fmt: skip
