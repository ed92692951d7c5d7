"""`collections`, `dataclasses`, `copy` and `weakref`, within the size of a structure."""

from __future__ import annotations

import collections
import copy
import dataclasses
import weakref
from collections.abc import Callable
from typing import Any

from codeact.engines.restricted.classes import is_hiding, is_plain_repr, refuse_fields
from codeact.engines.restricted.kinds import Pin, judged_annotations, positional
from codeact.engines.restricted.library.parts import Parts, take
from codeact.engines.restricted.sealed import Sealed


def make_collections(parts: Parts) -> dict[str, Any]:
    """The names of `collections`."""
    world = parts.world

    def namedtuple(typename: str, field_names: Any, *, rename: bool = False, defaults: Any = None) -> Any:
        make: Any = collections.namedtuple  # noqa: PYI024 - the program's own
        made = make(typename, field_names, rename=rename, defaults=defaults, module=world.module)
        return parts.guards[".own"](made)

    multiplied = parts.guards[".mul"]

    class UserList(collections.UserList[Any]):
        def __mul__(self, n: Any) -> Any:
            return self.__class__(multiplied(self.data, n))

        __rmul__ = __mul__

        def __imul__(self, n: Any) -> Any:
            self.data = multiplied(self.data, n)
            return self

    UserList.__module__, UserList.__qualname__ = "collections", "UserList"
    return {
        **take("collections", "ChainMap Counter OrderedDict UserDict defaultdict deque"),
        "UserList": UserList,
        "namedtuple": namedtuple,
    }


def make_dataclasses(parts: Parts) -> dict[str, Any]:
    """The names of `dataclasses`; the names of fields are judged, because methods are made of their text."""
    world = parts.world
    make_class, still_own = parts.guards[".make_class"], parts.guards[".still_own"]

    def dataclass(cls: Any = None, /, **named: Any) -> Any:
        if cls is None:
            return lambda cls: dataclass(cls, **named)
        if cls not in world.own:
            msg = "dataclass decorates classes of this program"
            raise TypeError(msg)
        if issubclass(cls, type):
            msg = "dataclass does not decorate metaclasses"
            raise TypeError(msg)
        own = judged_annotations(cls.__dict__.get("__annotations__", {}))  # noqa: RUF063 - the class as it was written
        if is_hiding(cls):
            refuse_fields(cls.__name__, own, getattr(cls, "__dataclass_fields__", ()))
        if is_plain_repr(cls.__dict__.get("__repr__")):
            type.__delattr__(cls, "__repr__")
        with_positions = named.pop("match_args", True)
        made: Any = dataclasses.dataclass(match_args=False, **named)(cls)
        if named.get("slots") and named.get("frozen"):
            # They cannot be written to, so copying goes through these two; the class holds pins for all of them.
            for name in ("getstate", "setstate"):
                pin = Pin(world.own, f"__{name}__", vars(dataclasses)[f"_dataclass_{name}"])
                type.__setattr__(made, f"__{name}__", pin)
        if with_positions and "__match_args__" not in made.__dict__:
            # `kw_only` is also true of class variables.
            fields = [field.name for field in made.__dataclass_fields__.values() if field.init and not field.kw_only]
            type.__setattr__(made, "__match_args__", positional(fields))
        return still_own(made)

    def make_dataclass(
        cls_name: str, fields: Any, *, bases: Any = (), namespace: Any = None, module: Any = None, **named: Any
    ) -> Any:
        del module
        annotations: dict[Any, Any] = {}
        inside = dict(namespace or {})
        for item in fields:
            name, kind, *default = (item, Any) if isinstance(item, str) else item
            if name in annotations:
                msg = f"Field name duplicated: {name!r}"
                raise TypeError(msg)
            annotations[name] = kind
            inside.update(dict.fromkeys([name] if default else [], *default))
        return dataclass(make_class(cls_name, tuple(bases), {**inside, "__annotations__": annotations}), **named)

    read = parts.guards[".read"]
    # A field of the program's own kind could be renamed after it was judged.
    sealed = world.stand_ins[dataclasses.Field] = Sealed(dataclasses.Field)

    def convert(value: Any, made: Callable[[Any, list[tuple[str, Any]]], Any]) -> Any:
        world.meter.tick()
        kind = type(value)
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            return made(
                value, [(field.name, convert(read(value, field.name), made)) for field in dataclasses.fields(value)]
            )
        if kind is list or kind is tuple or kind is set or kind is frozenset:
            return kind(convert(item, made) for item in value)
        if isinstance(value, tuple):
            return kind(*(convert(item, made) for item in value))
        if isinstance(value, dict):
            return {convert(key, made): convert(item, made) for key, item in value.items()}
        return value

    def asdict(obj: Any, *, dict_factory: Any = dict) -> Any:
        return convert(instance(obj, "asdict"), lambda _, pairs: dict_factory(pairs))

    def astuple(obj: Any, *, tuple_factory: Any = tuple) -> Any:
        return convert(instance(obj, "astuple"), lambda _, pairs: tuple_factory([item for _, item in pairs]))

    def instance(obj: Any, function: str) -> Any:
        if isinstance(obj, type) or not dataclasses.is_dataclass(obj):
            msg = f"{function}() should be called on dataclass instances"
            raise TypeError(msg)
        return obj

    return {
        **take("dataclasses", "FrozenInstanceError InitVar KW_ONLY MISSING field fields is_dataclass replace"),
        "Field": sealed,
        "dataclass": dataclass,
        "make_dataclass": make_dataclass,
        "asdict": asdict,
        "astuple": astuple,
    }


def make_copy(parts: Parts) -> dict[str, Any]:
    """The names of `copy`."""

    def deepcopy(x: Any, memo: Any = None) -> Any:
        parts.sizes.walk(x)
        return copy.deepcopy(x, memo)

    return {"copy": copy.copy, "deepcopy": deepcopy, "Error": copy.Error}


def make_weakref(parts: Parts) -> dict[str, Any]:
    """The names of `weakref`, without what runs when something is gone: that may be after the run."""
    sealed: dict[Any, Any] = {kind: Sealed(kind) for kind in (weakref.ReferenceType, weakref.KeyedRef)}
    parts.world.stand_ins.update(sealed)

    def ref(obj: Any, callback: Any = None, /) -> Any:
        if callback is not None:
            msg = "a weak reference has no callback here; use a with statement, or try/finally"
            raise TypeError(msg)
        return weakref.ref(obj)

    return {
        **take("weakref", "WeakKeyDictionary WeakSet WeakValueDictionary getweakrefcount"),
        "ReferenceType": sealed[weakref.ReferenceType],
        "ref": ref,
    }
