"""`random`, `secrets` and `uuid`, from the seed of the world."""

from __future__ import annotations

import base64
import random
import uuid
from typing import Any, NoReturn

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

    class SystemRandom(Random):
        """There is no other chance than the world's: it cannot be seeded, and has no state."""

        def __init__(self, x: Any = None) -> None:
            del x
            super().__init__()

        def seed(self, a: Any = None, version: int = 2) -> None:
            super().seed(None if hasattr(self, "_seeded") else a, version)
            self._seeded = True

        def getstate(self) -> NoReturn:
            msg = "System entropy source does not have state."
            raise NotImplementedError(msg)

        def setstate(self, state: Any) -> NoReturn:
            del state
            self.getstate()

    for kind in (Random, SystemRandom):
        kind.__module__, kind.__qualname__ = "random", kind.__name__
    own = Random(chance.getrandbits(128))
    names = {name: getattr(own, name) for name in _METHODS.split() if hasattr(own, name)}
    return {**names, "Random": Random, "SystemRandom": SystemRandom}


def make_secrets(parts: Parts) -> dict[str, Any]:
    """The names of `secrets`."""
    system = parts.load("random").SystemRandom()

    def token_bytes(nbytes: Any = None) -> bytes:
        return bytes(system.randbytes(_TOKEN if nbytes is None else nbytes))

    def token_urlsafe(nbytes: Any = None) -> str:
        return base64.urlsafe_b64encode(token_bytes(nbytes)).rstrip(b"=").decode()

    def randbelow(exclusive_upper_bound: int) -> int:
        if exclusive_upper_bound <= 0:
            msg = "Upper bound must be positive."
            raise ValueError(msg)
        return int(system.randrange(exclusive_upper_bound))

    return {
        **take("secrets", "compare_digest"),
        "SystemRandom": parts.load("random").SystemRandom,
        "choice": system.choice,
        "randbelow": randbelow,
        "randbits": system.getrandbits,
        "token_bytes": token_bytes,
        "token_hex": lambda nbytes=None: token_bytes(nbytes).hex(),
        "token_urlsafe": token_urlsafe,
    }


_TOKEN = 32


def make_uuid(parts: Parts) -> dict[str, Any]:
    """The names of `uuid`."""
    world = parts.world

    def uuid1(node: Any = None, clock_seq: Any = None) -> uuid.UUID:
        ticks = world.now() // 100 + _EPOCH
        sequence = world.chance.getrandbits(14) if clock_seq is None else clock_seq
        fields = (ticks & 0xFFFFFFFF, ticks >> 32 & 0xFFFF, ticks >> 48 & 0x0FFF, sequence >> 8 & 0x3F, sequence & 0xFF)
        return uuid.UUID(fields=(*fields, getnode() if node is None else node), version=1)

    def getnode() -> int:
        """A number that says of itself that it is no hardware address."""
        made.setdefault("node", world.chance.getrandbits(48) | 1 << 40)
        return made["node"]

    made: dict[str, int] = {}
    return {
        **take(
            "uuid",
            "MAX NAMESPACE_DNS NAMESPACE_OID NAMESPACE_URL NAMESPACE_X500 NIL RESERVED_FUTURE RESERVED_MICROSOFT "
            "RESERVED_NCS RFC_4122 SafeUUID UUID uuid3 uuid5",
        ),
        "getnode": getnode,
        "uuid1": uuid1,
        "uuid4": lambda: uuid.UUID(int=world.chance.getrandbits(128), version=4),
    }


_EPOCH = 0x01B21DD213814000
"""Steps of 100 ns from the beginning of the Gregorian calendar to that of the clock."""
