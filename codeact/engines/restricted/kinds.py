"""Kinds: `type`, classes made by calling it, and metaclasses of the program's own.

The interpreter's own `type` makes classes of any namespace, hooks of the interpreter included, so a program never holds
it. What it holds is a `Type`, and what its metaclasses derive from is a metaclass that judges a namespace before the
interpreter sees it.
"""

from __future__ import annotations

import typing
from abc import ABCMeta
from collections.abc import Callable
from keyword import iskeyword
from types import FunctionType, MemberDescriptorType
from typing import Any, NoReturn

from codeact.engines.restricted.names import ADDABLE, JUDGED, in_pattern, is_special
from codeact.engines.restricted.refusals import refusal
from codeact.engines.restricted.sealed import Sealed
from codeact.engines.restricted.sizes import plain
from codeact.engines.restricted.world import World

CLASS_DICT: Any = type.__dict__["__dict__"].__get__
MRO: Any = type.__dict__["__mro__"].__get__
MARK = ".mark"
"""The name under which a class in the making holds its mark."""

_BODY = frozenset(
    {
        "__annotate__", "__annotate_func__", "__annotations__", "__classcell__", "__classdictcell__",
        "__conditional_annotations__", "__doc__", "__firstlineno__", "__match_args__", "__module__", "__orig_bases__",
        "__parameters__", "__qualname__", "__slots__", "__static_attributes__", "__type_params__",
    }
)  # fmt: skip
"""Special names that a class statement puts into a namespace."""

_FIXED = ("mro", "__eq__", "__hash__", "__prepare__", "__getattribute__", "__mro_entries__")
"""What tells classes apart and orders them: host code relies on it."""

_NAME = 500
_PINNED = ("__reduce__", "__reduce_ex__", "__getstate__")
_PLAIN = frozenset({type(None), bool, int, float, complex, str, bytes, list, tuple, dict, set, frozenset})

_STEPS = ("__next__", "__getitem__")
"""By which the interpreter goes from item to item."""

_TYPE_OF: Any = vars(typing)["Type"]
"""What `type[int]` gives: unlike the interpreter's own, it cannot be called as the type it stands for."""

_subscripted = type(_TYPE_OF).__getitem__
_uncached: Any = getattr(_subscripted, "__wrapped__", _subscripted)
"""How it is made without `typing` remembering what it is of, which may be a program's class."""

_STANDING = frozenset({"datetime", "decimal", "fractions", "zoneinfo"})
"""Modules that have stand-ins for classes of values that cross."""


class Pin:
    """A special name of a program's objects that is the host's to answer.

    Copying asks an object by these names what it is made of, and writes what it hears on whatever the answer makes.
    An object's own dict would be asked first, where a program may put anything; a pin is asked before that.
    """

    __slots__ = ("_found", "_name", "_own")

    def __init__(self, own: set[type], name: str, found: Any = None) -> None:
        self._own = own
        self._name = name
        self._found = found

    def __get__(self, instance: object, owner: Any = None) -> Any:
        kind = type(instance) if owner is None else owner
        found = self._found
        if found is None:
            for base in MRO(kind):
                if base not in self._own and self._name in CLASS_DICT(base):
                    found = CLASS_DICT(base)[self._name]
                    break
        return found.__get__(instance, kind) if hasattr(type(found), "__get__") else found

    def __set__(self, instance: object, _value: object) -> NoReturn:
        msg = f"the attribute {self._name} of {type(instance).__name__} object cannot be changed"
        raise AttributeError(msg)


