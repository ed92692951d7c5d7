"""`random` and `uuid`, from the seed of the world."""

from __future__ import annotations

import random
import uuid
from typing import Any

from codeact.engines.restricted.library.parts import Parts, take

_METHODS = (
    "betavariate choice choices expovariate gammavariate gauss getrandbits getstate lognormvariate normalvariate "
    "paretovariate randbytes randint random randrange sample seed setstate shuffle triangular uniform vonmisesvariate "
    "weibullvariate binomialvariate"
)


def make_random(parts: Parts) -> dict[str, Any]:
    """The names of `random`: one generator for the world, and a class for more of them."""
    chance, sizes = parts.world.chance, parts.sizes

    class Random(random.Random):
        def __init__(self, x: Any = None) -> None:
            super().__init__(chance.getrandbits(128) if x is None else x)

        def seed(self, a: Any = None, version: int = 2) -> None:
            super().seed(chance.getrandbits(128) if a is None else a, version)

        def getrandbits(self, k: int, /) -> int:
            sizes.bits(k)
            return super().getrandbits(k)

        def randbytes(self, n: int) -> bytes:
            sizes.bits(8 * n)
            return super().randbytes(n)

        def choices(self, population: Any, weights: Any = None, *, cum_weights: Any = None, k: int = 1) -> Any:
            parts.world.meter.charge(k)
            sizes.take(8 * k)
            return super().choices(population, weights, cum_weights=cum_weights, k=k)

        def __repr__(self) -> str:
            return "<Random object>"

    Random.__module__ = "random"
    Random.__qualname__ = "Random"
    own = Random(chance.getrandbits(128))
    return {**{name: getattr(own, name) for name in _METHODS.split() if hasattr(own, name)}, "Random": Random}


def make_uuid(parts: Parts) -> dict[str, Any]:
    """The names of `uuid`."""

    def uuid4() -> uuid.UUID:
        return uuid.UUID(int=parts.world.chance.getrandbits(128), version=4)

    return {**take("uuid", "NAMESPACE_DNS NAMESPACE_OID NAMESPACE_URL NAMESPACE_X500 UUID uuid3 uuid5"), "uuid4": uuid4}
