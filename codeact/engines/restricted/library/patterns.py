"""`re`, on an engine that can be told when to give up."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import regex  # type: ignore[import-untyped]

from codeact.engines.restricted.library.parts import Parts

LENGTH = 50_000
"""Characters of the longest pattern."""

_FLAGS = "A ASCII I IGNORECASE L LOCALE M MULTILINE S DOTALL U UNICODE X VERBOSE"


class Match:
    """What `re` calls a match."""

    __slots__ = ("_match", "re")

    def __init__(self, match: Any, pattern: Pattern) -> None:
        self._match = match
        self.re = pattern

    def group(self, *groups: Any) -> Any:
        """One group, or several."""
        return self._match.group(*groups)

    def groups(self, default: Any = None) -> Any:
        """All groups."""
        return self._match.groups(default)

    def groupdict(self, default: Any = None) -> Any:
        """The named groups."""
        return self._match.groupdict(default)

    def start(self, group: Any = 0) -> int:
        """Where a group begins."""
        return self._match.start(group)  # type: ignore[no-any-return]

    def end(self, group: Any = 0) -> int:
        """Where a group ends."""
        return self._match.end(group)  # type: ignore[no-any-return]

    def span(self, group: Any = 0) -> tuple[int, int]:
        """Where a group is."""
        return self._match.span(group)  # type: ignore[no-any-return]

    def expand(self, template: Any) -> Any:
        """A template with the groups put in."""
        return self._match.expand(template)

    def __getitem__(self, group: Any) -> Any:
        return self._match[group]

    @property
    def string(self) -> Any:
        """The text searched."""
        return self._match.string

    @property
    def pos(self) -> int:
        """Where the search began."""
        return self._match.pos  # type: ignore[no-any-return]

    @property
    def endpos(self) -> int:
        """Where it had to end."""
        return self._match.endpos  # type: ignore[no-any-return]

    @property
    def lastindex(self) -> int | None:
        """The number of the last group that matched."""
        return self._match.lastindex  # type: ignore[no-any-return]

    @property
    def lastgroup(self) -> str | None:
        """Its name."""
        return self._match.lastgroup  # type: ignore[no-any-return]

    def __repr__(self) -> str:
        return f"<re.Match object; span={self.span()!r}, match={self.group()[:50]!r}>"


class Pattern:
    """What `re` calls a pattern."""

    __slots__ = ("_real", "_timed")

    def __init__(self, real: Any, timed: Callable[..., Any]) -> None:
        self._real = real
        self._timed = timed

    @property
    def pattern(self) -> Any:
        """Its text."""
        return self._real.pattern

    @property
    def flags(self) -> int:
        """Its flags."""
        return self._real.flags & ~int(regex.VERSION0 | regex.VERSION1)  # type: ignore[no-any-return]

    @property
    def groups(self) -> int:
        """How many groups it has."""
        return self._real.groups  # type: ignore[no-any-return]

    @property
    def groupindex(self) -> dict[str, int]:
        """Its named groups."""
        return dict(self._real.groupindex)

    def _one(self, found: Any) -> Match | None:
        return None if found is None else Match(found, self)

    def match(self, string: Any, *place: int) -> Match | None:
        """Match at the beginning."""
        return self._one(self._timed(self._real.match, string, *place))

    def fullmatch(self, string: Any, *place: int) -> Match | None:
        """Match the whole text."""
        return self._one(self._timed(self._real.fullmatch, string, *place))

    def search(self, string: Any, *place: int) -> Match | None:
        """Find the first match."""
        return self._one(self._timed(self._real.search, string, *place))

    def findall(self, string: Any, *place: int) -> list[Any]:
        """Find all matches."""
        return self._timed(self._real.findall, string, *place)  # type: ignore[no-any-return]

    def finditer(self, string: Any, *place: int) -> Iterator[Match]:
        """Find all matches, one after the other."""
        found = self._timed(self._real.finditer, string, *place)
        while (match := self._timed(next, found, None, plain=True)) is not None:
            yield Match(match, self)

    def split(self, string: Any, maxsplit: int = 0) -> list[Any]:
        """Split at the matches."""
        return self._timed(self._real.split, string, maxsplit)  # type: ignore[no-any-return]

    def sub(self, repl: Any, string: Any, count: int = 0) -> Any:
        """Replace the matches."""
        return self._timed(self._real.sub, self._replacement(repl), string, count)

    def subn(self, repl: Any, string: Any, count: int = 0) -> Any:
        """Replace the matches and count them."""
        return self._timed(self._real.subn, self._replacement(repl), string, count)

    def _replacement(self, repl: Any) -> Any:
        return (lambda found: repl(Match(found, self))) if callable(repl) else repl

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Pattern) and self._real == other._real

    def __hash__(self) -> int:
        return hash(self._real)

    def __repr__(self) -> str:
        return f"re.compile({self.pattern!r})"


def make_re(parts: Parts) -> dict[str, Any]:
    """The names of `re`."""
    world, sizes = parts.world, parts.sizes

    def timed(function: Callable[..., Any], *args: Any, plain: bool = False) -> Any:
        try:
            return function(*args) if plain else function(*args, timeout=world.left())
        except TimeoutError:
            world.overdue()

    def compiled(pattern: Any, flags: Any = 0) -> Pattern:
        if isinstance(pattern, Pattern):
            return pattern
        if isinstance(pattern, (str, bytes)) and len(pattern) > LENGTH:
            sizes.refuse(f"a pattern of more than {LENGTH:,} characters")
        return Pattern(regex.compile(pattern, int(flags) & _ALLOWED), timed)

    def passing(method: str) -> Callable[..., Any]:
        def call(pattern: Any, string: Any, flags: Any = 0) -> Any:
            return getattr(compiled(pattern, flags), method)(string)

        call.__name__ = method
        return call

    def split(pattern: Any, string: Any, maxsplit: int = 0, flags: Any = 0) -> Any:
        return compiled(pattern, flags).split(string, maxsplit)

    def sub(pattern: Any, repl: Any, string: Any, count: int = 0, flags: Any = 0) -> Any:
        return compiled(pattern, flags).sub(repl, string, count)

    def subn(pattern: Any, repl: Any, string: Any, count: int = 0, flags: Any = 0) -> Any:
        return compiled(pattern, flags).subn(repl, string, count)

    import re  # noqa: PLC0415 - only for what does not search

    return {
        **{name: getattr(regex, name) for name in _FLAGS.split()},
        **{name: passing(name) for name in ("match", "fullmatch", "search", "findall", "finditer")},
        "NOFLAG": 0,
        "Match": Match,
        "Pattern": Pattern,
        "RegexFlag": regex.RegexFlag,
        "compile": compiled,
        "error": regex.error,
        "PatternError": regex.error,
        "escape": re.escape,
        "purge": lambda: None,
        "split": split,
        "sub": sub,
        "subn": subn,
    }


_ALLOWED = int(regex.A | regex.I | regex.L | regex.M | regex.S | regex.U | regex.X)
