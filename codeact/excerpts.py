"""Short forms of plain values, for error texts. They cost no more than what they show."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from reprlib import Repr
from typing import Any

VALUE = 60
"""Characters of a value that are shown."""

CALL = 120
"""Characters of a call's arguments that are shown."""


class _Excerpt(Repr):
    def __init__(self) -> None:
        super().__init__()
        self.maxlevel = 3
        self.maxlist = self.maxtuple = self.maxset = self.maxfrozenset = self.maxdict = 4
        self.maxstring = self.maxother = 40

    def repr_int(self, value: int, level: int) -> str:
        return super().repr_int(value, level) if value.bit_length() < _LARGE else "a very large int"

    def repr_bytes(self, value: bytes, _level: int) -> str:
        return repr(value) if len(value) <= self.maxstring else f"{value[: self.maxstring]!r}…"

    def repr_dict(self, value: dict[Any, Any], level: int) -> str:
        """Its items in their order; reprlib would sort them."""
        if level <= 0 and value:
            return "{...}"
        some = islice(dict.items(value), self.maxdict)
        shown = [f"{self.repr1(key, level - 1)}: {self.repr1(item, level - 1)}" for key, item in some]
        more = ["..."] if len(value) > len(shown) else []
        return f"{{{', '.join([*shown, *more])}}}"

    repr_Record = repr_ShadowingRecord = repr_dict  # noqa: N815 - how reprlib finds what to call for a type


_LARGE = 4096
"""Bits of an integer that is written out."""

_excerpt = _Excerpt().repr


def excerpt(value: object, longest: int = VALUE) -> str:
    """A plain value in at most so many characters."""
    try:
        text = _excerpt(value)
    except Exception:  # noqa: BLE001 - what a host's validator made of a value has a repr of its own
        text = f"<{type(value).__name__}>"
    return text if len(text) <= longest else f"{text[:longest]}…"


def call(name: str, args: tuple[object, ...], kwargs: Mapping[str, Any]) -> str:
    """A call as it is written, short: `get_charges('c1', limit=5)`."""
    shown = [excerpt(value) for value in args[:_ARGUMENTS]]
    shown.extend(f"{key[:_NAME]}={excerpt(value)}" for key, value in islice(kwargs.items(), _ARGUMENTS))
    text = ", ".join(shown)
    whole = len(text) <= CALL and len(args) + len(kwargs) == len(shown)
    return f"{name}({text})" if whole else f"{name}({text[:CALL]}…)"


_ARGUMENTS = 8
_NAME = 40
