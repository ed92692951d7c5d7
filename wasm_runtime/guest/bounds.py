"""Bounds on numbers and keys: what may cross must not cost its receiver more than its length says."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from operator import eq

from .records import Member

COLLIDING = 8
"""Keys of one hash that may be in a set or a dict; more are no chance, and cost the square of their number."""

KEY_BITS = 1024
"""Bits of a number in a set or a key: comparing larger ones of two types costs the square of their length."""

INT_BITS = 1 << 18
"""Bits of an integer that may cross, about 79,000 digits: what is done with larger ones costs the square of it."""

DIGITS = 80_000
"""Characters of a Decimal that may cross: about the digits of such an integer, a sign and an exponent."""

LARGE_KEY = "a number of this size cannot be in a set or a key of a dict"


def distinct(keys: list[object]) -> list[object]:
    """The same keys, if they can be put into a set or a dict in time that grows with their number.

    Raises:
        ValueError: too many have one hash, or a number among them is too large.
    """
    nested = [key for key in keys if type(key) is not str and _is_nested(key)]
    alike = len({*map(hash, nested)}) < len(nested)  # comparing two takes comparing all of one with all of the other
    if not alike and len(keys) > COLLIDING:
        hashes = sorted(map(hash, keys))
        alike = any(map(eq, hashes, hashes[COLLIDING:]))
    if alike:
        msg = "keys that collide"
        raise ValueError(msg)
    return keys


def _is_nested(key: object) -> bool:
    """Whether a key holds a set that holds another.

    What is in a set was looked at when it was made.

    Raises:
        ValueError: there is a number in it that is too large.
    """
    kind = type(key)
    if kind is tuple:
        return True in [_is_nested(part) for part in key]  # type: ignore[attr-defined]  # all of them are looked at
    if kind is frozenset:
        return any(map(_holds_set, key))  # type: ignore[call-overload]
    if kind is Member:
        return _is_nested(key.value)  # type: ignore[attr-defined]
    if kind is Fraction:
        return _is_nested(key.numerator) or _is_nested(key.denominator)  # type: ignore[attr-defined]
    if (kind is int or kind is Decimal) and bits(key) > KEY_BITS:  # type: ignore[arg-type]
        raise ValueError(LARGE_KEY)
    return False


def _holds_set(key: object) -> bool:
    kind = type(key)
    if kind is tuple:
        return any(map(_holds_set, key))  # type: ignore[call-overload]
    return kind is frozenset or (kind is Member and _holds_set(key.value))  # type: ignore[attr-defined]


def bits(number: int | Decimal) -> int:
    """The bits of a number written out as an integer, about: what converting it goes by."""
    if type(number) is int:
        return number.bit_length()
    _, digits, exponent = number.as_tuple()  # type: ignore[union-attr]
    return 4 * max(len(digits), abs(exponent)) if isinstance(exponent, int) else 0
