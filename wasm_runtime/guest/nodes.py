"""What a workspace is made of: files and directories, where paths lead, and what its errors say."""

from __future__ import annotations

import errno
from typing import NamedTuple

_TEXTS = {
    errno.EACCES: "Permission denied",
    errno.EBADF: "Bad file descriptor",
    errno.EBUSY: "Device or resource busy",
    errno.EEXIST: "File exists",
    errno.EINVAL: "Invalid argument",
    errno.EISDIR: "Is a directory",
    errno.EMFILE: "Too many open files",
    errno.ENAMETOOLONG: "File name too long",
    errno.ENOENT: "No such file or directory",
    errno.ENOSPC: "No space left on device",
    errno.ENOTDIR: "Not a directory",
    errno.ENOTEMPTY: "Directory not empty",
    errno.EPERM: "Operation not permitted",
    errno.EROFS: "Read-only file system",
}
"""What the errors say, whatever the C library here would."""


def failure(code: int, *paths: object, more: str = "") -> OSError:
    """The error of that number, about one path, two or none."""
    text = _TEXTS[code] + more
    if len(paths) > 1:
        return OSError(code, text, paths[0], None, paths[1])
    return OSError(code, text, *paths)


class Node:
    """What has a name.

    Attributes:
        inode: its number.
        mode: permission bits, which are kept and not heeded.
        accessed, modified: nanoseconds since the epoch.
        fixed: whether it stays as it is: a file's content and name; a directory's names, which are not told either.
    """

    __slots__ = ("accessed", "fixed", "inode", "mode", "modified")
    accessed: int
    fixed: bool
    inode: int
    mode: int
    modified: int


class File(Node):
    """A file.

    Attributes:
        data: its content.
        holders: names and descriptors that lead to it; it takes room until there are none.
        turn: the run that wrote to it last.
    """

    __slots__ = ("data", "holders", "turn")

    def __init__(self) -> None:
        self.data = bytearray()
        self.holders = 0
        self.turn = 0


class Nothing(File):
    """`/dev/null`: always empty, whatever is written to it."""

    __slots__ = ()


class Directory(Node):
    """A directory. One that was removed has no parent."""

    __slots__ = ("entries", "name", "parent")

    def __init__(self, name: str, parent: Directory | None) -> None:
        self.name = name
        self.parent = parent
        self.entries: dict[str, File | Directory] = {}


class Place(NamedTuple):
    """Where a path leads.

    Attributes:
        node: what is there; None where there is nothing.
        holder: the directory that has, or would have it; None where the path ends in `.` or `..` or is the root.
        name: its name there.
        slash: whether the path says that it is a directory.
    """

    node: File | Directory | None
    holder: Directory | None
    name: str
    slash: bool
