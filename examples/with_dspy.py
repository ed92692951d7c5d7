"""`dspy.RLM`, whose programs run in a sandbox.

Needs `pip install 'codeact[dspy]'`. The model here plays a script, so that it runs offline; configure an LM of DSPy's in its
place.
"""

from __future__ import annotations

from typing import Any

import dspy
from dspy.utils.dummies import DummyLM

from codeact import Allow, Outbox, Sandbox
from codeact.integrations import Interpreter
from codeact.integrations.dspy import LM_CALLS, factory

CHARGES = {"c1": [("ch_1", 1200), ("ch_2", 1900), ("ch_3", 1200)]}


def get_charges(customer: str) -> list[tuple[str, int]]:
    """The charges of a customer, oldest first: id and cents."""
    return CHARGES[customer]


def refund(charge: str) -> str:
    """Give a charge back."""
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
    refund(ids[-1])""",
    """\
SUBMIT("You were charged twice; I have proposed that ch_3 is given back.")""",
]


def main() -> None:
    """Answer one ticket."""
    made: list[tuple[Interpreter, Outbox]] = []

    def conversation(tools: list[Any], actions: list[Any]) -> Interpreter:
        outbox = Outbox(":memory:", actions=actions, rules=[Allow("refund", count=1)])
        made.append((Interpreter(Sandbox(tools, actions=actions), outbox=outbox, task="T-1"), outbox))
        return made[-1][0]

    interpreters = factory(conversation, reads=[*LM_CALLS, "get_charges"])
    rlm = dspy.RLM("question, customer -> answer", tools=[get_charges, refund], interpreter_factory=interpreters)
    lm = DummyLM([{"reasoning": "I look.", "code": code} for code in PROGRAMS])
    with dspy.context(lm=lm):
        done = rlm(question="Was I charged twice?", customer="c1")
    for step in done.trajectory:
        print(step["output"])
    print(done.answer)
    [(interpreter, outbox)] = made
    for result in interpreter.results:
        print("  calls:", [call.name for call in result.calls])
    for entry in outbox.perform():
        print(f"{entry.state}: {entry}")


if __name__ == "__main__":
    main()
