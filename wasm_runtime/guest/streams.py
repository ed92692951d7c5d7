"""`open`, over the descriptors of a workspace: the interpreter's own buffers and text on a raw stream of ours."""

from __future__ import annotations

import errno
import io
import os
import stat
import weakref
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from .nodes import failure
from .syscalls import Syscalls
from .workspace import Workspace

_MODES = {"r": os.O_RDONLY, "w": os.O_WRONLY, "x": os.O_WRONLY, "a": os.O_WRONLY}
_MAKING = {"r": 0, "w": os.O_CREAT | os.O_TRUNC, "x": os.O_CREAT | os.O_EXCL, "a": os.O_CREAT | os.O_APPEND}
_ONE_MODE = "must have exactly one of create/read/write/append mode"


class Raw(io.RawIOBase):
    """An open file as a raw stream; see `io.FileIO`."""

    def __init__(
        self,
        calls: Syscalls,
        file: Any,
        mode: str = "r",
        closefd: bool = True,
        opener: Callable[[Any, int], int] | None = None,
    ) -> None:
        super().__init__()
        self._calls = calls
        self._number = -1
        self._appending = False
        letters = mode.replace("b", "")
        kind = letters.replace("+", "")
        if kind not in _MODES or letters.count("+") > 1:
            msg = (
                f"invalid mode: {mode:.200}" if set(mode) - set("rwxab+") else f"M{_ONE_MODE[1:]} and at most one plus"
            )
            raise ValueError(msg)
        both = "+" in letters
        self._kind, self._readable, self._writable = kind, both or kind == "r", both or kind != "r"
        self._closes = closefd
        self.name = file
        if isinstance(file, int):
            if file < 0:
                msg = "negative file descriptor"
                raise ValueError(msg)
            calls.fstat(file)
            self._number = file
        elif not closefd:
            msg = "Cannot use closefd=False with file name"
            raise ValueError(msg)
        else:
            flags = (os.O_RDWR if both else _MODES[kind]) | _MAKING[kind]
            self._number = calls.open(file, flags, 0o666) if opener is None else opener(file, flags)
            if type(self._number) is not int or self._number < 0:
                msg = f"opener returned {self._number!r}"
                self._number = -1
                raise ValueError(msg)
            if stat.S_ISDIR(calls.fstat(self._number).st_mode):
                self.close()
                raise failure(errno.EISDIR, file)
        if kind == "a":
            calls.lseek(self._number, 0, os.SEEK_END)

    @property
    def mode(self) -> str:
        """How it was opened."""
        if self._kind in {"x", "a"}:
            return f"{self._kind}b" + "+" * self._readable
        if self._readable:
            return "rb+" if self._writable else "rb"
        return "wb"

    @property
    def closefd(self) -> bool:
        """Whether closing it gives its descriptor back."""
        return self._closes

    def _open(self) -> int:
        if self.closed:
            msg = "I/O operation on closed file"
            raise ValueError(msg)
        return self._number

    def readable(self) -> bool:
        """Whether it was opened for reading."""
        self._open()
        return self._readable

    def writable(self) -> bool:
        """Whether it was opened for writing."""
        self._open()
        return self._writable

    def seekable(self) -> bool:
        """It always is."""
        self._open()
        return True

    def fileno(self) -> int:
        """Its descriptor."""
        return self._open()

    def isatty(self) -> bool:
        """It never is one."""
        self._open()
        return False

    def _check(self, allowed: bool, what: str) -> int:
        number = self._open()
        if not allowed:
            msg = f"File not open for {what}"
            raise io.UnsupportedOperation(msg)
        return number

    def read(self, size: int | None = -1, /) -> bytes:
        """Read so many bytes, or all there are."""
        number = self._check(self._readable, "reading")
        if size is None or size < 0:
            return self.readall()
        return self._calls.read(number, size)

    def readall(self) -> bytes:
        """Read to the end."""
        number = self._check(self._readable, "reading")
        return self._calls.read(number, max(0, self._calls.fstat(number).st_size))

    def readinto(self, buffer: Any, /) -> int:
        """Read into a buffer."""
        return self._calls.readinto(self._check(self._readable, "reading"), buffer)

    def write(self, data: Any, /) -> int:
        """Write bytes."""
        return self._calls.write(self._check(self._writable, "writing"), data)

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        """Move to another place."""
        return self._calls.lseek(self._open(), offset, whence)

    def tell(self) -> int:
        """The place."""
        return self.seek(0, os.SEEK_CUR)

    def truncate(self, size: int | None = None, /) -> int:
        """Cut it, or fill it up with zeros."""
        number = self._check(self._writable, "writing")
        if size is None:
            size = self.tell()
        self._calls.ftruncate(number, size)
        return size

    def close(self) -> None:
        """Give the descriptor back."""
        if self.closed:
            return
        try:
            super().close()
        finally:
            if self._closes and self._number >= 0:
                self._calls.close(self._number)

    def __repr__(self) -> str:
        if self.closed:
            return "<_io.FileIO [closed]>"
        return f"<_io.FileIO name={self.name!r} mode={self.mode!r} closefd={self._closes}>"

    def __getstate__(self) -> object:
        msg = "cannot pickle '_io.FileIO' object"
        raise TypeError(msg)

    __reduce__ = __getstate__  # type: ignore[assignment]


