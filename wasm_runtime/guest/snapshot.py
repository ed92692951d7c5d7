"""What is done just before the snapshot, so that a fresh world is quick to use.

An instance shares the snapshot's memory until it writes to it, and each page it writes to is copied at some
cost. A fresh world runs `1+1` in half the time when the interpreter has settled and its free memory lies together.
"""

from __future__ import annotations

import gc
from collections.abc import Callable

_SMALL = 512
"""Up to this size the interpreter keeps its own pools, by steps of 8 bytes; above it is libc's heap."""

_SPARE = 8192
"""Bytes of each size that stay free, next to each other."""

_FILL = 200_000
"""Bytes of each size that are tried: more than there is free room for."""

_LARGE = (600, 800, 1000, 1500, 2000, 3000, 4000, 6000, 8000, 12000, 16000, 32000)

_plugs: list[object] = []


def settle(run: Callable[[str], object], sources: tuple[str, ...], times: int = 40) -> None:
    """Run programs until the interpreter has adapted their paths and made what it makes once."""
    for _ in range(times):
        for source in sources:
            run(source)


def compact() -> None:
    """Fill the holes that making the room left in memory, so that what comes next lies together."""
    gc.collect()
    for size in range(24, _SMALL + 1, 8):
        # The last ones made lie in pools of their own: letting go of them leaves free room in one piece.
        made = [bytes(size - bytes().__sizeof__()) for _ in range(_FILL // size)]
        del made[-(_SPARE // size) :]
        _plugs.append(made)
    _plugs.append([float(number) for number in range(_FILL // 16)][: -_SPARE // 16])
    _plugs.extend([bytes(size) for _ in range(_FILL // size)] for size in _LARGE)
    gc.freeze()
