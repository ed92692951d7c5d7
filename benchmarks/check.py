"""A guard against getting slower: what is counted, and ratios measured in the same run, against a committed baseline.

Fuel on `wasm` is a count of instructions, the same on every machine and however busy it is. Times are the least of
many, by the least that plain CPython took in the same minute, so that a faster machine changes nothing; they still
want an idle one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Literal

from benchmarks.arms import WrongAnswerError
from benchmarks.arms.ours import LIMITS
from benchmarks.arms.shop import DUPLICATES
from benchmarks.arms.tasks import Task
from benchmarks.calls import GATHER, LOOP
from benchmarks.contest import BLOCKS, Field
from benchmarks.contestant import ENGINES, Contestant
from benchmarks.programs import PROGRAMS
from benchmarks.tools import DUPLICATE_PROGRAM, TOOLS
from codeact import Sandbox

COUNTED = 0.02
TIMED = 0.5
"""Shares by which a count and a ratio may differ from the baseline."""

COUNTS = "fuel: "
"""What the names of counts begin with."""

TASKS: Mapping[str, tuple[Task, int]] = {
    "1+1": (Task("fresh", tools="five"), 40),
    "one more turn in a session": (Task("turn", tools="five"), 40),
    "1,000 calls": (LOOP, 2),
    "100 async calls": (GATHER, 5),
    "duplicates among 1,000 charges": (Task("fresh", DUPLICATE_PROGRAM, DUPLICATES, "records"), 5),
}
"""What is timed, and the rounds of a block."""

COMPUTING: Mapping[str, Task] = {name: Task("fresh", program, wanted) for name, (program, wanted) in PROGRAMS.items()}
CALIBRATION = COMPUTING["fib"]
"""What times are ratios of, where plain CPython does not run the same program."""


@dataclass(frozen=True, slots=True)
class Figure:
    """What was measured.

    Attributes:
        value: the count, or the ratio; less is better.
        tolerance: the share by which it may differ.
    """

    value: float
    tolerance: float


Verdict = Literal["as before", "better", "WORSE", "new", "NOT MEASURED"]


@dataclass(frozen=True, slots=True)
class Finding:
    """A figure beside what it was.

    Attributes:
        name: what was measured.
        before: what the baseline says; None where it says nothing.
        now: what was measured; None where nothing was.
        verdict: how the two compare.
    """

    name: str
    before: float | None
    now: float | None
    verdict: Verdict

    @property
    def bad(self) -> bool:
        """Whether the guard has found something."""
        return self.verdict in {"WORSE", "NOT MEASURED"}


def compare(baseline: Mapping[str, Figure], found: Mapping[str, Figure]) -> list[Finding]:
    """Compare with the baseline, whose tolerances count; the worst first."""
    findings = [
        Finding(name, before.value, now.value, _verdict(before, now.value))
        if (now := found.get(name))
        else Finding(name, before.value, None, "NOT MEASURED")
        for name, before in baseline.items()
    ]
    findings += [Finding(name, None, now.value, "new") for name, now in found.items() if name not in baseline]
    return sorted(findings, key=lambda finding: not finding.bad)


def _verdict(before: Figure, now: float) -> Verdict:
    if now > before.value * (1 + before.tolerance):
        return "WORSE"
    return "better" if now < before.value * (1 - before.tolerance) else "as before"


def counted() -> Iterator[tuple[str, Figure]]:
    """The fuel on `wasm` of starts, calls and computing."""
    sandbox = Sandbox(TOOLS, engine="wasm", limits=LIMITS)
    programs = {
        "1+1": ("1+1", 2),
        "1,000 calls": (LOOP.program, LOOP.wanted),
        "duplicates among 1,000 charges": (DUPLICATE_PROGRAM, DUPLICATES),
        **PROGRAMS,
    }
    for name, (program, wanted) in programs.items():
        result = sandbox.run(program)
        if result.value != wanted:
            raise WrongAnswerError(result.observation())
        yield f"{COUNTS}{name}", Figure(result.usage.fuel, COUNTED)


def timed() -> Iterator[tuple[str, Figure]]:
    """The times of both engines, by those of plain CPython."""
    with Field() as field:
        for name, (task, rounds) in TASKS.items():
            for who, ratio in _ratios(field, task, CALIBRATION, rounds).items():
                yield f"time: {name}, {who}", Figure(ratio, TIMED)
        for name, task in COMPUTING.items():
            for who, ratio in _ratios(field, task, task, 1).items():
                yield f"time: {name}, {who}", Figure(ratio, TIMED)


def _ratios(field: Field, task: Task, reference: Task, rounds: int) -> dict[str, float]:
    least: dict[str, float] = {}

    def take(who: Contestant, task: Task, rounds: int) -> None:
        found = min(who.samples(task, rounds, warmup=1))
        least[who.name] = min(found, least.get(who.name, found))

    for _ in range(BLOCKS):
        take(field.reference, reference, 1)
        for one in field.of(tuple(entry.name for entry in ENGINES)):
            take(one, task, rounds)
    plain = least.pop(field.reference.name)
    return {name: seconds / plain for name, seconds in least.items()}


def table(findings: Sequence[Finding]) -> Iterator[str]:
    """The findings as a Markdown table."""
    yield "| what | baseline | now | of it | |"
    yield "| --- | ---: | ---: | ---: | --- |"
    for finding in findings:
        share = f"{finding.now / finding.before:.3f}" if finding.now and finding.before else ""
        yield f"| {finding.name} | {_told(finding.before)} | {_told(finding.now)} | {share} | {finding.verdict} |"


def _told(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:,.0f}" if value >= 1000 else f"{value:.4g}"


def document(figures: Mapping[str, Figure]) -> dict[str, object]:
    """The figures, ready for JSON."""
    return {name: asdict(figure) for name, figure in figures.items()}


def figures(document: Mapping[str, Mapping[str, float]]) -> dict[str, Figure]:
    """The figures of a baseline's JSON."""
    return {name: Figure(**figure) for name, figure in document.items()}
