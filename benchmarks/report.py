"""What was measured, as a Markdown table and as JSON-ready data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict

from benchmarks.latency import Row

HEAD = (
    "| case | engine | median | min | p10 | p90 | n | target |",
    "| --- | --- | ---: | ---: | ---: | ---: | ---: | --- |",
)


def line(row: Row) -> str:
    """One row of the table."""
    case = row.case
    name = f"| {case.name} | {case.engine or ''} |"
    if row.spread is None:
        why = f"skipped: {row.skipped}" if row.failed is None else f"FAILED: {row.failed}"
        return f"{name} {why.replace('|', '/')} | | | | | |"
    found = row.spread
    numbers = " | ".join(_number(value) for value in (found.least, found.p10, found.p90))
    return f"{name} **{_number(found.median)} {case.unit}** | {numbers} | {found.n} | {verdict(row)} |"


def verdict(row: Row) -> str:
    """Whether the median keeps the target."""
    if row.case.target is None or row.spread is None:
        return ""
    kept = "kept" if row.spread.median <= row.case.target else "MISSED"
    return f"<= {row.case.target:g} {row.case.unit}: {kept}"


def facts(machine: Mapping[str, object]) -> str:
    """The machine, as a Markdown list."""
    return "\n".join(f"* {name}: {value}" for name, value in machine.items())


def notes(rows: Sequence[Row]) -> str:
    """What exactly was measured, as a Markdown list."""
    told = dict.fromkeys(f"* {row.case.name}: {row.case.note}." for row in rows)
    return "\n".join(told)


def document(machine: Mapping[str, object], rows: Sequence[Row]) -> dict[str, object]:
    """Everything, for a file that is compared with the next one."""
    return {"machine": dict(machine), "cases": [_data(row) for row in rows]}


def _data(row: Row) -> dict[str, object]:
    case = row.case
    return {
        "name": case.name,
        "engine": case.engine,
        "unit": case.unit,
        "target": case.target,
        "note": case.note,
        "spread": None if row.spread is None else asdict(row.spread),
        "skipped": row.skipped,
        "failed": row.failed,
    }


def _number(value: float) -> str:
    return f"{value:.3g}" if abs(value) < 100 else f"{value:,.0f}"
