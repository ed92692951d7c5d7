"""A smolagents `CodeAgent` whose programs run in a sandbox.

Needs `pip install 'codeact[smolagents]'`. The model here plays a script, so that it runs offline; put one of smolagents' own
in its place.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from smolagents import ActionStep, CodeAgent, Model, tool
from smolagents.models import ChatMessage, MessageRole

from codeact import Allow, Outbox, Sandbox
from codeact.integrations import Interpreter
from codeact.integrations.smolagents import INSTRUCTIONS, SandboxExecutor

CHARGES = {"c1": [["ch_1", 1200], ["ch_2", 1900], ["ch_3", 1200]]}


@tool  # type: ignore[untyped-decorator]  # smolagents has no types
def get_charges(customer: str) -> list[Any]:
    """The charges of a customer, oldest first: id and cents.

    Args:
        customer: the customer's id
    """
    return CHARGES[customer]


@tool  # type: ignore[untyped-decorator]  # smolagents has no types
def refund(charge: str) -> str:
    """Give a charge back.

    Args:
        charge: the id of the charge
    """
    return f"re_{charge}"


PROGRAMS = [
    """\
seen = {}
for id, cents in get_charges(customer):
    seen.setdefault(cents, []).append(id)
twice = {cents: ids for cents, ids in seen.items() if len(ids) > 1}
print(twice)""",
    """\
for ids in twice.values():
    refund(ids[-1])
final_answer("You were charged twice; I have proposed that ch_3 is given back.")""",
]


class Scripted(Model):  # type: ignore[misc]  # smolagents has no types
    """Says one program after the other."""

    def __init__(self) -> None:
        super().__init__(model_id="scripted")
        self._programs: Iterator[str] = iter(PROGRAMS)

    def generate(self, *_: Any, **__: Any) -> ChatMessage:
        """The next program."""
        text = f"Thought: I look.\n<code>\n{next(self._programs)}\n</code>"
        return ChatMessage(role=MessageRole.ASSISTANT, content=text)


def main() -> None:
    """Answer one ticket."""
    outboxes: list[Outbox] = []

    def conversation(tools: list[Any], actions: list[Any]) -> Interpreter:
        outboxes.append(Outbox(":memory:", actions=actions, rules=[Allow("refund", count=1)]))
        return Interpreter(Sandbox(tools, actions=actions), outbox=outboxes[0], task="T-1")

    executor = SandboxExecutor(conversation, reads=["get_charges"])
    agent = CodeAgent(
        [get_charges, refund], Scripted(), executor=executor, instructions=INSTRUCTIONS, verbosity_level=0
    )
    answer = agent.run("Was I charged twice?", additional_args={"customer": "c1"})
    for step in agent.memory.steps:
        if isinstance(step, ActionStep):
            print(step.error or step.observations)
    print(answer)
    for result in executor.interpreter.results:
        print("  calls:", [call.name for call in result.calls])
    for entry in outboxes[0].perform():
        print(f"{entry.state}: {entry}")


if __name__ == "__main__":
    main()
