"""Classes: how a program's classes are made, and which classes are its own."""

from __future__ import annotations

import builtins
from collections import Counter
from itertools import takewhile
from types import FunctionType, resolve_bases
from typing import Any

from codeact.engines.restricted.names import GUARDED, Sort, sort
from codeact.engines.restricted.sealed import real
from codeact.engines.restricted.world import World

_OBJECT_REPR: Any = object.__repr__
NESTED = 50
"""Levels of type arguments, and of iterators over iterators."""

CLASS_DICT: Any = type.__dict__["__dict__"]
_HIDING = (str, bytes, bytearray, int, BaseException, Counter)
"""Types that have methods for which the object decides."""


def make_classes(world: World) -> dict[str, Any]:  # noqa: C901 - a table of closures
    """The guards of class statements."""
    own = world.own

    def register(cls: Any) -> Any:
        """Register a class that a class statement has just made."""
        if isinstance(cls, type) and CLASS_DICT.__get__(cls).get("__module__") == world.module:
            own.add(cls)
            names = getattr(cls, "__match_args__", ())
            if names != (plain := positional(names)):
                type.__setattr__(cls, "__match_args__", plain)
        return cls

    def still_own(cls: Any) -> Any:
        """Register what the decorators made of it, when that is a class of this program too."""
        register(cls)
        # Only now: a decorator that writes a `__repr__` leaves one that is there alone.
        if isinstance(cls, type) and cls in own and cls.__repr__ is _OBJECT_REPR:
            type.__setattr__(cls, "__repr__", _plain_repr)
        return cls

    def build_class(body: Any, name: str, /, *bases: Any, **named: Any) -> Any:
        """What a class statement calls. Every way into a metaclass is seen here, the text shows only some."""
        if "metaclass" in named:
            kind = real(named["metaclass"])
            if not any(kind is known for known in world.metaclasses):
                msg = "a metaclass can only be ABCMeta or EnumMeta here; use a class decorator"
                raise TypeError(msg)
            named["metaclass"] = kind
        for base in bases:
            # An instance's own `__mro_entries__` could answer differently the next time.
            if (
                not isinstance(base, type)
                and not hasattr(type(base), "__mro_entries__")
                and not _is_host_function(base)
            ):
                msg = f"bases must be classes, not {noun(base)}"
                raise TypeError(msg)
        known = [base for base in resolve_bases(bases) if isinstance(base, type)]
        if any(type in base.__mro__ for base in known):
            msg = "metaclasses cannot be written here; use a class decorator or __init_subclass__"
            raise TypeError(msg)
        if any(map(is_hiding, known)):
            refuse_fields(name, *(getattr(base, "__dataclass_fields__", ()) for base in known))
        return builtins.__build_class__(body, name, *bases, **named)

    def _is_host_function(value: Any) -> bool:
        return isinstance(value, FunctionType) and value.__globals__ is not world.globals

    def class_name(target: Any) -> str:
        return type(target).__name__

    def alias(kind: Any, arguments: Any) -> Any:
        depth = 0
        inner = arguments
        while depth < NESTED:
            inner = getattr(inner, "__args__", None)
            if not isinstance(inner, tuple) or not inner:
                return kind[arguments]
            inner = inner[0]
            depth += 1
        msg = f"types nested more than {NESTED} levels deep"
        raise RecursionError(msg)

    return {
        ".own": register,
        ".still_own": still_own,
        "__build_class__": build_class,
        ".class_name": class_name,
        ".alias": alias,
    }


def made_by(world: World, kind: type) -> bool:
    """Whether a class that is not registered yet is one of the program's: its bases see it first."""
    return CLASS_DICT.__get__(kind).get("__module__") == world.module and not world.own.isdisjoint(kind.__mro__)


def positional(names: Any) -> tuple[str, ...]:
    """Those of a class's fields that a positional pattern may read: it reads them past every guard."""
    return tuple(takewhile(lambda name: sort(name) is Sort.FREE, names))


def refuse_fields(name: str, *fields: Any) -> None:
    """Generated methods read fields by name, so none may bring a guarded method of a base to light."""
    for field in (field for some in fields for field in some):
        if field in GUARDED:
            msg = f"{name}: a dataclass of this kind cannot have a field named {field}"
            raise TypeError(msg)


def is_hiding(kind: type) -> bool:
    """Whether instances have methods for which the object decides."""
    return any(base in _HIDING for base in kind.__mro__)


def _plain_repr(self: object) -> str:
    return f"<{type(self).__name__} object>"


def noun(target: Any) -> str:
    """What to call an object in an error."""
    return f"class {target.__name__}" if isinstance(target, type) else f"{type(target).__name__} object"
