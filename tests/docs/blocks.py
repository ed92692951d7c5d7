"""The fenced blocks of the documents, and what those of Python say that they print."""

from __future__ import annotations

import io
import re
import textwrap
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

TOP = Path(__file__).parents[2]
DOCS = TOP / "docs"
PAGES = (TOP / "README.md", TOP / "SECURITY.md", TOP / "CHANGELOG.md", *sorted(DOCS.rglob("*.md")))

_FENCE = re.compile(r" *(`{3,}|~{3,})(.*)")


@dataclass(frozen=True, slots=True)
class Block:
    """What stands between two fences.

    Attributes:
        page: the document.
        line: the number of its first line there.
        language: the word behind the opening fence; empty where there is none.
        text: its lines, without the indentation that all of them have.
    """

    page: Path
    line: int
    language: str
    text: str

    def __str__(self) -> str:
        return f"{named(self.page)}:{self.line}"


def named(page: Path) -> str:
    """A page as one refers to it, such as `docs/actions.md`."""
    return page.relative_to(TOP).as_posix()


def blocks(page: Path) -> Iterator[Block]:
    """Every fenced block of a page, in order."""
    begun: tuple[str, str, int] | None = None
    inside: list[str] = []
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), start=1):
        fence = _FENCE.fullmatch(line)
        if begun is None and fence:
            begun, inside = (fence[1], fence[2].strip(), number + 1), []
        elif begun is not None and fence and fence[1].startswith(begun[0]) and not fence[2].strip():
            yield Block(page, begun[2], begun[1], textwrap.dedent("".join(f"{line}\n" for line in inside)))
            begun = None
        elif begun is not None:
            inside.append(line)
    assert begun is None, f"{named(page)}:{begun and begun[2]}: a fence that nothing closes"


def indented(page: Path) -> Iterator[int]:
    """Lines that Markdown would take for a block of code without a fence."""
    fenced, before = False, ["", ""]
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), start=1):
        if _FENCE.fullmatch(line):
            fenced = not fenced
        in_list = re.match(r" |[-*] |\d+\. ", before[1])
        if not fenced and re.match(r" {4}", line) and before[0] == "" and not in_list:
            yield number
        if not fenced:
            before = [line, line or before[1]]


def told(source: str) -> list[str]:
    """The lines that a block says it prints.

    They are the comment behind a `print`, and the comments at the margin that follow a line of code at once. A comment
    that says something else stands after an empty line, or before the code.
    """
    lines = source.splitlines()
    found, follows = [], 0
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            code = lines[row - 1][:column].strip()
            if code.startswith("print(") or (column == 0 and row == follows):
                found.append(token.string[1:].strip())
            if code or row == follows:
                follows = row + 1
        elif token.type not in {tokenize.NL, tokenize.INDENT, tokenize.DEDENT}:
            follows = token.end[0] + (token.type != tokenize.NEWLINE) if token.string.strip() else follows
    return found


def is_as_told(printed: str, told: list[str]) -> bool:
    """Whether a text is what was told of it: `…` stands for anything in a line, and alone for any lines."""
    text = "\n".join(line.strip() for line in printed.strip().splitlines())
    parts = [r"(?s:.*)" if line == "…" else ".*".join(map(re.escape, line.split("…"))) for line in told]
    return re.fullmatch(r"\n".join(parts), text) is not None
