"""The atoms of the binary format: numbers, names, vectors and sections."""

from __future__ import annotations

from collections.abc import Iterable, Iterator


class Reader:
    """Reads a binary from a place on, up to an end."""

    def __init__(self, data: bytes, place: int = 0, end: int | None = None) -> None:
        self.data = data
        self.place = place
        self.end = len(data) if end is None else end

    def byte(self) -> int:
        """One byte."""
        self.place += 1
        return self.data[self.place - 1]

    def number(self) -> int:
        """A number without sign (LEB128)."""
        found = shift = 0
        while True:
            byte = self.byte()
            found |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:  # noqa: PLR2004 - LEB128: the last byte has its top bit clear
                return found

    def signed(self) -> int:
        """A number with a sign (LEB128)."""
        found = shift = 0
        while True:
            byte = self.byte()
            found |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:  # noqa: PLR2004 - as above
                return found - (1 << shift) if byte & 0x40 else found

    def taken(self, size: int) -> bytes:
        """So many bytes."""
        self.place += size
        return self.data[self.place - size : self.place]

    def name(self) -> str:
        """A name."""
        return self.taken(self.number()).decode()

    def several(self) -> range:
        """As many steps as the vector that begins here has elements."""
        return range(self.number())

    def sections(self) -> Iterator[tuple[int, Reader]]:
        """Each section that follows: its number, and a reader of what is in it."""
        while self.place < self.end:
            kind, size = self.byte(), self.number()
            yield kind, Reader(self.data, self.place, self.place + size)
            self.place += size


def number(value: int) -> bytes:
    """A number without sign."""
    out = bytearray()
    while value > 0x7F:  # noqa: PLR2004 - as above
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def signed(value: int) -> bytes:
    """A number with a sign."""
    out = bytearray()
    while not -0x40 <= value < 0x40:  # noqa: PLR2004 - the last byte holds seven bits, one of them the sign
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value & 0x7F)
    return bytes(out)


def name(text: str) -> bytes:
    """A name."""
    raw = text.encode()
    return number(len(raw)) + raw


def vector(items: Iterable[bytes]) -> bytes:
    """A vector of encoded elements."""
    listed = list(items)
    return number(len(listed)) + b"".join(listed)


def section(kind: int, content: bytes) -> bytes:
    """A section."""
    return bytes([kind]) + number(len(content)) + content
