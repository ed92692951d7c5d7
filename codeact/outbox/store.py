"""The outbox's tables in an SQLite database, and the only statements that touch them.

A transaction is on the disk before it has ended. The tables may share their database with others' tables.
"""

from __future__ import annotations

import os
import re
import sqlite3
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields, replace
from pathlib import Path
from types import NoneType
from typing import Any

from codeact.databases import connected, hold_at_forks, is_there, transaction
from codeact.limits import DEEPEST
from codeact.outbox.entries import STATES, Entry, Move, OutboxError, State, Step
from codeact.values import encode
from wasm_runtime.guest.codec import decode

VERSION = 1
"""Of the tables, and of how digests are made: what others have written would not fit another digest."""

PATIENCE = 30.0
"""Seconds that a statement waits for another process's transaction."""

_FIELDS = tuple(field.name for field in fields(Entry))
_ENCODED = frozenset({"arguments", "value"})

_TABLES = f"""
CREATE TABLE IF NOT EXISTS outbox_version (version INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS outbox_entry (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    task TEXT NOT NULL,
    run TEXT,
    seq INTEGER NOT NULL,
    name TEXT NOT NULL,
    arguments TEXT NOT NULL,
    digest TEXT NOT NULL,
    line INTEGER,
    state TEXT NOT NULL CHECK (state IN {STATES}),
    created REAL NOT NULL,
    decided REAL,
    "by" TEXT,
    expires REAL,
    reason TEXT,
    started REAL,
    ended REAL,
    value TEXT,
    error TEXT,
    keyed INTEGER,
    owner TEXT,
    UNIQUE (task, name, digest)
);
CREATE INDEX IF NOT EXISTS outbox_entry_state ON outbox_entry (state);
CREATE TABLE IF NOT EXISTS outbox_step (
    number INTEGER PRIMARY KEY,
    entry TEXT NOT NULL,
    state TEXT NOT NULL,
    time REAL NOT NULL,
    "by" TEXT,
    reason TEXT,
    error TEXT
);
CREATE INDEX IF NOT EXISTS outbox_step_entry ON outbox_step (entry);
"""

_COLUMNS = ", ".join(f'"{name}"' for name in _FIELDS)
_READ = f"SELECT {_COLUMNS} FROM outbox_entry"  # noqa: S608 - the names are the record's own
_ADD = f"INSERT INTO outbox_entry ({_COLUMNS}) VALUES ({', '.join(f':{name}' for name in _FIELDS)})"  # noqa: S608 - as above
_MOVE = """
UPDATE outbox_entry SET state = :state, decided = :decided, "by" = :by, expires = :expires, reason = :reason,
    started = :started, ended = :ended, value = :value, error = :error, keyed = :keyed, owner = :owner
WHERE id = :id AND state = :source
"""
_STEP = 'INSERT INTO outbox_step (entry, state, time, "by", reason, error) VALUES (?, ?, ?, ?, ?, ?)'
_STEPS = 'SELECT state, time, "by", reason, error FROM outbox_step WHERE entry = ? ORDER BY number'
_APPROVED = "SELECT count(*) FROM outbox_entry WHERE name = ? AND state NOT IN ('proposed', 'refused')"


