"""`textwrap`, `string`, `difflib`, `shlex` and `fnmatch`, whose results can be far larger than their arguments."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from codeact.engines.restricted.library.copies import copied
from codeact.engines.restricted.library.parts import Parts, pick, take
from codeact.engines.restricted.sizes import plain

_LINE = 80
_TABS = 1000


def make_textwrap(parts: Parts) -> dict[str, Any]:
    """The names of `textwrap`."""
    sizes = parts.sizes
    names = copied(parts, "textwrap")
    real: Any = names["TextWrapper"]

    class TextWrapper(real):  # type: ignore[misc]
        def wrap(self, text: Any) -> Any:
            text = plain(text)
            for name in ("width", "tabsize", "initial_indent", "subsequent_indent", "placeholder"):
                setattr(self, name, plain(getattr(self, name)))
            if isinstance(text, str) and isinstance(self.width, int):
                judge(text, max(1, self.width), self.tabsize, (self.initial_indent, self.subsequent_indent))
            return super().wrap(text)

    def judge(text: str, width: int, tabsize: Any, indents: tuple[Any, ...]) -> None:
        size = len(text) + text.count("\t") * (tabsize if isinstance(tabsize, int) else 0)
        longest = max(map(len, text.split()), default=0)
        sizes.work(longest * longest // width, "wrapping a long word")
        margin = sum(len(indent) for indent in indents if isinstance(indent, str))
        # A line holds a word at least, so an indentation wider than the line makes as many lines as characters.
        lines = size // max(1, width - margin) + text.count(" ") + 1 if margin else size // width + 1
        sizes.take(size + lines * (margin + _LINE))

    def indent(text: Any, prefix: Any, predicate: Any = None) -> Any:
        text, prefix = plain(text), plain(prefix)
        if isinstance(text, str) and isinstance(prefix, str):
            sizes.take(len(text) + len(prefix) * (len(text.splitlines()) if prefix else 0))
        return inner(text, prefix, predicate)

    inner = names["indent"]
    TextWrapper.__module__, TextWrapper.__qualname__ = "textwrap", "TextWrapper"
    parts.world.setters[TextWrapper] = lambda wrapper: wrapper
    # The functions of the module make one too.
    names.update(TextWrapper=TextWrapper, indent=indent)
    return pick(names, "TextWrapper dedent fill indent shorten wrap")


def make_string(parts: Parts) -> dict[str, Any]:
    """The names of `string`: fields are followed like attributes in the text, and their sum is counted."""
    text, sizes, tick = parts.text, parts.sizes, parts.world.meter.tick
    guards = {"getattr": parts.guards[".getattr"], "str": text.shown, "repr": text.repr, "ascii": text.ascii}
    names = copied(parts, "string", format=text.format, **guards)
    real: Any = names["Formatter"]

    class Formatter(real):  # type: ignore[misc]
        def vformat(self, format_string: Any, args: Any, kwargs: Any) -> Any:
            total = 0

            def count(piece: Any) -> None:
                nonlocal total
                tick()
                total += len(piece)
                sizes.take(total)

            def parse(template: Any) -> Iterator[Any]:
                for piece in self.parse(template):
                    count(piece[0])
                    yield piece

            def format_field(value: Any, format_spec: Any) -> Any:
                made = self.format_field(value, format_spec)
                count(made)
                return made

            form = real()
            form.parse, form.format_field = parse, format_field
            for name in ("get_field", "convert_field", "check_unused_args"):
                setattr(form, name, getattr(self, name))
            return form.vformat(format_string, args, kwargs)

    Formatter.__module__, Formatter.__qualname__ = "string", "Formatter"

    def capwords(s: Any, sep: Any = None) -> str:
        words = text.call("split", s, sep)
        return text.join(" " if sep is None else sep, [word.capitalize() for word in words])  # type: ignore[no-any-return]

    return {
        **take(
            "string",
            "ascii_letters ascii_lowercase ascii_uppercase digits hexdigits octdigits printable punctuation whitespace",
        ),
        "Formatter": Formatter,
        "capwords": capwords,
        "Template": names["Template"],
    }


def make_difflib(parts: Parts) -> dict[str, Any]:
    """The names of `difflib`."""
    names = copied(parts, "difflib")
    made = names["HtmlDiff"].__init__

    def init(self: Any, tabsize: Any = 8, wrapcolumn: Any = None, **named: Any) -> None:
        if plain(tabsize) > _TABS:
            msg = f"a tab of at most {_TABS:,} columns is allowed"
            raise ValueError(msg)
        made(self, plain(tabsize), plain(wrapcolumn), **named)

    names["HtmlDiff"].__init__ = init
    return pick(
        names,
        "Differ HtmlDiff IS_CHARACTER_JUNK IS_LINE_JUNK Match SequenceMatcher context_diff diff_bytes "
        "get_close_matches ndiff restore unified_diff",
    )


def make_shlex(parts: Parts) -> dict[str, Any]:
    """The names of `shlex`."""
    names = copied(parts, "shlex")
    parts.world.setters[names["shlex"]] = lambda lexer: lexer
    return pick(names, "join quote shlex split")


def make_fnmatch(parts: Parts) -> dict[str, Any]:
    """The names of `fnmatch`."""
    return pick(copied(parts, "fnmatch"), "filter fnmatch fnmatchcase translate")
