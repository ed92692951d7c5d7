"""What models put around a program: markdown fences, the language's name, prompts."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Sequence
from typing import NamedTuple

from codeact.source.layout import unindented
from codeact.source.rewriting import Change, Edit
from codeact.source.scanner import INVISIBLE, Mark, scan

_PYTHON = frozenset({"python", "python3", "py", "py3", "ipython", "pycon", "tool_code"})
"""What models call the language, in lower case."""

_FENCE = 3
"""Backticks of the shortest fence."""

_SHOWN = 40
"""Characters that a note repeats."""

_BLANK = re.compile(rf"[\s{INVISIBLE}]*+")
_MARGIN = re.compile(rf"{_BLANK.pattern}(?:(?:[-*+]|\d{{1,9}}[.)])[ \t]++)?")
"""What may stand before a fence, such as the sign of a list's item."""

_LINE = re.compile(r"[^\r\n]+")
_LINE_END = re.compile(r"\r\n|\r|\n|\Z")
_INFO = re.compile(r"[ \t]*+(?P<brace>\{\.?)?(?P<language>[\w+#-]*+)(?P<more>[^`\r\n]*+)(?:\r\n|\r|\n|\Z)")
"""The rest of the line of an opening fence."""

_NAME = rf"(?i:{'|'.join(sorted(_PYTHON, reverse=True))})"
NAMED_FIRST = re.compile(rf"{_BLANK.pattern}(?P<name>{_NAME})[ \t]*+(?=[\r\n])")
_INLINE = re.compile(rf"(?:{_NAME}(?=\s))?+[ \t]*+")
_PROMPTED = re.compile(rf"{_BLANK.pattern}>>>")
_PROMPT = re.compile(rf"[ \t\xa0{INVISIBLE}]*+(?:>>>|\.\.\.)(?:[ \xa0]|(?=[\r\n]|\Z))")


class _Block(NamedTuple):
    """What a fence holds: the text from `start` to `end`.

    Attributes:
        fence: the mark of the opening fence.
        line: where its line starts.
        info: what stands beside it.
        beyond: where the text after the closing fence starts; None when there is none.
    """

    fence: Mark
    line: int
    info: re.Match[str]
    start: int
    end: int
    beyond: int | None = None

    @property
    def language(self) -> str:
        return self.info["language"].lower()


class Fenced(NamedTuple):
    """A block in a text of markdown.

    Attributes:
        language: as its fence names it, in lower case; empty where it names none.
        text: what it holds.
        closed: whether its fence is closed.
        is_last: whether nothing but blanks comes after it.
    """

    language: str
    text: str
    closed: bool
    is_last: bool

    @property
    def is_python(self) -> bool:
        """Whether it is fenced as Python."""
        return self.language in _PYTHON


def fenced(text: str) -> tuple[Fenced, ...]:
    """The fenced blocks of a text, in order."""
    blocks = [*_blocks(text)]
    ends = bool(blocks) and not (blocks[-1].beyond and text[blocks[-1].beyond :].strip())
    return tuple(
        Fenced(block.language, text[block.start : block.end], block.beyond is not None, ends and block is blocks[-1])
        for block in blocks
    )


def unfence(text: str) -> Iterator[Change | None]:
    """Take the program out of its fences: blocks of Python, else those of no language, else whatever there is.

    A fence within a string of the program is none.
    """
    blocks = [*_blocks(text)]
    nameless = [block for block in blocks if not block.language]
    chosen = [block for block in blocks if block.language in _PYTHON] or nameless or blocks
    inline = _inline(text)
    if chosen:
        yield _taken_out(text, chosen)
    if inline:
        yield Change(_outside(text, [inline]), "taken out of backticks")
    if len(blocks) == 1 and nameless and not text[blocks[0].start :].strip():
        # The only fence ends the text: the one before the program was cut off.
        yield Change(_outside(text, [(0, blocks[0].line)]), "a markdown fence at the end left out")
    if not (chosen or inline):
        yield None


def unname(text: str) -> Iterator[Change | None]:
    """Leave out a first line that only names the language: what is left of a fence that was cut off."""
    named = NAMED_FIRST.match(text)
    if named:
        yield Change(
            _outside(text, [(named.end(), len(text))]), f"a first line that only says {named['name']} left out"
        )
    else:
        yield None


