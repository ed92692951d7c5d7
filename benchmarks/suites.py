"""The suites, by name: what each measures, and how its rows come out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from benchmarks import calls, catalogues, cpu, growth, latency, memory, records, starts, throughput
from benchmarks.contest import Case, Field, Row


def _nothing(_rows: Sequence[Row]) -> Iterator[list[Row]]:
    return iter(())


@dataclass(frozen=True, slots=True)
class Suite:
    """Cases that belong together.

    Attributes:
        about: what they measure.
        cases: the cases.
        summary: rows that follow from all others, in groups as those of a case.
    """

    about: str
    cases: tuple[Case, ...]
    summary: Callable[[Sequence[Row]], Iterator[list[Row]]] = _nothing

    def rows(self, field: Field, *, only: str, quick: bool) -> Iterator[list[Row]]:
        """Measure the cases with a text in their name, and give the rows of each as they come."""
        seen: list[Row] = []
        for case in self.chosen(only):
            rows = case.rows(field, quick=quick)
            seen += rows
            yield rows
        yield from self.summary(seen)

    def chosen(self, only: str) -> list[Case]:
        """The cases with a text in their name."""
        return [case for case in self.cases if only in case.name]


SUITES: Mapping[str, Suite] = {
    "latency": Suite("how long one waits for a run and for a start", (*latency.CASES, *starts.CASES)),
    "calls": Suite("what a tool call costs above the tool's own time", calls.CASES),
    "cpu": Suite("how fast programs compute, against plain CPython", cpu.CASES, cpu.summary),
    "memory": Suite("what a live instance holds for itself", memory.CASES),
    "throughput": Suite("how many fresh runs there are in a second", throughput.CASES, throughput.summary),
    "records": Suite("what it costs to keep records of runs and consequences", records.CASES),
    "catalogues": Suite("what many tools cost, and finding one among them", catalogues.CASES),
    "growth": Suite("how cost grows with size, on each engine: the exponent of each curve", growth.CASES),
}
