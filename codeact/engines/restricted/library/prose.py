"""`textwrap`, whose results can be far larger than their arguments."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from typing import Any

from codeact.engines.restricted.library.parts import Parts, take
from codeact.engines.restricted.sizes import plain

_LINE = 80


def make_textwrap(parts: Parts) -> dict[str, Any]:
    """The names of `textwrap`."""
    sizes = parts.sizes

    def judged(function: Callable[..., Any]) -> Callable[..., Any]:
        def wrap(text: Any, width: Any = 70, **named: Any) -> Any:
            text, width = plain(text), plain(width)
            named = {key: plain(value) for key, value in named.items()}
            if isinstance(text, str) and isinstance(width, int):
                _judge(text, max(1, width), named)
            return function(text, width, **named)

        wrap.__name__ = wrap.__qualname__ = function.__name__
        return wrap

    def _judge(text: str, width: int, named: dict[str, Any]) -> None:
        tabsize = named.get("tabsize", 8)
        size = len(text) + text.count("\t") * (tabsize if isinstance(tabsize, int) else 0)
        longest = max(map(len, text.split()), default=0)
        sizes.work(longest * longest // width, "wrapping a long word")
        indents = [named.get(name, "") for name in ("initial_indent", "subsequent_indent")]
        margin = sum(len(indent) for indent in indents if isinstance(indent, str))
        # A line holds a word at least, so an indentation wider than the line makes as many lines as characters.
        lines = size // max(1, width - margin) + text.count(" ") + 1 if margin else size // width + 1
        sizes.take(size + lines * (margin + _LINE))

    def indent(text: Any, prefix: Any, predicate: Any = None) -> Any:
        text, prefix = plain(text), plain(prefix)
        if isinstance(text, str) and isinstance(prefix, str):
            sizes.take(len(text) + len(prefix) * (len(text.splitlines()) if prefix else 0))
        return textwrap.indent(text, prefix, predicate)

    return {
        **take("textwrap", "dedent"),
        **{name: judged(getattr(textwrap, name)) for name in ("wrap", "fill", "shorten")},
        "indent": indent,
    }
