"""How long one waits for a run. Each is in a fresh world, unless it says otherwise, and its answer is checked."""

from __future__ import annotations

from benchmarks.arms.shop import DUPLICATES, PLAIN_PROGRAM
from benchmarks.arms.tasks import Task
from benchmarks.contest import AtMost, Trial
from benchmarks.contestant import Contestant
from benchmarks.tools import DUPLICATE_PROGRAM


def _whole(name: str, note: str, rounds: int, task: Task, **targets: float) -> Trial:
    def measure(who: Contestant, _reference: Contestant, rounds: int) -> list[float]:
        return who.samples(task, rounds, warmup=max(3, rounds // 10))

    return Trial(name, "ms", note, rounds, measure, {who: AtMost(bound) for who, bound in targets.items()})


CASES = (
    _whole(
        "1+1, five tools granted", "a whole run in a fresh world; what makes worlds is made once", 500,
        Task("fresh", tools="five"), wasm=1.3, restricted=0.08,
    ),
    _whole(
        "1+1 in a text that is new", "the same, followed by a comment that is another one each time", 500,
        Task("new", tools="five"), wasm=1.3, restricted=0.08,
    ),
    _whole(
        "1+1, from a world made ready", "the same, when there are worlds that were made ready (ready=4)", 200,
        Task("ready", tools="five"), wasm=0.8,
    ),
    _whole("1+1, no tools", "the same with none", 500, Task("fresh")),
    _whole(
        "one more turn in a session", "1+1 in a world that lives", 500,
        Task("turn", tools="five"), wasm=0.20, restricted=0.08,
    ),
    _whole(
        "one more turn in a text that is new", "the same, followed by a comment that is another one each time", 500,
        Task("new turn", tools="five"), wasm=0.20, restricted=0.08,
    ),
    _whole(
        "duplicates among 1,000 charges", "a whole run that finds the 100 among records, which come from one call", 50,
        Task("fresh", DUPLICATE_PROGRAM, DUPLICATES, "records"), wasm=5.0, restricted=1.5,
    ),
    _whole(
        "the same over plain dicts", "charges are dicts of str, int and float", 50,
        Task("fresh", PLAIN_PROGRAM, DUPLICATES, "plain"),
    ),
)  # fmt: skip
