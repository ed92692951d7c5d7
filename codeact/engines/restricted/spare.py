"""Memory that the allocator keeps after a program has let go of it.

A thread's arena in glibc keeps what was freed in it for that thread's next allocations. Programs that take all they
may take, each on another worker, would leave the process hundreds of megabytes larger (ten bombs of 100 MB: 1 GB).
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache

LARGE = 16 * 1024 * 1024
"""Bytes of growth from which on it is worth the milliseconds that giving memory back takes."""


def give_back() -> None:
    """Let the allocator give the system what nobody uses; where it is none that can, nothing happens."""
    trim = _trim()
    if trim is not None:
        trim(0)


@cache
def _trim() -> Callable[[int], int] | None:
    try:
        found: Callable[[int], int] = ctypes.CDLL(None).malloc_trim
    except (OSError, AttributeError, TypeError):  # another C library, or another system
        return None
    return found
