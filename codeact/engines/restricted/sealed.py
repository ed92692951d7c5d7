"""Types as a program may hold them without being able to make anything with them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

KEY = object()
"""What our own classes show, and no program holds."""


class Sealed:
    """Stands in for a type: tells what a value is, compares, and is neither called nor subclassed.

    It is for types whose constructor escapes what the guards judge: metaclasses, bound methods, raw iterators.
    """

    __slots__ = ("__name__", "__qualname__", "_real")

    def __init__(self, kind: type) -> None:
        self._real = kind
        self.__name__ = self.__qualname__ = kind.__name__

    def __mro_entries__(self, _bases: Any) -> NoReturn:
        msg = f"{self.__name__} cannot be subclassed here"
        raise TypeError(msg)

    def __eq__(self, other: object) -> bool:
        return self._real is real(other)

    def __hash__(self) -> int:
        return type.__hash__(self._real)

    def __or__(self, other: Any) -> Any:
        return self._real | other

    def __ror__(self, other: Any) -> Any:
        return other | self._real

    def __copy__(self) -> Sealed:
        return self

    def __deepcopy__(self, _memo: Any) -> Sealed:
        return self

    def __reduce_ex__(self, _protocol: Any) -> NoReturn:
        msg = f"{self.__name__} cannot be copied"
        raise TypeError(msg)

    def __repr__(self) -> str:
        home = self._real.__module__
        return f"<class '{self.__name__}'>" if home == "builtins" else f"<class '{home}.{self.__name__}'>"


class Making(Sealed):
    """The same, and it can be called: what makes an object judges what of."""

    __slots__ = ("_make",)

    def __init__(self, kind: type, make: Callable[..., Any]) -> None:
        super().__init__(kind)
        self._make = make

    def __call__(self, *args: Any, **named: Any) -> Any:  # noqa: D102 - its class says it
        return self._make(*args, **named)


def real(kind: Any) -> Any:
    """The type behind a sealed one; anything else as it is."""
    return kind._real if type(kind) in _SEALED else kind  # noqa: SLF001


_SEALED = frozenset({Sealed, Making})