class Mark:
    """The first entry of a class's namespace: makes the class the program's own before anything else of it runs."""

    __slots__ = ("_own", "_pins", "_world")

    def __init__(self, world: World) -> None:
        self._own = world.own
        self._pins: dict[str, Pin] = {}
        self._world = world

    def __get__(self, _instance: object, _owner: object = None) -> Mark:
        return self  # so that an Enum takes it for no member

    def __set_name__(self, owner: type, name: str) -> None:
        type.__delattr__(owner, name)
        for slot, found in CLASS_DICT(owner).items():
            if type(found) is MemberDescriptorType and is_special(slot):
                msg = f"__slots__ cannot name {slot}"
                raise TypeError(msg)
        for step in _STEPS:
            found = CLASS_DICT(owner).get(step)
            if found is not None and not (type(found) is FunctionType and self._world.wrote(found)):
                type.__setattr__(owner, step, self._ticking(found))
        if issubclass(owner, type):
            call = CLASS_DICT(owner).get("__call__")
            if call is not None:
                type.__setattr__(owner, "__call__", self._judged_call(call))
        elif self._own.isdisjoint(MRO(owner)):
            for pinned in _PINNED:
                type.__setattr__(owner, pinned, self._pins.get(pinned) or self._pin(pinned))
        self._own.add(owner)

    def _ticking(self, found: Any) -> Callable[..., Any]:
        """A step that is no function of the program's ticks nowhere: what goes on by it might never end."""
        meter = self._world.meter

        def step(target: Any, *args: Any) -> Any:
            meter.tick()
            return (found.__get__(target, type(target)) if hasattr(type(found), "__get__") else found)(*args)

        return step

    def _pin(self, name: str) -> Pin:
        pin = self._pins[name] = Pin(self._own, name)
        return pin

    def made(self, value: Any) -> Any:
        """What the program says is an object of one of its classes: host code writes on it as on such a one.

        Raises:
            TypeError: it is neither that nor plain data.
        """
        if type(value) in _PLAIN or type(value) in self._own or (isinstance(value, type) and value in self._own):
            return value
        noun = f"class {value.__name__}" if isinstance(value, type) else f"{type(value).__name__} object"
        msg = f"a class cannot make a {noun}: {refusal('__new__').told()}"
        raise TypeError(msg)

    def _judged_call(self, call: Any) -> Callable[..., Any]:
        made = self.made

        def __call__(cls: Any, *args: Any, **named: Any) -> Any:  # noqa: N807 - it becomes one
            bound = call.__get__(cls, type(cls)) if hasattr(type(call), "__get__") else call
            return made(bound(*args, **named))

        return __call__


class Type:
    """`type`: the class of a value, or a new class."""

    __slots__ = ("_load", "_make", "_world")
    __name__ = "type"
    __qualname__ = "type"

    def __init__(self, world: World, make: Callable[..., type], load: Callable[[str], object]) -> None:
        self._world = world
        self._make = make
        self._load = load

    def __call__(self, *args: Any, **named: Any) -> Any:  # noqa: D102 - its class says it
        if len(args) != 1 or named:
            return self._make(*args, **named)
        kind = type(args[0])
        if kind in self._world.own:
            return kind
        if issubclass(kind, (type, Type, Sealed)):
            return self
        if kind.__module__ in _STANDING and kind not in self._world.stand_ins:
            self._load(kind.__module__)  # a tool may give what the program has not imported
        return self._world.stand_ins.get(kind, kind)

    def __getitem__(self, arguments: Any) -> Any:
        return _uncached(_TYPE_OF, arguments)

    __iter__ = None  # it would be asked for one item after the other, and there is no end to them

    def __or__(self, other: Any) -> Any:
        return type | other

    def __ror__(self, other: Any) -> Any:
        return other | type

    def __mro_entries__(self, _bases: Any) -> NoReturn:
        msg = "type stands for itself here"
        raise TypeError(msg)

    def __repr__(self) -> str:
        return "<class 'type'>"


