"""What was measured, as a Markdown table and as JSON-ready data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict

from benchmarks.contest import Row
from benchmarks.contestant import ENGINES

_OURS = tuple(entry.name for entry in ENGINES)

HEAD = (
    "| case | who | median | min | p10 | p90 | n | target | of wasm | of restricted |",
    "| --- | --- | ---: | ---: | ---: | ---: | ---: | --- | ---: | ---: |",
)


def lines(rows: Sequence[Row]) -> Iterator[str]:
    """The rows of one case, each beside what codeact's own engines took."""
    ours = {row.who: row.spread.median for row in rows if row.who in _OURS and row.spread is not None}
    for row in rows:
        yield f"| {row.case} | {row.who} | {_told(row)} | {' | '.join(_ratio(row, ours.get(name)) for name in _OURS)} |"


def _told(row: Row) -> str:
    if row.spread is None:
        why = f"-: {row.skipped}" if row.failed is None else f"FAILED: {row.failed}"
        return f"{why.replace('|', '/')} | | | | | "
    found = row.spread
    numbers = " | ".join(_number(value) for value in (found.least, found.p10, found.p90))
    return f"**{_with(row, _number(found.median))}** | {numbers} | {found.n} | {verdict(row)}"


def verdict(row: Row) -> str:
    """Whether the median keeps the target."""
    if row.kept is None:
        return ""
    return f"{_with(row, str(row.target))}: {'kept' if row.kept else 'MISSED'}"


def _with(row: Row, number: str) -> str:
    return f"{number} {row.unit}".rstrip()


def _ratio(row: Row, ours: float | None) -> str:
    if row.spread is None or row.points or not ours:  # exponents have no ratio
        return ""
    return f"{_number(row.spread.median / ours)}x"


def facts(machine: Mapping[str, object]) -> str:
    """The machine, as a Markdown list."""
    return "\n".join(f"* {name}: {value}" for name, value in machine.items())


def notes(rows: Sequence[Row]) -> str:
    """What exactly was measured, as a Markdown list."""
    told = dict.fromkeys(f"* {row.case}: {row.note}." for row in rows)
    return "\n".join(told)


def document(machine: Mapping[str, object], suites: Mapping[str, Sequence[Row]]) -> dict[str, object]:
    """Everything, for a file that is compared with the next one."""
    return {"machine": dict(machine), "suites": {name: [_data(row) for row in rows] for name, rows in suites.items()}}


def _data(row: Row) -> dict[str, object]:
    return {
        "case": row.case,
        "who": row.who,
        "unit": row.unit,
        "note": row.note,
        "target": None if row.target is None else str(row.target),
        "kept": row.kept,
        "spread": None if row.spread is None else asdict(row.spread),
        "skipped": row.skipped,
        "failed": row.failed,
        "points": [list(point) for point in row.points],
    }


def _number(value: float) -> str:
    return f"{value:.3g}" if abs(value) < 100 else f"{value:,.0f}"
