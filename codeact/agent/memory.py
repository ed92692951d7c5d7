"""What is kept of a task, so that whoever begins it again need not ask again nor run again."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

from codeact.agent.budget import End
from codeact.messages import Asked, Observed, Reply, Said
from codeact.result import Result
from codeact.session import Session
from codeact.world import PastRun


class Memory:
    """What is remembered of a task. This one remembers nothing."""

    @property
    def history(self) -> tuple[PastRun, ...]:
        """The programs that made the task's world what it was."""
        return ()

    def working(self) -> AbstractContextManager[None]:
        """Be the one who works on the task, until the end of the block."""
        return nullcontext()

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
