"""Bounds on numbers and keys: what may cross must not cost its receiver more than its length says."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from operator import eq

COLLIDING = 8
"""Keys of one hash that may be in a set or a dict; more are no chance, and cost the square of their number."""

KEY_BITS = 1024
"""Bits of a number in a set or a key: comparing larger ones of two types costs the square of their length."""

INT_BITS = 1 << 18
"""Bits of an integer that may cross, about 79,000 digits: what is done with larger ones costs the square of it."""

LARGE_KEY = "a number of this size cannot be in a set or a key of a dict"


def distinct(keys: list[object]) -> list[object]:
    """The same keys, if they can be put into a set or a dict in time that grows with their number.

    Raises:
        ValueError: too many have one hash, or a number among them is too large.
    """
    for key in keys:
        if type(key) is not str:
            _check_key(key)
    if len(keys) > COLLIDING:
        hashes = sorted(map(hash, keys))
        if any(map(eq, hashes, hashes[COLLIDING:])):
            msg = "keys that collide"
            raise ValueError(msg)
    return keys


def _check_key(key: object) -> None:
    kind = type(key)
    if kind is tuple or kind is frozenset:
        for part in key:  # type: ignore[attr-defined]
            _check_key(part)
    elif kind is Fraction:
        _check_key(key.numerator)  # type: ignore[attr-defined]
        _check_key(key.denominator)  # type: ignore[attr-defined]
    elif (kind is int or kind is Decimal) and bits(key) > KEY_BITS:  # type: ignore[arg-type]
        raise ValueError(LARGE_KEY)


def bits(number: int | Decimal) -> int:
    """The bits of a number written out as an integer, about: what converting it goes by."""
    if type(number) is int:
        return number.bit_length()
    _, digits, exponent = number.as_tuple()  # type: ignore[union-attr]
    return 4 * max(len(digits), abs(exponent)) if isinstance(exponent, int) else 0
