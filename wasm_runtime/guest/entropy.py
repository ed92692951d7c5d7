"""Randomness from the host's seed: the same seed gives the same values, and nothing of the snapshot's remains.

`os.urandom` is a stream of SHAKE-256 over the seed and a counter; `secrets`, `uuid` and `SystemRandom` draw
from it. `random` is seeded from it too.
"""

from __future__ import annotations

import os
import sys
from hashlib import shake_256
from types import ModuleType
from typing import Any

from . import width

_seed = bytes(32)
_drawn = 0


def urandom(size: int, /) -> bytes:
    """The next bytes of the stream."""
    global _drawn  # noqa: PLW0603  # one room, one stream
    if size < 0:
        msg = "negative argument not allowed"
        raise ValueError(msg)
    _drawn += 1
    return shake_256(_seed + _drawn.to_bytes(8)).digest(size)


def _getrandom(size: int, _flags: int = 0) -> bytes:
    return urandom(size)


def install_stream() -> None:
    """Before the library is imported: `random` and others take `os.urandom` with them."""
    for module in (os, sys.modules["posix"]):
        module.urandom = urandom  # type: ignore[attr-defined]
        if hasattr(module, "getrandom"):
            module.getrandom = _getrandom  # type: ignore[attr-defined]


def install_generators() -> None:
    """After the library is imported: no generator may seed itself from the operating system."""
    import random  # noqa: PLC0415
    import uuid  # noqa: PLC0415

    seed = random.Random.seed
    new = random._random.Random.__new__  # type: ignore[attr-defined]  # noqa: SLF001

    def from_stream(self: random.Random, a: Any = None, version: int = 2) -> None:
        """Seed the generator; without a seed, from the host's."""
        if a is None:
            a = urandom(32)
        elif isinstance(a, float):
            a = width.hash_of(a)
        seed(self, a, version)

    def unseeded(cls: type[random.Random], *_: object, **_options: object) -> random.Random:
        # The C type would ask the operating system for a seed; __init__ gives the real one.
        return new(cls, 0)  # type: ignore[no-any-return]

    from_stream.__name__ = from_stream.__qualname__ = "seed"
    random.Random.seed = from_stream  # type: ignore[method-assign]
    random.seed = random._inst.seed  # noqa: SLF001  # a bound method of before
    random.Random.__new__ = unseeded  # type: ignore[method-assign,assignment]
    random._random.Random = random.Random  # type: ignore[attr-defined]  # noqa: SLF001
    uuid.getnode = _node


_own_node: int | None = None


def _node() -> int:
    """The hardware address that `uuid1` asks for; with the bit that says it is none."""
    global _own_node  # noqa: PLW0603  # one room, one address
    if _own_node is None:
        _own_node = int.from_bytes(urandom(6)) | 1 << 40
    return _own_node


class _Unseeded(ModuleType):
    """The module `random` until a program turns to it. To seed its generator is a twentieth of what a small run costs."""

    def __getattribute__(self, name: str) -> Any:
        ModuleType.__setattr__(self, "__class__", ModuleType)
        # The functions of the module are methods of this one generator.
        self._inst.seed(int.from_bytes(b"\1" + _seed))
        return getattr(self, name)

    def __setattr__(self, name: str, value: object) -> None:
        getattr(self, name, None)
        setattr(self, name, value)


def reseed(fresh: bytes) -> None:
    """Begin a run: everything random follows from this seed."""
    global _seed, _drawn  # one room, one stream
    _seed, _drawn = fresh, 0
    ModuleType.__setattr__(sys.modules["random"], "__class__", _Unseeded)  # past its own
