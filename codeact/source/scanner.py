"""What is code in a text and what is inside its strings, told of any text: nothing here needs it to be right.

A string that does not end on its line is given up at the end of that line, a bracket that never closes is open to
the end, and typographic or escaped quotes are quotes. Every character is looked at once, whatever the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Literal, NamedTuple, cast

DOUBLE = "\u201c\u201d\u201e\u201f\uff02"
SINGLE = "\u2018\u2019\u201a\u201b\uff07"
"""Typographic quotes."""

SPACE = "\v\xa0\u1680\u2000-\u200a\u202f\u205f\u3000"
SEPARATOR = "\x85\u2028\u2029"
INVISIBLE = (
    "\x01-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\xad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f"
    "\ufeff\ufff9-\ufffb\U000e0001\U000e0020-\U000e007f"
)

_BREAK = r"\r\n|\r|\n"

Kind = Literal["line", "inner", "comment", "escape", "fence", "space", "invisible", "separator", "smart", "plain"]


class Mark(NamedTuple):
    """A place in a text. None but `smart` and `plain` is inside a string, or at its edge.

    Attributes:
        kind: `line` and `inner` are line breaks of the code; after `inner` the statement goes on, within brackets or
            after a backslash. `comment` is one, without its line break. `escape` is a backslash and the character it
            escapes, or three escaped quotes in a row. `fence` is a run of backticks or tildes. `space`, `invisible` and `separator` are characters
            that stand for a space, for nothing, or for a line break. `smart` is a typographic quote, or three in a
            row, that begins or ends a string; `plain` a plain quote within such a string.
        start: where it starts.
        end: where what follows it starts.
    """

    kind: Kind
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Dialect:
    """How a text is read.

    Attributes:
        comment: the pattern of a comment.
        mixed: whether a plain quote ends a string that a typographic one began.
    """

    comment: str = r"\#[^\r\n]*"
    mixed: bool = True


PYTHON = Dialect()

ONE_LINE = Dialect(comment=r"\#(?:(?!\\[nr])[^\r\n])*")
"""Where a line break may be written as a backslash and a letter."""

TYPESET = Dialect(mixed=False)


def scan(text: str, position: int = 0, dialect: Dialect = PYTHON) -> Iterator[Mark]:
    """Tell the marks of a text, in order; what stands at `position` is code."""
    return _Scan(dialect).marks(text, position)


class _String(NamedTuple):
    """How a string goes on: what to look for in its text and in the format of a replacement field.

    Its quotes are marks of that kind.
    """

    kind: Kind | None
    text: re.Pattern[str]
    format: re.Pattern[str]


class _Field(NamedTuple):
    """What to go back to after a replacement field."""

    string: _String
    inside: re.Pattern[str]
    depth: int


class _Scan:
    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self._code = _code(dialect.comment)
        self._field_code = _code(dialect.comment, "|(?P<colon>:)")
        self._string: _String | None = None
        self._inside: re.Pattern[str] | None = None  # what is looked for; None in code
        self._fields: list[_Field] = []
        self._depth = 0

    def marks(self, text: str, position: int) -> Iterator[Mark]:
        while match := (self._inside or (self._field_code if self._fields else self._code)).search(text, position):
            position = match.end()
            string = self._string
            if string is None:
                if kind := self._in_code(match):
                    yield Mark(kind, match.start(match.lastgroup or 0), position)
            elif match.lastgroup == "broken":
                self._give_up()
                position = match.start()
            else:
                self._in_string(match, string)
                if match.lastgroup == "plain":
                    yield Mark("plain", match.start(), position)
                elif match.lastgroup == "ends" and string.kind is not None:
                    yield Mark(string.kind, match.start(), position)

    def _in_code(self, match: re.Match[str]) -> Kind | None:
        """Go on from something in the code; gives the kind of mark that it is."""
        match match.lastgroup:
            case "quote":
                prefix = match["prefix"] or ""
                string = _string(match["quote"], not {*prefix}.isdisjoint("fFtT"), self._dialect.mixed)
                self._string, self._inside = string, string.text
                return string.kind
            case "open":
                self._depth += 1
            case "close" if self._fields and not self._depth and match.group() == "}":
                self._leave_field()
            case "close":
                self._depth = max(0, self._depth - 1)
            case "colon":
                if not self._depth:
                    self._string = self._fields[-1].string
                    self._inside = self._string.format
            case "line" | "joined" as kind:
                if not self._fields:
                    return "inner" if self._depth or kind == "joined" else "line"
            case kind:
                return cast("Kind", kind)
        return None

    def _in_string(self, match: re.Match[str], string: _String) -> None:
        match match.lastgroup:
            case "ends":
                if self._inside is string.format:
                    self._depth = self._fields.pop().depth
                self._string = self._inside = None
            case "field" if self._inside is not None:
                self._fields.append(_Field(string, self._inside, self._depth))
                self._string = self._inside = None
                self._depth = 0
            case "over":
                self._leave_field()

    def _leave_field(self) -> None:
        self._string, self._inside, self._depth = self._fields.pop()

    def _give_up(self) -> None:
        """End a string that the line ends before, and every string around it."""
        self._string = self._inside = None
        self._fields.clear()
        self._depth = 0


@cache
def _code(comment: str, more: str = "") -> re.Pattern[str]:
    """What there is to be found in code."""
    triple = rf"\"{{3}}|'{{3}}|[{DOUBLE}]{{3}}|[{SINGLE}]{{3}}|(?:\\\"){{3}}|(?:\\'){{3}}"
    return re.compile(
        rf"(?P<prefix>(?<!\w)[rRbBuUfFtT]{{1,2}})?(?P<quote>{triple}|\\?[\"']|[{DOUBLE}{SINGLE}])|(?P<comment>{comment})"
        rf"|(?P<open>[(\[{{])|(?P<close>[)\]}}])|(?P<line>{_BREAK})|(?P<joined>\\(?:{_BREAK}))|(?P<escape>\\[^\r\n])"
        rf"|(?P<fence>`{{3,}}|~{{3,}})|(?P<space>[{SPACE}]+)|(?P<invisible>[{INVISIBLE}]+)"
        rf"|(?P<separator>[{SEPARATOR}]){more}"
    )


@cache
def _string(quote: str, fields: bool, mixed: bool) -> _String:
    """How a string goes on that such a quote has begun; `fields` if it has replacement fields."""
    kind: Kind | None = "smart" if quote[0] in DOUBLE + SINGLE else "escape" if quote[0] == "\\" else None
    plain = "'" if quote[-1] in SINGLE + "'" else '"'
    count = len(quote.replace("\\", ""))
    ends, within = re.escape(quote), ""
    if kind == "smart":
        family = (SINGLE if plain == "'" else DOUBLE) + plain * mixed
        ends = rf"[{family}]{{{count}}}"
        if plain == "'" and count == 1:
            ends = rf"(?<!\w){ends}|{ends}(?!\w)"  # between letters it is an apostrophe
        if not mixed:
            within = f"|(?P<plain>{plain})"
    escaped = r"N\{[^{}\r\n]*\}|\r\n|[^{}]" if fields else r"\r\n|[\s\S]"
    if kind == "escape":
        escaped = rf"\\\\[\"']|{escaped}"
    broken = "" if count > 1 else r"|(?P<broken>[\r\n])"
    field = r"|(?P<twice>\{\{|\}\})|(?P<field>\{)" if fields else ""
    return _String(
        kind,
        re.compile(rf"(?P<ends>{ends}){broken}{within}|(?P<escaped>\\(?:{escaped})?){field}"),
        re.compile(rf"(?P<ends>{ends}){broken}{within}|(?P<field>\{{)|(?P<over>\}})"),
    )
