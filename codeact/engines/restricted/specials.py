"""Specials: what a program reads when it reads a name with two underscores on each side.

A special method that syntax calls may be called by its name as well: that can do no more, where its operands are judged
as those of the operator are. What tells of an object is shown as it is, and what leads further leads to the program's
own, or to what stands in for it.
"""

from __future__ import annotations

from abc import ABCMeta
from collections.abc import Callable
from dataclasses import dataclass
from types import FunctionType, MethodType
from typing import Any, NoReturn

from codeact.engines.restricted.arithmetic import make_judges
from codeact.engines.restricted.classes import noun
from codeact.engines.restricted.extending import make_extending
from codeact.engines.restricted.kinds import CLASS_DICT, MRO, Type
from codeact.engines.restricted.names import OPERATIONS, TELLING
from codeact.engines.restricted.refusals import refusal
from codeact.engines.restricted.sealed import Sealed
from codeact.engines.restricted.sizes import Sizes
from codeact.engines.restricted.text import Text
from codeact.engines.restricted.world import World, receiver_of_super

_SUBCLASSES: Any = type.__subclasses__
_TYPE_NEW: Any = type.__new__
_DESCRIBING = frozenset({"__get__", "__set__", "__delete__"})
_BINDING = (property, classmethod, staticmethod)
_HOSTS = ("codeact.", "wasm_runtime.")


@dataclass(frozen=True, slots=True)
class Code:
    """What a function tells of its parameters."""

    co_name: str
    co_argcount: int
    co_posonlyargcount: int
    co_kwonlyargcount: int
    co_varnames: tuple[str, ...]
    co_firstlineno: int


