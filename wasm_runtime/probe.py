"""Adds to a component a function that tells how much memory it has.

A host sees the functions of a component, not its memory. So four small things are appended to the binary: a core
module that is given the memory and exports its size, an instance of it, and a lifted function `memory-size`.
Nothing that was there is changed. The binary format is that of the component model
(design/mvp/Binary.md of its repository).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

NAME = "memory-size"
"""The export: pages of 64 KiB, as u32."""

PAGE = 65536

_MODULE = bytes.fromhex(
    "0061736d 01000000"  # a core module
    "01 05 01 60 00 01 7f"  # type: () -> i32
    "02 0d 01 01 6d 06 6d656d6f7279 02 00 00"  # import "m" "memory", a memory of any size
    "03 02 01 00"  # one function
    "07 08 01 04 73697a65 00 00"  # export "size"
    "0a 06 01 04 00 3f 00 0b"  # memory.size
)


class _Reader:
    """Reads a binary from a place on."""

    def __init__(self, data: bytes, place: int = 0) -> None:
        self.data = data
        self.place = place

    def byte(self) -> int:
        self.place += 1
        return self.data[self.place - 1]

    def number(self) -> int:
        found = shift = 0
        while True:
            byte = self.byte()
            found |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:  # noqa: PLR2004 - LEB128: the last byte has its top bit clear
                return found

    def name(self) -> bytes:
        size = self.number()
        self.place += size
        return self.data[self.place - size : self.place]

    def sort(self) -> tuple[int, ...]:
        sort = self.byte()
        return (sort, self.byte()) if sort == 0 else (sort,)


class _Census:
    """How many there are of each sort so far, and so which index the next one gets."""

    def __init__(self, component: bytes) -> None:
        self.count: Counter[tuple[int, ...]] = Counter()
        self.memory: int | None = None
        """The core instance that exports the memory."""
        reader = _Reader(component, 8)
        while reader.place < len(component):
            section, size = reader.byte(), reader.number()
            end = reader.place + size
            if section == 1:
                self.count[_CORE_MODULE] += 1
            elif section in {2, 7}:
                self.count[_CORE_INSTANCE if section == 2 else _TYPE] += reader.number()  # noqa: PLR2004 - the format's
            elif section in _ENTRIES:
                for _ in range(reader.number()):
                    _ENTRIES[section](self, reader)
            reader.place = end

    def alias(self, reader: _Reader) -> None:
        sort = reader.sort()
        target, first = reader.byte(), reader.number()
        name = b"" if target == _OUTER else reader.name()
        if target == _OUTER:
            reader.number()
        if sort == _CORE_MEMORY and name == b"memory":
            self.memory = first
        self.count[sort] += 1

    def canon(self, reader: _Reader) -> None:
        kind = reader.byte()
        if kind > 1:  # of resources: new, drop, rep
            reader.number()
            self.count[_CORE_FUNCTION] += 1
            return
        reader.byte()
        reader.number()
        for _ in range(reader.number()):
            if reader.byte() in _OPTIONS_WITH_INDEX:
                reader.number()
        if kind == 0:
            reader.number()
        self.count[_FUNCTION if kind == 0 else _CORE_FUNCTION] += 1

    def imported(self, reader: _Reader) -> None:
        reader.byte()
        reader.name()
        self.count[self._described(reader)] += 1

    def exported(self, reader: _Reader) -> None:
        reader.byte()
        reader.name()
        sort = reader.sort()
        reader.number()
        if reader.byte():
            self._described(reader)
        self.count[sort] += 1

    def _described(self, reader: _Reader) -> tuple[int, ...]:
        sort = reader.sort()
        if sort == _TYPE and reader.byte() == 1:  # a resource has no index
            return sort
        reader.number()
        return sort


_CORE_FUNCTION, _CORE_MEMORY, _CORE_MODULE, _CORE_INSTANCE = (0, 0x00), (0, 0x02), (0, 0x11), (0, 0x12)
_FUNCTION, _TYPE = (1,), (3,)
_OUTER = 2
_OPTIONS_WITH_INDEX = frozenset({3, 4, 5, 7})

_ENTRIES: dict[int, Callable[[_Census, _Reader], None]] = {
    6: _Census.alias,
    8: _Census.canon,
    10: _Census.imported,
    11: _Census.exported,
}
"""Sections whose entries have to be read one by one, because they may be of several sorts."""


def with_probe(component: bytes) -> bytes:
    """The component with the function `memory-size`.

    Raises:
        ValueError: it has no memory that it names `memory`.
    """
    census = _Census(component)
    if census.memory is None:
        msg = "the component names no memory"
        raise ValueError(msg)
    count = census.count
    instantiated = b"\x00" + _number(count[_CORE_MODULE]) + b"\x01" + _text("m") + b"\x12" + _number(census.memory)
    alias = b"\x00\x00\x01" + _number(count[_CORE_INSTANCE]) + _text("size")
    lifted = b"\x00\x00" + _number(count[_CORE_FUNCTION]) + b"\x00" + _number(count[_TYPE])
    export = b"\x00" + _text(NAME) + b"\x01" + _number(count[_FUNCTION]) + b"\x00"
    return b"".join(
        [
            component,
            _section(1, _MODULE),
            _section(2, b"\x01" + instantiated),
            _section(6, b"\x01" + alias),
            _section(7, b"\x01\x40\x00\x00\x79"),  # func() -> u32
            _section(8, b"\x01" + lifted),
            _section(11, b"\x01" + export),
        ]
    )


def _section(kind: int, content: bytes) -> bytes:
    return bytes([kind]) + _number(len(content)) + content


def _text(text: str) -> bytes:
    return _number(len(text)) + text.encode()


def _number(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:  # noqa: PLR2004 - LEB128
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)
