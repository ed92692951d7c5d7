"""Guards: what the rewritten program calls in place of operators and attributes that have to be judged.

They are closures over one world, made when the world is made, because a call of a closure is the cheapest call
there is. Common cases come first and are told apart by exact type.
"""

from __future__ import annotations

import builtins
from abc import ABCMeta
from collections import Counter
from collections.abc import Iterator
from enum import EnumMeta
from itertools import compress, takewhile
from types import (
    BuiltinMethodType,
    CoroutineType,
    FunctionType,
    MethodDescriptorType,
    MethodType,
    ModuleType,
    SimpleNamespace,
    resolve_bases,
)
from typing import Any

from codeact.engines.restricted.arithmetic import FLOATS, NUMBERS, SCALARS, make_operators
from codeact.engines.restricted.hosted import make_hosted
from codeact.engines.restricted.names import (
    GUARDED,
    HOSTED,
    RECORD_NAMES,
    SIZED,
    TELLING,
    Sort,
    is_special,
    sort,
    sort_at_run_time,
)
from codeact.engines.restricted.sealed import real
from codeact.engines.restricted.sizes import Sizes
from codeact.engines.restricted.text import Text
from codeact.engines.restricted.toolbox import Tool, Toolbox
from codeact.engines.restricted.world import World
from wasm_runtime.guest.records import Record

receiver_of_super: Any = super.__dict__["__self__"].__get__
_OBJECT_REPR: Any = object.__repr__
_set = object.__setattr__
NESTED = 50
"""Levels of type arguments, and of iterators over iterators."""

_CLASS_DICT: Any = type.__dict__["__dict__"]
_MACHINERY = frozenset(
    {"_abc_impl"}
    | {name for kind in (ABCMeta, EnumMeta) for name in vars(kind) if name[0] == "_" and not is_special(name)}
)
"""Private names of metaclasses: they make classes, read modules by name, or print on the host's own output."""

_HIDING = (str, bytes, bytearray, int, BaseException, Counter)
"""Types that have methods for which the object decides."""


def make_guards(world: World, sizes: Sizes, text: Text) -> dict[str, Any]:
    """The guards of one world, by the names that the policy calls them."""
    return {
        **make_operators(sizes, text),
        **_attributes(world, text),
        **_classes(world),
        ".numbers": NUMBERS,
        ".floats": FLOATS,
        ".classes": world.own,
        ".scalars": SCALARS,
        ".type": type,
        ".slice": slice,
        ".next": next,
        ".compress": compress,
        ".stream": world.meter.stream,
    }


