"""Characters that are not Python's: escapes where none belong, what cannot be seen, typographic quotes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from codeact.source.rewriting import Change, Edit
from codeact.source.scanner import (
    DOUBLE,
    INVISIBLE,
    ONE_LINE,
    PYTHON,
    SEPARATOR,
    SINGLE,
    SPACE,
    TYPESET,
    Dialect,
    Kind,
    Mark,
    scan,
)

_ESCAPE = re.compile(r"\\([nrt\"'\\/])")
_FENCED = re.compile(r"(?:```|~~~)[^`~\\]*+\\n")
_QUOTE = re.compile(r"(?<!\\)\\++[\"']")
_ODD = re.compile(f"[{SPACE}{SEPARATOR}{INVISIBLE}]")
_TYPOGRAPHIC = re.compile(f"[{SINGLE}{DOUBLE}]")
_MEANT = {"n": "\n", "r": "\r", "t": "\t"}
_NAMED = 3
"""Characters that a note names."""


def unescape_line(text: str) -> Iterator[Change | None]:
    """Take off one level of escaping where the whole text is one line."""
    marks = _escapes(text, ONE_LINE) if _is_line(text) else []
    # What stands around a fence is no code, and an apostrophe there begins no string.
    if not (marks or (_is_line(text) and _FENCED.search(text))):
        yield None
        return
    whole = (Edit(found.start(), found.end(), _MEANT.get(found[1], found[1])) for found in _ESCAPE.finditer(text))
    yield Change(tuple(whole), "one level of escaping taken off")
    if any(text.startswith(r"\n", mark.start) for mark in marks):
        yield _broken(text, marks)


def unescape(text: str) -> Iterator[Change | None]:
    """Take off one level of escaping: of everything in a single line, else of line breaks or quotes in the code."""
    if _is_line(text):
        yield from unescape_line(text)
        return
    marks = _escapes(text, PYTHON)
    escaped = {text[mark.end - 1] for mark in marks}
    if "n" in escaped:
        yield _broken(text, marks)
    if not escaped.isdisjoint("\"'"):
        halved = (
            Edit(found.start(), found.end() - 1, "\\" * ((found.end() - found.start() - 1) // 2))
            for found in _QUOTE.finditer(text)
        )
        yield Change(tuple(halved), "escaped quotes read as quotes", _spans(marks))
    if escaped.isdisjoint("n\"'"):
        yield None


def _escapes(text: str, dialect: Dialect) -> list[Mark]:
    """The escapes in the code."""
    marks = (mark for mark in scan(text, 0, dialect) if mark.kind == "escape") if "\\" in text else ()
    return [mark for mark in marks if text[mark.end - 1] in "nrt\"'"]


def _broken(text: str, escapes: Iterable[Mark]) -> Change:
    """What makes white space of escapes in the code, and leaves strings as they are."""
    edits = (Edit(mark.start, mark.end, _MEANT[text[mark.end - 1]]) for mark in escapes if text[mark.end - 1] in _MEANT)
    return Change(tuple(edits), r"\n outside strings read as a line break", _spans(escapes))


def uncover(text: str) -> Iterator[Change | None]:
    """Read unusual spaces as spaces and line breaks, and leave out what cannot be seen, outside strings."""
    marks = _marks(text, _ODD, {"space", "invisible", "separator"})
    if not marks:
        yield None
        return
    texts = {"space": " ", "invisible": "", "separator": "\n"}
    edits = []
    for mark in marks:
        put = texts[mark.kind]
        edits.append(Edit(mark.start, mark.end, put * (mark.end - mark.start)))
    notes = [
        f"{names} {what}"
        for kind, what in (("space", "read as space"), ("separator", "read as line break"), ("invisible", "left out"))
        if (names := _names(text, (mark for mark in marks if mark.kind == kind)))
    ]
    yield Change(tuple(edits), "; ".join(notes), _spans(marks))


def unquote(text: str) -> Iterator[Change | None]:
    """Make plain quotes of typographic ones that begin or end a string."""
    mixed = _quotes(text, PYTHON)
    if mixed is None:
        yield None
        return
    yield mixed
    typeset = _quotes(text, TYPESET)
    if typeset is not None and typeset.edits != mixed.edits:
        yield typeset


def _quotes(text: str, dialect: Dialect) -> Change | None:
    marks = _marks(text, _TYPOGRAPHIC, {"smart", "plain"}, dialect)
    edits = []
    for mark in marks:
        if mark.kind == "plain":
            edits.append(Edit(mark.start, mark.start, "\\"))
        else:
            quote = "'" if text[mark.start] in SINGLE + "'" else '"'
            edits.append(Edit(mark.start, mark.end, quote * (mark.end - mark.start)))
    return Change(tuple(edits), "typographic quotes read as plain ones", _spans(marks)) if edits else None


def _marks(text: str, needed: re.Pattern[str], kinds: set[Kind], dialect: Dialect = PYTHON) -> list[Mark]:
    """The marks of these kinds, where there can be any."""
    return [mark for mark in scan(text, 0, dialect) if mark.kind in kinds] if needed.search(text) else []


def _is_line(text: str) -> bool:
    """Whether all the text there is stands on one line."""
    bare = text.strip()
    return "\n" not in bare and "\r" not in bare


def _spans(marks: Iterable[Mark]) -> tuple[tuple[int, int], ...]:
    return tuple((mark.start, mark.end) for mark in marks)


def _names(text: str, marks: Iterable[Mark]) -> str:
    found = dict.fromkeys(character for mark in marks for character in text[mark.start : mark.end])
    names = [f"U+{ord(character):04X}" for character in found]
    return ", ".join(names[:_NAMED]) + " …" * (len(names) > _NAMED)
