"""How types are written: as a model would write them, with one name for each kind of record."""

from __future__ import annotations

import builtins
import datetime as dt
import types
from collections import abc
from collections.abc import Callable
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from typing import Any, ForwardRef, Literal, NotRequired, Required, TypeVar, Union, get_args, get_origin
from uuid import UUID

from typing_extensions import ReadOnly, Unpack

from codeact.kinds import Alias, Choice, Kind, kind_of
from codeact.shapes import hints_of

OWN = frozenset(
    {"Any", "Callable", "Literal", "Member", "NotRequired", "Protocol", "Record", "Tools", "TypeAlias", "TypedDict"}
)
"""Names that declarations need for themselves."""

_WRAPPERS = (NotRequired, Required, ReadOnly, Unpack)

_OF_ONE = (
    abc.Collection,
    abc.Container,
    abc.Iterable,
    abc.Iterator,
    abc.KeysView,
    abc.MutableSequence,
    abc.MutableSet,
    abc.Reversible,
    abc.Sequence,
    abc.Set,
    abc.ValuesView,
)
_OF_TWO = (abc.ItemsView, abc.Mapping, abc.MutableMapping)

_HOMES: dict[Any, str] = {
    **dict.fromkeys((dt.date, dt.datetime, dt.time, dt.timedelta), "datetime"),
    Decimal: "decimal",
    Fraction: "fractions",
    UUID: "uuid",
    **dict.fromkeys((*_OF_ONE, *_OF_TWO), "collections.abc"),
}
"""Types of the standard library that may stand in a signature, with the module each comes from."""

_PLAIN = frozenset({bool, bytes, dict, float, frozenset, int, list, object, set, str, tuple})
"""Builtin types that cross."""

Names = frozenset[str]


