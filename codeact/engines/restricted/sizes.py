"""Sizes: what an operation would take, estimated before it runs."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from sys import getsizeof
from typing import Any, NoReturn

INT_BITS = 1 << 21
"""Bits of the largest integer. Dividing two of that size takes about a second, which nothing can interrupt."""

WALK = 1_000_000
"""Containers that are followed when a structure is shown or compared as a whole."""

EXPONENT = 1_000_000
"""The largest exponent of a Decimal that is written out as an integer."""

_WORK = 1_000_000_000
_SCALARS = frozenset({int, float, bool, type(None), complex, str, bytes})
_TEXTS = (str, bytes, bytearray)
_SEQUENCES = (str, bytes, bytearray, list, tuple, deque)


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

    def refuse(self, reason: str) -> NoReturn:
        """Refuse an operation."""
        msg = f"memory limit of {self.limit:,} bytes reached: {reason}"
        raise MemoryError(msg)

    def bits(self, wanted: int) -> None:
        """Ask for an integer of so many bits."""
        if wanted > INT_BITS:
            msg = f"memory limit for one integer reached: about {_rounded(wanted)} bits, at most {INT_BITS:,} are allowed"
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
        if isinstance(b, int) and isinstance(a, _SEQUENCES) and b > 1:
            self.take(_bytes(a) * int(b))

    def sum(self, a: Any, b: Any) -> None:
        """Judge `a + b`."""
        if isinstance(a, _SEQUENCES) and isinstance(b, _SEQUENCES):
            self.take(_bytes(a) + _bytes(b))

    def power(self, a: Any, b: Any) -> None:
        """Judge `a ** b`."""
        if isinstance(b, int) and b > 1:
            if isinstance(a, int):
                if not -1 <= a <= 1:
                    self.bits((int.bit_length(a) - 1) * b)
            elif isinstance(a, Fraction):
                self.bits(max(a.numerator.bit_length(), a.denominator.bit_length()) * b)

    def modular_power(self, exponent: Any, modulus: Any) -> None:
        """Judge `pow(a, exponent, modulus)`."""
        if isinstance(exponent, int) and isinstance(modulus, int):
            digits = int.bit_length(modulus) // 30 + 1
            self.work(int.bit_length(exponent) * digits * digits, "pow()")

    def exponent(self, value: Any) -> None:
        """Judge a Decimal that is to be written out."""
        if isinstance(value, Decimal) and value.is_finite() and abs(value.adjusted()) > EXPONENT:
            self.refuse(f"a Decimal with the exponent {value.adjusted():,} would be written out")

    def walk(self, value: Any) -> int:
        """The bytes that a structure takes written out, everything it holds counted as often as it holds it.

        Raises:
            MemoryError: it is more than one operation may take.
        """
        if type(value) in _SCALARS:
            return getsizeof(value)
        tick = self._tick
        total = 0
        left = WALK
        pending = [value]
        while pending:
            item = pending.pop()
            tick()
            kind = type(item)
            if kind is dict or kind is list:
                parts = item if kind is list else item.values()
            elif isinstance(item, dict):
                parts = dict.values(item)
            elif isinstance(item, (list, tuple, set, frozenset)):
                parts = list(_base(item).__iter__(item))
            else:
                total += _length(item)
                continue
            total += sum(map(getsizeof, parts))
            if not _SCALARS.issuperset(map(type, parts)):
                pending += [part for part in parts if type(part) not in _SCALARS]
            if isinstance(item, dict):
                total += sum(map(getsizeof, dict.keys(item)))
                pending += [key for key in dict.keys(item) if type(key) is tuple]
            left -= 1
            if total > self.limit or not left:
                break
        if not left:
            self.refuse(f"the structure has more than {WALK:,} parts when everything it shares is counted")
        self.take(total // 4)
        return total // 4


def _base(item: Any) -> Any:
    for base in (list, tuple, set):
        if isinstance(item, base):
            return base
    return frozenset


def _length(item: Any) -> int:
    return 4 * len(item) if isinstance(item, _TEXTS) else 4


def _bytes(value: Any) -> int:
    """The bytes that the items of a sequence take."""
    if isinstance(value, str):
        return str.__sizeof__(value) - 48
    if isinstance(value, deque):
        return 8 * deque.__len__(value)
    if isinstance(value, (list, tuple)):
        return 8 * (list if isinstance(value, list) else tuple).__len__(value)  # type: ignore[arg-type]
    return (bytes if isinstance(value, bytes) else bytearray).__len__(value)  # type: ignore[arg-type]


def _rounded(amount: int) -> str:
    return f"{amount:,}" if amount < 10**18 else "more than 10**18"
