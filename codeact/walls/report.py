"""Verdicts for people and for machines."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime

from codeact.policy import Policy, page
from codeact.walls.model import Outcome, Verdict

MARKS: dict[Outcome, str] = {"holds": "holds", "broken": "BROKEN", "not applicable": "n/a"}


def line(verdict: Verdict) -> str:
    """One verdict on one line of a terminal."""
    mark = MARKS[verdict.outcome]
    return f"{verdict.number:>2}  {mark:<6}  {verdict.name}\n            {verdict.evidence}"


def summary(verdicts: Sequence[Verdict]) -> str:
    """How many of each."""
    counts = [
        f"{count} {MARKS[outcome]}"
        for outcome in MARKS
        if (count := sum(verdict.outcome == outcome for verdict in verdicts))
    ]
    return ", ".join(counts)


def document(policy: Policy, verdicts: Sequence[Verdict]) -> dict[str, object]:
    """All of it, ready for JSON."""
    return {
        "policy": policy.model_dump(mode="json"),
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        "look_twice": list(policy.weaknesses()),
        "holds": all(verdict.outcome != "broken" for verdict in verdicts),
        "walls": [asdict(verdict) for verdict in verdicts],
    }


_PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #222 }}
pre {{ background: #f5f5f2; padding: 1rem; overflow-x: auto; font-size: 13px }}
table {{ border-collapse: collapse; width: 100% }}
td, th {{ text-align: left; vertical-align: top; padding: .5rem; border-top: 1px solid #ddd }}
.holds {{ color: #17692f }} .broken {{ color: #b3121d; font-weight: bold }} .n-a {{ color: #666 }}
small {{ color: #555; display: block }}
</style>
<h1>{title}</h1>
<p>{summary} &middot; {time}</p>
<pre>{policy}</pre>
<table><tr><th>#</th><th>wall</th><th>verdict</th></tr>
{rows}
</table></html>
"""

_ROW = (
    '<tr><td>{number}</td><td>{name}<small>{evidence}</small></td><td class="{style}">{mark}<small>{seconds:.1f} s'
    "</small></td></tr>"
)


def page_of(policy: Policy, verdicts: Sequence[Verdict]) -> str:
    """One HTML file that needs no other."""
    rows = [
        _ROW.format(
            number=verdict.number,
            name=html.escape(verdict.name),
            evidence=html.escape(verdict.evidence),
            style={"holds": "holds", "broken": "broken"}.get(verdict.outcome, "n-a"),
            mark=MARKS[verdict.outcome],
            seconds=verdict.seconds,
        )
        for verdict in verdicts
    ]
    return _PAGE.format(
        title=html.escape(f"Walls of {policy.policy.name}"),
        summary=summary(verdicts),
        time=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        policy=html.escape(page(policy)),
        rows="\n".join(rows),
    )
