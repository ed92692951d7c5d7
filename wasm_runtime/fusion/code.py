"""The instructions of a function, as far as they name something of their module."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from .binary import Reader


class Kind(Enum):
    """What an instruction names."""

    FUNCTION = "function"
    TYPE = "type"
    BLOCK = "type of a block"
    GET = "global, to read it"
    SET = "global, to set it"


@dataclass(frozen=True, slots=True)
class Reference:
    """A name in a function's instructions.

    Attributes:
        kind: what it names.
        index: which one, in the module.
        before: bytes of the instruction before the index.
        after: those behind it.
    """

    kind: Kind
    index: int
    before: bytes
    after: bytes = b""


_LEB = rb"[\x80-\xff]*+[\x00-\x7f]"

_PLAIN = re.compile(
    rb"(?:"
    rb"[\x00\x01\x05\x0b\x0f\x1a\x1b\x45-\xc4\xd1]"  # control, parametric, numeric; no immediates
    rb"|[\x02-\x04][\x40\x6f-\x7f]"  # block, loop, if: with no type or one value
    rb"|[\x0c\x0d\x20-\x22\x41\x42]"
    + _LEB  # branches, locals, constants
    + rb"|[\x28-\x3e](?:[\x00-\x3f])"
    + _LEB  # loads and stores: alignment and offset
    + rb"|\x43.{4}|\x44.{8}"
    rb"|[\x3f\x40]\x00"  # size and growth of the memory
    rb"|\xfc(?:[\x00-\x07]|\x0a\x00\x00|\x0b\x00)"  # saturating conversions, copying and filling the memory
    rb")*+",
    re.DOTALL,
)
"""Instructions that mean the same in any module."""

_BLOCKS = frozenset({0x02, 0x03, 0x04})
_TABLE_OF_BRANCHES, _CALL, _CALL_INDIRECT, _GET, _SET = 0x0E, 0x10, 0x11, 0x23, 0x24


def pieces(body: bytes) -> Iterator[bytes | Reference]:
    """A function's body: stretches that mean the same in any module, and references between them.

    Raises:
        ValueError: an instruction is not known here.
    """
    reader = Reader(body)
    for _ in reader.several():  # its locals
        reader.number()
        reader.byte()
    start = 0
    while True:
        found = _PLAIN.match(body, reader.place)
        reader.place = place = found.end() if found else reader.place
        if place == len(body):
            break
        code = reader.byte()
        if code == _TABLE_OF_BRANCHES:
            for _ in range(reader.number() + 1):
                reader.number()
            continue
        yield body[start:place]
        yield _reference(code, reader)
        start = reader.place
    yield body[start:]


def _reference(code: int, reader: Reader) -> Reference:
    before = bytes([code])
    if code == _CALL:
        return Reference(Kind.FUNCTION, reader.number(), before)
    if code == _CALL_INDIRECT:
        return Reference(Kind.TYPE, reader.number(), before, _first_table(reader))
    if code == _GET:
        return Reference(Kind.GET, reader.number(), before)
    if code == _SET:
        return Reference(Kind.SET, reader.number(), before)
    if code in _BLOCKS:
        return Reference(Kind.BLOCK, reader.signed(), before)
    msg = f"a function has the instruction {code:#x}"
    raise ValueError(msg)


def _first_table(reader: Reader) -> bytes:
    if reader.number():
        msg = "a function calls through a second table"
        raise ValueError(msg)
    return b"\x00"


_STUB = re.compile(
    rb"\x00(?P<arguments>(?:\x20" + _LEB + rb")*+)\x41(?P<slot>" + _LEB + rb")\x11" + _LEB + rb"\x00\x0b"
)


def slot(body: bytes) -> int | None:
    """The place in the table that a function does nothing but call, handing its arguments on; None for others."""
    found = _STUB.fullmatch(body)
    if found is None:
        return None
    reader = Reader(found["arguments"])
    passed = []
    while reader.place < reader.end:
        reader.byte()
        passed.append(reader.number())
    return Reader(found["slot"]).signed() if passed == list(range(len(passed))) else None
