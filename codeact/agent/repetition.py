"""Programs that fail again as they failed before."""

from __future__ import annotations

from collections import Counter

from codeact.messages import Asked
from codeact.result import Result

SAME = (
    "this is the same program with the same error as before, and it would fail again: do it another way,"
    " or answer with what you know"
)
"""What the model is told."""


class Repetition:
    """Counts the programs of one task that fail, by what is the same about them."""

    def __init__(self) -> None:
        self._seen: Counter[tuple[object, ...]] = Counter()

    def count(self, asked: Asked, result: Result | None) -> int:
        """How often this program has failed in this way, this time included; 0 where it did not fail."""
        if result is not None and result.ok:
            return 0
        error = result.error if result is not None else None
        how = (error.type, error.message, (error.source_line or "").strip()) if error else asked.unreadable
        key = (normal(asked.code or ""), how)
        self._seen[key] += 1
        return self._seen[key]


def normal(code: str) -> str:
    """A program's text without what makes no difference: blank lines, comments on their own, blanks at line ends."""
    lines = (line.rstrip() for line in code.splitlines())
    return "\n".join(line for line in lines if line and not line.lstrip().startswith("#"))
