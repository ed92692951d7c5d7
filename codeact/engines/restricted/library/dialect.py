r"""Patterns of the standard `re`, said so that the `regex` package understands the same.

The standard parser sees a pattern first, so what `re` refuses is refused in its words. What it accepts and `regex`
would read as something else (fuzzy counts, POSIX classes, other ideas of a word) is rewritten.

What still differs: `\W` inside a set with other members, patterns that switch flags for a part of them with `(?x:`
or `(?a:`, letters that only the newer Unicode of `regex` knows, and the order in which equally long cases fold.
"""

# ruff: noqa: S105 - a token of a pattern is no password

from __future__ import annotations

import re
import re._parser as sre  # type: ignore[import-not-found]
from typing import Any

_WORD = r"\p{L}\p{N}_"
_EDGE = f"(?<=[{_WORD}])(?![{_WORD}])|(?<![{_WORD}])(?=[{_WORD}])"
_OUTSIDE = {
    r"\w": f"[{_WORD}]",
    r"\W": f"[^{_WORD}]",
    r"\b": f"(?:{_EDGE})",
    r"\B": f"(?:(?<=[{_WORD}])(?=[{_WORD}])|(?<![{_WORD}])(?![{_WORD}]))",
    r"\s": r"[\s\x1c-\x1f]",
    r"\S": r"[^\s\x1c-\x1f]",
}
_INSIDE = {r"\w": _WORD, r"\s": r"\s\x1c-\x1f"}
_TOKEN = re.compile(r"\\N\{[^}]*\}|\\.|\(\?#[^)]*\)|\[\^?\]?|\{|#|.", re.DOTALL)
_IN_SET = re.compile(r"\\N\{[^}]*\}|\\.|.", re.DOTALL)
_REPEAT = re.compile(r"\{(?:\d+(?:,\d*)?|,\d*)\}")
_SCOPED = re.compile(r"\(\?[a-zA-Z]*[xa][a-zA-Z]*(?:-[a-zA-Z]+)?:|\(\?[a-zA-Z]*-[a-zA-Z]*x")


def translate(pattern: Any, flags: int) -> tuple[Any, int]:
    """The pattern for `regex`, and its flags as the standard parser found them.

    Raises:
        re.error: the pattern is not one of `re`.
    """
    parsed = sre.parse(_undoubted(pattern, flags), flags)
    _check(parsed)
    found = int(parsed.state.flags)
    if isinstance(pattern, str):
        return _rewritten(pattern, found), found
    # Every byte is a character of its own in Latin-1, and none of what follows is above it.
    return _rewritten(bytes(pattern).decode("latin-1"), found | re.ASCII).encode("latin-1"), found


def _undoubted(pattern: Any, flags: int) -> Any:
    """The same without what the standard parser warns about, to the whole process."""
    text = pattern if isinstance(pattern, str) else bytes(pattern).decode("latin-1")
    if not _DOUBTED.search(text):
        return pattern
    if _VERBOSE.match(text):
        flags |= re.VERBOSE
    text = _rewritten(text, flags | re.ASCII)
    return text if isinstance(pattern, str) else text.encode("latin-1")


_DOUBTED = re.compile(r"\[.*(?:\[|--|&&|~~|\|\|)", re.DOTALL)
_VERBOSE = re.compile(r"\(\?[a-zA-Z]*x")


def check_template(template: Any, pattern: Any) -> None:
    """Refuse a replacement that `re` refuses.

    Raises:
        re.error: or IndexError, as `re` raises them.
    """
    if ("\\" if isinstance(template, str) else b"\\") in template:
        sre.parse_template(template, pattern)


def _check(parsed: Any) -> None:
    """Refuse what only the standard compiler would: looking behind at a text of no fixed length."""
    pending: list[Any] = [parsed]
    while pending:
        part = pending.pop()
        if isinstance(part, sre.SubPattern):
            pending += part.data
        elif isinstance(part, (tuple, list)):
            if len(part) == 2 and part[0] in _LOOKING and part[1][0] < 0:  # noqa: PLR2004 - operator and argument
                low, high = part[1][1].getwidth()
                if low != high:
                    msg = "look-behind requires fixed-width pattern"
                    raise re.error(msg)
            pending += [inner for inner in part if isinstance(inner, (tuple, list, sre.SubPattern))]


_LOOKING = (sre.ASSERT, sre.ASSERT_NOT)


def _rewritten(pattern: str, flags: int) -> str:
    if _SCOPED.search(pattern):
        return pattern
    unicode = not flags & re.ASCII
    made: list[str] = []
    place = 0
    while place < len(pattern):
        token = _TOKEN.match(pattern, place)[0]  # type: ignore[index]
        place += len(token)
        if token[0] == "[":
            place = _copy_set(pattern, place, unicode, made, token)
        elif token == "{":
            repeat = _REPEAT.match(pattern, place - 1)
            made.append(repeat[0] if repeat else r"\{")
            place += len(repeat[0]) - 1 if repeat else 0
        elif token == "#" and flags & re.VERBOSE:
            end = pattern.find("\n", place)
            place = len(pattern) if end < 0 else end
        else:
            made.append(_OUTSIDE.get(token, token) if unicode else token)
    return "".join(made)


def _copy_set(pattern: str, place: int, unicode: bool, made: list[str], opening: str) -> int:
    """A set, up to its end: no POSIX classes begin in it."""
    made.append(opening.replace("]", r"\]"))
    while place < len(pattern):
        token = _IN_SET.match(pattern, place)[0]  # type: ignore[index]
        place += len(token)
        if token == "[":
            token = r"\["
        elif token in "-&~|" and made[-1] == token:
            token = "\\" + token
        elif unicode:
            token = _INSIDE.get(token, token)
        made.append(token)
        if token == "]":
            break
    return place
