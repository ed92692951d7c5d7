"""Sizes: what an operation would take, estimated before it runs."""

from __future__ import annotations

from array import array
from collections import UserDict, UserList, UserString, deque
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from functools import partial
from itertools import chain
from operator import index, itemgetter
from types import FunctionType, GenericAlias, MappingProxyType, SimpleNamespace, UnionType
from typing import Any, NoReturn

INT_BITS = 1 << 19
"""Bits of the largest integer, 157,000 digits. Dividing by one, or making a Decimal of one, takes up to a third of a
second, which nothing can interrupt, and sixteen times as long with four times the size."""

WALK = 3_000_000
"""Parts that are followed when a structure is shown or compared as a whole."""

EXPONENT = 100_000
"""The largest exponent of a Decimal: writing one out as an integer takes time with the square of it."""

_DEEP = 200
_NUMBER = 24  # characters of a number in an array
_FRACTION = 16  # a product is brought to its lowest terms, with the square of its size
_HEADER = 80
_CHARACTER = 84
_WORK = 1_000_000_000
_NUMERIC = frozenset({int, float, bool, type(None), complex})
_LEAVES = frozenset({int, float, bool, type(None), str, bytes, bytearray, list, tuple, dict, set})
_ATOMS = _NUMERIC | {str, bytes}
_NESTING: tuple[Any, ...] = (list, tuple, set, frozenset, deque)
_VIEWS: tuple[Any, ...] = (type({}.keys()), type({}.values()), type({}.items()))
_SHOWING: tuple[Any, ...] = (
    UserList, UserDict, SimpleNamespace, partial, slice, itemgetter, MappingProxyType, GenericAlias, UnionType
)  # fmt: skip
_TEXTS = (str, bytes, bytearray)
REPEATED = (UserList, UserString, str, bytes, bytearray, list, tuple, deque, array)
_SEQUENCES = (str, bytes, bytearray, list, tuple, deque, array)


