"""What is remembered of a task in a journal."""

from __future__ import annotations

from collections import deque
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from typing import TypeVar

from codeact.agent.budget import End, Stop
from codeact.agent.memory import Memory
from codeact.journal import ConversationEntry, Journal, JournalError, RunRecord
from codeact.journal.shapes import made
from codeact.messages import Asked, Observed, Reply, Said
from codeact.result import Result
from codeact.session import Session
from codeact.world import PastRun

Kept = TypeVar("Kept")


@dataclass(frozen=True, slots=True)
class _Task:
    """How a conversation begins.

    Attributes:
        text: what is to be done.
        model: the name of who begins it.
        system: what that one is told before.
    """

    text: str
    model: str
    system: str


@dataclass(frozen=True, slots=True)
class _Seen:
    """An `Observed`, and what it is of.

    Attributes:
        id: see `Observed`, also for the next two.
        text: the observation.
        ok: whether the program finished.
        run: the id of the program's run; empty where it was not run.
        stays: whether the session's world has outlived it.
    """

    id: str
    text: str
    ok: bool
    run: str
    stays: bool


@dataclass(frozen=True, slots=True)
class _End:
    """An `End`, and the answer; None where there is none."""

    stop: Stop
    why: str
    answer: str | None


class Minutes(Memory):
    """What is remembered of a task in a journal: its conversation, whose programs are among the journal's runs.

    The entries are `task`, `reply` (a `Reply`), `said` (a `Said`), `observed` and `end`, each with its fields by name.
    """

    def __init__(self, journal: Journal, task: str, text: str, *, model: str, system: str) -> None:
        """Read what there is, or begin.

        Args:
            journal: where.
            task: the id of the task.
            text: what is to be done.
            model: the name of who begins it.
            system: what that one is told before.

        Raises:
            ValueError: the journal has another task of that id.
            JournalError: it cannot be read or written, or its conversation is none of an agent's.
        """
        self._journal = journal
        self._conversation = journal.conversation(task)
        entries = self._conversation.entries()
        if not entries:
            self._append("task", _Task(text, model, system))
        elif entries[0].kind != "task" or self._read(_Task, entries[0]).text != text:
            msg = f"id={task!r}: the journal has another task of that id; give this one an id of its own"
            raise ValueError(msg)
        self._end = self._read(_End, entries[-1]) if entries and entries[-1].kind == "end" else None
        self._past = deque(entry for entry in entries[1:] if entry.kind != "end")
        seen = [self._read(_Seen, entry) for entry in self._past if entry.kind == "observed"]
        self._runs = [each.run for each in seen if each.stays]

    @property
    def history(self) -> tuple[PastRun, ...]:
        """The programs that made the task's world what it was."""
        return tuple(
            PastRun(record.source, record.result.ok, record.tape, record.files, record.id)
            for record in map(self._run, self._runs)
            if record.result is not None
        )

    def working(self) -> AbstractContextManager[None]:
        """Be the one who works on the task, until the end of the block.

        Raises:
            ConversationTaken: somebody else does.
            JournalError: it cannot be found out.
        """
        return self._conversation.working()

    def reply(self) -> Reply | None:
        """What the model replied at this place of the conversation; None where it is to be asked."""
        return self._next("reply", Reply)

    def observed(self, asked: Asked) -> tuple[Observed, Result | None] | None:
        """What came of a program at this place of the conversation; None where it is to be run.

        Raises:
            JournalError: it is of another program, or its run cannot be read.
        """
        seen = self._next("observed", _Seen)
        if seen is None:
            return None
        if seen.id != asked.id:
            msg = f"task {self._conversation.task!r}: its conversation is not what this agent would make of it"
            raise JournalError(msg)
        return Observed(seen.id, seen.text, seen.ok), self._run(seen.run).result if seen.run else None

    def keep_reply(self, reply: Reply) -> None:
        """Keep what the model has replied."""
        self._append("reply", reply)

    def keep_said(self, said: Said) -> None:
        """Keep what it was told, unless that is remembered already."""
        if self._next("said", Said) is None:
            self._append("said", said)

    def keep_observed(self, observed: Observed, result: Result | None, session: Session) -> None:
        """Keep what came of a program."""
        run = result.run if result is not None else ""
        stays = bool(run) and bool(session.history) and session.history[-1].run == run
        self._append("observed", _Seen(observed.id, observed.text, observed.ok, run, stays))

    def keep_end(self, end: End, answer: str | None) -> None:
        """Keep why the task is over, unless that is remembered already."""
        kept = _End(end.stop, end.why, answer)
        if kept != self._end:
            self._append("end", kept)

    def _append(self, kind: str, kept: Reply | Said | _Task | _Seen | _End) -> None:
        self._conversation.append(kind, asdict(kept))
        self._end = kept if isinstance(kept, _End) else None

    def _next(self, kind: str, shape: type[Kept]) -> Kept | None:
        """The next entry, where it is of a kind."""
        if self._past and self._past[0].kind == kind:
            return self._read(shape, self._past.popleft())
        return None

    def _read(self, shape: type[Kept], entry: ConversationEntry) -> Kept:
        try:
            return made(shape, entry.data)
        except ValueError as error:
            msg = f"task {self._conversation.task!r}: entry {entry.seq} of its conversation is none of an agent's: {error}"
            raise JournalError(msg) from error

    def _run(self, run: str) -> RunRecord:
        try:
            return self._journal.run(run)
        except LookupError as error:
            msg = f"task {self._conversation.task!r}: a program of its conversation is not in the journal any more: {error}"
            raise JournalError(msg) from error
