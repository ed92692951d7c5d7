"""Where the lines of a program start: blocks that are indented as a whole, tabs among spaces.

Lines that start inside a string are left alone: what looks like indentation there is the string's.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise

from codeact.source.rewriting import Change, Edit
from codeact.source.scanner import Mark, scan

_INDENT = re.compile(r"(?:[ \t]*+\f)*+([ \t]*+)")

_TABS = (8, 4, 2)
"""Columns that a tab may stand for."""


@dataclass(slots=True)
class _Line:
    """A line of code.

    Attributes:
        start: where its indentation starts.
        indent: its indentation.
        statement: whether a statement starts here, and not a comment or the rest of a statement.
        opens: whether the statement ends in a colon, and so opens a block.
    """

    start: int
    indent: str
    statement: bool
    opens: bool = False

    def without(self, indentation: str) -> Edit:
        """The edit that takes an indentation off, or as much of it as there is."""
        return Edit(self.start, self.start + len(_shared([indentation, self.indent])), "")


def unindented(text: str, start: int, end: int, most: int) -> tuple[Edit, ...]:
    """What takes the indentation that all statements of a part share off its lines, or so many characters of it."""
    lines = [*_lines(text, start, end)]
    return _without(lines, _shared([line.indent for line in lines if line.statement])[:most])


def unindent(text: str) -> Iterator[Change | None]:
    """Take off the indentation that all statements share; or that all share but the first, which lost its own."""
    if not _is_shifted(text):
        yield None
        return
    lines = [*_lines(text, 0, len(text))]
    indents = [line.indent for line in lines if line.statement]
    first, shared, rest = indents[0], _shared(indents), _shared(indents[1:])
    if not first:
        yield None  # which may be as it should be
    if shared:
        yield Change(_without(lines, shared), f"indentation of {_shown(shared)} taken off")
    if first != rest and _is_apart([line for line in lines if line.statement], rest):
        head = next(index for index, line in enumerate(lines) if line.statement) + 1
        edits = _without(lines[:head], first) + _without(lines[head:], rest)
        what = f"all lines but the first, {_shown(rest)}" if rest else f"the first line, {_shown(first)}"
        yield Change(edits, f"indentation taken off {what}")


def untab(text: str) -> Iterator[Change | None]:
    """Make spaces of tabs where both indent, if there is only one way to understand them."""
    yield None
    if "\t" not in text:
        return
    lines = [*_lines(text, 0, len(text))]
    statements = [line for line in lines if line.statement]
    used = {character for line in statements for character in line.indent}
    if used != {" ", "\t"} or _is_shown_width(statements):
        return
    levels = {width: _levels(statements, width) for width in _TABS}
    sound = {width: found for width, found in levels.items() if found}
    if sound and all(found == next(iter(sound.values())) for found in sound.values()):
        width = next(iter(sound))
        edits = tuple(
            Edit(line.start, line.start + len(line.indent), line.indent.expandtabs(width))
            for line in lines
            if "\t" in line.indent
        )
        yield Change(edits, f"tabs read as {width} columns", tuple((edit.start, edit.end) for edit in edits))


def _is_shown_width(statements: Iterable[_Line]) -> bool:
    """Whether spaces only ever stand where an editor shows a tab: then nothing but that editor says they are alike."""
    return min(
        (len(line.indent) for line in statements if line.indent.strip(" ") == "" != line.indent), default=0
    ) >= max(_TABS)


def _is_shifted(text: str) -> bool:
    """Whether the first statement is indented, or all others are."""
    statements = (line for line in _lines(text, 0, len(text)) if line.statement)
    first = next(statements, None)
    if first is None or first.indent:
        return first is not None
    second = next(statements, None)
    return second is not None and second.indent != "" and all(line.indent for line in statements)


def _is_apart(statements: Sequence[_Line], rest: str) -> bool:
    """Whether the first statement has an indentation of its own, and the others that share `rest` do not belong to it.

    If it opens a block, another one that opens one as deep must say so: else a line of its block may be at fault.
    """
    first, *others = statements
    return not first.opens or any(
        line.opens and line.indent == rest != inner.indent == others[0].indent for line, inner in pairwise(others)
    )


def _lines(text: str, start: int, end: int) -> Iterator[_Line]:
    """The lines of code that are not blank; whether one opens a block is known when the next one is given."""
    statement: _Line | None = None
    comment = end
    goes_on = False
    for mark in chain(scan(text, start), [Mark("line", end, end)]):
        if mark.kind == "comment":
            comment = min(comment, mark.start)
        elif mark.kind in {"line", "inner"}:
            stop = min(mark.start, end)
            code = text[start : min(comment, stop)].strip()
            if code or comment < stop:
                indent = _indent(text, start)
                line = _Line(indent.start(1), indent[1], statement=bool(code) and not goes_on)
                statement = line if line.statement else statement
                if statement is not None and code:
                    statement.opens = code.endswith(":")
                yield line
            if mark.start >= end:
                break
            start, comment, goes_on = mark.end, end, mark.kind == "inner"


def _indent(text: str, start: int) -> re.Match[str]:
    found = _INDENT.match(text, start)
    assert found is not None  # noqa: S101 - it matches nothing, too
    return found


def _shared(indents: Sequence[str]) -> str:
    """What all of them begin with."""
    first, last = min(indents, default=""), max(indents, default="")
    return first[: next((index for index, sign in enumerate(first) if last[index] != sign), len(first))]


def _without(lines: Iterable[_Line], indentation: str) -> tuple[Edit, ...]:
    return tuple(line.without(indentation) for line in lines if indentation and line.indent)


def _levels(statements: Sequence[_Line], width: int) -> list[int] | None:
    """How deep each statement is when tabs are so wide; None if they do not fit together then."""
    columns: list[int] = []  # of the blocks that are open
    levels: list[int] = []
    opened = True
    for index, line in enumerate(statements):
        column = len(line.indent.expandtabs(width))
        deeper = not columns or column > columns[-1]
        # The second may be deeper than the first without cause: because the first has lost its indentation.
        if deeper != opened and (opened or index != 1):
            return None
        if deeper:
            columns.append(column)
        while columns and column < columns[-1]:
            columns.pop()
        if not columns or column != columns[-1]:
            return None
        levels.append(len(columns))
        opened = line.opens
    return levels


def _shown(indentation: str) -> str:
    counts = {"tab": indentation.count("\t"), "space": indentation.count(" ")}
    return " and ".join(f"{count} {name}{'s' * (count > 1)}" for name, count in counts.items() if count)
