"""Waiting: what `await` may be given."""

from __future__ import annotations

from collections.abc import Iterator
from types import CoroutineType
from typing import Any


def awaitable(value: Any) -> Any:
    """What to wait for: the value itself where it is there already."""
    if isinstance(value, CoroutineType) or hasattr(type(value), "__await__"):
        return value
    return _Ready(value)


class _Ready:
    """Stands in for a value that is awaited although it is there."""

    __slots__ = ("_value",)

    def __init__(self, value: Any) -> None:
        self._value = value

    def __await__(self) -> Iterator[Any]:
        if False:
            yield
        return self._value  # type: ignore[no-any-return]
