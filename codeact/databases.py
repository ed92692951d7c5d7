"""SQLite's files: found, or made so that only their owner may read them, and how they are written to.

Nothing may open and close such a file beside SQLite: when a process closes any descriptor of a file, the operating
system takes from it all the locks that it holds on that file, those of its transactions too.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

OWNER_ONLY = 0o600


class NoPlace(OSError):
    """A file cannot be a database."""


def place(path: str | os.PathLike[str]) -> Path:
    """The real path of a database, which is made empty where there is none.

    Raises:
        NoPlace: it is a symbolic link, or cannot be made; the text says which.
    """
    given = Path(path)
    if given.is_symlink():  # whoever can put a link there gets no database
        msg = f"{given}: it is a symbolic link; name the file itself"
        raise NoPlace(msg)
    found = given.resolve()
    # One after the other: none can have begun a transaction in the file before it is closed here.
    with _making:
        if found.exists():
            return found
        try:
            os.close(os.open(found, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, OWNER_ONLY))
        except FileExistsError:  # another process was faster
            return found
        except OSError as error:
            msg = f"{given}: it cannot be made: {error.strerror or error}"
            raise NoPlace(msg) from error
    return found


def connected(path: Path | None, patience: float) -> sqlite3.Connection:
    """A connection for all threads of this process, which must take turns.

    Args:
        path: a file that is there, as `place` gives it: SQLite would make one that others may read. None for memory.
        patience: seconds that a statement waits for another process's transaction.

    Raises:
        sqlite3.Error: it cannot be opened.
    """
    where = ":memory:" if path is None else f"{path.as_uri()}?mode=rw"
    return sqlite3.connect(where, timeout=patience, isolation_level=None, check_same_thread=False, uri=True)


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """All that is done inside, or nothing of it."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def is_there(path: Path, file: os.stat_result) -> bool:
    """Whether a file is still where it was: what is written to one that has been moved is lost to all others."""
    try:
        return os.path.samestat(file, os.stat(path))  # noqa: PTH116 - before everything that is written
    except OSError:
        return False


class Connected(Protocol):
    """What has a connection to a database.

    Attributes:
        lock: held by whoever is in a transaction.
    """

    lock: threading.RLock

    def leave(self) -> None:
        """Be without the connection, where that can be made again. Called with the lock held, before a fork."""
        ...


def hold_at_forks(one: Connected) -> None:
    """Let nobody be in a transaction of this one while the process forks: a child would take it back in the parent's file."""
    _connected.add(one)


_connected: weakref.WeakSet[Connected] = weakref.WeakSet()
_forking: list[Connected] = []


def _before_fork() -> None:
    for one in sorted(_connected, key=id):
        one.lock.acquire()
        _forking.append(one)
        one.leave()


def _after_fork() -> None:
    while _forking:
        _forking.pop().lock.release()


os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork)

_making = threading.Lock()
os.register_at_fork(before=_making.acquire, after_in_parent=_making.release, after_in_child=_making.release)
