"""The cache of compiled guests.

An entry is native code that is mapped into this process, so nothing is loaded from it that this user did not
write: the directory and the entry must belong to this user and be closed to others, and the entry's name
carries the digest of its content. Whatever fails a check is compiled anew.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import stat
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

KEPT = 8
"""Entries kept, newest first; one is about 50 MB."""

VARIABLE = "CODEACT_CACHE_DIR"
"""The environment variable that moves the cache."""


class CacheUnusable(Exception):
    """The directory cannot be used; the message says why."""


def directory() -> Path:
    """Where the cache is, whether or not it exists.

    Raises:
        CacheUnusable: nothing says where this user's files are.
    """
    chosen = os.environ.get(VARIABLE)
    if chosen:
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME")
    try:
        return (Path(base) if base else Path.home() / ".cache") / "codeact"
    except RuntimeError as error:
        msg = f"this user has no home; name a directory in {VARIABLE}"
        raise CacheUnusable(msg) from error


@dataclass(frozen=True, slots=True)
class Cache:
    """Compiled guests by key.

    Attributes:
        root: the directory.
    """

    root: Path

    @classmethod
    def open(cls, root: Path) -> Cache:
        """The cache in a directory, which is made if need be.

        Raises:
            CacheUnusable: it cannot be made, belongs to someone else, or is open to others.
        """
        try:
            root.mkdir(mode=0o700, parents=True, exist_ok=True)
            found = root.stat()
            if found.st_uid != os.geteuid():
                msg = f"{root} belongs to another user"
                raise CacheUnusable(msg)
            if stat.S_IMODE(found.st_mode) & 0o077:  # not closed by us: it may be anybody's, a home for one
                msg = f"{root} is open to other users; close it: chmod 700 {root}"
                raise CacheUnusable(msg)
        except OSError as error:
            msg = f"{root}: {error.strerror or error}"
            raise CacheUnusable(msg) from error
        return cls(root)

    def find(self, key: str) -> Path | None:
        """The entry of that key, checked; None where there is none that may be loaded."""
        for entry in sorted(self.root.glob(f"{key}-*.cwasm")):
            if _sound(entry):
                with contextlib.suppress(OSError):  # a file system that is only read
                    os.utime(entry)
                return entry
        return None

    def store(self, key: str, content: bytes | bytearray) -> Path:
        """Add an entry and drop the oldest ones.

        Args:
            key: see `find`.
            content: the compiled guest.

        Raises:
            OSError: the disk is full, for one.
        """
        handle, name = tempfile.mkstemp(dir=self.root, suffix=".tmp")
        os.close(handle)
        temporary = Path(name)
        try:
            temporary.write_bytes(content)
            entry = self.root / f"{key}-{_digest(temporary)}.cwasm"
            temporary.chmod(0o600)
            temporary.replace(entry)
        finally:
            temporary.unlink(missing_ok=True)
        self._prune(entry)
        return entry

    @contextlib.contextmanager
    def locked(self, key: str, waiting: Callable[[], None]) -> Iterator[None]:
        """Hold the key against other processes; `waiting` is called when another one has it.

        Raises:
            OSError: nothing can be written to the directory.
        """
        descriptor = os.open(self.root / f"{key}.lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                waiting()
                fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)

    def _prune(self, keep: Path) -> None:
        ages = []
        for entry in self.root.glob("*.cwasm"):
            with contextlib.suppress(OSError):  # another process has dropped it
                ages.append((entry.stat().st_mtime, entry))
        for _, entry in sorted(ages, reverse=True)[KEPT:]:
            if entry != keep:
                entry.unlink(missing_ok=True)


def _sound(entry: Path) -> bool:
    try:
        found = entry.lstat()
    except OSError:
        return False
    private = stat.S_ISREG(found.st_mode) and not stat.S_IMODE(found.st_mode) & 0o022
    return private and found.st_uid == os.geteuid() and entry.stem.rpartition("-")[2] == _digest(entry)


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
