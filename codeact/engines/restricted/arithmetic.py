"""Guards of operators: the sizes of the operands are judged where the result could be far larger.

Common cases come first and are told apart by exact type.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import index
from typing import Any

from codeact.engines.restricted.sizes import REPEATED, Sizes
from codeact.engines.restricted.text import Text

NUMBERS = frozenset({int, float, bool, complex})
FLOATS = frozenset({float})
SCALARS = frozenset({int, float, str, bool, type(None), bytes, complex})


def _times(value: Any, other: Any) -> Any:
    """How often a sequence is repeated, asked once: what a class answers may change."""
    kind = type(value)
    if kind in SCALARS or isinstance(value, int) or not isinstance(other, REPEATED):
        return value
    if hasattr(kind, "__rmul__") or hasattr(kind, "__mul__") or not hasattr(kind, "__index__"):
        return value
    return index(value)


def make_operators(sizes: Sizes, text: Text) -> dict[str, Any]:  # noqa: C901, PLR0915 - a table of closures
    """The guards of operators, by the names that the policy calls them."""

    def mul(a: Any, b: Any) -> Any:
        # Literals of one machine digit: the interpreter compares them in place.
        if type(a) is int:
            if type(b) is int:
                if -1073741823 < a < 1073741823 and -1073741823 < b < 1073741823:  # noqa: PLR2004
                    return a * b
            elif type(b) is float:
                return a * b
        elif type(a) is float:
            return a * b
        a, b = _times(a, b), _times(b, a)
        sizes.product(a, b)
        return a * b

    def power(a: Any, b: Any) -> Any:
        if type(a) is not float and type(b) is not float:
            sizes.power(a, b)
        return a**b

    def lshift(a: Any, b: Any) -> Any:
        if isinstance(a, int) and isinstance(b, int):
            sizes.bits(int.bit_length(a) + int.__index__(b))
        return a << b

    def mod(a: Any, b: Any) -> Any:
        if isinstance(a, (str, bytes)):
            return text.percent(a, b)
        return a % b

    def add(a: Any, b: Any) -> Any:
        sizes.sum(a, b)
        return a + b

    def imul(a: Any, b: Any) -> Any:
        if type(a) is not float:
            b = _times(b, a)
            sizes.product(a, b)
        a *= b
        return a

    def iadd(a: Any, b: Any) -> Any:
        sizes.sum(a, b)
        a += b
        return a

    def ipow(a: Any, b: Any) -> Any:
        if type(a) is not float and type(b) is not float:
            sizes.power(a, b)
        a **= b
        return a

    def ilshift(a: Any, b: Any) -> Any:
        if isinstance(a, int) and isinstance(b, int):
            sizes.bits(int.bit_length(a) + int.__index__(b))
        a <<= b
        return a

    def imod(a: Any, b: Any) -> Any:
        if isinstance(a, (str, bytes)):
            return text.percent(a, b)
        a %= b
        return a

    in_place: dict[str, Callable[[Any, Any], Any]] = {"mul": imul, "pow": ipow, "lshift": ilshift, "mod": imod}

    # What is there is read before the new value is made, so reading it is an argument of its own.
    def item(target: Any, key: Any) -> tuple[Any, Any, Any]:
        return target, key, target[key]

    def item_in_place(operation: str, place: tuple[Any, Any, Any], value: Any) -> None:
        target, key, found = place
        target[key] = in_place[operation](found, value)

    def attribute(target: Any, name: str) -> tuple[Any, str, Any]:
        return target, name, getattr(target, name)

    def attribute_in_place(operation: str, place: tuple[Any, str, Any], value: Any) -> None:
        target, name, found = place
        setattr(target, name, in_place[operation](found, value))

    def eq(a: Any, b: Any) -> Any:
        if type(a) not in SCALARS and type(b) not in SCALARS:
            sizes.walk(a)
        return a == b

    def ne(a: Any, b: Any) -> Any:
        if type(a) not in SCALARS and type(b) not in SCALARS:
            sizes.walk(a)
        return a != b

    return {
        ".mul": mul,
        ".pow": power,
        ".lshift": lshift,
        ".mod": mod,
        ".add": add,
        ".imul": imul,
        ".iadd": iadd,
        ".ipow": ipow,
        ".ilshift": ilshift,
        ".imod": imod,
        ".item": item,
        ".item_in_place": item_in_place,
        ".attribute": attribute,
        ".attribute_in_place": attribute_in_place,
        ".eq": eq,
        ".ne": ne,
    }
