"""What `hashlib` has elsewhere from a library in C."""

from __future__ import annotations

import hashlib
import hmac

from .refusals import refusing


def pbkdf2_hmac(hash_name: str, password: bytes, salt: bytes, iterations: int, dklen: int | None = None) -> bytes:
    """Derive a key from a password, as PKCS #5 describes."""
    size = hashlib.new(hash_name).digest_size if dklen is None else dklen
    if iterations < 1:
        msg = "iteration value must be greater than 0."
        raise ValueError(msg)
    if size < 1:
        msg = "key length must be greater than 0."
        raise ValueError(msg)
    derived = bytearray()
    block = 0
    while len(derived) < size:
        block += 1
        mixed = hmac.digest(password, bytes(salt) + block.to_bytes(4), hash_name)
        total = int.from_bytes(mixed)
        for _ in range(iterations - 1):
            mixed = hmac.digest(password, mixed, hash_name)
            total ^= int.from_bytes(mixed)
        derived += total.to_bytes(len(mixed))
    return bytes(derived[:size])


def install() -> None:
    """Complete `hashlib`."""
    hashlib.pbkdf2_hmac = pbkdf2_hmac  # type: ignore[assignment]  # bytes will do for a buffer
    hashlib.scrypt = refusing(ValueError, "scrypt does not exist in the sandbox; use hashlib.pbkdf2_hmac")
