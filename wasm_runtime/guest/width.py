"""A program written for a machine of 64 bits meets one of 32: what would differ without need does not.

What the C code of the interpreter counts with cannot be changed: `len(range(10**10))` is an OverflowError here.
"""

from __future__ import annotations

import sys

_MODULUS = (1 << 61) - 1

NARROW = sys.maxsize
"""The largest size there is, whatever `sys.maxsize` says."""


def install() -> None:
    """Show the numbers that programs know.

    `sys.maxsize` is what programs begin a search for the smallest with, and no size.
    """
    # Modules that read a stream to its end pass it on to C code as the size to read.
    sys.modules["compression._common._streams"].sys = _Sizes  # type: ignore[attr-defined]
    sys.maxsize = (1 << 63) - 1
    # Names of the module hide builtins from its functions: choice, sample and choices ask for the length of a range.
    sys.modules["random"].len = length  # type: ignore[attr-defined]


class _Sizes:
    maxsize = NARROW


def length(sequence: range) -> int:
    """The length of anything, ranges of any length among it."""
    if type(sequence) is not range:
        return len(sequence)
    start, stop, step = sequence.start, sequence.stop, sequence.step
    return max(0, (stop - start + step - (1 if step > 0 else -1)) // step)


def hash_of(number: float) -> int:
    """The hash of a number where hashes have 64 bits, as a number without a sign: what `random` is seeded with."""
    if number != number:  # noqa: PLR0124  # it is no number
        return 0
    if number in {float("inf"), float("-inf")}:
        found = sys.hash_info.inf if number > 0 else -sys.hash_info.inf
    else:
        numerator, denominator = abs(number).as_integer_ratio()
        found = numerator * pow(denominator, -1, _MODULUS) % _MODULUS
        found = -found if number < 0 else found
    return (-2 if found == -1 else found) % (1 << 64)
