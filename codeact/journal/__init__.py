"""The journal: what programs ran, all that passed their doors, and what came of it, kept in one file.

It holds contents, and not only digests: programs, the arguments and answers of their calls, files. Whoever may read the
file may read what the tools gave, secrets included.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import datetime
from types import TracebackType
from typing import Any, Self

from codeact.engines import Engine, Face
from codeact.errand import checked_task
from codeact.files import digest_of
from codeact.journal.conversation import Conversation, ConversationTaken
from codeact.journal.notation import Beginning, Setting, calls_of, read, result_read, tape_read
from codeact.journal.recording import Recording, setting_of
from codeact.journal.records import CallRecord, ConversationEntry, RunHead, RunRecord, TaskRecord, Versions
from codeact.journal.shapes import made
from codeact.journal.store import MEMORY, JournalError, Store
from codeact.limits import Limits
from codeact.tape import Tape
from codeact.world import PastRun

__all__ = [
    "CallRecord",
    "Conversation",
    "ConversationEntry",
    "ConversationTaken",
    "Journal",
    "JournalError",
    "NoHistory",
    "RunHead",
    "RunRecord",
    "TaskRecord",
    "Versions",
]


class NoHistory(JournalError):
    """What led to a run is not on record."""


_TASK = ("task", "runs", "entries", "began", "last")

_ASKED = {"task": "task = :task", "begins": "id >= :begins AND id < :begins || 'g'"}
_HEAD = "id, number, task, tenant, session, engine, began, wall, ok, kind, calls"


class Journal:
    """A record of runs, in a file of its own or in one with an outbox.

    Threads and processes may share it. What a run has begun is on record before it begins, and what came of it before
    anybody gets it; a run whose process was killed in between is there as one that has not ended. It survives the end of
    the process, however that comes; a machine that loses its power may lose the last moments.
    """

    def __init__(self, path: str | os.PathLike[str] = MEMORY) -> None:
        """Open a journal, or make it.

        Args:
            path: of its file, which only its owner may read where it is made here; SQLite keeps two more beside it while
                it is open. `:memory:` for one that ends with the process.

        Raises:
            TypeError: `path` is no path.
            JournalError: it cannot be opened, is no journal, or is one of another version.
        """
        if not isinstance(path, (str, os.PathLike)):
            msg = f"path={path!r:.200}: expected the path of a file, or ':memory:'"
            raise TypeError(msg)
        self._store = Store(path)

    def __repr__(self) -> str:
        return f"<Journal {self._store.path!r}>"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close its file. Runs of sandboxes that use it fail from then on. Harmless when called twice."""
        self._store.close()

    def recording(
        self, engine: Engine, faces: tuple[Face, ...], limits: Limits, inputs: Mapping[str, bytes]
    ) -> Recording:
        """What a sandbox puts its runs on record with.

        Args:
            engine: that it runs on.
            faces: what its programs see of tools and actions.
            limits: what each may use.
            inputs: the files that they cannot change.
        """
        return Recording(self, self._store, setting_of(engine, faces, limits, inputs), inputs)

    def runs(
        self, *, task: str | None = None, begins: str | None = None, limit: int | None = None
    ) -> tuple[RunHead, ...]:
        """The runs, the latest first.

        Args:
            task: only those that were for it; None for all.
            begins: only those whose ids begin so; None for all.
            limit: how many at the most; None for all.

        Raises:
            JournalError: the file cannot be read.
        """
        given = {"task": task, "begins": begins, "limit": -1 if limit is None else limit}
        # What is not asked for is left out of the question, for an index to be used.
        wanted = " AND ".join(f"({asked})" for name, asked in _ASKED.items() if given[name] is not None) or "TRUE"
        question = f"SELECT {_HEAD} FROM journal_runs WHERE {wanted} ORDER BY number DESC LIMIT :limit"  # noqa: S608 - words of our own
        return tuple(map(_head, self._store.rows(question, given)))

    def run(self, id: str) -> RunRecord:  # noqa: A002 - it is the run's
        """All that is known of a run.

        Args:
            id: the run's, or as much of its beginning as no other run's has.

        Raises:
            LookupError: there is no such run, or more than one.
            JournalError: its record is damaged, or the file cannot be read.
        """
        row = self._found(id)
        head = _head(row)
        setting_digest, beginning_written, ending, *tape_kept = row[len(_HEAD.split(", ")) :]
        try:
            setting = read(Setting, self._content(setting_digest))
            beginning = read(Beginning, beginning_written)
            files = {path: self._content(digest) for path, digest in beginning.files.items()}
            inputs = {path: self._content(digest) for path, digest in setting.inputs.items()}
            earlier = self._earlier(beginning)
            result = None if ending is None else result_read(ending, head.id, self._content)
            tape = Tape() if result is None else tape_read(*tape_kept)
            calls = () if result is None else calls_of(tape, result.calls, beginning.started)
        except ValueError as error:
            raise _damaged(head.id, error) from error
        return RunRecord(
            head,
            beginning.source,
            earlier,
            files,
            inputs,
            setting.faces,
            setting.limits,
            setting.versions,
            setting.ready,
            tape,
            calls,
            result,
        )

    def history(self, id: str) -> tuple[PastRun, ...]:  # noqa: A002 - as above
        """The programs that led to what a run has left: those before it in the same world, and its own.

        `sandbox.session(history=…)` and `Session.restore` make that world anew.

        Args:
            id: the run's; see `run`.

        Raises:
            NoHistory: one of them is not on record, or not all of it.
            LookupError, JournalError: as `run`.
        """
        last = self.run(id)
        return (*(_past_run(self._before(earlier, last)) for earlier in last.earlier), _past_run(last))

    def _before(self, id: str, last: RunRecord) -> RunRecord:  # noqa: A002 - as above
        try:
            found = self.run(id)
        except LookupError:
            msg = f"run {last.id} had a world in which others had run before, and these are not all in the journal"
            raise NoHistory(msg) from None
        if found.cut is not None and found.tape.end is None:
            msg = f"run {found.id}, which was before run {last.id} in its world, was ended by {found.cut} in the middle of its work: what it left cannot be made again"
            raise NoHistory(msg)
        return found

    def tasks(self) -> tuple[TaskRecord, ...]:
        """The tasks that runs were for or that have a conversation, the latest first.

        Raises:
            JournalError: the file cannot be read.
        """
        rows = self._store.rows(
            "SELECT task, sum(run), sum(1 - run), min(at), max(at) AS last FROM ("
            " SELECT task, 1 AS run, began AS at FROM journal_runs WHERE task IS NOT NULL"
            " UNION ALL SELECT task, 0, time FROM journal_entries) GROUP BY task ORDER BY last DESC, task"
        )
        try:
            return tuple(made(TaskRecord, dict(zip(_TASK, row, strict=True))) for row in rows)
        except ValueError as error:
            msg = f"the list of tasks is damaged: {error}"
            raise JournalError(msg) from error

    def conversation(self, task: str) -> Conversation:
        """What was said for a task, to be read and gone on with.

        Raises:
            TypeError: `task` is no string.
            ValueError: it is empty, or no text that can be kept.
            JournalError: the file cannot be read.
        """
        checked = checked_task(task)
        if checked is None:
            msg = "task=None: expected a str, such as the number of a ticket"
            raise TypeError(msg)
        return Conversation(self._store, checked)

    def forget(self, task: str) -> int:
        """Delete the runs of a task and its conversation.

        Returns:
            How many runs there were.

        Raises:
            JournalError: they cannot be deleted.
        """
        return self._delete("task = ?", (task,), "task = ?", (task,))

    def prune(self, before: datetime) -> int:
        """Delete the runs that began before a time, and the conversations that ended before it.

        Runs of a task whose conversation goes on are kept: whoever begins it again needs them. A run of a session that is
        kept can then not be replayed where an earlier one of its session is gone.

        Args:
            before: when; with its time zone.

        Returns:
            How many runs there were.

        Raises:
            TypeError: it is no time.
            ValueError: it has no time zone.
            JournalError: they cannot be deleted.
        """
        if not isinstance(before, datetime) or before.tzinfo is None:
            wanted = "a time with its time zone, such as datetime.now(UTC) - timedelta(days=90)"
            msg = f"before={before!r:.200}: expected {wanted}"
            raise ValueError(msg) if isinstance(before, datetime) else TypeError(msg)
        at = before.timestamp()
        ended = "task IN (SELECT task FROM journal_entries GROUP BY task HAVING max(time) < ?)"
        needed = "SELECT task FROM journal_entries WHERE time >= ?"
        unneeded = f"began < ? AND (task IS NULL OR task NOT IN ({needed}))"
        return self._delete(unneeded, (at, at), ended, (at,))

    def _delete(self, runs: str, of_runs: tuple[object, ...], entries: str, of_entries: tuple[object, ...]) -> int:
        with self._store.writing() as connection:
            owners = f"SELECT id FROM journal_runs WHERE {runs}"  # noqa: S608 - words of our own, here and below
            connection.execute(f"DELETE FROM journal_uses WHERE owner IN ({owners})", of_runs)  # noqa: S608
            found = connection.execute(f"DELETE FROM journal_runs WHERE {runs}", of_runs).rowcount  # noqa: S608
            connection.execute(f"DELETE FROM journal_entries WHERE {entries}", of_entries)  # noqa: S608
            # What is used by nobody goes: first the settings of sandboxes, then the inputs that only these used.
            unused = "digest NOT IN (SELECT digest FROM journal_uses)"
            connection.execute(f"DELETE FROM journal_contents WHERE {unused}")  # noqa: S608
            connection.execute(
                "DELETE FROM journal_uses WHERE owner NOT IN"
                " (SELECT digest FROM journal_contents UNION SELECT id FROM journal_runs)"
            )
            connection.execute(f"DELETE FROM journal_contents WHERE {unused}")  # noqa: S608
        return int(found)

    def _found(self, id: str) -> Any:  # noqa: A002 - as above
        columns = f"{_HEAD}, setting, beginning, ending, tape, now, monotonic"
        rows = self._store.rows(
            f"SELECT {columns} FROM journal_runs WHERE id >= ? AND id < ? || 'g' LIMIT 2",  # noqa: S608 - as above
            (id, id),
        )
        exact = [row for row in rows if row[0] == id]
        if id and (exact or len(rows) == 1):
            return (exact or rows)[0]
        many = "there are several whose ids begin so"
        msg = f"run {id!r:.100}: {many if rows else 'there is none'} in the journal {self._store.path!r}"
        raise LookupError(msg)

    def _content(self, digest: str) -> bytes:
        rows = self._store.rows("SELECT data FROM journal_contents WHERE digest = ?", (digest,))
        if not rows or not isinstance(rows[0][0], bytes) or digest_of(rows[0][0]) != digest:
            msg = f"the content {digest[:16]} {'is not what it was' if rows else 'is missing'}"
            raise ValueError(msg)
        data: bytes = rows[0][0]
        return data

    def _earlier(self, beginning: Beginning) -> tuple[str, ...]:
        """The runs that made a world what it was."""
        found: list[str] = [*beginning.past]
        seen: set[str] = set()
        while not beginning.whole:
            first = found[0] if found else ""
            rows = self._store.rows("SELECT beginning FROM journal_runs WHERE id = ?", (first,))
            if not rows:
                return ("", *found)
            if first in seen:
                msg = "it comes after itself"
                raise ValueError(msg)
            seen.add(first)
            beginning = read(Beginning, rows[0][0])
            found[:0] = beginning.past
        return tuple(found)


def _head(row: Any) -> RunHead:
    told = dict(zip(_HEAD.split(", "), row, strict=False))
    if told["ok"] in {0, 1}:
        told["ok"] = bool(told["ok"])
    try:
        return made(RunHead, told)
    except ValueError as error:  # SQLite keeps anything anywhere
        raise _damaged(str(told["id"]), error) from error


def _past_run(record: RunRecord) -> PastRun:
    if record.result is None:
        msg = f"run {record.id} has no end on record: it is under way, or its process died"
        raise NoHistory(msg)
    if not record.tape.whole:
        msg = f"run {record.id} read the clocks or was answered more than a journal keeps"
        raise NoHistory(msg)
    return PastRun(record.source, record.result.ok, record.tape, record.files, record.id)


def _damaged(run: str, error: ValueError) -> JournalError:
    return JournalError(f"the record of the run {run} is damaged: {error}")
