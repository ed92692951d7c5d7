"""Who holds a name: how a holder that is slow is told from one that is dead.

Beside a database, a holder locks a file of its own for as long as it works. The operating system takes the lock from it
when it dies, in whatever way: no clock and no process number has to be believed.
"""

from __future__ import annotations

import fcntl
import os
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Protocol

from codeact.databases import OWNER_ONLY, is_there


class Taken(Exception):
    """Somebody else holds the name."""


class Locks(Protocol):
    """Names that are held by one at a time."""

    def hold(self, name: str) -> AbstractContextManager[None]:
        """Hold a name until the end of the block.

        Raises:
            Taken: somebody else holds it, or just looks whether anybody does; see `sweep`.
            OSError: that cannot be found out.
        """
        ...

    def is_held(self, name: str) -> bool:
        """Whether somebody holds the name."""
        ...

    def sweep(self) -> None:
        """Remove what dead holders have left. It is for names that are drawn by lot: who sweeps holds them for a moment."""
        ...


class ThreadLocks:
    """Names of a database in memory, which no other process can know."""

    def __init__(self) -> None:
        self._names: set[str] = set()
        self._guard = threading.Lock()

    @contextmanager
    def hold(self, name: str) -> Iterator[None]:
        """See `Locks`."""
        with self._guard:
            if name in self._names:
                raise Taken(name)
            self._names.add(name)
        try:
            yield
        finally:
            self._names.discard(name)

    def is_held(self, name: str) -> bool:
        """See `Locks`."""
        return name in self._names

    def sweep(self) -> None:
        """See `Locks`."""


class FileLocks:
    """Names of a database in a file, for all processes of this machine."""

    def __init__(self, database: Path, kind: str) -> None:
        """Find locks.

        Args:
            database: the file, by its real path: all must look in one place.
            kind: of the names; a part of the names of files.
        """
        self._folder = database.parent
        self._prefix = f"{database.name}-{kind}-"

    @contextmanager
    def hold(self, name: str) -> Iterator[None]:
        """See `Locks`."""
        path = self._path(name)
        file = _locked(path)
        _held.add(file)
        try:
            yield
        finally:
            # A child that was forked meanwhile has closed its own: the lock is gone with the last of them.
            if file in _held:
                # While it is still locked: whoever has opened it by then sees that it is no lock any more.
                if is_there(path, os.fstat(file)):
                    path.unlink(missing_ok=True)
                _held.discard(file)
                os.close(file)

    def is_held(self, name: str) -> bool:
        """See `Locks`. A lock that is nowhere is nobody's."""
        with _free(self._path(name)) as free:
            return not free

    def sweep(self) -> None:
        """See `Locks`."""
        for path in self._folder.iterdir():
            if path.name.startswith(self._prefix):
                with _free(path) as free:
                    if free:
                        path.unlink(missing_ok=True)

    def _path(self, name: str) -> Path:
        return self._folder / f"{self._prefix}{name}"


def _locked(path: Path) -> int:
    """The file, opened and locked.

    Raises:
        Taken: somebody else has locked it.
        OSError: it cannot be opened or locked.
    """
    while True:
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, OWNER_ONLY)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if is_there(path, os.fstat(file)):
                return file
        except BlockingIOError:
            os.close(file)
            raise Taken(path.name) from None
        except OSError:  # there are no locks here, so it is nobody's
            os.close(file)
            path.unlink(missing_ok=True)
            raise
        os.close(file)  # it was removed before it was locked


@contextmanager
def _free(path: Path) -> Iterator[bool]:
    """Whether nobody holds the lock of a file, and until the end of the block nobody will."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except FileNotFoundError:
        yield True
        return
    except PermissionError:  # another user's: who cannot know does not take it for dead
        yield False
        return
    try:
        free = False
        with suppress(BlockingIOError):
            # Shared, so that two who look at the same time do not take each other for its holder.
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            free = True
        yield free
    finally:
        os.close(file)


_held: set[int] = set()
"""The files whose locks are held here."""


def _after_fork() -> None:
    # The lock belongs to the open file, which a child shares: it would outlive its holder.
    for file in _held:
        os.close(file)
    _held.clear()


os.register_at_fork(after_in_child=_after_fork)
