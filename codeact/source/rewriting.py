"""Changes to a text that know where everything came from."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple


class Edit(NamedTuple):
    """One piece of a text, replaced."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Change:
    """What a repair would do.

    Attributes:
        edits: in order, and apart from each other.
        note: what the model is told, in a few words.
        spans: the parts of the text that the note is about; their lines are named after it.
        more: what is said after these.
    """

    edits: tuple[Edit, ...]
    note: str
    spans: tuple[tuple[int, int], ...] = ()
    more: str = ""


class Rewriting:
    """A text after edits."""

    __slots__ = ("_edits", "_starts", "text")

    def __init__(self, text: str, edits: tuple[Edit, ...]) -> None:
        self._edits = edits
        parts: list[str] = []
        position = 0
        for edit in edits:
            parts += text[position : edit.start], edit.text
            position = edit.end
        parts.append(text[position:])
        self.text = "".join(parts)
        # Kept and new pieces take turns; these are where the new ones start.
        self._starts = [*accumulate(map(len, parts), initial=0)][1:-1:2]

    def origin(self, position: int) -> int:
        """Where in the text before the edits a place in the text after them comes from."""
        index = bisect_right(self._starts, position) - 1
        if index < 0:
            return position
        edit, beyond = self._edits[index], position - self._starts[index]
        if beyond < len(edit.text):
            return min(edit.start + beyond, edit.end)
        return edit.end + beyond - len(edit.text)