class Sizes:
    """The limits of one world on single operations."""

    def __init__(self, memory: int, tick: Callable[[], object]) -> None:
        self.limit = memory
        self._tick = tick

    def take(self, wanted: int) -> None:
        """Ask for bytes.

        Raises:
            MemoryError: one operation may not take so many.
        """
        if wanted > self.limit:
            self.refuse(f"one operation would take about {_rounded(wanted)} bytes")

    def take_apart(self, text: Any) -> None:
        """Ask for a text as a collection of its characters: beyond Latin-1 each of them is an object of its own."""
        size = length(text)
        self.take(size * (_CHARACTER if isinstance(text, str) and str.__sizeof__(text) > 2 * size else 8))

    def refuse(self, reason: str) -> NoReturn:
        """Refuse an operation."""
        msg = f"no more memory (limit memory={self.limit:,} bytes): {reason}"
        raise MemoryError(msg)

    def bits(self, wanted: int) -> None:
        """Ask for an integer of so many bits."""
        if wanted > INT_BITS:
            msg = (
                f"memory limit for one integer reached: about {_rounded(wanted)} bits, at most {INT_BITS:,} are allowed"
            )
            raise MemoryError(msg)

    def work(self, steps: int, what: str) -> None:
        """Ask for a number of steps inside one call that cannot be interrupted."""
        if steps > _WORK:
            self.refuse(f"{what} would take about {_rounded(steps)} steps in one call; work on smaller parts")

    def product(self, a: Any, b: Any) -> None:
        """Judge `a * b`."""
        if isinstance(a, int):
            if isinstance(b, int):
                self.bits(int.bit_length(a) + int.bit_length(b))
                return
            a, b = b, a
        if isinstance(b, int):
            if isinstance(a, (UserList, UserString)):
                a = a.data
            if isinstance(a, _SEQUENCES):
                self.take(_bytes(a) * int.__index__(b))
        elif isinstance(a, Fraction) and isinstance(b, Fraction):
            self.bits(_FRACTION * (_fraction_bits(a) + _fraction_bits(b)))

    def sum(self, a: Any, b: Any) -> None:
        """Judge `a + b`."""
        if isinstance(a, _SEQUENCES) and isinstance(b, _SEQUENCES):
            self._tick()
            self.take(_bytes(a) + _bytes(b))

    def power(self, a: Any, b: Any) -> None:
        """Judge `a ** b`."""
        if isinstance(b, int):
            times = int.__index__(b)
            if isinstance(a, int):
                if int.bit_length(a) > 1:
                    self.bits((int.bit_length(a) - 1) * times)
            elif isinstance(a, Fraction):
                self.bits(_fraction_bits(a) * abs(times))

    def modular_power(self, exponent: Any, modulus: Any) -> None:
        """Judge `pow(a, exponent, modulus)`."""
        if isinstance(exponent, int) and isinstance(modulus, int):
            digits = int.bit_length(modulus) // 30 + 1
            self.work(int.bit_length(exponent) * digits * digits, "pow()")

    def keys(self, values: Any) -> None:
        """Judge the tuples among values that are to be hashed, with the tuples in them."""
        level = [value for value in values if isinstance(value, tuple)]
        left = WALK
        while level:
            level = [part for part in chain.from_iterable(map(tuple.__iter__, level)) if isinstance(part, tuple)]
            left -= len(level)
            if left < 0:
                self._too_many()
            for _ in range(0, len(level), 100):
                self._tick()

    def places(self, number: Any, digits: Any) -> None:
        """Judge `round(number, digits)`, which for a fraction is arithmetic with a power of ten."""
        self.exponent(number)
        if isinstance(number, Fraction) and isinstance(digits, int):
            self.bits(4 * abs(digits))

    def exponent(self, value: Any) -> None:
        """Judge a Decimal that is to be written out."""
        if isinstance(value, Decimal) and value.is_finite() and abs(value.adjusted()) > EXPONENT:
            self.refuse(f"a Decimal with the exponent {value.adjusted():,} would be written out")

    def walk(self, value: Any) -> int:
        """The bytes that a structure takes written out, everything it holds counted as often as it holds it.

        Raises:
            MemoryError: it is more than one operation may take.
        """
        # Level by level, so that the interpreter's C code does the counting: structures that are shown are mostly
        # flat and wide.
        total = 0
        left = WALK
        level = [value]
        depth = 0
        while level:
            depth += 1
            if depth == _DEEP and self._cyclic(value):
                return self._follow(value)
            parts: list[Any] = []
            total += _spread(level, parts) + 2 * len(parts)
            level = [part for part in parts if type(part) not in _NUMERIC]
            left -= len(level)
            for _ in range(0, len(level), 100):
                self._tick()
            if left < 0 or total > self.limit:
                if self._cyclic(value):
                    return self._follow(value)
                self.take(total)
                self._too_many()
        return total

    def _too_many(self) -> NoReturn:
        self.refuse(f"the structure has more than {WALK:,} parts when everything it shares is counted")

    def _cyclic(self, value: Any) -> bool:
        """Whether a structure holds itself; everything in it is looked at once."""
        path: list[int] = []
        inside: set[int] = set()
        known: set[int] = set()
        pending = [iter((value,))]
        while pending:
            for item in pending[-1]:
                if type(item) in _ATOMS or id(item) in known:
                    continue
                if id(item) in inside:
                    return True
                if len(known) % 100 == 0:
                    self._tick()
                parts: list[Any] = []
                _spread([item], parts)
                if not parts:
                    continue
                path.append(id(item))
                inside.add(path[-1])
                pending.append(iter(parts))
                break
            else:
                pending.pop()
                if path:
                    known.add(path[-1])
                    inside.discard(path.pop())
        return False

    def _follow(self, value: Any) -> int:
        """The same for what is large, or may hold itself: path by path, and what is on the path is not entered."""
        total = 0
        left = WALK // 10
        path: list[int] = []
        inside: set[int] = set()
        pending = [iter((value,))]
        while pending:
            for item in pending[-1]:
                total += 2
                if type(item) in _NUMERIC:
                    continue
                left -= 1
                if left % 100 == 0:
                    self._tick()
                if left < 0:
                    self._too_many()
                parts: list[Any] = []
                total += _spread([item], parts)
                self.take(total)
                if parts and id(item) not in inside:
                    path.append(id(item))
                    inside.add(path[-1])
                    pending.append(iter(parts))
                    break
            else:
                pending.pop()
                if path:
                    inside.discard(path.pop())
        return total


