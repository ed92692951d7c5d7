"""A sink that appends JSON lines to a file."""

from __future__ import annotations

import json
import os
from pathlib import Path

from codeact.audit import Event

OWNER_ONLY = 0o600


class LogFull(OSError):
    """The file may not grow any more."""


class JsonLines:
    """Appends each event as one line of JSON to a file that only its owner may read.

    A line is written by one call of the operating system before the event counts as recorded, so that a killed
    process loses none, and processes may share the file. What a failing machine loses, `durable` says.
    """

    def __init__(self, path: str | os.PathLike[str], *, limit: int | None = None, durable: bool = False) -> None:
        """Open the file, or make it.

        Args:
            path: where it is.
            limit: bytes that it may hold; None for no limit. A full log stops the runs that need it.
            durable: whether every line waits until the disk has it. It costs milliseconds a line.

        Raises:
            OSError: it cannot be opened.
            ValueError: `limit` is not above zero.
        """
        if limit is not None and limit <= 0:
            msg = f"limit={limit!r}: must be above zero; leave it out for no limit"
            raise ValueError(msg)
        self.path = Path(path)
        self._limit = limit
        self._durable = durable
        self._torn = False
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
        self._file = os.open(self.path, flags, OWNER_ONLY)

    def write(self, event: Event) -> None:
        """Append an event.

        Raises:
            LogFull: the line would go past `limit`.
            OSError: it could not be written whole.
        """
        line = json.dumps(event.to_dict(), separators=(",", ":")).encode() + b"\n"
        if self._torn:  # what came through of an earlier line must not spoil this one
            line = b"\n" + line
        if self._limit is not None and os.fstat(self._file).st_size + len(line) > self._limit:
            msg = f"{self.path} may hold {self._limit:,} bytes (limit of the log): rotate it, or raise the limit"
            raise LogFull(msg)
        written = os.write(self._file, line)
        self._torn = written != len(line)
        if written != len(line):
            msg = f"{self.path}: only {written} of {len(line)} bytes were written"
            raise OSError(msg)
        if self._durable:
            os.fdatasync(self._file)

    def close(self) -> None:
        """Close the file. Harmless when called twice."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1
