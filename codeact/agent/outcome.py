"""What comes of a task: always data."""

from __future__ import annotations

from dataclasses import dataclass

from codeact.agent.budget import Stop
from codeact.messages import Message, Tokens
from codeact.result import Result


@dataclass(frozen=True, slots=True)
class AgentResult:
    """What came of one task. All of it is there, too, where the agent gave up.

    Attributes:
        id: the task's.
        answer: what the model answered; None where it came to no answer.
        stop: why the task is over, by its name; see `Stop`.
        why: the same in words, with the numbers.
        messages: all that was said, oldest first. Every program that the model asked for has one observation.
        results: of the programs that were run, in order.
        tokens: that the model has read and written.
        seconds: from the beginning to the end.
    """

    id: str
    answer: str | None
    stop: Stop
    why: str
    messages: tuple[Message, ...]
    results: tuple[Result, ...]
    tokens: Tokens
    seconds: float

    @property
    def ok(self) -> bool:
        """Whether the model came to an answer."""
        return self.stop == "answered"
