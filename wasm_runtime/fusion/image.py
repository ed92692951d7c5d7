"""The memory of the snapshot: what data segments fill it with."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator

from wasm_runtime.guest.snapshot import mark

from .binary import Reader, number, signed, vector
from .module import expression

IMMORTAL = 5 << 28
"""The reference count of an object that is never freed, and whose references nobody counts: CPython's own for 32 bits
(`_Py_IMMORTAL_INITIAL_REFCNT` of Include/refcount.h)."""

_HOLE = re.compile(rb"\x00{128,}")
"""Zeros that a segment is ended for: some 30,000 segments are made, of the 100,000 that wasmtime takes."""


def settled(data: bytes) -> bytes:
    """A data section with the objects immortal that its note says will last; see `guest/snapshot.py`.

    Args:
        data: the section, of active segments at constant places.

    Raises:
        ValueError: a segment is another, or a place of the note holds no object.
    """
    memory = image(data)
    for place in noted(memory):
        (count,) = struct.unpack_from("<i", memory, place)
        if count <= 0:
            msg = f"the note of the snapshot tells of an object at {place:#x}, where there is none"
            raise ValueError(msg)
        if count < IMMORTAL:
            struct.pack_into("<i", memory, place, IMMORTAL)
    return vector(_segments(bytes(memory)))


def image(data: bytes) -> bytearray:
    """The memory that a data section makes.

    Raises:
        ValueError: a segment is not at a constant place of the first memory.
    """
    reader, memory = Reader(data), bytearray()
    for _ in reader.several():
        if reader.number():
            msg = "a data segment is not put into the first memory when an instance is made"
            raise ValueError(msg)
        start = Reader(expression(reader), 1).signed()
        content = reader.taken(reader.number())
        memory += bytes(max(0, start + len(content) - len(memory)))
        memory[start : start + len(content)] = content
    return memory


def noted(memory: bytearray) -> tuple[int, ...]:
    """Where the objects are that will last. The note is a mark, the place of a list of them, and its length."""
    for found in re.finditer(re.escape(mark()), memory):
        place, wanted = struct.unpack("<II", memory[found.end() : found.end() + 8].ljust(8, b"\0"))
        if place + _LIST.size <= len(memory):
            size, items = _LIST.unpack_from(memory, place)
            if size == wanted > 0:  # where the mark was made, something else follows it
                return struct.unpack_from(f"<{size}I", memory, items)
    return ()


_LIST = struct.Struct("<8xII")
"""A list: reference count, type, size, where its items are."""


def _segments(image: bytes) -> Iterator[bytes]:
    start = 0
    for hole in [*_HOLE.finditer(image), None]:
        end = hole.start() if hole else len(image)
        if end > start:
            yield b"\x00\x41" + signed(start) + b"\x0b" + number(end - start) + image[start:end]
        if hole:
            start = hole.end()
