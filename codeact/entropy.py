"""Bytes that nobody can foretell, for less than the kernel asks."""

from __future__ import annotations

import hashlib
import itertools
import os

_key = os.urandom(32)
_numbers = itertools.count()


def fresh(purpose: bytes, size: int) -> bytes:
    """Bytes that nobody can foretell and nobody else gets, in a forked child neither.

    They are drawn from the kernel's randomness once a process: to ask it for every run costs more than a tenth of
    a small one.

    Args:
        purpose: what they are for; those of one purpose say nothing of those of another.
        size: how many, at most 64.
    """
    number = b"%d %d" % (os.getpid(), next(_numbers))
    return hashlib.blake2b(number, key=_key, digest_size=size, person=purpose).digest()
