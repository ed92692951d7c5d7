"""Classes: how a program's class statements make classes, and which classes are its own."""

from __future__ import annotations

import builtins
from abc import ABCMeta
from collections import Counter
from types import FunctionType, resolve_bases
from typing import Any

from codeact.engines.restricted.kinds import CLASS_DICT, MARK, MRO, Kinds, Mark, Type, judged_name, positional
from codeact.engines.restricted.names import GUARDED, is_special
from codeact.engines.restricted.sealed import real
from codeact.engines.restricted.world import World

_OBJECT_REPR: Any = object.__repr__
NESTED = 50
"""Levels of type arguments, and of iterators over iterators."""

_HIDING = (str, bytes, bytearray, int, BaseException, Counter)
"""Types that have methods for which the object decides."""


class _Maker:
    """What a class statement calls in place of a metaclass: the same, with the mark put first."""

    __slots__ = ("_kind", "_mark")

    def __init__(self, kind: Any, mark: Mark) -> None:
        self._kind = kind
        self._mark = mark

    def __prepare__(self, name: str, bases: Any, **named: Any) -> Any:
        namespace = self._kind.__prepare__(name, bases, **named)
        dict.__setitem__(namespace, MARK, self._mark)
        return namespace

    def __call__(self, name: str, bases: Any, namespace: Any, **named: Any) -> Any:
        return self._kind(name, bases, namespace, **named)


def make_classes(world: World) -> dict[str, Any]:  # noqa: C901, PLR0915 - a table of closures
    """The guards of class statements."""
    own = world.own

    def register(cls: Any) -> Any:
        """Register a class that a class statement has just made."""
        if isinstance(cls, type) and CLASS_DICT(cls).get("__module__") == world.module:
            if MARK in CLASS_DICT(cls):
                type.__delattr__(cls, MARK)
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
            type.__setattr__(cls, "__repr__", _plain_repr(cls))
        return cls

    def judge_bases(name: str, bases: tuple[Any, ...]) -> None:
        for base in bases:
            # An instance's own `__mro_entries__` could answer differently the next time.
            if (
                not isinstance(base, type)
                and not hasattr(type(base), "__mro_entries__")
                and not (isinstance(base, FunctionType) and not world.wrote(base))
            ):
                msg = f"bases must be classes, not {noun(base)}"
                raise TypeError(msg)
        known = [base for base in resolve_bases(bases) if isinstance(base, type)]
        if any(issubclass(base, type) and not kinds.derives(base) for base in known):
            msg = "a metaclass can only derive from type or ABCMeta here"
            raise TypeError(msg)
        if any(map(is_hiding, known)):
            refuse_fields(name, *(getattr(base, "__dataclass_fields__", ()) for base in known))

    kinds = Kinds(world, judge_bases)
    mark = kinds.mark

    def behind(base: Any) -> Any:
        """What a base stands for where a metaclass is written."""
        if type(base) is Type:
            return kinds.behind(type)
        return kinds.behind(ABCMeta) if real(base) is ABCMeta else base

    def build_class(body: Any, name: str, /, *bases: Any, **named: Any) -> Any:
        """What a class statement calls. Every way into a metaclass is seen here, the text shows only some."""
        bases = tuple(map(behind, bases))
        judge_bases(name, bases)
        kind = metaclass(name, named.pop("metaclass", type), resolve_bases(bases))
        return builtins.__build_class__(
            body, name, *bases, metaclass=kind if kind in own else _Maker(kind, mark), **named
        )

    def make_class(name: Any, bases: Any = None, namespace: Any = None, /, **named: Any) -> Any:
        """`type` with three arguments."""
        if not isinstance(name, str) or type(bases) is not tuple or namespace is None:
            msg = "type() takes 1 or 3 arguments"
            raise TypeError(msg)
        name = judged_name(name)
        bases = tuple(map(behind, bases))
        judge_bases(name, bases)
        kind = metaclass(name, type, bases)
        if kind in own:
            return kind(name, bases, namespace, **named)
        return still_own(type(name, bases, kinds.judged(name, namespace), **named))

    def metaclass(name: str, given: Any, bases: Any) -> Any:
        """The metaclass of a class with these bases."""
        kind = type if type(given) is Type else real(given)
        if not any(kind is known for known in world.metaclasses) and not (
            isinstance(kind, type) and issubclass(kind, type) and kind in own
        ):
            msg = "a metaclass must be ABCMeta, EnumMeta or a class of this program that derives from type"
            raise TypeError(msg)
        for base in bases:
            other = type(base)
            if issubclass(other, kind):
                kind = other
            elif not issubclass(kind, other):
                msg = f"{name}: metaclass conflict: {kind.__name__} and {other.__name__} of its base {base.__name__}"
                raise TypeError(msg)
        return kind

    def asked(target: Any, name: Any) -> None:
        """`__getattr__` is asked for plain names only: special ones are the interpreter's and the host's to ask for."""
        if type(name) is str and is_special(name):
            msg = f"{type(target).__name__!r} object has no attribute {name!r}"
            raise AttributeError(msg)

    def __getattr__(self: Any, name: str) -> Any:  # noqa: N807 - it becomes one
        asked(self, name)
        return dict.get(self, name)

    dict_get = __getattr__

    def __getattr__(self: Any, name: str) -> Any:  # type: ignore[no-redef]  # noqa: N807 - it becomes one
        asked(self, name)
        return dict.__getitem__(self, name)

    world.hooks |= {dict_get, __getattr__}

    def class_name(target: Any) -> str:
        return type(target).__name__

    def alias(kind: Any, arguments: Any) -> Any:
        level = list(arguments) if type(arguments) is tuple else [arguments]
        for _ in range(NESTED):
            inside = [getattr(part, "__args__", None) for part in level]
            level = list({id(part): part for parts in inside if isinstance(parts, tuple) for part in parts}.values())
            if not level:
                return kind[arguments]
        msg = f"types nested more than {NESTED} levels deep"
        raise RecursionError(msg)

    return {
        ".own": register,
        ".still_own": still_own,
        "__build_class__": build_class,
        ".make_class": make_class,
        ".new_kind": lambda *args, **named: kinds.behind(type).__new__(*args, **named),
        ".class_name": class_name,
        ".alias": alias,
        ".made": mark.made,
        ".asked": asked,
        ".dict_get": dict_get,
        ".dict_getitem": __getattr__,
    }


