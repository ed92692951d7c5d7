"""The note of a result: what the model should know of a run beside its value."""

from __future__ import annotations

from collections.abc import Sequence

from codeact.engines import Outcome
from codeact.files import File
from codeact.source import Reading
from wasm_runtime.guest.names import shortened
from wasm_runtime.guest.program import lines_of

NAMED = 20
"""Names that a note lists."""


def note_of(outcome: Outcome, reading: Reading) -> str | None:
    """The note of a run; None where there is nothing to say.

    Args:
        outcome: how it ended.
        reading: what was run, and how it was come by.
    """
    if outcome.fault is not None and outcome.fault.kind == "syntax":
        return None  # the error is about the text, and what was tried in vain is no news
    notes = [*reading.notes]
    if outcome.fault is None and outcome.unawaited:
        notes.append(_unawaited(outcome.unawaited))
    if outcome.fault is None and not outcome.finished:
        notes.append(_empty(outcome.bound, reading.text))
    return "; ".join(notes) or None


def withheld(files: tuple[File, ...], endings: tuple[str, ...] | None) -> str | None:
    """What to say of files that may not leave; None where there are none."""
    if not files:
        return None
    names = listed([file.path for file in files])
    return f"withheld: {names}; only {', '.join(endings or ()) or 'no'} files may leave (limit file_types)"


def listed(names: Sequence[str]) -> str:
    """Names, as many as one cares to read."""
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return f"{', '.join(map(shortened, names[:NAMED]))}{more}"


def _unawaited(calls: tuple[tuple[str, int], ...]) -> str:
    """What to say of calls that never happened."""
    name, line = calls[0]
    more = f" (and {len(calls) - 1} more like it)" if len(calls) > 1 else ""
    return f"tools.{name}(...) on line {line}{more} was never awaited, so it did not happen: write `await tools.{name}(...)`"


def _empty(names: tuple[str, ...], text: str) -> str:
    """What a program without a value has done."""
    if not names and all(line.lstrip()[:1] in {"", "#"} for line in lines_of(text)):
        return f"the program {'has only comments' if text.strip() else 'is empty'}, so nothing was run"
    bound = f"; it bound {listed(names)}" if names else ""
    return f"the program ended without a value{bound}. End with an expression, or return, to give one"
