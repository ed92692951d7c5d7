"""Open files by number, as an operating system keeps them."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable

from .nodes import Directory, File, failure
from .workspace import Workspace

MOST = 512
"""Files that may be open at the same time."""

STANDARD = 3
"""Numbers below this are the console's."""

_ACCESS = os.O_RDONLY | os.O_WRONLY | os.O_RDWR


class Opened:
    """A file that is open.

    Attributes:
        node: the file, or a directory, which can only be looked at.
        readable, writable: what it was opened for.
        append: whether all that is written goes to the end.
        position: where the next byte is read or written.
        numbers: how many numbers it has.
    """

    __slots__ = ("append", "node", "numbers", "position", "readable", "writable")

    def __init__(self, node: File | Directory, flags: int) -> None:
        self.node = node
        self.readable = flags & _ACCESS != os.O_WRONLY
        self.writable = flags & _ACCESS in {os.O_WRONLY, os.O_RDWR}
        self.append = bool(flags & os.O_APPEND)
        self.position = 0
        self.numbers = 1


class Descriptors:
    """The open files of one world."""

    def __init__(self, workspace: Workspace, write: Callable[[str], object]) -> None:
        """Begin with none.

        Args:
            workspace: where the files are.
            write: takes what is written to the console's numbers.
        """
        self._workspace = workspace
        self._console = write
        self._opened: dict[int, Opened] = {}

    def opened(self, number: int) -> Opened:
        """What has that number.

        Raises:
            OSError: nothing.
        """
        found = self._opened.get(number)
        if found is None:
            raise failure(errno.EBADF)
        return found

    def file(self, number: int) -> tuple[Opened, File]:
        """The same, which must not be a directory."""
        found = self.opened(number)
        if isinstance(found.node, Directory):
            raise failure(errno.EISDIR)
        return found, found.node

    def open(self, path: str, flags: int, mode: int, shown: object) -> int:
        """Open a file, and make it where the flags say so.

        Args:
            path: where it is.
            flags: those of `os.open`.
            mode: its permission bits, if it is made.
            shown: the path as the program gave it, for errors.

        Raises:
            OSError: that cannot be done.
        """
        number = self._free()
        workspace = self._workspace
        place = workspace.find(path, shown)
        node = place.node
        if flags & os.O_CREAT and path.endswith("/"):
            raise failure(errno.EISDIR, shown)
        if node is None:
            if not flags & os.O_CREAT:
                raise failure(errno.ENOENT, shown)
            node = workspace.make_file(place, mode, shown)
        elif flags & os.O_CREAT and flags & os.O_EXCL:
            raise failure(errno.EEXIST, shown)
        elif place.slash and isinstance(node, File):
            raise failure(errno.ENOTDIR, shown)
        opened = Opened(node, flags)
        if isinstance(node, Directory):
            if opened.writable or flags & (os.O_CREAT | os.O_TRUNC):
                raise failure(errno.EISDIR, shown)
        else:
            if flags & os.O_DIRECTORY:
                raise failure(errno.ENOTDIR, shown)
            if opened.writable and node.fixed:
                raise failure(errno.EROFS, shown)
            if opened.writable and flags & os.O_TRUNC:
                workspace.resize(node, 0)
            node.holders += 1
        self._opened[number] = opened
        return number

    def close(self, number: int) -> None:
        """Give a number back."""
        opened = self.opened(number)
        del self._opened[number]
        opened.numbers -= 1
        if not opened.numbers and isinstance(opened.node, File):
            self._workspace.release(opened.node)

    def duplicate(self, number: int, wanted: int | None = None) -> int:
        """Another number for the same open file."""
        opened = self.opened(number)
        if wanted == number:
            return number
        if wanted is None:
            wanted = self._free()
        elif wanted in self._opened:
            self.close(wanted)
        self._opened[wanted] = opened
        opened.numbers += 1
        return wanted

    def read(self, number: int, size: int, at: int | None = None) -> bytes:
        """Read so many bytes, or what there is; from the position, which moves, or from another place."""
        opened, file = self.file(number)
        if not opened.readable:
            raise failure(errno.EBADF)
        if size < 0 or (at is not None and at < 0):
            raise failure(errno.EINVAL)
        start = opened.position if at is None else at
        data = bytes(memoryview(file.data)[start : start + size])
        if at is None:
            opened.position += len(data)
        return data

    def write(self, number: int, data: bytes | memoryview, at: int | None = None) -> int:
        """Write bytes at the position, which moves, or at another place."""
        if number in {1, 2} and number not in self._opened:
            self._console(bytes(data).decode(errors="backslashreplace"))
            return len(data)
        opened, file = self.file(number)
        if not opened.writable:
            raise failure(errno.EBADF)
        if at is not None:
            if at < 0:
                raise failure(errno.EINVAL)
            return self._workspace.write(file, at, data)
        if opened.append:
            opened.position = len(file.data)
        written = self._workspace.write(file, opened.position, data)
        opened.position += written
        return written

    def seek(self, number: int, offset: int, whence: int) -> int:
        """Move the position: from the beginning, from where it is, or from the end."""
        opened, file = self.file(number)
        if whence not in {0, 1, 2}:
            raise failure(errno.EINVAL)
        start = (0, opened.position, len(file.data))[whence]
        if start + offset < 0:
            raise failure(errno.EINVAL)
        opened.position = start + offset
        return opened.position

    def resize(self, number: int, size: int) -> None:
        """Cut a file, or fill it up with zeros."""
        opened, file = self.file(number)
        if not opened.writable or size < 0:
            raise failure(errno.EINVAL)
        self._workspace.resize(file, size)

    def _free(self) -> int:
        if len(self._opened) >= MOST:
            raise failure(errno.EMFILE)
        number = STANDARD
        while number in self._opened:
            number += 1
        return number
