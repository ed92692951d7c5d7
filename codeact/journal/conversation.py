"""What was said for a task, so that whoever begins again need not ask again."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from codeact.journal.notation import compressed, opened
from codeact.journal.records import ConversationEntry
from codeact.journal.shapes import made
from codeact.journal.store import JournalError, Store
from codeact.locks import Taken
from codeact.renderings import digest_of_text


class ConversationTaken(JournalError):
    """Somebody else works on the task, or has written to its conversation meanwhile."""


class Conversation:
    """The entries of one task, in order. One writes at a time: whoever finds that another has written is told.

    Attributes:
        task: as the host calls it.
    """

    def __init__(self, store: Store, task: str) -> None:
        """Made by `Journal.conversation`."""
        self.task = task
        self._store = store
        self._last = self._read()

    def __len__(self) -> int:
        """How many entries this one knows of."""
        return self._last

    def entries(self) -> tuple[ConversationEntry, ...]:
        """All entries, oldest first. The next one is appended after these.

        Raises:
            JournalError: they cannot be read.
        """
        rows = self._store.rows(
            "SELECT seq, kind, data, time FROM journal_entries WHERE task = ? ORDER BY seq", (self.task,)
        )
        found = tuple(self._entry(*row) for row in rows)
        self._last = found[-1].seq if found else 0
        return found

    @contextmanager
    def working(self) -> Iterator[None]:
        """Be the one who works on the task, until the end of the block: a second one is told at once, in any process.

        A process that dies, in whatever way, works on nothing any more.

        Raises:
            ConversationTaken: somebody else works on it, or has written to it since the entries were read.
            JournalError: it cannot be found out.
        """
        name = digest_of_text(self.task)[:32]
        with ExitStack() as until:
            try:
                until.enter_context(self._store.workers.hold(name))
            except Taken:
                msg = f"task {self.task!r}: somebody else works on it; when that has ended, run it again under the same id"
                raise ConversationTaken(msg) from None
            except OSError as error:
                msg = f"task {self.task!r}: whether somebody else works on it cannot be found out: {error}"
                raise JournalError(msg) from error
            if self._read() != self._last:
                msg = f"task {self.task!r}: somebody else has worked on it meanwhile; run it again under the same id"
                raise ConversationTaken(msg)
            yield

    def append(self, kind: str, data: object) -> ConversationEntry:
        """Write one entry. It is kept whole or not at all.

        Args:
            kind: what it is.
            data: what it says: what JSON can hold.

        Raises:
            ConversationTaken: somebody else has written since the entries were read.
            JournalError: it cannot be written.
            TypeError, ValueError: `data` is nothing that JSON can hold.
        """
        if not isinstance(kind, str):
            msg = f"kind={kind!r:.200}: expected a str"
            raise TypeError(msg)
        try:
            text = json.dumps(data, allow_nan=False, separators=(",", ":"))
        except (TypeError, ValueError) as error:
            msg = f"data={data!r:.200}: expected what JSON can hold: {error}"
            raise type(error)(msg) from error
        entry = ConversationEntry(self._last + 1, kind, data, time.time())
        row = (self.task, entry.seq, kind, compressed(text.encode()), entry.time)
        with self._store.writing() as connection:
            last = self._read()
            if last != self._last:
                msg = (
                    f"task {self.task!r}: its conversation has {last} entries, and {self._last} were expected: somebody"
                    " else works at it. End one of the two; an agent then runs the task again under the same id, and anyone else reads"
                    " the entries again and goes on after them"
                )
                raise ConversationTaken(msg)
            connection.execute("INSERT INTO journal_entries VALUES (?, ?, ?, ?, ?)", row)
        self._last = entry.seq
        return entry

    def _read(self) -> int:
        rows = self._store.rows("SELECT max(seq) FROM journal_entries WHERE task = ?", (self.task,))
        return rows[0][0] or 0

    def _entry(self, seq: object, kind: object, data: object, at: object) -> ConversationEntry:
        try:
            return made(ConversationEntry, {"seq": seq, "kind": kind, "data": opened(data), "time": at})
        except ValueError as error:
            msg = f"task {self.task!r}: entry {seq} of its conversation is damaged: {error}"
            raise JournalError(msg) from error
