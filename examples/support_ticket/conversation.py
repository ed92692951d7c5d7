"""The agent loop: the model writes a program, the sandbox runs it, the model reads what came of it."""

from __future__ import annotations

from dataclasses import dataclass

from tenacity import RetryCallState, Retrying, retry_if_result, stop_after_attempt

from codeact import Result, Sandbox, stubs

from .script import Answer, Message, Model, Program
from .tickets import Ticket

PROGRAMS = 8
"""Programs that a model may write for one ticket."""

BRIEF = """\
You work at a support desk. Answer the ticket. To look something up, write one Python program that uses `tools`;
end it in an expression that is the answer to your question. These are your tools:

"""


@dataclass(frozen=True, slots=True)
class Turn:
    """One reply of the model: a program and its result, or neither result nor program when it only answered."""

    reply: Program | Answer
    result: Result | None = None


@dataclass(frozen=True, slots=True)
class Episode:
    """One ticket worked on by one model in one sandbox.

    Attributes:
        ticket: what was asked.
        engine: where the programs ran.
        turns: every reply of the model, the final answer included.
    """

    ticket: Ticket
    engine: str
    turns: tuple[Turn, ...]

    @property
    def results(self) -> list[Result]:
        """The result of each program, in order."""
        return [turn.result for turn in self.turns if turn.result is not None]

    @property
    def value(self) -> object:
        """What the last program gave; None when it failed."""
        return self.results[-1].value if self.results else None

    @property
    def answer(self) -> str:
        """What the customer is to read; empty when the model never came to an answer."""
        last = self.turns[-1].reply
        return last.text if isinstance(last, Answer) else ""

    @property
    def seconds(self) -> float:
        """Time that the programs took, tool calls included."""
        return sum(result.usage.wall for result in self.results)

    @property
    def read(self) -> int:
        """Characters that the model had to read back from its programs."""
        return sum(len(result.observation()) for result in self.results)


def work(model: Model, ticket: Ticket, sandbox: Sandbox) -> Episode:
    """Let the model work on a ticket until a program has finished, then take its answer."""
    messages = [
        Message("system", BRIEF + stubs(sandbox.tools)),
        Message("user", f"Ticket {ticket.id}\nFrom: {ticket.sender}\nSubject: {ticket.subject}\n\n{ticket.body}"),
    ]
    turns: list[Turn] = []

    def turn() -> Turn:
        reply = model.reply(messages)
        if isinstance(reply, Program):
            result = sandbox.run(reply.code)
            messages.extend([Message("assistant", reply.code), Message("user", result.observation())])
            turns.append(Turn(reply, result))
        else:
            turns.append(Turn(reply))
        return turns[-1]

    write_until_it_runs = Retrying(
        retry=retry_if_result(_failed),
        stop=stop_after_attempt(PROGRAMS),
        retry_error_callback=_last,
    )
    last = write_until_it_runs(turn)
    if isinstance(last.reply, Program):
        turns.append(Turn(model.reply(messages)))
    return Episode(ticket, sandbox.engine, tuple(turns))


def _failed(turn: Turn) -> bool:
    return turn.result is not None and not turn.result.ok


def _last(state: RetryCallState) -> Turn:
    """After too many failures the last turn stands; the model may still answer without a value."""
    turn: Turn = state.outcome.result()  # type: ignore[union-attr]
    return turn