def _attributes(world: World, text: Text) -> dict[str, Any]:  # noqa: C901, PLR0915 - a table of closures
    own = world.own
    hosted = make_hosted(world)

    def is_own(target: Any) -> bool:
        if isinstance(target, type):
            return target in own or _made_by(world, target)
        return type(target) in own

    def is_own_super(target: Any) -> bool:
        return type(target) is super and is_own(receiver_of_super(target))

    def private(target: Any, name: str) -> Any:
        if name in _MACHINERY and isinstance(target, (type, super)):
            msg = f"the private attribute {name} of {_noun(target)} cannot be used"
            raise AttributeError(msg)
        if type(target) in own:
            return getattr(target, name)
        if is_own(target) or is_own_super(target):
            return getattr(target, name)
        if name in RECORD_NAMES and (
            isinstance(target, tuple) or (isinstance(target, type) and issubclass(target, tuple))
        ):
            return getattr(target, name)
        msg = f"the private attribute {name} of {_noun(target)} cannot be used"
        raise AttributeError(msg)

    def receiver(target: Any) -> None:
        if type(target) not in own and not is_own(target):
            msg = f"a method of this class was called on {_noun(target)}"
            raise TypeError(msg)

    def special(target: Any, name: str) -> Any:
        if name in TELLING and not isinstance(target, ModuleType):
            return getattr(target, name)
        if name == "__class__":
            if is_own(target) and not isinstance(target, type):
                return type(target)
        elif name == "__dict__":
            return fields(target)
        elif name in {"__annotations__", "__members__"}:
            if isinstance(target, type) or is_guest_function(target):
                return dict(getattr(target, name))
        elif name == "__setattr__":
            if isinstance(target, type):
                return set_past_class
            if is_own_super(target):
                return lambda name, value: set_past_class(receiver_of_super(target), name, value)
        elif isinstance(target, type):
            return unbound(target, name)
        elif is_own_super(target) or is_own(target):
            return getattr(target, name)
        hint = "; type(x) gives its class" if name == "__class__" else ""
        msg = f"the attribute {name} of {_noun(target)} cannot be used{hint}"
        raise AttributeError(msg)

    def is_guest_function(target: Any) -> bool:
        return isinstance(target, FunctionType) and target.__globals__ is world.globals

    def unbound(kind: type, name: str) -> Any:
        """A special method of a class. One that the host wrote in Python works on its own instances only."""
        method = getattr(kind, name)
        if not isinstance(method, FunctionType) or method.__globals__ is world.globals:
            return method

        def checked(self: Any, *args: Any, **named: Any) -> Any:
            if not (
                isinstance(self, kind) or (name == "__new__" and isinstance(self, type) and issubclass(self, kind))
            ):
                msg = f"{name} needs a {kind.__name__} object, not {_noun(self)}"
                raise TypeError(msg)
            return method(self, *args, **named)

        return checked

    def guarded(target: Any, name: str) -> Any:
        if name in SIZED or name in {"format", "format_map", "decode"}:
            method = text.method(target, name)
            return found(target, name) if method is None else method
        if name == "obj" and isinstance(target, BaseException):
            msg = "the attribute obj of an exception cannot be used"
            raise AttributeError(msg)
        if name == "elements" and isinstance(target, Counter):
            return lambda: world.meter.charged(target.elements())
        return found(target, name)

    def found(target: Any, name: str) -> Any:
        """What the name leads to, judged by what it is: others pass on the methods of a class they wrap."""
        value = getattr(target, name)
        kind = type(value)
        if name in HOSTED:
            return hosted(name, value)
        if isinstance(value, BuiltinMethodType):
            return text.raw(value.__self__, name) or value
        if kind is MethodDescriptorType:
            return text.raw(value.__objclass__, name) or value
        if kind is MethodType and value.__func__ is ABCMeta.register:
            return lambda subclass: registered(value.__self__, subclass)
        return value

    def registered(kind: Any, subclass: Any) -> Any:
        for part in (kind, subclass):
            if not (isinstance(part, type) and is_own(part)):
                msg = f"{_noun(part)} is shared and cannot be changed: register() takes classes of this program"
                raise AttributeError(msg)
        return ABCMeta.register(kind, subclass)

    readers = {Sort.PRIVATE: private, Sort.SPECIAL: special, Sort.GUARDED: guarded}

    def read(target: Any, name: Any) -> Any:
        """Read an attribute by a name that is known only now."""
        if type(name) is not str:
            msg = "attribute name must be string"
            raise TypeError(msg)
        kind = sort_at_run_time(name)
        if kind is Sort.FREE:
            return found(target, name) if name in HOSTED else getattr(target, name)
        if kind is Sort.REFUSED:
            msg = f"the attribute {name} cannot be used"
            raise AttributeError(msg)
        return readers[kind](target, name)

    def get_attribute(target: Any, name: Any, *default: Any) -> Any:
        if len(default) > 1:
            msg = f"getattr expected at most 3 arguments, got {len(default) + 2}"
            raise TypeError(msg)
        if not default:
            return read(target, name)
        if type(name) is str and sort_at_run_time(name) is Sort.REFUSED:
            return read(target, name)
        try:
            return read(target, name)
        except AttributeError:
            return default[0]

    def has_attribute(target: Any, name: Any) -> bool:
        try:
            read(target, name)
        except AttributeError:
            return False
        return True

    def writable(target: Any, name: str) -> Any:
        if type(target) in own or type(target) in _OPEN or is_own(target) or is_guest_function(target):
            return target
        setter = world.setters.get(type(target))
        if setter is not None:
            return setter(target)
        if isinstance(target, BaseException) and name[:1] != "_":
            return target
        if is_own_super(target):
            return target
        if isinstance(target, type):
            msg = f"the class {target.__name__} is shared and cannot be changed; make a subclass"
        elif isinstance(target, (Toolbox, Tool)):
            msg = "tools cannot be changed"
        elif isinstance(target, ModuleType):
            msg = f"the module {target.__name__} cannot be changed"
        else:
            msg = f"the attribute {name} of {_noun(target)} cannot be changed"
        raise AttributeError(msg)

    def checked_name(target: Any, name: Any) -> Any:
        if type(name) is not str:
            msg = "attribute name must be string"
            raise TypeError(msg)
        if sort_at_run_time(name) in {Sort.REFUSED, Sort.SPECIAL}:
            msg = f"the attribute {name} cannot be changed"
            raise AttributeError(msg)
        return writable(target, name)

    def set_attribute(target: Any, name: Any, value: Any) -> None:
        setattr(checked_name(target, name), name, value)

    def set_past_class(target: Any, name: Any, value: Any) -> None:
        _set(checked_name(target, name), name, value)

    def delete_attribute(target: Any, name: Any) -> None:
        delattr(checked_name(target, name), name)

    def fields(target: Any) -> dict[str, Any]:
        if type(target) in own or isinstance(target, SimpleNamespace) or is_guest_function(target):
            inside = getattr(target, "__dict__", None)
            if type(inside) is dict:
                return inside if type(target) in own else dict(inside)
        elif isinstance(target, type) and target in own:
            return {name: value for name, value in _CLASS_DICT.__get__(target).items() if name[:2] != "__"}
        elif isinstance(target, Record):
            return dict(target)
        msg = f"{_noun(target)} shows no fields"
        raise TypeError(msg)

    return {
        ".private": private,
        ".special": special,
        ".guarded": guarded,
        ".writable": writable,
        ".getattr": get_attribute,
        ".hasattr": has_attribute,
        ".setattr": set_attribute,
        ".set_past_class": set_past_class,
        ".delattr": delete_attribute,
        ".read": read,
        ".vars": fields,
        ".receiver": receiver,
        ".guest": lambda target: is_guest_function(target) or type(target) in own,
    }


