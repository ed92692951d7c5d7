"""An agent of LangGraph whose model writes programs, with the loop and the messages of LangChain.

Needs `pip install 'codeact[langchain]' langgraph`. The model here plays a script, so that it runs offline; put a chat model
of your provider in its place.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import MemorySaver
from langgraph.prebuilt import create_react_agent

from codeact import Allow, Outbox, Sandbox, action, tool
from codeact.integrations import Conversations, Interpreter
from codeact.integrations.langchain import run_python

CHARGES = {"c1": [("ch_1", Decimal("12.00")), ("ch_2", Decimal("19.00")), ("ch_3", Decimal("12.00"))]}


@tool
def get_charges(customer: str) -> list[tuple[str, Decimal]]:
    """The charges of a customer, oldest first: id and amount."""
    return CHARGES[customer]


@action
def refund(charge: str, amount: Decimal) -> str:
    """Give a charge back."""
    return f"re_{charge}: {amount}"


PROGRAMS = [
    """\
seen = {}
for id, amount in tools.get_charges("c1"):
    seen.setdefault(amount, []).append(id)
twice = {amount: ids for amount, ids in seen.items() if len(ids) > 1}
twice""",
    """\
for amount, ids in twice.items():
    actions.refund(ids[-1], amount)""",
]


class Scripted(BaseChatModel):
    """Asks for two programs, and answers."""

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, *_: Any, **__: Any) -> Any:
        """Takes the tools and plays its script all the same."""
        return self

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        done = sum(isinstance(message, ToolMessage) for message in messages)
        if done < len(PROGRAMS):
            call = {"name": "run_python", "args": {"code": PROGRAMS[done]}, "id": f"call_{done}"}
            message = AIMessage("", tool_calls=[call])
        else:
            message = AIMessage("You were charged twice; I have proposed that ch_3 is given back.")
        return ChatResult(generations=[ChatGeneration(message=message)])


def main() -> None:
    """Answer one ticket."""
    sandbox = Sandbox([get_charges], actions=[refund])
    outbox = Outbox(":memory:", actions=[refund], rules=[Allow("refund", count=1)])
    with Conversations(sandbox, lambda thread: Interpreter(sandbox, outbox=outbox, task=thread)) as conversations:
        agent = create_react_agent(
            Scripted(),
            [run_python(conversations)],
            prompt=conversations.instructions,
            checkpointer=MemorySaver(),
        )
        thread: RunnableConfig = {"configurable": {"thread_id": "T-1"}}
        done = agent.invoke({"messages": [("user", "Was I charged twice? I am c1.")]}, thread)
        for message in done["messages"]:
            print(f"{message.type}: {message.content}")
            if isinstance(message, ToolMessage):
                print("  calls:", [call["name"] for call in message.artifact["calls"]])
        for entry in outbox.perform():
            print(f"{entry.state}: {entry}")


if __name__ == "__main__":
    main()
