"""From what a model wrote to a program: the ways to read a text that does not parse as it stands.

What models write comes wrapped in markdown, indented, escaped, or dressed up by an editor. The text as it is comes
first, and whoever runs it asks for another reading only when that one was no Python: so a text that parses means
what it says, and costs nothing here. Nothing here judges a reading: the parser that is to run it does.

A reading keeps every line where it is, with blank lines in the place of what it leaves out; where it cannot, it
knows which part of the model's text each of its lines is.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import NamedTuple

from codeact.engines import Fault, Frame, Outcome
from codeact.source.rewriting import Change, Rewriting

MOST = 8
"""Readings of one text beside the text itself."""

NAMED = 3
"""Ranges of lines that a note names."""

Repair = Callable[[str], Iterator[Change | None]]
"""Gives what may be done to a text, the likeliest first; None is to leave it as it is."""

_BREAK = re.compile(r"\r\n|\r|\n")
_ONE_COMMENT = re.compile(r"\s*+#(?:[^\r\n\\]|\\(?!n))*+\\n[^\r\n]*+\s*+\Z")


class Line(NamedTuple):
    """A line of what a model wrote.

    Attributes:
        number: from 1.
        text: the line, or the part of it that is one line of the program.
        column: a place in `text`, from 1.
    """

    number: int
    text: str
    column: int


@dataclass(frozen=True, slots=True)
class Reading:
    """One way to read what a model wrote.

    Attributes:
        written: what the model wrote.
        text: what it is read as.
        notes: what was done to it, in a few words each; none for the text as it is.
    """

    written: str
    text: str
    notes: tuple[str, ...] = ()
    _rewritings: tuple[Rewriting, ...] = ()

    @property
    def keeps_lines(self) -> bool:
        """Whether every line has the number that it has in what the model wrote."""
        return not self._rewritings or len(_starts(self.text)) == len(_starts(self.written))

    def line(self, number: int, column: int = 1) -> Line:
        """What the model wrote where `text` has this line and column; without text where there is no such line."""
        starts = _starts(self.text)
        if not 0 < number < len(starts):
            return Line(number, "", column)
        start = starts[number - 1]
        text = _unbroken(self.text[start : starts[number]])
        if not self._rewritings:
            return Line(number, text, column)
        end = start + len(text)
        written = _starts(self.written)
        at = self._origin(start + min(column - 1, len(text)))
        if len(written) == len(starts):
            left, right = written[number - 1], written[number]
        else:
            # Of a line that holds several of the program's, only the part that is this one is shown.
            number = _number(written, self._origin(start))
            left = max(self._origin(start), written[number - 1])
            right = min(self._origin(end), written[number])
        return Line(number, _unbroken(self.written[left:right]), max(at - left, 0) + 1)

    def changed(self, change: Change) -> Reading:
        """This reading after one more repair."""
        rewriting = Rewriting(self.text, change.edits)
        note = change.note + self._lines(change.spans) + change.more
        return replace(self, text=rewriting.text, notes=(*self.notes, note), _rewritings=(*self._rewritings, rewriting))

    def _origin(self, position: int) -> int:
        for rewriting in reversed(self._rewritings):
            position = rewriting.origin(position)
        return position

    def _lines(self, spans: Sequence[tuple[int, int]]) -> str:
        """The lines of these parts of the text, for a note."""
        starts = _starts(self.written)
        ranges: list[list[int]] = []
        for span in spans:
            first, last = (_number(starts, self._origin(edge)) for edge in (span[0], max(span[0], span[1] - 1)))
            if ranges and first <= ranges[-1][1] + 1:
                ranges[-1][1] = max(last, ranges[-1][1])
            else:
                ranges.append([first, last])
        if not ranges:
            return ""
        shown = [f"{first}" if first == last else f"{first}-{last}" for first, last in ranges[:NAMED]]
        several = len(ranges) > 1 or "-" in shown[0]
        return f" (line{'s' * several} {', '.join(shown)}{' …' * (len(ranges) > NAMED)})"


def readings(text: str) -> Iterator[Reading]:
    """The ways to read a text, the likeliest first, which is the text as it is; at most MOST more.

    Each of the others is made only when it is asked for, in time that grows with the length of the text.
    """
    as_it_is = Reading(text, text)
    yield as_it_is
    yield from islice(_repaired(as_it_is, _repairs()), MOST)


def unfit(text: str, limit: int) -> Fault | None:
    """Why a text cannot be read at all: it is longer than so many bytes, or holds what no source can."""
    try:
        size = len(text.encode())
    except UnicodeEncodeError as error:
        return _misplaced(text, error.start, f"half a character (the lone surrogate U+{ord(text[error.start]):04X})")
    if size > limit:
        return Fault("syntax", "ValueError", f"code: {size:,} bytes are more than the limit source={limit:,}")
    return _misplaced(text, text.index("\0"), "NUL bytes") if "\0" in text else None


def _misplaced(text: str, position: int, what: str) -> Fault:
    starts = _starts(text)
    line = _number(starts, position)
    hint = f"leave it out, or write it as an escape in a string: {ascii(text[position])[1:-1]}"
    message, frames = f"code: source text cannot hold {what}", (Frame(line, "<module>"),)
    return Fault("syntax", "SyntaxError", message, frames, position - starts[line - 1] + 1, hint)


def is_unread(text: str, outcome: Outcome) -> bool:
    """Whether a text was run as what it is not: nothing of it can have been done."""
    fault = outcome.fault
    if fault is None:
        # With its line breaks escaped, a program that begins with a comment is nothing but that comment.
        return not (outcome.finished or outcome.bound) and _ONE_COMMENT.match(text) is not None
    if fault.type == "NameError" and len(fault.frames) == 1:
        # The line that says `python`, all that is left of a fence, is an expression, and the first thing to fail.
        from codeact.source.wrappings import NAMED_FIRST  # noqa: PLC0415 - see `_repairs`

        named = NAMED_FIRST.match(text)
        return named is not None and fault.frames[0].line == len(_starts(named.group())) - 1
    return fault.kind == "syntax"


def _repaired(reading: Reading, repairs: Sequence[Repair]) -> Iterator[Reading]:
    """What becomes of a reading when each repair does what it can, in each way that it can."""
    if not repairs:
        if reading.notes and reading.text.strip():
            yield reading
        return
    for change in repairs[0](reading.text):
        yield from _repaired(reading if change is None else reading.changed(change), repairs[1:])


def _repairs() -> tuple[Repair, ...]:
    """All repairs, from the outside in."""
    # Imported when the first text needs one: most runs do not.
    from codeact.source import characters, layout, wrappings  # noqa: PLC0415

    return (
        characters.unescape_line,
        wrappings.unfence,
        characters.unescape,
        wrappings.unname,
        wrappings.unprompt,
        characters.uncover,
        characters.unquote,
        layout.untab,
        layout.unindent,
    )


def _starts(text: str) -> list[int]:
    """Where the lines of a text start, and where it ends."""
    return [0, *(found.end() for found in _BREAK.finditer(text)), len(text)]


def _number(starts: Sequence[int], position: int) -> int:
    """The number of the line that a place in a text is on."""
    return min(bisect_right(starts, position), len(starts) - 1)


def _unbroken(line: str) -> str:
    return line.rstrip("\r\n")
