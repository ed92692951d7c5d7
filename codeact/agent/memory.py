"""What is kept of a task, so that whoever begins it again need not ask again nor run again."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

from codeact.agent.budget import End
from codeact.messages import Asked, Observed, Reply, Said, Tokens
from codeact.result import Result
from codeact.session import Session
from codeact.world import PastRun

if TYPE_CHECKING:
    from codeact.journal import ConversationEntry, Journal


class Memory:
    """What is remembered of a task. This one remembers nothing."""

    @property
    def history(self) -> tuple[PastRun, ...]:
        """The programs that made the task's world what it was."""
        return ()

    def reply(self) -> Reply | None:
        """What the model replied at this place of the conversation; None where it is to be asked."""
        return None

    def observed(self, asked: Asked) -> tuple[Observed, Result | None] | None:
        """What came of a program at this place of the conversation; None where it is to be run."""
        _ = asked
        return None

    def keep_reply(self, reply: Reply) -> None:
        """Keep what the model has replied."""

    def keep_said(self, said: Said) -> None:
        """Keep what it was told, unless that is remembered already."""

    def keep_observed(self, observed: Observed, result: Result | None, session: Session) -> None:
        """Keep what came of a program.

        Args:
            observed: what the model is told of it.
            result: what it gave; None where it was not run.
            session: where.
        """

    def keep_end(self, end: End, answer: str | None) -> None:
        """Keep why the task is over, unless that is remembered already."""


class Minutes(Memory):
    """What is remembered of a task in a journal: its conversation, whose programs are among the journal's runs.

    The entries are `task` (text, model, system), `reply` (text, programs, ending, tokens, kept), `said` (text), `observed` (id, text, ok,
    run, stays) and `end` (stop, why, answer). `run` is the id of the program's run; `stays` tells whether the session's
    world outlived it.
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
            JournalError: it cannot be read or written.
        """
        self._journal = journal
        self._conversation = journal.conversation(task)
        entries = self._conversation.entries()
        self._past = deque(entry for entry in entries[1:] if entry.kind != "end")
        self._end = entries[-1].data if entries and entries[-1].kind == "end" else None
        if not entries:
            self._conversation.append("task", {"text": text, "model": model, "system": system})
        elif entries[0].kind != "task" or _told(entries[0])["text"] != text:
            msg = f"id={task!r}: the journal has another task of that id; give this one an id of its own"
            raise ValueError(msg)
        self._runs = [str(_told(entry)["run"]) for entry in self._past if _stays(entry)]

    @property
    def history(self) -> tuple[PastRun, ...]:
        """The programs that made the task's world what it was."""
        records = map(self._journal.run, self._runs)
        return tuple(
            PastRun(record.source, record.result.ok, record.tape, record.files, record.id)
            for record in records
            if record.result is not None
        )

    def reply(self) -> Reply | None:
        """What the model replied at this place of the conversation; None where it is to be asked."""
        told = self._next("reply")
        if told is None:
            return None
        programs = tuple(Asked(each["id"], each["code"], each["unreadable"]) for each in told["programs"])
        return Reply(told["text"], programs, told["ending"], Tokens(*told["tokens"]), told["kept"])

    def observed(self, asked: Asked) -> tuple[Observed, Result | None] | None:
        """What came of a program at this place of the conversation; None where it is to be run."""
        if self._past and self._past[0].kind == "observed" and _told(self._past[0])["id"] != asked.id:
            msg = f"task {self._conversation.task!r}: its conversation is not what this agent would make of it"
            raise ValueError(msg)
        told = self._next("observed")
        if told is None:
            return None
        result = self._journal.run(told["run"]).result if told["run"] else None
        return Observed(told["id"], told["text"], told["ok"]), result

    def keep_reply(self, reply: Reply) -> None:
        """Keep what the model has replied."""
        programs = [{"id": each.id, "code": each.code, "unreadable": each.unreadable} for each in reply.programs]
        told = {"text": reply.text, "programs": programs, "ending": reply.ending}
        tokens = [reply.tokens.read, reply.tokens.written]
        self._append("reply", {**told, "tokens": tokens, "kept": reply.kept})

    def keep_said(self, said: Said) -> None:
        """Keep what it was told, unless that is remembered already."""
        if self._next("said") is None:
            self._append("said", {"text": said.text})

    def keep_observed(self, observed: Observed, result: Result | None, session: Session) -> None:
        """Keep what came of a program."""
        run = result.run if result is not None else ""
        stays = bool(run) and bool(session.history) and session.history[-1].run == run
        told = {"id": observed.id, "text": observed.text, "ok": observed.ok}
        self._append("observed", {**told, "run": run, "stays": stays})

    def keep_end(self, end: End, answer: str | None) -> None:
        """Keep why the task is over, unless that is remembered already."""
        told = {"stop": end.stop, "why": end.why, "answer": answer}
        if told != self._end:
            self._append("end", told)

    def _append(self, kind: str, told: dict[str, Any]) -> None:
        self._conversation.append(kind, told)
        self._end = told if kind == "end" else None

    def _next(self, kind: str) -> dict[str, Any] | None:
        """What the next entry says, where it is of a kind."""
        if self._past and self._past[0].kind == kind:
            return _told(self._past.popleft())
        return None


def _told(entry: ConversationEntry) -> dict[str, Any]:
    if not isinstance(entry.data, dict):
        msg = f"entry {entry.seq} of the conversation is none of an agent's"
        raise TypeError(msg)
    return entry.data


def _stays(entry: ConversationEntry) -> bool:
    return entry.kind == "observed" and bool(_told(entry)["stays"])