def _classes(world: World) -> dict[str, Any]:  # noqa: C901 - a table of closures
    own = world.own

    def register(cls: Any) -> Any:
        """Register a class that a class statement has just made."""
        if isinstance(cls, type) and _CLASS_DICT.__get__(cls).get("__module__") == world.module:
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
                msg = f"bases must be classes, not {_noun(base)}"
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

    # --- waiting ---------------------------------------------------------------------------------------------

    def awaitable(value: Any) -> Any:
        if isinstance(value, CoroutineType) or hasattr(type(value), "__await__"):
            return value
        return _Ready(value)

    return {
        ".own": register,
        ".still_own": still_own,
        "__build_class__": build_class,
        ".class_name": class_name,
        ".alias": alias,
        ".awaitable": awaitable,
    }


_OPEN: frozenset[type] = frozenset({Record, SimpleNamespace})
"""Types of other instances whose attributes a program may write."""


class _Ready:
    """Stands in for a value that is awaited although it is there."""

    __slots__ = ("_value",)

    def __init__(self, value: Any) -> None:
        self._value = value

    def __await__(self) -> Iterator[Any]:
        if False:
            yield
        return self._value  # type: ignore[no-any-return]


def _made_by(world: World, kind: type) -> bool:
    """Whether a class that is not registered yet is one of the program's: its bases see it first."""
    return _CLASS_DICT.__get__(kind).get("__module__") == world.module and not world.own.isdisjoint(kind.__mro__)


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


def _noun(target: Any) -> str:
    return f"class {target.__name__}" if isinstance(target, type) else f"{type(target).__name__} object"
