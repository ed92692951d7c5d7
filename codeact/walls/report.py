"""Verdicts for people and for machines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime

from codeact import pages
from codeact.pages import BREAK, Html, element
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


def page_of(policy: Policy, verdicts: Sequence[Verdict]) -> str:
    """One HTML file that needs no other."""
    title = f"Walls of {policy.policy.name}"
    heads = element("tr", *(element("th", name, scope="col") for name in ("#", "wall", "verdict")))
    when = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    return pages.page(
        title,
        element("h1", title),
        element("p", f"{summary(verdicts)} · {when}"),
        element("pre", page(policy), tabindex=0, role="group", aria_label="The policy"),
        element("table", heads, *map(_row, verdicts)),
    )


_STYLES: dict[Outcome, str] = {"holds": "good", "broken": "bad", "not applicable": "faint"}


def _row(verdict: Verdict) -> Html:
    took = element("small", f"{verdict.seconds:.1f} s")
    return element(
        "tr",
        element("td", f"{verdict.number}"),
        element("td", verdict.name, BREAK, element("small", verdict.evidence)),
        element("td", MARKS[verdict.outcome], BREAK, took, class_=_STYLES[verdict.outcome]),
    )