def unprompt(text: str) -> Iterator[Change | None]:
    """Take off the prompts of an interpreter's session; lines without one are its answers."""
    if not _PROMPTED.match(text):
        yield None
        return
    edits: list[Edit] = []
    answers = 0
    for line in _LINE.finditer(text):
        prompt = _PROMPT.match(text, line.start(), line.end())
        if prompt is None and line.group().strip():
            answers += 1
        edits.append(Edit(line.start(), line.end() if prompt is None else prompt.end(), ""))
    left_out = f"; {answers} line{'s' * (answers > 1)} without one left out" if answers else ""
    yield Change(tuple(edits), f"prompts taken off{left_out}")


def _taken_out(text: str, blocks: Sequence[_Block]) -> Change:
    spans = [(block.start, block.end) for block in blocks]
    edits = _outside(text, spans)
    for block in blocks:
        if margin := block.fence.start - block.line:  # the fence is indented, and what it holds with it
            edits += unindented(text, block.start, block.end, margin)
    fences = "a markdown fence" if len(blocks) == 1 else f"{len(blocks)} markdown fences"
    beside = [block.info["more"].strip(" \t}") for block in blocks]
    left_out = "".join(f"; left out what stood beside the fence, {more[:_SHOWN]!r}" for more in beside if more)
    return Change(tuple(sorted(edits)), f"taken out of {fences}", tuple(spans), left_out)


def _outside(text: str, spans: Sequence[tuple[int, int]]) -> tuple[Edit, ...]:
    """The edits that leave nothing but these spans, each on the lines where it was."""
    edges = [0, *(edge for span in spans for edge in span), len(text)]
    return tuple(
        Edit(start, end, "".join(_LINE.split(text[start:end])))
        for start, end in zip(edges[::2], edges[1::2], strict=True)
    )


def _blocks(text: str) -> Iterator[_Block]:
    position: int | None = 0 if "```" in text or "~~~" in text else None
    while position is not None and (opened := _opened(text, position)):
        block = _closed(opened, text)
        yield block
        position = block.beyond


def _opened(text: str, position: int) -> _Block | None:
    """The next block, which goes to the end as long as nobody looks for its closing fence."""
    for line, mark, alone in _fences(text, position):
        info = _INFO.match(text, mark.end)
        # Python can say ~~~x, and a sentence can end in a fence that names the language.
        certain = alone and (text[mark.start] == "`" or (info and _is_plain(info, {""})))
        if info and (certain or _is_plain(info, _PYTHON)):
            return _Block(mark, line, info, info.end(), len(text))
    return None


def _is_plain(info: re.Match[str], names: Container[str]) -> bool:
    """Whether nothing but one of these names stands beside a fence."""
    return info["language"].lower() in names and not info["more"].strip()


def _closed(block: _Block, text: str) -> _Block:
    """The block up to its closing fence, if it has one."""
    sign, length = text[block.fence.start], block.fence.end - block.fence.start
    if block.language and block.language not in _PYTHON:  # who knows what its strings are
        fence = re.compile(rf"(?<=[\r\n])[ \t]*+{sign}{{{length},}}+[ \t]*+(?:\r\n|\r|\n|\Z)").search(text, block.start)
        return block._replace(end=fence.start(), beyond=fence.end()) if fence else block
    for line, mark, alone in _fences(text, block.start):
        if text[mark.start] != sign or mark.end - mark.start < length:
            continue
        info = _INFO.match(text, mark.end)
        last = info is not None and not info.group().strip()
        if not (last or (alone and sign == "`")):
            continue
        if info and info["language"].lower() in _PYTHON:  # the next block, and this one was not closed
            return block._replace(end=line, beyond=line)
        end = _LINE_END.search(text, mark.end)
        return block._replace(end=line if alone else mark.start, beyond=end.end() if end else len(text))
    return block


def _fences(text: str, position: int) -> Iterator[tuple[int, Mark, bool]]:
    """The fences in the code: where the line starts, the mark, and whether it stands first on the line."""
    line, first = position, True
    for mark in scan(text, position):
        if mark.kind in {"line", "inner"}:
            line, first = mark.end, True
        elif mark.kind == "fence":
            yield line, mark, first and _MARGIN.fullmatch(text, line, mark.start) is not None
            first = False


def _inline(text: str) -> tuple[int, int] | None:
    """What stands between backticks, where that is the whole text and no fence has a line of its own."""
    bare = text.strip()
    ticks = len(bare) - len(bare.lstrip("`"))
    if not ticks or len(bare) <= 2 * ticks or not bare.endswith("`" * ticks):
        return None
    start = text.index("`") + ticks
    info = _INFO.match(text, start)
    if ticks >= _FENCE and info and (info["brace"] or not info["more"].strip()):
        return None
    named = _INLINE.match(text, start)
    return named.end() if named else start, text.rindex("`") + 1 - ticks
