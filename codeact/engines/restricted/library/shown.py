"""`pprint` and `reprlib`: structures as text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from codeact.engines.restricted.library.copies import as_module, copied
from codeact.engines.restricted.library.parts import Parts, pick
from codeact.engines.restricted.sizes import plain

_INDENT = 100


def make_pprint(parts: Parts) -> dict[str, Any]:
    """The names of `pprint`."""
    names: Any = copied(parts, "pprint", repr=parts.text.repr)
    walk, clean = parts.sizes.walk, parts.text.clean

    class PrettyPrinter(names["PrettyPrinter"]):  # type: ignore[misc]
        def __init__(self, indent: Any = 1, *args: Any, **named: Any) -> None:
            if plain(indent) > _INDENT:
                msg = f"an indentation of at most {_INDENT} is allowed"
                raise ValueError(msg)
            super().__init__(plain(indent), *args, **named)

        def pprint(self, object: Any) -> None:
            walk(object)
            super().pprint(object)

        def pformat(self, object: Any) -> str:
            walk(object)
            return str(clean(super().pformat(object)))

    PrettyPrinter.__module__, PrettyPrinter.__qualname__ = "pprint", "PrettyPrinter"
    # The functions of the module make one too.
    names["PrettyPrinter"] = PrettyPrinter
    parts.world.setters[PrettyPrinter] = lambda printer: printer

    def walked(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def look(object: Any) -> Any:
            walk(object)
            return function(object)

        return look

    made = pick(names, "PrettyPrinter pformat pp pprint")
    return {**made, **{name: walked(names[name]) for name in ("isreadable", "isrecursive", "saferepr")}}


def make_reprlib(parts: Parts) -> dict[str, Any]:
    """The names of `reprlib`."""
    outer = as_module("builtins", {"repr": parts.text.repr})
    return pick(copied(parts, "reprlib", {"builtins": outer}), "recursive_repr repr")
