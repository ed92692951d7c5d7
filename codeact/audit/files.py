"""A sink that appends JSON lines to a file."""

from __future__ import annotations

import json
import os
import stat
import time
import weakref
from collections.abc import Callable
from pathlib import Path

from codeact.audit import Event

__all__ = ["JsonLines", "LogFull"]

OWNER_ONLY = 0o600

LOOKS, PAUSE = 20, 0.001
"""How often, and seconds apart, the end of a line must be missing until it is taken for cut."""


class LogFull(OSError):
    """The file may not grow any more."""


class JsonLines:
    """Appends each event as one line of JSON to a file, which only its owner may read where it is made here.

    A line is written by one call of the operating system before the event counts as recorded, so that a killed
    process loses none, and processes may share the file. What a failing machine loses, `durable` says. A line that a
    full disk has cut is left as it is, and the next one begins on its own. A file that has been moved or removed, as
    logs are when they are rotated, is made anew.
    """

    _file: int
    _close: Callable[[], object]

    def __init__(self, path: str | os.PathLike[str], *, limit: int | None = None, durable: bool = False) -> None:
        """Open the file, or make it.

        Args:
            path: where it is; no symbolic link.
            limit: bytes that it may hold; None for no limit. A full log stops the runs that need it.
            durable: whether every line waits until the disk has it. It costs milliseconds a line.

        Raises:
            OSError: it cannot be opened.
            ValueError: `limit` is not above zero.
            TypeError: `limit` is no whole number.
        """
        if limit is not None and (isinstance(limit, bool) or not isinstance(limit, int)):
            msg = f"limit={limit!r}: expected a whole number of bytes"
            raise TypeError(msg)
        if limit is not None and limit <= 0:
            msg = f"limit={limit!r}: must be above zero; leave it out for no limit"
            raise ValueError(msg)
        self.path = Path(path)
        self._limit = limit
        self._durable = durable
        self._open()

    def write(self, event: Event) -> None:
        """Append an event.

        Raises:
            LogFull: the line would go past `limit`.
            OSError: it could not be written whole.
        """
        line = json.dumps(event.to_dict(), separators=(",", ":")).encode() + b"\n"
        held = os.fstat(self._file)
        if not self._is_there(held):
            close = self._close
            self._open()  # where that fails the next event tries again
            close()
            held = os.fstat(self._file)
        if self._limit is not None and held.st_size + len(line) >= self._limit:
            msg = f"{self.path} may hold {self._limit:,} bytes (limit of the log): rotate it, or raise the limit"
            raise LogFull(msg)
        if stat.S_ISREG(held.st_mode) and self._is_cut():
            line = b"\n" + line
        written = os.write(self._file, line)
        if written != len(line):
            msg = f"{self.path}: only {written} of {len(line)} bytes were written"
            raise OSError(msg)
        if self._durable:
            os.fdatasync(self._file)

    def close(self) -> None:
        """Close the file. Harmless when called twice."""
        self._close()
        self._file = -1

    def _open(self) -> None:
        flags = os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW  # whoever can put a link there gets no log
        try:
            self._file = os.open(self.path, os.O_RDWR | flags, OWNER_ONLY)
        except PermissionError:  # one that may be written to and not read; so a line that was cut cannot be seen
            self._file = os.open(self.path, os.O_WRONLY | flags, OWNER_ONLY)
        self._close = finalizer = weakref.finalize(self, os.close, self._file)
        finalizer.atexit = False  # what happens while the process ends goes on record too

    def _is_there(self, held: os.stat_result) -> bool:
        """Whether the file is still where it was opened: it may have been rotated, or removed."""
        try:
            return os.path.samestat(held, self.path.stat())
        except OSError:
            return False

    def _is_cut(self) -> bool:
        """Whether the last line is not whole, whoever began it: this process, an earlier one or another."""
        for _ in range(LOOKS):
            size = os.fstat(self._file).st_size
            try:
                if size == 0 or os.pread(self._file, 1, size - 1) == b"\n":
                    return False
            except OSError:  # the file may not be read
                return False
            time.sleep(PAUSE)  # another process may be in the middle of a long one
        return True
