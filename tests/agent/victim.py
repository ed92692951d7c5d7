"""A task that is killed at every one of its steps: `python -m tests.agent.victim DIRECTORY ENGINE`.

There is a step before everything that outlives the process.

Each step has a process of its own, forked from one that has imported all there is to import and started no thread, and a
directory of its own, named by the number of the step. The last one is of the process that nobody killed.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path

from codeact import Agent, Journal, Sandbox, action, tool
from codeact.agent import AgentResult
from codeact.journal import Conversation, ConversationEntry
from codeact.messages import Reply, Request
from codeact.outbox import Outbox
from codeact.result import Result
from codeact.testing.models import FunctionModel, Program

TASK, ID = "Refund what c1 was charged twice.", "T-1"

Step = Callable[[], None]


def note(directory: Path, name: str, what: object) -> None:
    with (directory / name).open("a") as file:
        file.write(f"{what}\n")


def noted(directory: Path, name: str) -> list[str]:
    path = directory / name
    return path.read_text().splitlines() if path.exists() else []


class Stepping:
    """An outbox whose submission is two steps."""

    def __init__(self, outbox: Outbox, step: Step) -> None:
        self._outbox = outbox
        self._step = step

    async def submit_async(self, proposals: Result, task: str | None = None) -> Sequence[object]:
        self._step()
        entries = await self._outbox.submit_async(proposals, task)
        self._step()
        return entries


def open_outbox(directory: Path) -> Outbox:
    @action
    def refund(charge: str, amount: int) -> None:
        """Give money back."""
        note(directory, "refunds", f"{charge} {amount}")

    return Outbox(directory / "outbox.sqlite", actions=[refund], approve=lambda _entry: True)


def work(directory: Path, engine: str, step: Step) -> AgentResult:
    """Work on the task, or go on with it."""

    @tool
    def get_charges(customer_id: str) -> list[int]:
        """The amounts that a customer was charged."""
        step()
        note(directory, "calls", customer_id)
        step()
        return [1200, 1900, 1200]

    @action
    def refund(charge: str, amount: int) -> None:
        """Give money back."""

    def reply(request: Request) -> str | Program | list[Program]:
        number = sum(isinstance(message, Reply) for message in request.messages)
        step()
        note(directory, "asked", number)
        script = [
            Program("charges = tools.get_charges('c1')\ncharges", "Let me see."),
            Program("charges.twice"),
            Reply(""),
            [Program("actions.refund('ch_3', charges[2])"), Program("n = len(charges)")],
            Program("charges = [*charges, n]\nsum(charges)"),
            f"It is proposed; {request.messages[-1].text}",
        ]
        return script[number]

    journal = Journal(directory / "journal.sqlite")
    sandbox = Sandbox([get_charges], actions=[refund], engine=engine, journal=journal)
    with journal, open_outbox(directory) as outbox:
        agent = Agent(FunctionModel(reply), sandbox, outbox=Stepping(outbox, step))
        return agent.run(TASK, id=ID)


def killed_at(target: int) -> Step:
    numbers = count(1)

    def step() -> None:
        if next(numbers) == target:
            os.kill(os.getpid(), signal.SIGKILL)

    return step


def be_killed(place: Path, engine: str, target: int) -> None:
    """Work on the task until the step of that number."""
    step = killed_at(target)
    append = Conversation.append

    def stepping(self: Conversation, kind: str, data: object) -> ConversationEntry:
        step()
        return append(self, kind, data)

    Conversation.append = stepping
    work(place, engine, step)


def main(directory: Path, engine: str) -> None:
    for number in count(1):
        place = directory / str(number)
        place.mkdir()
        child = os.fork()
        if child == 0:
            status = 1
            try:
                be_killed(place, engine, number)
                status = 0
            finally:
                os._exit(status)
        _, status = os.waitpid(child, 0)
        if os.WIFEXITED(status):
            sys.exit(os.WEXITSTATUS(status))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
