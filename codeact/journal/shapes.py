"""Records that are read back from JSON, which may have been changed by anyone who can write the file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

T = TypeVar("T")


def made(kind: type[T], found: object) -> T:
    """A value of a type, of what JSON holds.

    Args:
        kind: a dataclass, or one of the types that their fields may have.
        found: anything. Texts may hold lone surrogates, which programs do print.

    Raises:
        ValueError: it is no such value.
    """
    value: T = _made(kind, found)
    return value


def _made(kind: Any, found: Any) -> Any:
    origin, args = get_origin(kind), get_args(kind)
    if kind is object:
        return found
    if origin in {Union, UnionType}:
        for each in args:
            try:
                return _made(each, found)
            except ValueError:
                continue
    elif origin is Literal:
        if found in args:
            return found
    elif origin in {tuple, list} and type(found) is list:
        return _items(origin, args, found)
    elif origin is Mapping and type(found) is dict:
        return {_made(args[0], key): _made(args[1], item) for key, item in found.items()}
    elif is_dataclass(kind) and type(found) is dict:
        return _record(kind, found)
    elif type(found) is kind or (kind is NoneType and found is None) or (kind is float and type(found) is int):
        return found
    msg = f"expected {getattr(kind, '__name__', kind)}, found {type(found).__name__}"
    raise ValueError(msg)


def _record(kind: Any, found: dict[str, Any]) -> Any:
    hints = _hints(kind)
    try:
        return kind(**{name: _made(hints[name], item) for name, item in found.items()})
    except (KeyError, TypeError) as error:
        msg = f"no {kind.__name__}: {error}"
        raise ValueError(msg) from None


def _items(origin: Any, args: tuple[Any, ...], found: list[Any]) -> Any:
    if origin is list or args[-1] is Ellipsis:
        return origin(_made(args[0], item) for item in found)
    if len(args) != len(found):
        msg = f"expected {len(args)} parts, found {len(found)}"
        raise ValueError(msg)
    return tuple(_made(each, item) for each, item in zip(args, found, strict=True))


@cache
def _hints(kind: Any) -> dict[str, Any]:
    return get_type_hints(kind)
