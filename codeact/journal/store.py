"""The file of a journal: SQLite, with tables of the journal's own."""

from __future__ import annotations

import os
import sqlite3
import threading
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from codeact.databases import connected, hold_at_forks, is_there, place, transaction
from codeact.locks import FileLocks, Locks, ThreadLocks

MEMORY = ":memory:"
"""In place of a path: kept in this process, and gone with it."""

VERSION = 1
"""Of the tables."""

PATIENCE = 10.0
"""Seconds that one waits for another process that just writes."""

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
    """One connection to the file, for all threads; one is opened when it is needed, in a forked child too.

    Attributes:
        path: of the file, as it was given.
        lock: of the connection.
        workers: locks of those who work on tasks.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Open the file or make it, which only its owner may then read.

        Args:
            path: where it is, no symbolic link; or `MEMORY`.

        Raises:
            JournalError: it cannot be opened, is no journal, or is one of another version.
        """
        self.path = os.fspath(path)
        self.lock = threading.RLock()
        self._process = os.getpid()
        self._open: sqlite3.Connection | None = None
        self._close: Callable[[], object] = _nothing
        self._closed = False
        try:
            self._place = None if self.path == MEMORY else place(self.path)
            self._file = None if self._place is None else self._place.stat()
        except OSError as error:
            msg = f"the journal {self.path!r} cannot be opened: {error}"
            raise JournalError(msg) from error
        self.workers: Locks = ThreadLocks() if self._place is None else FileLocks(self._place, "task")
        with self._here():
            pass
        hold_at_forks(self)

    def _connected(self) -> sqlite3.Connection:
        if self._closed:
            msg = f"the journal {self.path!r} is closed"
            raise JournalError(msg)
        if self._process != os.getpid() and self._place is None:
            msg = "this journal is kept in the memory of the process that this one was forked from; give it a path"
            raise JournalError(msg)
        if self._open is None:
            found = connected(self._place, PATIENCE)
            try:
                self._set_up(found)
            except BaseException:
                found.close()
                raise
            self._open, self._close = found, weakref.finalize(self, found.close)
        return self._open

    def _set_up(self, connection: sqlite3.Connection) -> None:
        run = connection.execute
        # Readers and a writer do not wait for each other, and a commit need not wait for the disk: what a process has
        # written is there when it is killed, and a machine that loses its power may lose the last commits.
        try:
            run("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY:  # who opens it next will do it
                raise
        run("PRAGMA synchronous = NORMAL")
        if not run("SELECT 1 FROM sqlite_schema WHERE name = 'journal_about'").fetchone():
            with transaction(connection):
                for statement in _TABLES.split(";"):
                    run(statement)
                run("INSERT OR IGNORE INTO journal_about VALUES ('version', ?)", (VERSION,))
        found = run("SELECT value FROM journal_about WHERE name = 'version'").fetchone()
        if found is None or found[0] != VERSION:
            msg = f"the journal {self.path!r} is of version {found and found[0]}, and this codeact knows version {VERSION}; use the codeact that made it"
            raise JournalError(msg)

    def close(self) -> None:
        """Close the file. Harmless when called twice."""
        with self.lock:
            self._closed = True
            self.leave()

    def leave(self) -> None:
        """Be without a connection until one is needed. What is kept in memory alone stays connected until it is closed.

        SQLite's connections and locks do not survive a fork, neither to be used nor to be closed: there is none meanwhile.
        """
        if self._open is not None and (self._closed or self._place is not None):
            self._close()
            self._open = None

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """All of what is written inside, or nothing.

        Raises:
            JournalError: it could not be written.
        """
        with self._here() as connection:
            self._see_file()
            with transaction(connection):
                yield connection

    def rows(self, statement: str, values: Sequence[object] | Mapping[str, object] = ()) -> list[Any]:
        """What a question gives.

        Raises:
            JournalError: the file cannot be read.
        """
        with self._here() as connection:
            return connection.execute(statement, values).fetchall()

    @contextmanager
    def _here(self) -> Iterator[sqlite3.Connection]:
        with self.lock:
            try:
                yield self._connected()
            except (sqlite3.Error, UnicodeError, OverflowError) as error:
                msg = f"the journal {self.path!r}: {error}"
                raise JournalError(msg) from error

    def _see_file(self) -> None:
        if self._place is not None and self._file is not None and not is_there(self._place, self._file):
            msg = f"the journal {self.path!r} has been moved or removed since it was opened"
            raise JournalError(msg)


def _nothing() -> None:
    """There is no connection to close."""
