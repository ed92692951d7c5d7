"""Members: how the attributes of an object are read and written where the object has to be judged."""

from __future__ import annotations

from abc import ABCMeta
from collections import Counter
from collections.abc import Callable
from enum import EnumMeta
from types import BuiltinMethodType, FunctionType, MethodDescriptorType, MethodType, ModuleType, SimpleNamespace
from typing import Any, NoReturn

from codeact.engines.restricted.classes import is_plain_repr, noun
from codeact.engines.restricted.extending import make_extending
from codeact.engines.restricted.hosted import make_hosted
from codeact.engines.restricted.kinds import CLASS_DICT, Type
from codeact.engines.restricted.names import (
    ADDABLE,
    DEFINABLE,
    HOSTED,
    RECORD_NAMES,
    SIZED,
    WRITABLE,
    Sort,
    is_special,
    sort_at_run_time,
)
from codeact.engines.restricted.refusals import refusal
from codeact.engines.restricted.sizes import Sizes
from codeact.engines.restricted.specials import make_specials
from codeact.engines.restricted.text import Text
from codeact.engines.restricted.toolbox import Actionbox, Tool, Toolbox
from codeact.engines.restricted.world import World
from wasm_runtime.guest.records import Record

MACHINERY = frozenset(
    {"_abc_impl"}
    | {name for kind in (ABCMeta, EnumMeta) for name in vars(kind) if name[0] == "_" and not is_special(name)}
)
"""Private names of metaclasses: they make classes, read modules by name, or print on the host's own output."""

_OPEN: frozenset[type] = frozenset({Record, SimpleNamespace})
"""Types of other instances whose attributes a program may write."""

_CLASS_NAMES = DEFINABLE | {"__doc__", "__match_args__", "__module__", "__slots__"}
"""Special names that a class shows among its own."""

_NAMING = frozenset({"__module__", "__name__", "__qualname__", "__wrapped__"})


