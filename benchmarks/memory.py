"""What a live instance holds for itself: private memory, of the process and of those below it."""

from __future__ import annotations

from benchmarks.arms.tasks import Task
from benchmarks.contest import AtMost, Measure, Trial
from benchmarks.contestant import Contestant

HELD = 50

SMALL = """
rows = [{"number": number, "name": str(number)} for number in range(100)]
sum([row["number"] for row in rows])
"""


def _held(task: Task) -> Measure:
    def measure(who: Contestant, _reference: Contestant, rounds: int) -> list[float]:
        return who.samples(task, rounds)

    return measure


NOTE = f"what {HELD} of them add to the private pages in memory (smaps_rollup), by their number"
CASES = (
    Trial("idle instance", "MB", NOTE, 10, _held(Task("idle", count=HELD)), {"wasm": AtMost(0.6)}),
    Trial(
        "session after a small run", "MB", f"{NOTE}; each has made a list of 100 dicts",
        10, _held(Task("used", SMALL, 4950, count=HELD)), {"wasm": AtMost(1.2)},
    ),
)  # fmt: skip
