"""Who performs: how a performer that is slow is told from one that is dead.

A performer holds the lock of a file of its own, beside the database, for as long as it works. The operating system
takes the lock from it when it dies, in whatever way: no clock and no process number has to be believed.
"""

from __future__ import annotations

import fcntl
import os
import secrets
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Protocol

from codeact.databases import OWNER_ONLY


class Performers(Protocol):
    """Those who perform the entries of one database."""

    def work(self) -> AbstractContextManager[str]:
        """Be a performer, of the name that is given, until the end of the block."""
        ...

    def lives(self, name: str) -> bool:
        """Whether the performer of that name still works."""
        ...

    def sweep(self) -> None:
        """Remove what dead performers have left."""
        ...


class Threads:
    """Performers of a database in memory, which no other process can know."""

    def __init__(self) -> None:
        self._names: set[str] = set()

    @contextmanager
    def work(self) -> Iterator[str]:
        """See `Performers`."""
        name = secrets.token_hex(8)
        self._names.add(name)
        try:
            yield name
        finally:
            self._names.discard(name)

    def lives(self, name: str) -> bool:
        """See `Performers`."""
        return name in self._names

    def sweep(self) -> None:
        """See `Performers`."""


class Locks:
    """Performers of a database in a file, of any process of this machine."""

    def __init__(self, database: Path) -> None:
        """Find performers by their locks.

        Args:
            database: the file, by its real path: all must look in one place.
        """
        self._folder = database.parent
        self._prefix = f"{database.name}-performer-"

    @contextmanager
    def work(self) -> Iterator[str]:
        """See `Performers`."""
        name, file = self._hold()
        _held.add(file)
        try:
            yield name
        finally:
            # A child that was forked meanwhile has closed its own: the lock is gone with the last of them.
            if file in _held:
                _held.discard(file)
                os.close(file)
                self._path(name).unlink(missing_ok=True)

    def lives(self, name: str) -> bool:
        """See `Performers`. A lock that is nowhere is nobody's."""
        return self._is_locked(self._path(name))

    def sweep(self) -> None:
        """See `Performers`."""
        for path in self._folder.iterdir():
            if path.name.startswith(self._prefix) and not self._is_locked(path):
                path.unlink(missing_ok=True)

    def _hold(self) -> tuple[str, int]:
        while True:
            name = secrets.token_hex(8)
            path = self._path(name)
            file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, OWNER_ONLY)
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if os.path.samestat(os.fstat(file), path.stat()):
                    return name, file
            except (BlockingIOError, FileNotFoundError):
                pass  # somebody sweeps, and took it for a dead one's before it was locked
            except OSError:
                os.close(file)
                path.unlink()
                raise
            os.close(file)

    def _path(self, name: str) -> Path:
        return self._folder / f"{self._prefix}{name}"

    @staticmethod
    def _is_locked(path: Path) -> bool:
        try:
            file = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
        except FileNotFoundError:
            return False
        except PermissionError:  # another user's: who cannot know does not take it for dead
            return True
        try:
            # Shared, so that two who look at the same time do not take each other for its holder.
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(file)
        return False


_held: set[int] = set()
"""The files whose locks are held here."""


def _after_fork() -> None:
    # The lock belongs to the open file, which a child shares: it would outlive its holder.
    for file in _held:
        os.close(file)
    _held.clear()


os.register_at_fork(after_in_child=_after_fork)
