"""How the runs of a sandbox come into a journal."""

from __future__ import annotations

import platform
import sqlite3
import time
from collections.abc import Iterable, Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

from codeact.audit import Trail, Unrecorded
from codeact.engines import Engine, Face
from codeact.files import digest_of
from codeact.journal.notation import Beginning, Setting, result_written, tape_written, written
from codeact.journal.records import Versions
from codeact.journal.store import JournalError, Store
from codeact.limits import Limits
from codeact.result import Result
from codeact.tape import Tape
from codeact.values import Uncrossable

if TYPE_CHECKING:
    from codeact.errand import Errand, Past
    from codeact.journal import Journal

_BEGIN = (
    "INSERT INTO journal_runs (id, task, tenant, session, engine, setting, began, beginning)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
)
_END = "UPDATE journal_runs SET wall=?, ok=?, kind=?, calls=?, ending=?, tape=?, now=?, monotonic=? WHERE id=?"


class Recording:
    """Puts the runs of one sandbox on record.

    Attributes:
        journal: where.
    """

    def __init__(self, journal: Journal, store: Store, setting: Setting, inputs: Mapping[str, bytes]) -> None:
        """Made by `Journal.recording`."""
        self.journal = journal
        self._store = store
        self._engine = setting.engine
        self._inputs = {setting.inputs[path]: data for path, data in inputs.items()}
        self._setting = written(setting)
        self._digest = digest_of(self._setting)

    def begin(self, run: str, errand: Errand, trail: Trail, past: Past) -> None:
        """Put on record that a run begins.

        Args:
            run: its id.
            errand: what it is to do.
            trail: whose it is.
            past: what made its world what it is.

        Raises:
            Unrecorded: the journal did not take it.
        """
        digests = {path: digest_of(data) for path, data in errand.files.items()}
        beginning = written(Beginning(errand.source, digests, past.runs, past.whole, time.monotonic_ns()))
        row = (
            run, errand.task, trail.tenant, trail.session, self._engine, self._digest, time.time(), beginning,
        )  # fmt: skip
        try:
            with self._store.writing() as connection:
                _keep(connection, self._digest, self._inputs.items())
                _keep(connection, run, [(self._digest, self._setting)])
                _keep(connection, run, zip(digests.values(), errand.files.values(), strict=True))
                connection.execute(_BEGIN, row)
        except JournalError as error:
            raise _unrecorded(error) from error

    def end(self, run: str, result: Result, tape: Tape) -> None:
        """Put on record what came of a run.

        Raises:
            Unrecorded: the journal did not take it.
        """
        fault = result.error
        head = (result.usage.wall, result.ok, None if fault is None else fault.kind, len(result.calls))
        try:
            row = (*head, result_written(result), *tape_written(tape), run)
            with self._store.writing() as connection:
                _keep(connection, run, ((file.digest, file.data) for file in result.files if file.digest is not None))
                there = connection.execute(_END, row).rowcount
        except (JournalError, Uncrossable) as error:  # an engine of somebody's own may give what no text holds
            raise _unrecorded(error) from error
        if there != 1:
            msg = f"a run could not be put on record: its beginning is not in the journal {self._store.path!r} any more"
            raise Unrecorded(msg)


def _keep(connection: sqlite3.Connection, owner: str, contents: Iterable[tuple[str, bytes | None]]) -> None:
    """Keep contents, each once, for as long as one of their owners is there."""
    for digest, data in contents:
        connection.execute("INSERT OR IGNORE INTO journal_contents VALUES (?, ?)", (digest, data))
        connection.execute("INSERT OR IGNORE INTO journal_uses VALUES (?, ?)", (owner, digest))


def _unrecorded(error: JournalError | Uncrossable) -> Unrecorded:
    return Unrecorded(f"a run could not be put on record: {error}")


def setting_of(engine: Engine, faces: tuple[Face, ...], limits: Limits, inputs: Mapping[str, bytes]) -> Setting:
    """What the runs of a sandbox have in common."""
    digests = {path: digest_of(data) for path, data in inputs.items()}
    return Setting(engine.name, versions_of(engine), is_ready(engine), limits, faces, digests)


def is_ready(engine: Engine) -> bool:
    """Whether its worlds are made before they are asked for."""
    return getattr(engine, "rehearsed", False) is True


def versions_of(engine: Engine) -> Versions:
    """What an engine's runs run on here."""
    machine = getattr(getattr(engine, "local", engine), "machine", None)
    guest = getattr(machine, "digest", None)
    return Versions(
        codeact=_version("codeact"),
        python=platform.python_version(),
        wasmtime=None if guest is None else _version("wasmtime"),
        guest=guest,
        hashing=hash("codeact") if guest is None else None,
    )


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:  # it runs from a directory
        return "?"
