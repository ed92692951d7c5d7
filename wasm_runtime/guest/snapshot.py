"""What is done just before the snapshot, so that a fresh world is quick to use.

An instance shares the snapshot's memory until it writes to it, and each page it writes to is copied at some
cost. A fresh world runs `1+1` in half the time when the interpreter has settled and its free memory lies together.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Sequence

_SMALL = 512
"""Up to this size the interpreter keeps its own pools, by steps of 8 bytes; above it is libc's heap."""

_SPARE = 8192
"""Bytes of each size that a fresh world finds free."""

_FILL = 80_000
"""Bytes of each size that are tried: more than there is free room for."""

_LARGE = (600, 800, 1000, 1500, 2000, 3000, 4000, 6000, 8000, 12000, 16000, 32000)

_plugs: list[object] = []


def settle(run: Callable[[str], object], sources: tuple[str, ...], times: int = 40) -> None:
    """Run programs until the interpreter has adapted their paths and made what it makes once."""
    for _ in range(times):
        for source in sources:
            run(source)


def fill(*, spare: int = 0) -> None:
    """Fill the holes that are left in memory, so that what comes next lies together.

    Args:
        spare: bytes of each size that stay free, next to each other.
    """
    gc.collect()
    for size in range(24, _SMALL + 1, 8):
        # The last ones made lie in pools of their own: letting go of them leaves free room in one piece.
        made = [bytes(size - b"".__sizeof__()) for _ in range(_FILL // size)]
        _keep(made, spare // size)
    _keep([float(number) for number in range(_FILL // 16)], spare // 16)
    for size in _LARGE:
        _keep([bytes(size) for _ in range(_FILL // size)], 0)


def _keep(made: Sequence[object], spare: int) -> None:
    _plugs.append(made[: len(made) - spare])


def take() -> None:
    """The last step before the snapshot: what is there now is not the collector's business."""
    fill(spare=_SPARE)
    gc.freeze()
