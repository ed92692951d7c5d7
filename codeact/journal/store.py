"""The file of a journal: SQLite, with tables of the journal's own."""

from __future__ import annotations

import os
import sqlite3
import stat
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

MEMORY = ":memory:"
"""In place of a path: kept in this process, and gone with it."""

VERSION = 1
"""Of the tables."""

PATIENCE = 10.0
"""Seconds that one waits for another process that just writes."""

OWNER_ONLY = 0o600

_TABLES = """
CREATE TABLE IF NOT EXISTS journal_about (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS journal_contents (digest TEXT PRIMARY KEY, data BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS journal_uses (owner TEXT, digest TEXT, PRIMARY KEY (owner, digest)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS journal_runs (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    task TEXT, tenant TEXT, session TEXT, engine TEXT NOT NULL,
    setting TEXT NOT NULL,
    began REAL NOT NULL,
    beginning BLOB NOT NULL,
    wall REAL, ok INTEGER, kind TEXT, calls INTEGER,
    ending BLOB, tape BLOB, now BLOB, monotonic BLOB
);
CREATE INDEX IF NOT EXISTS journal_runs_of_task ON journal_runs (task, number);
CREATE TABLE IF NOT EXISTS journal_entries (
    task TEXT, seq INTEGER, kind TEXT NOT NULL, data BLOB NOT NULL, time REAL NOT NULL, PRIMARY KEY (task, seq)
) WITHOUT ROWID;
"""


class JournalError(RuntimeError):
    """A journal cannot be read or written; the message says why."""


class Store:
    """One connection to the file, for all threads. In a forked child it is opened anew."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Open the file or make it, which only its owner may then read.

        Args:
            path: where it is, no symbolic link; or `MEMORY`.

        Raises:
            JournalError: it cannot be opened, is no journal, or is one of another version.
        """
        self.path = os.fspath(path)
        self._own = self.path == MEMORY
        self._open()

    def _open(self) -> None:
        self._lock = threading.RLock()
        self._process = os.getpid()
        self._file = None if self._own else _made(Path(self.path))
        try:
            # Statements are few, and always the same.
            self._connection = sqlite3.connect(
                self.path, timeout=PATIENCE, isolation_level=None, check_same_thread=False, cached_statements=32
            )
            self._set_up()
        except sqlite3.Error as error:
            msg = f"the journal {self.path!r} cannot be opened: {error}"
            raise JournalError(msg) from error
        if self._file is not None and not os.path.samestat(self._file, Path(self.path).lstat()):
            msg = f"the journal {self.path!r} was replaced while it was opened"
            raise JournalError(msg)

    def _set_up(self) -> None:
        run = self._connection.execute
        # Readers and a writer do not wait for each other, and a commit need not wait for the disk: what a process has
        # written is there when it is killed, and a machine that loses its power may lose the last commits.
        run("PRAGMA journal_mode = WAL")
        run("PRAGMA synchronous = NORMAL")
        with suppress(sqlite3.OperationalError):  # there is none yet
            self._see_version()
            return
        run("BEGIN IMMEDIATE")
        try:
            for statement in _TABLES.split(";"):
                run(statement)
            run("INSERT OR IGNORE INTO journal_about VALUES ('version', ?)", (VERSION,))
            run("COMMIT")
        except BaseException:
            self._roll_back()
            raise
        self._see_version()

    def _see_version(self) -> None:
        found = self._connection.execute("SELECT value FROM journal_about WHERE name = 'version'").fetchone()
        if found is None or found[0] != VERSION:
            msg = f"the journal {self.path!r} is of version {found and found[0]}, and this codeact reads version {VERSION}"
            raise JournalError(msg)

    def close(self) -> None:
        """Close the file. Harmless when called twice."""
        if self._process == os.getpid():
            with self._lock:
                self._connection.close()

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """All of what is written inside, or nothing.

        Raises:
            JournalError: it could not be written.
        """
        with self._here() as connection:
            if self._file is not None:
                self._see_file(self._file)
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                self._roll_back()
                raise

    def rows(self, statement: str, values: Sequence[object] = ()) -> list[Any]:
        """What a question gives.

        Raises:
            JournalError: the file cannot be read.
        """
        with self._here() as connection:
            return connection.execute(statement, values).fetchall()

    @contextmanager
    def _here(self) -> Iterator[sqlite3.Connection]:
        if self._process != os.getpid():
            if self._own:
                msg = "this journal is kept in the memory of the process that this one was forked from; give it a path"
                raise JournalError(msg)
            _left.append(self._connection)
            self._open()
        with self._lock:
            try:
                yield self._connection
            except (sqlite3.Error, UnicodeError, OverflowError) as error:
                msg = f"the journal {self.path!r}: {error}"
                raise JournalError(msg) from error

    def _see_file(self, opened: os.stat_result) -> None:
        try:
            there = os.path.samestat(opened, os.stat(self.path))  # noqa: PTH116 - once for everything that is written
        except OSError:
            there = False
        if not there:
            msg = f"the journal {self.path!r} has been moved or removed since it was opened"
            raise JournalError(msg)

    def _roll_back(self) -> None:
        with suppress(sqlite3.Error):
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")


_left: list[sqlite3.Connection] = []
"""A parent's connections in a forked child, which must not close them."""


def _made(path: Path) -> os.stat_result:
    """See that there is a file that SQLite can open, made for its owner alone. SQLite gives those beside it its mode."""
    try:
        opened = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK, OWNER_ONLY)
    except OSError as error:
        msg = f"the journal {str(path)!r} cannot be opened: {error.strerror}"
        raise JournalError(msg) from error
    try:
        found = os.fstat(opened)
    finally:
        os.close(opened)
    if not stat.S_ISREG(found.st_mode):
        msg = f"the journal {str(path)!r} cannot be opened: it is no file"
        raise JournalError(msg)
    return found