class Notation:
    """The names of one set of declarations, as a reader needs them.

    Attributes:
        imports: the names that were written, by the module they come from.
        second: names that were written as `name_`, because the plain name means something else there.
    """

    overriding = ""
    """What is written after a field that is named like a method of dict."""

    def __init__(self) -> None:
        self.imports: dict[str, set[str]] = {}
        self.second: set[str] = set()
        self._names: dict[Any, tuple[str, Kind | Choice | Alias]] = {}
        self._used = {*OWN, *vars(builtins), *(kind.__name__ for kind in _HOMES)}

    def name(self, annotation: Any) -> str | None:
        """The name of a kind of record, an Enum or a named type; None for anything else."""
        try:
            known = self._names.get(annotation)
        except TypeError:  # it cannot be hashed
            return None
        if known is None:
            kind = kind_of(annotation)
            if kind is None:
                return None
            known = self._names[annotation] = (self._free(kind.name), kind)
        return known[0]

    def write(
        self, annotation: Any, *, avoid: Names = frozenset(), taken: Callable[[Any], str | None] | None = None
    ) -> str:
        """A type as text.

        Args:
            annotation: the type.
            avoid: names that mean something else where it will stand.
            taken: writes kinds in a way of its own, or gives None to leave one to this.
        """

        def inner(annotation: Any) -> str:
            return self.write(annotation, avoid=avoid, taken=taken)

        own = taken(annotation) if taken is not None else None
        if own is not None:
            return own
        name = self.name(annotation)
        if name is not None:
            return self._plain(name, avoid)
        origin, arguments = get_origin(annotation), get_args(annotation)
        if annotation is None or annotation is type(None):
            return "None"
        if annotation is ...:
            return "..."
        if hasattr(annotation, "__metadata__") or origin in _WRAPPERS:
            return inner(arguments[0])
        if origin in {Union, types.UnionType}:
            return " | ".join(dict.fromkeys(map(inner, arguments)))
        if origin is Literal:
            return f"{self.from_('typing', 'Literal', avoid)}[{', '.join(map(literal, arguments))}]"
        if isinstance(annotation, (str, ForwardRef)):
            return self._forward(annotation, avoid)
        if isinstance(annotation, TypeVar):
            return inner(annotation.__bound__) if annotation.__bound__ else self.other(Any, avoid)
        supertype = getattr(annotation, "__supertype__", None)  # of a NewType: inside it is what it is made of
        if supertype is not None:
            return inner(supertype)
        return self._class(annotation if origin is None else origin, arguments, avoid, inner)

    def _class(self, cls: Any, arguments: tuple[Any, ...], avoid: Names, inner: Callable[[Any], str]) -> str:
        if cls is tuple and not arguments:
            arguments = (Any, ...)
        if cls in _PLAIN:
            text = self._plain(cls.__name__, avoid)
        elif cls in _HOMES:
            text = self.from_(_HOMES[cls], cls.__name__, avoid)
        elif isinstance(cls, type) and issubclass(cls, tuple) and hasattr(cls, "_fields"):
            hints = hints_of(cls)  # a namedtuple crosses as the tuple that it is
            fields = ", ".join(inner(hints.get(name, Any)) for name in cls._fields)
            return f"{self._plain('tuple', avoid)}[{fields or '()'}]"
        else:
            return self._derived(cls, avoid, inner)
        if arguments:
            return f"{text}[{', '.join(map(inner, arguments))}]"
        return text + self.arguments(_ARGUMENTS.get(cls, 0), avoid)

    def _derived(self, cls: Any, avoid: Names, inner: Callable[[Any], str]) -> str:
        """A class that is none of ours: what it crosses as, where that can be told."""
        if isinstance(cls, type):
            for base in cls.__mro__[1:-1]:
                if base in _PLAIN or base in _HOMES:
                    return inner(base)
        return self.other(cls, avoid)

    def _forward(self, annotation: str | ForwardRef, avoid: Names) -> str:
        """A name that was never found: it may be that of a kind that holds itself."""
        text = annotation if isinstance(annotation, str) else annotation.__forward_arg__
        for name, kind in self._names.values():
            if kind.name == text:
                return self._plain(name, avoid)
        return self.other(text, avoid)

    def other(self, annotation: Any, avoid: Names) -> str:
        """A type that nothing is known of; here by its name."""
        return self.from_(*_ANY, avoid) if annotation is Any else _called(annotation)

    def arguments(self, count: int, avoid: Names) -> str:  # noqa: ARG002 - for those who must write them
        """What is written for so many arguments of a generic type that are not known; here nothing."""
        return ""

    def from_(self, module: str, name: str, avoid: Names = frozenset()) -> str:
        """A name of a module; it is noted that it must be imported."""
        self.imports.setdefault(module, set()).add(name)
        return self._plain(name, avoid)

    def _plain(self, name: str, avoid: Names) -> str:
        if name not in avoid:
            return name
        self.second.add(name)
        return f"{name}_"

    def _free(self, name: str) -> str:
        free, count = name, 1
        while free in self._used:
            count += 1
            free = f"{name}_{count}"
        self._used.add(free)
        return free


class StrictNotation(Notation):
    """The same for a type checker, which must know every name.

    Attributes:
        unknown: types that were written as Any.
    """

    overriding = "  # type: ignore"

    def __init__(self) -> None:
        super().__init__()
        self.unknown: list[str] = []

    def other(self, annotation: Any, avoid: Names) -> str:
        """A type that nothing is known of: Any."""
        if annotation is not Any and _called(annotation) not in self.unknown:
            self.unknown.append(_called(annotation))
        return self.from_(*_ANY, avoid)

    def arguments(self, count: int, avoid: Names) -> str:
        """Any for each of them."""
        return f"[{', '.join([self.from_(*_ANY, avoid)] * count)}]" if count else ""


_ANY = ("typing", "Any")

_ARGUMENTS: dict[Any, int] = {
    **dict.fromkeys((frozenset, list, set, tuple, *_OF_ONE), 1),
    **dict.fromkeys((dict, *_OF_TWO), 2),
}
"""How many arguments a generic type has."""


def _called(annotation: Any) -> str:
    return str(getattr(annotation, "__qualname__", annotation)).removeprefix("typing.")


def literal(value: object) -> str:
    """A constant as it is written in a program; the value of an Enum's member."""
    return repr(value.value if isinstance(value, Enum) else value)
