"""How numbers and times are told in a trace."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from codeact.outbox import Step

_MINUTE = 60.0


def span_of(seconds: float | None) -> str:
    """How long something took."""
    if seconds is None:
        return "not ended"
    if seconds < 1:
        return f"{seconds * 1000:,.{1 if seconds < 0.1 else 0}f} ms"  # noqa: PLR2004 - three digits
    return f"{seconds:,.1f} s" if seconds < _MINUTE else f"{seconds // _MINUTE:,.0f} min {seconds % _MINUTE:.0f} s"


def day_of(moment: float) -> str:
    """A moment, to the second."""
    try:
        return datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    except (ValueError, OverflowError, OSError):
        return f"{moment:g}"


def step_of(step: Step) -> str:
    """A step of an entry: `2026-11-30 12:00:00 UTC approved by ada: it is hers`."""
    who = "" if step.by is None else f" by {step.by}"
    why = "".join(f": {text}" for text in (step.reason, step.error) if text is not None)
    return f"{day_of(step.time)} {step.state}{who}{why}"


def many(count: int, thing: str) -> str:
    """So many things."""
    return f"{count:,} {thing}{'s' * (count != 1)}"


def ended_in(states: Iterable[tuple[str | None, int]]) -> str:
    """How many ended in which state: `3 ok, 1 refused`."""
    return ", ".join(f"{count:,} {state or 'not ended'}" for state, count in states)