class Store:
    """Entries in a database. It may be used from many threads; a forked child needs one of its own."""

    def __init__(self, path: Path | None) -> None:
        """Open a database, and make the tables in it that are not there.

        Args:
            path: where it is, see `codeact.databases.place`; None for memory.

        Raises:
            OutboxError: it cannot be opened, is no database, or is of a newer version.
        """
        self._path = path
        self._file = None if path is None else path.stat()
        self._where = "memory" if path is None else str(path)
        self._process = os.getpid()
        self.lock = threading.RLock()
        with self._told():
            self.connection = connected(path, PATIENCE)
        self._close = weakref.finalize(self, self.connection.close)
        try:
            self._prepare()
        except BaseException:
            self._close()
            raise
        hold_at_forks(self)

    def close(self) -> None:
        """Close the database. Harmless when called twice."""
        with self.lock:
            self._close()

    def leave(self) -> None:
        """Stay connected over a fork: a child needs an outbox of its own, and is told so."""

    @contextmanager
    def change(self) -> Iterator[None]:
        """A transaction: all that is done in it is on the disk when it has ended, or none of it.

        Raises:
            OutboxError: the database cannot be written to.
        """
        with self._told(), self.lock:
            self._check()
            self._check_file()
            if self.connection.in_transaction:  # to go on in it would end the other's, which is not whole yet
                msg = "a rule or an audit cannot change the outbox that asks it"
                raise OutboxError(msg)
            with transaction(self.connection):
                yield

    def add(self, entry: Entry) -> Entry | None:
        """Put an entry in.

        Returns:
            The one that is there already, where there is one of the same identity; else None.
        """
        there = self.find("WHERE id = :id", id=entry.id)
        if there:
            return there[0]
        self.connection.execute(_ADD, _row(entry))
        self._append(entry, Step(entry.state, entry.created))
        return None

    def move(self, entry: Entry, move: Move, now: float, **changes: Any) -> Entry | None:
        """Take an entry, as it was read in this transaction, to another state, and add that to its history.

        Args:
            entry: the entry.
            move: the step.
            now: when it is taken.
            **changes: what else changes.

        Returns:
            The entry as it is now; None where it cannot take this step.
        """
        if entry.state not in move.sources:
            return None
        moved = replace(entry, state=move.to, **changes)
        done = self.connection.execute(_MOVE, {**_row(moved), "source": entry.state})
        if done.rowcount != 1:
            return None
        told = {
            name: changes.get(name) for name in ("by", "reason", "error")
        }  # what this step says, and no earlier one
        self._append(moved, Step(moved.state, now, **told))
        return moved

    def history(self, entry_id: str) -> tuple[Step, ...]:
        """The steps that an entry has taken, in their order."""
        with self._told(), self.lock:
            self._check()
            return tuple(_step(entry_id, row) for row in self.connection.execute(_STEPS, (entry_id,)))

    def read(self, state: State | None = None, task: str | None = None) -> list[Entry]:
        """Entries in the order in which they were added.

        Args:
            state: those of one state; None for all.
            task: those of one task; None for all.
        """
        wanted = "WHERE (:state IS NULL OR state = :state) AND (:task IS NULL OR task = :task) ORDER BY number"
        return self.find(wanted, state=state, task=task)

    def find(self, condition: str, **values: object) -> list[Entry]:
        """Entries for which a condition of SQL holds."""
        with self._told(), self.lock:
            self._check()
            return [_entry(row) for row in self.connection.execute(f"{_READ} {condition}", values)]

    def approved(self, name: str, task: str) -> int:
        """See `codeact.outbox.rules.Tally`."""
        return self._count(f"{_APPROVED} AND task = ?", name, task)

    def approved_since(self, name: str, moment: float) -> int:
        """See `codeact.outbox.rules.Tally`."""
        return self._count(f"{_APPROVED} AND decided > ?", name, moment)

    def _append(self, entry: Entry, step: Step) -> None:
        self.connection.execute(_STEP, (entry.id, step.state, step.time, step.by, step.reason, step.error))

    def _count(self, query: str, *values: object) -> int:
        (count,) = self.connection.execute(query, values).fetchone()
        return int(count)

    def _prepare(self) -> None:
        with self._told():
            # Without EXTRA a machine that fails may take back a transaction that has ended; FULLFSYNC is macOS's.
            for setting in ("synchronous = EXTRA", "fullfsync = ON", "checkpoint_fullfsync = ON"):
                self.connection.execute(f"PRAGMA {setting}")
        with self.change():
            for statement in _TABLES.split(";"):
                self.connection.execute(statement)
            found = self.connection.execute("SELECT max(version) FROM outbox_version").fetchone()[0]
            if found is None:
                self.connection.execute("INSERT INTO outbox_version VALUES (?)", (VERSION,))
            elif found != VERSION:
                msg = f"{self._where}: its outbox is of version {found}, and this codeact knows version {VERSION}; use the codeact that made it"
                raise OutboxError(msg)

    def _check(self) -> None:
        if os.getpid() != self._process:
            msg = "this outbox was opened in another process, before a fork; open it anew in this one"
            raise OutboxError(msg)
        if not self._close.alive:
            msg = "this outbox is closed"
            raise OutboxError(msg)

    def _check_file(self) -> None:
        """Another file in its place would know nothing of what this one has performed."""
        if self._path is not None and self._file is not None and not is_there(self._path, self._file):
            msg = f"{self._where}: it has been moved or removed since it was opened"
            raise OutboxError(msg)

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, UnicodeError, OverflowError) as error:
            msg = f"{self._where}: {error}"
            raise OutboxError(msg) from error


def _row(entry: Entry) -> dict[str, object]:
    row = {name: getattr(entry, name) for name in _FIELDS}
    return {
        name: encode(value, DEEPEST + 1) if name in _ENCODED and value is not None else value
        for name, value in row.items()
    }


def _entry(row: tuple[Any, ...]) -> Entry:
    found = dict(zip(_FIELDS, row, strict=True))
    for name in _ENCODED:
        if found[name] is not None:
            try:
                found[name] = decode(found[name])
            except (TypeError, ValueError) as error:
                msg = f"entry {found['id']}: its {name} cannot be read: {error}"
                raise OutboxError(msg) from error
    wrong = next((name for name, kinds in _KINDS.items() if type(found[name]) not in kinds), None)
    if wrong is None and not _ID.fullmatch(found["id"]):
        wrong = "id"
    if wrong is None and not all(type(name) is str for name in found["arguments"]):
        wrong = "arguments"
    if wrong is not None:
        msg = f"entry {found['id']!r:.40}: its {wrong} cannot be read: {found[wrong]!r:.40}"
        raise OutboxError(msg)
    found["keyed"] = None if found["keyed"] is None else bool(found["keyed"])
    return Entry(**found)


def _step(entry_id: str, row: tuple[Any, ...]) -> Step:
    state, time, *told = row
    if state not in STATES or type(time) is not float or not all(isinstance(text, (str, NoneType)) for text in told):
        msg = f"entry {entry_id}: its history cannot be read: {row!r:.200}"
        raise OutboxError(msg)
    return Step(state, time, *told)


_KINDS: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(("id", "task", "name", "digest", "state"), (str,)),
    **dict.fromkeys(("run", "by", "reason", "error", "owner"), (str, NoneType)),
    **dict.fromkeys(("decided", "expires", "started", "ended"), (float, NoneType)),
    **dict.fromkeys(("line", "keyed"), (int, NoneType)),
    "seq": (int,),
    "created": (float,),
    "arguments": (dict,),
}
"""Of what is in a row. SQLite keeps anything anywhere, and whoever can write the file can change it."""

_ID = re.compile("[0-9a-f]{32}")
