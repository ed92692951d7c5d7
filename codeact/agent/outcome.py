"""What comes of a task: always data."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Protocol

from codeact.agent.budget import Stop
from codeact.messages import Message, Tokens
from codeact.proposals import Proposal
from codeact.result import Result

if TYPE_CHECKING:
    from codeact.outbox import Entry


class Outlet(Protocol):
    """Where proposals go that are to be decided on. A `codeact.outbox.Outbox` is one."""

    async def submit_async(self, proposals: Result, task: str | None = None) -> Sequence[Entry]:
        """Take in what a run has proposed; the same action with the same arguments is one entry in a task."""
        ...


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
        proposals: what programs that finished have proposed, in order, the same action with the same arguments once.
            Nothing of it has happened.
        entries: those of the outbox that the proposals are in; none where the agent gave up, or has no outbox.
    """

    id: str
    answer: str | None
    stop: Stop
    why: str
    messages: tuple[Message, ...]
    results: tuple[Result, ...]
    tokens: Tokens
    seconds: float
    proposals: tuple[Proposal, ...] = ()
    entries: tuple[Entry, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether the model came to an answer."""
        return self.stop == "answered"

    def to_dict(self) -> dict[str, object]:
        """The result as JSON-ready data, the conversation and every program's result included."""
        return {
            "id": self.id,
            "ok": self.ok,
            "answer": self.answer,
            "stop": self.stop,
            "why": self.why,
            "messages": [{"kind": type(message).__name__.lower(), **asdict(message)} for message in self.messages],
            "results": [result.to_dict() for result in self.results],
            "tokens": asdict(self.tokens),
            "seconds": self.seconds,
            "proposals": [proposal.to_dict() for proposal in self.proposals],
            "entries": [entry.to_dict() for entry in self.entries],
        }


async def submitted(results: Iterable[Result], task: str, outbox: Outlet) -> tuple[Entry, ...]:
    """The entries of what programs that finished have proposed, each once."""
    found: dict[str, Entry] = {}
    for result in results:
        if result.ok and result.proposals:
            found.update({entry.id: entry for entry in await outbox.submit_async(result, task)})
    return tuple(found.values())
