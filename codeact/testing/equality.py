"""When two values are the same: equal, and of the same type all the way down."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


def same(one: Any, other: Any) -> bool:
    """Whether nothing tells two values apart: types, the order of dicts, NaN, the sign of zero and time zones count."""
    if type(one) is not type(other):
        return False
    match one:
        case dict():
            return _alike(dict.items(one), dict.items(other))  # a record's own `items` may be a field
        case list() | tuple():
            return _alike(one, other)
        case set() | frozenset():
            return len(one) == len(other) and all(any(same(part, twin) for twin in other) for part in one)
        case int():  # a long one is not to be written out
            return bool(one == other)
        case _:
            return repr(one) == repr(other)


def _alike(one: Iterable[Any], other: Iterable[Any]) -> bool:
    left, right = list(one), list(other)
    return len(left) == len(right) and all(map(same, left, right))
