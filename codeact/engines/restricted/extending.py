"""What a list grows by: an iterator may run through the very list that grows, and never come to its end.

`rows.extend(iter(rows))` and `rows += enumerate(rows)` are one C call that ticks nowhere, with the interpreter's lock
held. So what extends a list is charged item by item. Where it is not known whether it is a list that grows (`row.cells
+= x`), only the interpreter's own iterators are.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain
from types import FunctionType, MethodType
from typing import Any

from codeact.engines.restricted.arithmetic import SCALARS
from codeact.engines.restricted.sizes import Sizes
from codeact.engines.restricted.world import World

_WHOLE = SCALARS | {list, tuple, dict, set, frozenset}
"""Types of what has an end by itself, told apart first."""


def runs(kind: type) -> bool:
    """Whether one can run through objects of a type."""
    return hasattr(kind, "__iter__") or hasattr(kind, "__getitem__")


def make_extending(world: World, sizes: Sizes) -> dict[str, Callable[..., Any]]:
    """The guards of what grows in place."""
    meter, own = world.meter, world.own

    def charged(items: Any) -> Any:
        kind = type(items)
        if kind in _WHOLE or kind in own or not hasattr(kind, "__next__"):
            return items
        return meter.charged(items)

    def items_of(items: Any) -> Any:
        return items if type(items) in _WHOLE else meter.charged(iter(items))

    # A tuple is made as long as its source says that it is, before anything is in it; a chain says nothing.
    def spread(items: Any) -> Any:
        kind = type(items)
        return items if kind in _WHOLE or kind is range or not runs(kind) else chain((), items)

    def iadd(a: Any, b: Any) -> Any:
        sizes.sum(a, b)
        a += items_of(b) if isinstance(a, list) else b
        return a

    def extending(method: Any) -> Any:
        """The method `extend` of whatever has one; a program's own ticks by itself."""
        if type(method.__func__ if type(method) is MethodType else method) is FunctionType and world.wrote(method):
            return method

        def extend(*args: Any) -> Any:
            return method(*args[:-1], *map(items_of, args[-1:]))

        return extend

    return {".charged": charged, ".items_of": items_of, ".iadd": iadd, ".extending": extending, ".spread": spread}