class Kinds:
    """What makes classes of a world's own without a class statement.

    Attributes:
        mark: what makes a class the program's own.
    """

    def __init__(self, world: World, judge_bases: Callable[[str, tuple[Any, ...]], None]) -> None:
        self.mark = Mark(world)
        self._world = world
        self._judge_bases = judge_bases
        self._made: dict[type, Any] = {}

    def judged(self, name: str, namespace: Any) -> dict[str, Any]:
        """A namespace as a class may be made of it.

        Raises:
            TypeError: a class may not have what is in it.
        """
        if not isinstance(namespace, dict):
            msg = f"type() argument 3 must be dict, not {type(namespace).__name__}"
            raise TypeError(msg)
        made: dict[str, Any] = {MARK: self.mark, "__module__": self._world.module}
        for key, value in dict.items(namespace):
            if type(key) is not str or key[:1] == "." or (is_special(key) and not self._is_given(key, value)):
                row = refusal(key if type(key) is str else "other")
                msg = f"{name}: {str(key)[:100]} cannot be defined here: {row.told()}"
                raise TypeError(msg)
            made[key] = value
        made["__module__"] = self._world.module
        if "__match_args__" in made:
            made["__match_args__"] = positional(made["__match_args__"])
        if "__annotations__" in made:
            made["__annotations__"] = judged_annotations(made["__annotations__"])
        return made

    def _is_given(self, key: str, value: Any) -> bool:
        if key not in JUDGED:
            return key in ADDABLE or key in _BODY
        # Functions of these names are rewritten by the policy where they are written; what they are called later may
        # change, what their code is called does not.
        return (
            type(value) is FunctionType
            and value.__code__.co_name == key
            and (self._world.wrote(value) or value in self._world.hooks)
        )

    def behind(self, kind: type) -> Any:
        """What stands behind `type` and `ABCMeta` as the base of a metaclass; made when it is first asked for."""
        if not self._made:
            self._made = _make_bases(self, self._judge_bases)
        return self._made[kind]

    def derives(self, kind: type) -> bool:
        """Whether a class may be a metaclass."""
        return any(issubclass(kind, base) for base in self._made.values())


def _make_bases(kinds: Kinds, judge_bases: Callable[[str, tuple[Any, ...]], None]) -> dict[type, Any]:
    class Kind(type):
        def __new__(mcs, name: Any, bases: Any, namespace: Any, /, **named: Any) -> Any:
            if not (isinstance(mcs, type) and issubclass(mcs, Kind)):
                msg = "__new__ of a metaclass needs a metaclass of this program"
                raise TypeError(msg)
            for method in _FIXED:
                if definer(mcs, method) not in {type, object, None}:
                    msg = f"the metaclass {mcs.__name__} defines {method}: {refusal('metaclass').told()}"
                    raise TypeError(msg)
            if not issubclass(definer(mcs, "__call__"), type):
                msg = f"{mcs.__name__} must define __call__ itself, or leave it to type"  # only there it is judged
                raise TypeError(msg)
            bases = tuple(bases)
            name = judged_name(name)
            judge_bases(name, bases)
            return super().__new__(mcs, name, bases, kinds.judged(name, namespace), **named)

    class AbstractKind(Kind, ABCMeta):
        pass

    made: list[Any] = [Kind, AbstractKind]
    for kind, name in zip(made, ("type", "ABCMeta"), strict=True):
        kind.__name__ = kind.__qualname__ = name
    return {type: Kind, ABCMeta: AbstractKind}


def definer(kind: type, name: str) -> Any:
    """The class that something by this name comes from; None where there is none."""
    return next((base for base in MRO(kind) if name in CLASS_DICT(base)), None)


def positional(names: Any) -> tuple[str, ...]:
    """Those of a class's fields that a positional pattern may read: it reads them past every guard."""
    found: list[str] = []
    for name in names:
        if type(name) is not str or not in_pattern(name):
            break
        found.append(name)
    return tuple(found)


def judged_name(name: Any) -> Any:
    """The name of a class: errors and texts repeat it."""
    name = plain(name)
    if isinstance(name, str) and len(name) > _NAME:
        msg = f"a class has a name of at most {_NAME} characters"
        raise ValueError(msg)
    return name


def judged_annotations(annotations: Any) -> dict[str, Any]:
    """Annotations whose names are names: code is generated from them.

    Raises:
        TypeError: one of them is something else.
    """
    for name in annotations:
        if type(name) is not str or not name.isidentifier() or iskeyword(name) or is_special(name):
            msg = f"fields are annotated by name, not by {str(name)[:100]!r}"
            raise TypeError(msg)
    return dict(annotations)