def _spread(level: list[Any], parts: list[Any]) -> int:
    """Put what the containers of a level hold into `parts`; gives the length of the texts among them."""
    total = 0
    kinds = set(map(type, level))
    group: Any
    for kind in kinds:
        group = level if len(kinds) == 1 else [item for item in level if type(item) is kind]
        if issubclass(kind, _TEXTS):
            total += sum(map(length, group)) if kind not in (str, bytes) else sum(map(len, group))
        elif issubclass(kind, array):
            total += _NUMBER * sum(map(array.__len__, group))
        elif issubclass(kind, dict):
            parts += chain.from_iterable(map(dict.keys, group))
            parts += chain.from_iterable(map(dict.values, group))
        elif issubclass(kind, BaseException):
            parts += chain.from_iterable(map(BaseException.args.__get__, group))  # type: ignore[attr-defined]
        elif kind in _VIEWS:
            parts += chain.from_iterable(group)
        elif issubclass(kind, _SHOWING):
            parts += chain.from_iterable(map(_fields, group))
        elif hasattr(kind, "__dataclass_fields__"):
            parts += chain.from_iterable(map(_shown, group))
        else:
            for base in _NESTING:
                if issubclass(kind, base):
                    parts += chain.from_iterable(map(base.__iter__, group))
                    break
    return total


def _fields(value: Any) -> Any:
    """What a value that is no container shows of others."""
    if isinstance(value, (UserList, UserDict, SimpleNamespace)):
        return object.__getattribute__(value, "__dict__").values()
    if isinstance(value, partial):
        return partial.__reduce__(value)[2][:3]
    if isinstance(value, (slice, itemgetter)):
        return value.__reduce__()[1]
    if isinstance(value, MappingProxyType):
        return chain.from_iterable(value.items())
    return value.__args__


def _shown(value: Any) -> list[Any]:
    """The fields that a dataclass shows, unless the program has written what it shows."""
    kind = type(value)
    method = kind.__repr__
    if not isinstance(method, FunctionType) or method.__globals__.get("__name__") not in {"dataclasses", "reprlib"}:
        return []
    names = [name for name, field in kind.__dataclass_fields__.items() if field.repr]
    return [getattr(value, name, None) for name in names]


def _fraction_bits(value: Fraction) -> int:
    return max(value.numerator.bit_length(), value.denominator.bit_length())


def plain(value: Any) -> Any:
    """A number or text itself, for one whose class says otherwise about its size; anything else as it is."""
    kind = type(value)
    if kind in _LEAVES:
        return value
    if isinstance(value, int):
        return int.__index__(value)
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, bytes):
        return bytes.__getitem__(value, slice(None))
    return index(value) if hasattr(kind, "__index__") else value


def length(value: Any) -> int:
    """The length of a text as the interpreter counts it."""
    base: Any = next((base for base in _TEXTS if isinstance(value, base)), None)
    return 0 if base is None else int(base.__len__(value))


def _bytes(value: Any) -> int:
    """The bytes that the items of a sequence take."""
    if isinstance(value, str):
        # The header's size differs between interpreters; for a short text it must not outweigh the text.
        return max(str.__len__(value), str.__sizeof__(value) - _HEADER)
    base: Any = next(base for base in _SEQUENCES if isinstance(value, base))
    return (1 if base is bytes or base is bytearray else 8) * int(base.__len__(value))


def _rounded(amount: int) -> str:
    return f"{amount:,}" if amount < 10**18 else "more than 10**18"
