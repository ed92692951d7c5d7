"""What is done just before the snapshot, so that a fresh world is quick to use.

An instance shares the snapshot's memory until it writes to it, and each page it writes to is copied at some
cost. A fresh world runs `1+1` in half the time when the interpreter has settled and its free memory lies together.
"""

from __future__ import annotations

import gc
import hashlib
import struct
import sys
import types
from collections.abc import Callable, Iterable, Sequence

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
    """The last step before the snapshot: what is there now is nobody's business any more.

    The collector does not look at it again, and whoever makes the component finds a note of it: a mark, the place
    of the list of what will last, and its length.
    """
    gc.collect()
    things = lasting([sys.modules, *object.__subclasses__()])
    _plugs.extend((things, mark() + struct.pack("<II", id(things), len(things))))
    fill(spare=_SPARE)
    gc.freeze()


def mark() -> bytes:
    """What the note of what lasts begins with. It is made here, so that it is no constant in memory."""
    return hashlib.sha256(b"codeact: what lasts").digest()


_RUNNING = (types.FrameType, types.GeneratorType, types.CoroutineType, types.AsyncGeneratorType, types.TracebackType)


def lasting(roots: Iterable[object]) -> list[object]:
    """The objects that stay as long as the world does: all that can be reached from some.

    Whoever makes the component makes them immortal. Then nobody counts references to them, which would write to
    them, and each page that is written to is copied for the world. What runs is left out, because it ends. Holding
    the list is what makes them last.

    Args:
        roots: where to begin.
    """
    found: list[object] = []
    seen = bytearray(_ADDRESSES // 64)  # a bit for every eight bytes, because what is left of a set would be large
    pending = [*roots]
    while pending:
        thing = pending.pop()
        place, bit = id(thing) >> 6, 1 << (id(thing) >> 3 & 7)
        if seen[place] & bit or isinstance(thing, _RUNNING) or thing is pending or thing is found:
            continue
        seen[place] |= bit
        found.append(thing)
        # The collector knows only of what can be part of a cycle.
        if isinstance(thing, types.CodeType):
            pending += (getattr(thing, name) for name in _OF_CODE)
        elif isinstance(thing, type):
            pending += (*gc.get_referents(vars(thing)), thing.__mro__, thing.__bases__)
        pending += gc.get_referents(thing)
    seen[:] = bytes(len(seen))
    return found


_ADDRESSES = 64 * 1024 * 1024
"""More than there is memory when the snapshot is taken."""

_OF_CODE = (
    *("co_consts", "co_names", "co_name", "co_qualname", "co_filename"),
    *("co_linetable", "co_exceptiontable"),
)
