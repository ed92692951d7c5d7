"""`hashlib`: work that nothing can interrupt is asked for beforehand."""

from __future__ import annotations

import hashlib
from typing import Any

from codeact.engines.restricted.library.parts import Parts, take
from codeact.engines.restricted.sizes import plain

_NAMES = "blake2b blake2s md5 sha1 sha224 sha256 sha384 sha3_224 sha3_256 sha3_384 sha3_512 sha512"
_ROUND = 500
"""Steps of one round of a slow hash."""

_PIECE = 1 << 18


def make_hashlib(parts: Parts) -> dict[str, Any]:
    """The names of `hashlib`."""
    sizes = parts.sizes

    class Shake:
        """A hash of any length, which is asked for first."""

        __slots__ = ("_real",)
        digest_size = 0

        def __init__(self, real: Any) -> None:
            self._real = real

        @property
        def name(self) -> str:
            return str(self._real.name)

        @property
        def block_size(self) -> int:
            return int(self._real.block_size)

        def update(self, data: Any) -> None:
            self._real.update(data)

        def digest(self, length: int) -> bytes:
            length = plain(length)
            sizes.take(length)
            return bytes(self._real.digest(length))

        def hexdigest(self, length: int) -> str:
            length = plain(length)
            sizes.take(2 * length)
            return str(self._real.hexdigest(length))

        def copy(self) -> Shake:
            return Shake(self._real.copy())

    makers = take("hashlib", _NAMES)
    makers["shake_128"] = lambda data=b"", **named: Shake(hashlib.shake_128(data, **named))
    makers["shake_256"] = lambda data=b"", **named: Shake(hashlib.shake_256(data, **named))

    def new(name: str, data: Any = b"", **named: Any) -> Any:
        maker = makers.get(name.lower().replace("-", "_")) if isinstance(name, str) else None
        if maker is None:
            msg = f"unsupported hash type {name}"
            raise ValueError(msg)
        return maker(data, **named)

    def file_digest(fileobj: Any, digest: Any, /) -> Any:
        made = new(digest) if isinstance(digest, str) else digest()
        while piece := fileobj.read(_PIECE):
            parts.world.meter.tick()
            made.update(piece)
        return made

    def pbkdf2_hmac(hash_name: str, password: Any, salt: Any, iterations: int, dklen: Any = None) -> bytes:
        size = new(hash_name).digest_size or 1
        sizes.take(dklen or size)
        sizes.work(iterations * ((dklen or size) // size + 1) * _ROUND, "pbkdf2_hmac")
        return hashlib.pbkdf2_hmac(hash_name, password, salt, iterations, dklen)

    def scrypt(password: Any, *, salt: Any, n: int, r: int, p: int, maxmem: int = 0, dklen: int = 64) -> bytes:
        sizes.take(128 * n * r + 128 * r * p + dklen)
        sizes.work(n * r * p * _ROUND, "scrypt")
        return hashlib.scrypt(password, salt=salt, n=n, r=r, p=p, maxmem=maxmem, dklen=dklen)

    return {
        **makers,
        "algorithms_available": set(makers),
        "algorithms_guaranteed": set(makers),
        "file_digest": file_digest,
        "new": new,
        "pbkdf2_hmac": pbkdf2_hmac,
        "scrypt": scrypt,
    }
