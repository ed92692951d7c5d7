"""`re`, on an engine that can be told when to give up; `dialect` tells what differs."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

import regex  # type: ignore[import-untyped]

from codeact.engines.restricted.library.dialect import check_template, translate
from codeact.engines.restricted.library.parts import Parts, take
from codeact.engines.restricted.sizes import Sizes
from codeact.engines.restricted.world import World

LENGTH = 50_000
"""Characters of the longest pattern."""

_FLAGS = "A ASCII I IGNORECASE L LOCALE M MULTILINE S DOTALL U UNICODE X VERBOSE"


class Match:
    """What `re` calls a match."""

    __slots__ = ("_match", "re")

    def __init__(self, match: Any, pattern: Pattern) -> None:
        self._match = match
        self.re = pattern

    def group(self, group: Any = 0, *others: Any) -> Any:
        """One group, or several."""
        return self._match.group(group, *others) if others else self._match[group]

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
        return self.re._expanded(self._match, template)  # noqa: SLF001 - made for each other

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

    __slots__ = ("_flags", "_overlapping", "_real", "_sizes", "_text", "_world")

    def __init__(self, text: Any, flags: int, world: World, sizes: Sizes) -> None:
        # A text of the program's own kind would be asked whether it equals another's.
        plain = type(text) in {str, bytes} and len(text) <= _SHORT
        self._real, self._flags = _kept(isinstance(text, bytes), text, flags) if plain else _made(text, flags)
        self._text = text
        self._world = world
        self._sizes = sizes
        # Only what looks ahead can find the same characters more than once.
        self._overlapping = self._real.groups and bool(_LOOKING.search(text if isinstance(text, str) else repr(text)))

    @property
    def pattern(self) -> Any:
        """Its text."""
        return self._text

    @property
    def flags(self) -> int:
        """Its flags."""
        return self._flags

    @property
    def groups(self) -> int:
        """How many groups it has."""
        return self._real.groups  # type: ignore[no-any-return]

    @property
    def groupindex(self) -> dict[str, int]:
        """Its named groups."""
        return dict(self._real.groupindex)

    def _timed(self, function: Callable[..., Any], *args: Any) -> Any:
        world = self._world
        world.meter.tick()
        try:
            return function(*args, timeout=world.left())
        except TimeoutError:
            world.overdue()

    def _one(self, found: Any) -> Match | None:
        return None if found is None else Match(found, self)

    def match(self, string: Any, pos: int = 0, endpos: int = sys.maxsize) -> Match | None:
        """Match at the beginning."""
        return self._one(self._timed(self._real.match, string, pos, endpos))

    def fullmatch(self, string: Any, pos: int = 0, endpos: int = sys.maxsize) -> Match | None:
        """Match the whole text."""
        return self._one(self._timed(self._real.fullmatch, string, pos, endpos))

    def search(self, string: Any, pos: int = 0, endpos: int = sys.maxsize) -> Match | None:
        """Find the first match."""
        return self._one(self._timed(self._real.search, string, pos, endpos))

    def findall(self, string: Any, pos: int = 0, endpos: int = sys.maxsize) -> list[Any]:
        """Find all matches."""
        self._judge(string)
        return self._timed(self._real.findall, string, pos, endpos)  # type: ignore[no-any-return]

    def finditer(self, string: Any, pos: int = 0, endpos: int = sys.maxsize) -> Iterator[Match]:
        """Find all matches, one after the other."""
        world = self._world
        following = world.meter.charged(self._timed(self._real.finditer, string, pos, endpos)).__next__
        while True:
            try:
                match = following()
            except StopIteration:
                return
            except TimeoutError:
                world.overdue()
            yield Match(match, self)

    def split(self, string: Any, maxsplit: int = 0) -> list[Any]:
        """Split at the matches."""
        self._judge(string)
        return self._timed(self._real.split, string, maxsplit)  # type: ignore[no-any-return]

    def sub(self, repl: Any, string: Any, count: int = 0) -> Any:
        """Replace the matches."""
        return self._timed(self._real.sub, self._replacement(repl, string), string, count)

    def subn(self, repl: Any, string: Any, count: int = 0) -> Any:
        """Replace the matches and count them."""
        return self._timed(self._real.subn, self._replacement(repl, string), string, count)

    def _judge(self, string: Any) -> None:
        if self._overlapping:
            self._sizes.take(len(string) * len(string) // 2)

    def _replacement(self, repl: Any, string: Any) -> Any:
        """The replacement, its sum counted where it could be large."""
        if not callable(repl):
            check_template(repl, self._real)
            references = _references(repl)
            if (len(string) + 1) * len(repl) + references * len(string) <= self._sizes.limit and not (
                references and self._overlapping
            ):
                return repl
        total = 0

        def put(found: Any) -> Any:
            nonlocal total
            made = repl(Match(found, self)) if callable(repl) else self._expanded(found, repl)
            if isinstance(made, (str, bytes)):
                total += len(made)
                self._sizes.take(total)
            return made

        return put

    def _expanded(self, found: Any, template: Any) -> Any:
        check_template(template, self._real)
        references = _references(template)
        if references:
            longest = max(len(part) for part in (found.group(), *found.groups()) if part is not None)
            self._sizes.take(len(template) + references * longest)
        return found.expand(template)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Pattern) and (self._text, self._flags) == (other._text, other._flags)

    def __hash__(self) -> int:
        return hash((self._text, self._flags))

    def __repr__(self) -> str:
        flags = re.RegexFlag(self._flags & ~int(re.UNICODE) if isinstance(self._text, str) else self._flags)
        return f"re.compile({self._text!r}{f', {flags!r}' if flags else ''})"


def make_re(parts: Parts) -> dict[str, Any]:
    """The names of `re`."""
    world, sizes = parts.world, parts.sizes
    known: dict[Any, Pattern] = {}

    def compiled(pattern: Any, flags: Any = 0) -> Pattern:
        if isinstance(pattern, Pattern):
            if flags:
                msg = "cannot process flags argument with a compiled pattern"
                raise ValueError(msg)
            return pattern
        if not isinstance(pattern, (str, bytes)):
            msg = "first argument must be string or compiled pattern"
            raise TypeError(msg)
        if len(pattern) > LENGTH:
            sizes.refuse(f"a pattern of more than {LENGTH:,} characters")
        key = (type(pattern), pattern, int(flags))
        found = known.get(key)
        if found is None:
            if len(known) >= _KEPT:
                known.clear()
            found = known[key] = Pattern(pattern, int(flags) & _ALLOWED, world, sizes)
        return found

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

    return {
        **take("re", _FLAGS),
        **{name: passing(name) for name in ("match", "fullmatch", "search", "findall", "finditer")},
        "NOFLAG": 0,
        "Match": Match,
        "Pattern": Pattern,
        "RegexFlag": re.RegexFlag,
        "compile": compiled,
        "error": re.error,
        "PatternError": re.error,
        "escape": re.escape,
        "purge": lambda: None,
        "split": split,
        "sub": sub,
        "subn": subn,
    }


@lru_cache(maxsize=500)
def _kept(_is_bytes: bool, text: Any, flags: int) -> tuple[Any, int]:
    """The same, made once a process: nobody but a Pattern holds it. Equal texts of two kinds are two patterns."""
    return _made(text, flags)


def _made(text: Any, flags: int) -> tuple[Any, int]:
    """What `regex` makes of a pattern, and its flags."""
    translated, flags = translate(text, flags)
    try:
        return regex.compile(translated, _told(flags) | regex.VERSION0), flags
    except regex.error as error:
        raise re.error(str(error.msg)) from None


def _told(flags: int) -> int:
    """Flags as `regex` numbers them."""
    return flags & ~int(re.ASCII) | (int(regex.A) if flags & re.ASCII else 0)


def _references(template: Any) -> int:
    return int(template.count("\\" if isinstance(template, str) else b"\\"))


_ALLOWED = int(re.ASCII | re.IGNORECASE | re.LOCALE | re.MULTILINE | re.DOTALL | re.UNICODE | re.VERBOSE)
_LOOKING = re.compile(r"\(\?<?[=!]")
_KEPT = 200
_SHORT = 2000
