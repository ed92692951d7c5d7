"""Files as text, in both directions: how long the list is, the list of paths and lengths, and the contents.

Every byte is one character, which costs next to nothing to make, and as ASCII no more than itself to cross.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

PATH = 4095
"""Bytes of a path."""

NAME = 255
"""Bytes of a name in it."""

_DIGITS = 12


def plain(path: str) -> str | None:
    """Why a text is no path from the workspace to a file; None where it is one."""
    names = path.split("/")
    if not path:
        return "it is empty"
    if "\0" in path:
        return "it holds a NUL"
    if path[0] == "/":
        return "it is absolute"
    if ".." in names:
        return "it leads upwards"
    if "" in names or "." in names:
        return "it has an empty part"
    try:
        long = len(_bytes(path)) > PATH or any(len(_bytes(name)) > NAME for name in names)
    except UnicodeEncodeError:
        return "it holds lone surrogates"
    return "it is too long" if long else None


def pack(files: Mapping[str, bytes | bytearray | None]) -> str:
    """The text of these files, in the order of their paths; None stands for one that is gone."""
    if not files:
        return ""
    items = sorted(files.items())
    names = "".join(f"{_bytes(path).decode('latin-1')}\0{'' if data is None else len(data)}\0" for path, data in items)
    return "".join((f"{len(names)}\0", names, *(data.decode("latin-1") for _, data in items if data)))


def unpack(text: str, start: int, *, count: int, size: int) -> dict[str, bytes | None]:
    """The files of a text that `pack` made, from a place in it on. It may come from anyone.

    Args:
        text: what holds it.
        start: where it begins; it goes to the end.
        count: the most files there may be.
        size: the most bytes they may hold together.

    Raises:
        ValueError: the text is none of `pack`, or there is more than there may be.
    """
    if start == len(text):
        return {}
    names = text.find("\0", start, start + _DIGITS) + 1
    contents = names + _length(text[start : names - 1])
    if not start < names <= contents <= len(text) <= contents + size or text.count("\0", names, contents) > 2 * count:
        msg = "more files than there may be"
        raise ValueError(msg)
    found = dict(_cut(text, names, contents))
    if list(found) != sorted(found):
        msg = "files out of order"
        raise ValueError(msg)
    return found


def _cut(text: str, names: int, contents: int) -> Iterator[tuple[str, bytes | None]]:
    words = text[names:contents].split("\0")
    if len(words) % 2 == 0 or words[-1]:
        msg = "a list of paths and lengths that is none"
        raise ValueError(msg)
    place = contents
    for name, length in zip(words[:-1:2], words[1::2], strict=True):
        path = name.encode("latin-1").decode("utf-8", "surrogateescape")
        if plain(path) is not None:
            msg = "a path that is none"
            raise ValueError(msg)
        end = place + (_length(length) if length else 0)
        if end > len(text):
            break
        yield path, text[place:end].encode("latin-1") if length else None
        place = end
    if place != len(text):
        msg = "contents that are not as long as they should be"
        raise ValueError(msg)


def _bytes(path: str) -> bytes:
    """A path as an operating system has it, whatever the names of files look like on this one."""
    return path.encode("utf-8", "surrogateescape")


def _length(digits: str) -> int:
    if not digits.isascii() or not digits.isdecimal() or len(digits) > _DIGITS:
        msg = "a length that is none"
        raise ValueError(msg)
    return int(digits)
