"""Guards of operators: the sizes of the operands are judged where the result could be far larger.

Common cases come first and are told apart by exact type.
"""

from __future__ import annotations

from collections import UserList, UserString
from collections.abc import Callable
from operator import index
from types import FunctionType
from typing import Any

from codeact.engines.restricted.sizes import REPEATED, Sizes, plain
from codeact.engines.restricted.text import Text

NUMBERS = frozenset({int, float, bool, complex})
FLOATS = frozenset({float})
_HOSTED = (UserList, UserString)
REPEATABLE = frozenset({str, list, tuple, bytes})
FEW = 1000
"""Items that need not be asked for."""

SCALARS = frozenset({int, float, str, bool, type(None), bytes, complex})


def _counts(value: Any, items: Any) -> bool:
    """Whether a class of the program's says how often a sequence is repeated: it is asked once, as its answer may change."""
    kind = type(value)
    if kind in SCALARS or isinstance(value, int) or not isinstance(items, REPEATED) or not hasattr(kind, "__index__"):
        return False
    # A sequence with a multiplication of the program's is repeated by that, and by nothing else.
    return not isinstance(getattr(type(items), "__mul__", None), FunctionType) or isinstance(items, _HOSTED)


def _own_product(value: Any, items: Any, method: str) -> Any:
    """What such a class makes of a sequence by a multiplication of its own, which comes first."""
    own = getattr(type(value), method, None)
    return NotImplemented if own is None else own(value, items)


def make_operators(sizes: Sizes, text: Text) -> dict[str, Any]:  # noqa: C901, PLR0915 - a table of closures
    """The guards of operators, by the names that the policy calls them."""

    def mul(a: Any, b: Any) -> Any:
        # Literals of one machine digit: the interpreter compares them in place.
        if type(a) is int:
            if type(b) is int:
                if -1073741823 < a < 1073741823 and -1073741823 < b < 1073741823:  # noqa: PLR2004
                    return a * b
            elif type(b) is float or (type(b) in REPEATABLE and a * len(b) < FEW):
                return a * b
        elif type(a) is float or (type(b) is int and type(a) in REPEATABLE and b * len(a) < FEW):
            return a * b
        if _counts(a, b):
            made = _own_product(a, b, "__mul__")
            if made is not NotImplemented:
                return made
            a = index(a)
        elif _counts(b, a):
            made = _own_product(b, a, "__rmul__")
            if made is not NotImplemented:
                return made
            b = index(b)
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
        if type(a) not in NUMBERS and isinstance(a, (str, bytes)):
            return text.percent(a, b)
        return a % b

    def add(a: Any, b: Any) -> Any:
        sizes.sum(a, b)
        return a + b

    def imul(a: Any, b: Any) -> Any:
        if type(a) is not float:
            if _counts(b, a):
                made = _own_product(b, a, "__rmul__")
                if made is not NotImplemented:
                    return made
                b = index(b)
            sizes.product(a, b)
        a *= b
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

    def key(value: Any) -> Any:
        if isinstance(value, tuple) and not SCALARS.issuperset(map(type, value)):
            sizes.keys((value,))
        return value

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
        ".ipow": ipow,
        ".ilshift": ilshift,
        ".imod": imod,
        ".item": item,
        ".item_in_place": item_in_place,
        ".attribute": attribute,
        ".attribute_in_place": attribute_in_place,
        ".key": key,
        ".eq": eq,
        ".ne": ne,
    }


def make_judges(sizes: Sizes, text: Text, items_of: Callable[[Any], Any]) -> dict[str, Callable[..., Any]]:  # noqa: C901 - a table of closures
    """The same for operators that are called by the names of their methods.

    Each is given the call to make, the object, and the arguments of the call.
    """

    def times(call: Any, a: Any, *args: Any) -> Any:
        if len(args) == 1:
            if _counts(args[0], a):
                args = (index(args[0]),)
            sizes.product(a, args[0])
        return call(*args)

    def power(call: Any, a: Any, *args: Any) -> Any:
        if len(args) > 1:
            sizes.modular_power(*args[:2])
        else:
            sizes.power(a, *args)
        return call(*args)

    def reversed_power(call: Any, a: Any, b: Any, *args: Any) -> Any:
        sizes.power(b, a)
        return call(b, *args)

    def shift(call: Any, a: Any, b: Any) -> Any:
        _shifted(a, b)
        return call(b)

    def reversed_shift(call: Any, a: Any, b: Any) -> Any:
        _shifted(b, a)
        return call(b)

    def _shifted(a: Any, b: Any) -> None:
        if isinstance(a, int) and isinstance(b, int):
            sizes.bits(int.bit_length(a) + int.__index__(b))

    def percent(call: Any, a: Any, b: Any) -> Any:
        return text.percent(plain(a), b) if isinstance(a, (str, bytes)) else call(b)

    def reversed_percent(call: Any, a: Any, b: Any) -> Any:
        return text.percent(plain(b), a) if isinstance(b, (str, bytes)) else call(b)

    def total(call: Any, a: Any, b: Any) -> Any:
        sizes.sum(a, b)
        return call(b)

    def grown(call: Any, a: Any, b: Any) -> Any:
        return total(call, a, items_of(b) if isinstance(a, list) else b)

    def compared(call: Any, a: Any, *args: Any) -> Any:
        if type(a) not in SCALARS:
            sizes.walk(a)
        return call(*args)

    def whole(call: Any, a: Any, *args: Any) -> Any:
        args = tuple(map(plain, args))
        sizes.places(a, *(args or (None,)))
        if args and isinstance(a, int) and isinstance(args[0], int) and -args[0] > int.bit_length(a):
            return 0
        return call(*args)

    def shown(call: Any, a: Any) -> Any:
        sizes.walk(a)
        return text.clean(call())

    def formatted(call: Any, a: Any, spec: Any) -> Any:
        return text.clean(call(text.judged(a, spec)))

    return {
        **dict.fromkeys(("__mul__", "__rmul__", "__imul__"), times),
        **dict.fromkeys(("__pow__", "__ipow__"), power),
        **dict.fromkeys(("__lshift__", "__ilshift__"), shift),
        **dict.fromkeys(("__mod__", "__imod__"), percent),
        **dict.fromkeys(("__add__", "__radd__"), total),
        "__iadd__": grown,
        **dict.fromkeys(("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__hash__"), compared),
        **dict.fromkeys(("__int__", "__round__", "__floor__", "__ceil__", "__trunc__"), whole),
        **dict.fromkeys(("__repr__", "__str__"), shown),
        "__rpow__": reversed_power,
        "__rlshift__": reversed_shift,
        "__rmod__": reversed_percent,
        "__format__": formatted,
    }
