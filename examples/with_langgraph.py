"""LangGraph CodeAct with its programs in a sandbox.

Needs `pip install 'codeact[langgraph]'`. The model here plays a script, so that it runs offline; put a chat model of your
provider in its place.
"""

from __future__ import annotations

from decimal import Decimal

from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langgraph.checkpoint.memory import MemorySaver
from langgraph_codeact import create_codeact

from codeact import Allow, Outbox, Sandbox, action, tool
from codeact.integrations import Conversations, Interpreter
from codeact.integrations.langgraph import LAST, eval_fn, instructions

CHARGES = {"c1": [("ch_1", Decimal("12.00")), ("ch_2", Decimal("19.00")), ("ch_3", Decimal("12.00"))]}


@tool
def get_charges(customer: str) -> list[tuple[str, Decimal]]:
    """The charges of a customer, oldest first: id and amount."""
    return CHARGES[customer]


@action
def refund(charge: str, amount: Decimal) -> str:
    """Give a charge back."""
    return f"re_{charge}: {amount}"


SCRIPT = [
    """\
```python
seen = {}
for id, amount in tools.get_charges("c1"):
    seen.setdefault(amount, []).append(id)
twice = {amount: ids for amount, ids in seen.items() if len(ids) > 1}
twice
```""",
    """\
```python
for amount, ids in twice.items():
    actions.refund(ids[-1], amount)
```""",
    "You were charged twice; I have proposed that ch_3 is given back.",
]


def main() -> None:
    """Answer one ticket."""
    sandbox = Sandbox([get_charges], actions=[refund])
    outbox = Outbox(":memory:", actions=[refund], rules=[Allow("refund", count=1)])
    model = GenericFakeChatModel(messages=iter(map(AIMessage, SCRIPT)))
    with Conversations(sandbox, lambda thread: Interpreter(sandbox, outbox=outbox, task=thread)) as conversations:
        graph = create_codeact(
            model,
            [],  # what programs may call is the sandbox's
            eval_fn(conversations),
            prompt=instructions(conversations, "You work at a support desk."),
        ).compile(checkpointer=MemorySaver())
        done = graph.invoke(
            {"messages": [{"role": "user", "content": "Was I charged twice? I am c1."}]},
            {"configurable": {"thread_id": "T-1"}},
        )
        for message in done["messages"]:
            print(f"{message.type}: {message.content}")
        print("calls of the last program:", [call["name"] for call in done["context"][LAST]["calls"]])
        for entry in outbox.perform():
            print(f"{entry.state}: {entry}")


if __name__ == "__main__":
    main()
