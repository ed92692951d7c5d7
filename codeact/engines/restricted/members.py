"""Members: how the attributes of an object are read and written where the object has to be judged."""

from __future__ import annotations

from abc import ABCMeta
from collections import Counter
from enum import EnumMeta
from types import BuiltinMethodType, FunctionType, MethodDescriptorType, MethodType, ModuleType, SimpleNamespace
from typing import Any

from codeact.engines.restricted.classes import CLASS_DICT, made_by, noun
from codeact.engines.restricted.hosted import make_hosted
from codeact.engines.restricted.names import (
    HOSTED,
    RECORD_NAMES,
    SIZED,
    TELLING,
    Sort,
    is_special,
    sort_at_run_time,
)
from codeact.engines.restricted.text import Text
from codeact.engines.restricted.toolbox import Tool, Toolbox
from codeact.engines.restricted.world import World
from wasm_runtime.guest.records import Record

receiver_of_super: Any = super.__dict__["__self__"].__get__
_set = object.__setattr__
_MACHINERY = frozenset(
    {"_abc_impl"}
    | {name for kind in (ABCMeta, EnumMeta) for name in vars(kind) if name[0] == "_" and not is_special(name)}
)
"""Private names of metaclasses: they make classes, read modules by name, or print on the host's own output."""


_OPEN: frozenset[type] = frozenset({Record, SimpleNamespace})
"""Types of other instances whose attributes a program may write."""


def make_members(world: World, text: Text) -> dict[str, Any]:  # noqa: C901, PLR0915 - a table of closures
    """The guards of attributes."""
    own = world.own
    hosted = make_hosted(world)

    def is_own(target: Any) -> bool:
        if isinstance(target, type):
            return target in own or made_by(world, target)
        return type(target) in own

    def is_own_super(target: Any) -> bool:
        return type(target) is super and is_own(receiver_of_super(target))

    def private(target: Any, name: str) -> Any:
        if name in _MACHINERY and isinstance(target, (type, super)):
            msg = f"the private attribute {name} of {noun(target)} cannot be used"
            raise AttributeError(msg)
        if type(target) in own:
            return getattr(target, name)
        if is_own(target) or is_own_super(target):
            return getattr(target, name)
        if name in RECORD_NAMES and (
            isinstance(target, tuple) or (isinstance(target, type) and issubclass(target, tuple))
        ):
            return getattr(target, name)
        msg = f"the private attribute {name} of {noun(target)} cannot be used"
        raise AttributeError(msg)

    def receiver(target: Any) -> None:
        if type(target) not in own and not is_own(target):
            msg = f"a method of this class was called on {noun(target)}"
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
        msg = f"the attribute {name} of {noun(target)} cannot be used{hint}"
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
                msg = f"{name} needs a {kind.__name__} object, not {noun(self)}"
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
                msg = f"{noun(part)} is shared and cannot be changed: register() takes classes of this program"
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
            msg = f"the attribute {name} of {noun(target)} cannot be changed"
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
            return {name: value for name, value in CLASS_DICT.__get__(target).items() if name[:2] != "__"}
        elif isinstance(target, Record):
            return dict(target)
        msg = f"{noun(target)} shows no fields"
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