def make_specials(  # noqa: C901, PLR0915 - a table of closures
    world: World,
    sizes: Sizes,
    text: Text,
    fields: Callable[[Any], dict[str, Any]],
    checked_name: Callable[[Any, Any], Any],
) -> Callable[[Any, str], Any]:
    """The guard that reads special names; `fields` and `checked_name` as in `members`."""
    own, owns = world.own, world.owns
    judges = make_judges(sizes, text, make_extending(world, sizes)[".items_of"])

    def deny(target: Any, name: str) -> NoReturn:
        msg = f"the attribute {name} of {noun(target)} cannot be used: {refusal(name).told()}"
        raise AttributeError(msg)

    def is_guest(value: Any) -> bool:
        """Whether it is code of the program's, or an object of its classes."""
        if type(value) is MethodType:
            value = value.__func__
        return world.wrote(value) if type(value) is FunctionType else type(value) in own

    # --- what tells of an object -----------------------------------------------------------------------------

    def telling(target: Any, name: str) -> Any:
        value = getattr(target, name)
        if type(value) is str:
            return "builtins" if name == "__module__" and value.startswith(_HOSTS) else value
        return value if value is None or owns(target) or is_guest(target) else deny(target, name)

    def class_of(target: Any, _name: str) -> Any:
        if type(target) is super:
            target = receiver_of_super(target)
        return type(target) if type(target) in own else world.builtins["type"](target)

    def annotations(target: Any, name: str) -> Any:
        if type(target) is FunctionType and world.wrote(target):
            return target.__annotations__
        return dict(getattr(target, name)) if owns(target) else deny(target, name)

    def of_error(target: Any, name: str) -> Any:
        return getattr(target, name) if isinstance(target, BaseException) else deny(target, name)

    def of_own(target: Any, name: str) -> Any:
        return getattr(target, name) if owns(target) else deny(target, name)

    def of_enum(target: Any, name: str) -> Any:
        return dict(getattr(target, name)) if isinstance(target, type) else deny(target, name)

    # --- functions -------------------------------------------------------------------------------------------

    def of_function(target: Any, name: str) -> Any:
        return getattr(target, name) if type(target) is FunctionType and world.wrote(target) else deny(target, name)

    def of_method(target: Any, name: str) -> Any:
        value = getattr(target, name)
        return value if is_guest(target if name == "__self__" else value) else deny(target, name)

    def code(target: Any, name: str) -> Any:
        function = target.__func__ if type(target) is MethodType else target
        if not (type(function) is FunctionType and world.wrote(function)):
            return deny(target, name)
        seen = function.__code__
        variables = tuple(variable for variable in seen.co_varnames if variable[:1] != ".")
        counts = seen.co_argcount, seen.co_posonlyargcount, seen.co_kwonlyargcount
        return Code(seen.co_name, *counts, variables, seen.co_firstlineno)

    # --- classes ---------------------------------------------------------------------------------------------

    def shown(kind: Any) -> Any:
        """A class as the program may hold it."""
        if kind in own or world.builtins.get(kind.__name__) is kind:
            return kind
        if issubclass(kind, ABCMeta):
            return Sealed(ABCMeta)
        if issubclass(kind, type):
            return world.builtins["type"]
        return world.stand_ins.get(kind) or Sealed(kind)

    def ancestors(target: Any, name: str) -> Any:
        if not (isinstance(target, type) and owns(target)):
            return deny(target, name)
        if name == "__mro__":
            return tuple(dict.fromkeys(map(shown, MRO(target))))
        value = getattr(target, name)
        return shown(value) if name == "__base__" else tuple(map(shown, value))

    def subclasses(target: Any, name: str) -> Any:
        if not (isinstance(target, type) and owns(target)):
            return deny(target, name)
        return lambda: [kind for kind in _SUBCLASSES(target) if owns(kind)]

    def of_type(name: str) -> Any:
        """The same of `type`."""
        if name in {"__name__", "__qualname__"}:
            return "type"
        if name == "__new__":
            return world.builtins[".new_kind"]
        if name in {"__setattr__", "__delattr__"}:
            return writers[name]
        if name not in {"__call__", "__init__", "__instancecheck__", "__subclasscheck__", "__repr__"}:
            return deny(type, name)
        method = CLASS_DICT(type)[name]

        def call(target: Any, *args: Any, **named: Any) -> Any:
            if not (isinstance(target, type) and owns(target)):
                msg = f"type.{name} needs a class of this program, not {noun(target)}"
                raise TypeError(msg)
            return method(target, *args, **named)

        return call

    # --- writing past a class --------------------------------------------------------------------------------

    def set_past_class(target: Any, name: Any, value: Any) -> None:
        checked_name(target, name)
        (type if isinstance(target, type) else object).__setattr__(target, name, value)

    def delete_past_class(target: Any, name: Any) -> None:
        checked_name(target, name)
        (type if isinstance(target, type) else object).__delattr__(target, name)

    writers: dict[str, Callable[..., None]] = {"__setattr__": set_past_class, "__delattr__": delete_past_class}

    def writing(target: Any, name: str) -> Any:
        if not (isinstance(target, type) or world.owns_super(target) or owns(target)):
            return deny(target, name)
        value = getattr(target, name)
        if is_guest(value):
            return value
        write = writers[name]
        if isinstance(target, type):
            return write
        past = receiver_of_super(target) if type(target) is super else target
        # Frozen dataclasses have a writer of their own, which says so.
        judged = (
            write if type(value) is not MethodType else lambda past, *args: (checked_name(past, args[0]), value(*args))
        )
        return lambda *args: judged(past, *args)

    # --- methods ---------------------------------------------------------------------------------------------

    def unbound(kind: type, name: str) -> Any:
        """A special method of a class. What is not called by syntax works on objects of the program's own only."""
        value = getattr(kind, name)
        if is_guest(value) or value is None:
            return value
        if value is _TYPE_NEW:
            return world.builtins[".new_kind"]
        if type(getattr(value, "__self__", None)) is type and name != "__new__":
            return value if owns(kind) else deny(kind, name)  # it works on the class itself
        if name in OPERATIONS and not isinstance(value, FunctionType):
            return value

        def checked(self: Any, *args: Any, **named: Any) -> Any:
            if not fits(self):
                msg = f"{name} of {kind.__name__} needs an object of this program's own that is one, not {noun(self)}"
                raise TypeError(msg)
            return value(self, *args, **named)

        def fits(self: Any) -> bool:
            if name == "__new__":
                return isinstance(self, type) and issubclass(self, kind)
            return isinstance(self, kind) and (name in OPERATIONS or owns(self))

        return checked

    def method(target: Any, name: str) -> Any:
        if isinstance(target, type):
            value = unbound(target, name)
        elif (name in OPERATIONS and name not in _DESCRIBING) or owns(target) or world.owns_super(target):
            value = getattr(target, name)
        elif name == "__get__" and (type(target) in _BINDING or is_guest(target)):
            value = target.__get__
        else:
            return deny(target, name)
        if value is _TYPE_NEW:
            return world.builtins[".new_kind"]
        judge = judges.get(name)
        if judge is None or value is None or is_guest(value):
            return value
        if isinstance(target, type):
            return lambda self, *args: judge(lambda *more: value(self, *more), self, *args)
        self = receiver_of_super(target) if type(target) is super else target
        return lambda *args: judge(value, self, *args)

    readers: dict[str, Callable[[Any, str], Any]] = {
        **dict.fromkeys(TELLING, telling),
        **dict.fromkeys(("__cause__", "__notes__", "__suppress_context__"), of_error),
        **dict.fromkeys(("__slots__", "__abstractmethods__"), of_own),
        **dict.fromkeys(("__defaults__", "__kwdefaults__"), of_function),
        **dict.fromkeys(("__self__", "__func__", "__wrapped__"), of_method),
        **dict.fromkeys(("__mro__", "__bases__", "__base__"), ancestors),
        **dict.fromkeys(("__setattr__", "__delattr__"), writing),
        "__annotations__": annotations,
        "__class__": class_of,
        "__code__": code,
        "__dict__": lambda target, _name: fields(target),
        "__members__": of_enum,
        "__subclasses__": subclasses,
    }

    def special(target: Any, name: str) -> Any:
        """Read a special name."""
        if type(target) is Type:
            return of_type(name)
        return readers.get(name, method)(target, name)

    return special