def refuse_fields(name: str, *fields: Any) -> None:
    """Generated methods read fields by name, so none may bring a guarded method of a base to light."""
    for field in (field for some in fields for field in some):
        if field in GUARDED:
            msg = f"{name}: a dataclass of this kind cannot have a field named {field}"
            raise TypeError(msg)


def is_hiding(kind: type) -> bool:
    """Whether instances have methods for which the object decides."""
    return any(base in _HIDING for base in kind.__mro__)


def _plain_repr(owner: type) -> Any:
    """What an object shows whose class does not say: the interpreter's own shows where it is."""

    def __repr__(self: Any) -> Any:  # noqa: N807 - it becomes one
        ancestors = MRO(type(self))
        for kind in ancestors[ancestors.index(owner) + 1 : -1]:
            shown = CLASS_DICT(kind).get("__repr__")
            if shown is not None and not is_plain_repr(shown):
                return shown.__get__(self, type(self))()
        return f"<{type(self).__name__} object>"

    return __repr__


def is_plain_repr(value: Any) -> bool:
    """Whether a class has been given it, and not by the program."""
    return type(value) is FunctionType and value.__code__ is _PLAIN_REPR


_PLAIN_REPR = _plain_repr(object).__code__


def noun(target: Any) -> str:
    """What to call an object in an error."""
    return f"class {target.__name__}" if isinstance(target, type) else f"{type(target).__name__} object"
