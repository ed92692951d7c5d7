"""What the modules of one world are made of."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType
from typing import Any

from codeact.engines.restricted.sizes import Sizes
from codeact.engines.restricted.supply import Supply
from codeact.engines.restricted.text import Text
from codeact.engines.restricted.world import World


@dataclass(frozen=True, slots=True)
class Parts:
    """A world, with the guards that were made for it.

    Attributes:
        guards: the world's builtins and guards, by name.
        load: gives another module of the world, by name.
    """

    world: World
    guards: Supply
    sizes: Sizes
    text: Text
    load: Callable[[str], ModuleType]


def take(module: str, names: str) -> dict[str, Any]:
    """These names of a real module, those that this Python has."""
    return pick(vars(import_module(module)), names)


def pick(found: Mapping[str, Any], names: str) -> dict[str, Any]:
    """These of the names found, those that are there."""
    return {name: _without_cache(found[name]) for name in names.split() if name in found}


def _without_cache(value: Any) -> Any:
    """A function without the way to its cache, which is everyone's."""
    if not hasattr(value, "cache_clear"):
        return value

    def call(*args: Any, **named: Any) -> Any:
        return value(*args, **named)

    call.__name__ = call.__qualname__ = value.__name__
    call.__doc__ = value.__doc__
    return call


class StandIn(type):
    """The type of a class that stands in for a real one.

    Its constructor gives instances of the real class: values that cross are judged by exact type, and what a tool
    returned and what the program made must be the same. An instance of the one counts as an instance of the other.
    """

    def __instancecheck__(cls, value: object) -> bool:
        return (
            type.__instancecheck__(cls.__mro__[1], value) if StandIn.stands(cls) else super().__instancecheck__(value)
        )

    def __subclasscheck__(cls, kind: type) -> bool:
        return type.__subclasscheck__(cls.__mro__[1], kind) if StandIn.stands(cls) else super().__subclasscheck__(kind)

    def stands(cls: type) -> bool:
        """Whether it is the stand-in itself and not a class derived from it."""
        return not isinstance(cls.__mro__[1], StandIn)

    def __repr__(cls) -> str:
        return f"<class '{cls.__module__}.{cls.__name__}'>"