@dataclass(frozen=True)
class Kinds:
    """The types of streams that `open` gives."""

    raw: type[Any]
    reader: type[Any] = io.BufferedReader
    writer: type[Any] = io.BufferedWriter
    both: type[Any] = io.BufferedRandom
    text: type[Any] = io.TextIOWrapper


class Opener:
    """`open` of one world, and what it has opened."""

    def __init__(self, workspace: Workspace, kinds: Kinds) -> None:
        self._workspace = workspace
        self._kinds = kinds
        self._streams: weakref.WeakSet[Any] = weakref.WeakSet()
        self._opened = False

    def open(  # noqa: PLR0913, PLR0917 - Python's own
        self,
        file: Any,
        mode: str = "r",
        buffering: int = -1,
        encoding: str | None = None,
        errors: str | None = None,
        newline: str | None = None,
        closefd: bool = True,
        opener: Callable[[Any, int], int] | None = None,
    ) -> Any:
        """Open a file of the workspace; see the documentation of Python's own `open`."""
        if not isinstance(file, int):
            if not isinstance(file, (str, bytes)) and not hasattr(type(file), "__fspath__"):
                msg = f"expected str, bytes or os.PathLike object, not {type(file).__name__}"
                raise TypeError(msg)
            file = os.fspath(file)
            if ("\0" if isinstance(file, str) else b"\0") in file:
                msg = "embedded null byte"
                raise ValueError(msg)
        _check(mode, buffering, encoding, errors, newline)
        binary = "b" in mode
        try:
            raw = self._kinds.raw(file, mode.replace("t", ""), closefd, opener)
        except FileNotFoundError as error:
            if opener is None:
                error.add_note(self._workspace.told(os.fsdecode(file)))
            raise
        made: Any = raw
        try:
            if buffering != 0:
                size = buffering if buffering > 1 else _buffer_size()
                if "+" in mode:
                    made = self._kinds.both(raw, size)
                else:
                    made = (self._kinds.reader if "r" in mode else self._kinds.writer)(raw, size)
                if not binary:
                    made = self._kinds.text(made, encoding, errors, newline, buffering == 1)
                    made.mode = mode
        except BaseException:
            made.close()
            raise
        self._streams.add(made)
        self._opened = True
        return made

    def flush(self) -> None:
        """Let what is still in buffers reach the workspace: a program need not close what it has written.

        Raises:
            OSError: there is no room for it.
        """
        failed = None
        if not self._opened:
            return
        for stream in list(self._streams):
            try:
                # A stream may be closed, or taken apart by its program.
                with suppress(ValueError):
                    stream.flush()
            except OSError as error:
                failed = error
        if failed is not None:
            raise failed


def _buffer_size() -> int:
    return max(io.DEFAULT_BUFFER_SIZE, 8192)


def _check(mode: Any, buffering: Any, encoding: Any, errors: Any, newline: Any) -> None:
    """Whether the arguments of `open` go together."""
    for name, value in (("mode", mode), ("encoding", encoding), ("errors", errors), ("newline", newline)):
        if not isinstance(value, str) and (name == "mode" or value is not None):
            wanted = "str" if name == "mode" else "str or None"
            msg = f"open() argument {name!r} must be {wanted}, not {type(value).__name__}"
            raise TypeError(msg)
    if not isinstance(buffering, int):
        msg = f"'{type(buffering).__name__}' object cannot be interpreted as an integer"
        raise TypeError(msg)
    letters = set(mode)
    if letters - set("axrwb+t") or len(mode) > len(letters):
        msg = f"invalid mode: {mode!r}"
        raise ValueError(msg)
    if {"t", "b"} <= letters:
        msg = "can't have text and binary mode at once"
        raise ValueError(msg)
    if len(letters & set("axrw")) != 1:
        msg = f"M{_ONE_MODE[1:]} and at most one plus" if not letters & set("axrw") else _ONE_MODE
        raise ValueError(msg)
    if "b" in letters:
        for name, value in (("encoding", encoding), ("errors", errors), ("newline", newline)):
            if value is not None:
                msg = f"binary mode doesn't take {'an' if name[0] == 'e' else 'a'} {name} argument"
                raise ValueError(msg)
    elif buffering == 0:
        msg = "can't have unbuffered text I/O"
        raise ValueError(msg)