def make_members(world: World, sizes: Sizes, text: Text) -> dict[str, Any]:  # noqa: C901, PLR0915 - a table of closures
    """The guards of attributes."""
    own = world.own
    owns = world.owns
    hosted = make_hosted(world)
    extending = make_extending(world, sizes)[".extending"]

    # --- reading ---------------------------------------------------------------------------------------------

    def private(target: Any, name: str) -> Any:
        if name in MACHINERY and isinstance(target, (type, super)):
            return deny(target, name)
        if type(target) in own or owns(target) or world.owns_super(target):
            return getattr(target, name)
        if name in RECORD_NAMES and (
            isinstance(target, tuple) or (isinstance(target, type) and issubclass(target, tuple))
        ):
            return getattr(target, name)
        return deny(target, name)

    def deny(target: Any, name: str) -> NoReturn:
        row = refusal("private")
        msg = f"the private attribute {name} of {noun(target)} cannot be used: {row.told()}"
        raise AttributeError(msg)

    def receiver(target: Any) -> None:
        if type(target) not in own and not owns(target):
            msg = f"a method of this class was called on {noun(target)}"
            raise TypeError(msg)

    def guarded(target: Any, name: str) -> Any:
        if name in SIZED or name in {"format", "format_map", "decode"}:
            method = text.method(target, name)
            return found(target, name) if method is None else method
        if name == "extend":
            return extending(found(target, name))
        if name == "mro":
            return mro(target)
        if name == "obj" and isinstance(target, BaseException):
            msg = f"the attribute obj of an exception cannot be used: {refusal('obj').told()}"
            raise AttributeError(msg)
        if name == "elements" and isinstance(target, Counter):
            return lambda: world.meter.charged(target.elements())
        return found(target, name)

    def mro(target: Any) -> Any:
        if isinstance(target, type):
            return lambda: list(special(target, "__mro__"))
        if type(target) is Type:
            return lambda kind: list(special(kind, "__mro__"))
        return target.mro

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
            if not (isinstance(part, type) and owns(part)):
                msg = f"{noun(part)} is shared and cannot be changed: register() takes classes of this program"
                raise AttributeError(msg)
        return ABCMeta.register(kind, subclass)

    def read(target: Any, name: Any) -> Any:
        """Read an attribute by a name that is known only now."""
        if type(name) is not str:
            msg = "attribute name must be string"
            raise TypeError(msg)
        kind = sort_at_run_time(name)
        if kind is Sort.FREE:
            return found(target, name) if name in HOSTED else getattr(target, name)
        if kind is Sort.REFUSED or (name == "__class__" and not owns(target)):
            msg = f"the attribute {name} cannot be used: {refusal(name).told()}"
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
        if type(name) is str and is_special(name):
            return hasattr(target, name)
        try:
            read(target, name)
        except AttributeError:
            return False
        return True

    def fields(target: Any) -> dict[str, Any]:
        if type(target) in own or isinstance(target, SimpleNamespace) or is_guest_function(target):
            inside = getattr(target, "__dict__", None)
            if type(target) in own and isinstance(inside, dict):
                return inside
            if type(inside) is dict:
                return inside if is_guest_function(target) else dict(inside)
        elif isinstance(target, type) and target in own:
            return {name: value for name, value in CLASS_DICT(target).items() if shows(name, value)}
        elif isinstance(target, Record):
            return dict(target)
        msg = f"{noun(target)} shows no fields"
        raise TypeError(msg)

    def shows(name: str, value: Any) -> bool:
        if name in _CLASS_NAMES:
            return not is_plain_repr(value)
        return not (name[:1] == "." or is_special(name) or name in MACHINERY)

    def is_guest_function(target: Any) -> bool:
        return isinstance(target, FunctionType) and world.wrote(target)

    # --- writing ---------------------------------------------------------------------------------------------

    def writable(target: Any, name: str) -> Any:
        if type(target) in own or type(target) in _OPEN or owns(target) or is_guest_function(target):
            return target
        setter = world.setters.get(type(target))
        if setter is not None:
            return setter(target)
        if isinstance(target, BaseException) and name[:1] != "_":
            return target
        if world.owns_super(target):
            return target
        if isinstance(target, type):
            msg = f"the class {target.__name__} is shared and cannot be changed; make a subclass"
        elif isinstance(target, (Toolbox, Tool)):
            msg = f"{'actions' if isinstance(target, Actionbox) else 'tools'} cannot be changed"
        elif isinstance(target, ModuleType):
            msg = f"the module {target.__name__} cannot be changed"
        else:
            msg = f"the attribute {name} of {noun(target)} cannot be changed"
        raise AttributeError(msg)

    def alterable(target: Any, name: str) -> Any:
        """The same for a special name."""
        if name in ADDABLE:
            # A metaclass has been judged when its first class was made.
            allowed = owns(target) and not (isinstance(target, type) and issubclass(target, type))
        elif name == "__doc__":
            allowed = owns(target) or is_guest_function(target)
        elif name in _NAMING:
            allowed = type(target) in own or is_guest_function(target)
        elif name == "__dict__":
            allowed = type(target) in own
        elif name == "__annotations__":
            allowed = is_guest_function(target)
        else:
            allowed = name == "__cause__" and isinstance(target, BaseException)
        if allowed:
            return target
        msg = f"the attribute {name} of {noun(target)} cannot be changed: {refusal('writing').told()}"
        raise AttributeError(msg)

    def checked_name(target: Any, name: Any) -> Any:
        if type(name) is not str:
            msg = "attribute name must be string"
            raise TypeError(msg)
        kind = sort_at_run_time(name)
        if kind is Sort.SPECIAL and name in ADDABLE | WRITABLE:
            return alterable(target, name)
        if kind in {Sort.REFUSED, Sort.SPECIAL}:
            msg = f"the attribute {name} cannot be changed: {refusal('writing').told()}"
            raise AttributeError(msg)
        return writable(target, name)

    def set_attribute(target: Any, name: Any, value: Any) -> None:
        setattr(checked_name(target, name), name, value)

    def delete_attribute(target: Any, name: Any) -> None:
        if type(name) is str and is_special(name):
            msg = f"the attribute {name} cannot be deleted: {refusal('writing').told()}"
            raise AttributeError(msg)
        delattr(checked_name(target, name), name)

    made: list[Callable[[Any, str], Any]] = []

    def special(target: Any, name: str) -> Any:
        """Read a special name. What does it is made for the first one that is read, and then called instead of this."""
        if not made:
            made.append(make_specials(world, sizes, text, fields, checked_name))
            world.builtins[".special"] = made[0]
        return made[0](target, name)

    readers = {Sort.PRIVATE: private, Sort.SPECIAL: special, Sort.GUARDED: guarded}
    return {
        ".private": private,
        ".special": special,
        ".guarded": guarded,
        ".writable": writable,
        ".alterable": alterable,
        ".getattr": get_attribute,
        ".hasattr": has_attribute,
        ".setattr": set_attribute,
        ".delattr": delete_attribute,
        ".read": read,
        ".vars": fields,
        ".receiver": receiver,
        ".guest": lambda target: is_guest_function(target) or type(target) in own,
    }
