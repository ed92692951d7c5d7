"""An agent of Pydantic AI whose model writes programs, which call the tools of a toolset.

Needs `pip install 'codeact[pydantic-ai]'`. The model here plays a script, so that it runs offline; give the agent one of
Pydantic AI's own.
"""

from __future__ import annotations

import asyncio
from typing import Any

from pydantic_ai import Agent, FunctionToolset, RunContext
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from codeact import Allow, Outbox, Sandbox
from codeact.integrations import Interpreter
from codeact.integrations.pydantic_ai import ProgramToolset

Charges = dict[str, list[tuple[str, int]]]

support: FunctionToolset[Charges] = FunctionToolset()


@support.tool
def get_charges(ctx: RunContext[Charges], customer: str) -> list[tuple[str, int]]:
    """The charges of a customer, oldest first: id and cents."""
    return ctx.deps[customer]


@support.tool_plain
def refund(charge: str) -> str:
    """Give a charge back."""
    return f"re_{charge}"


PROGRAMS = [
    """\
seen = {}
for id, cents in await tools.get_charges("c1"):
    seen.setdefault(cents, []).append(id)
twice = {cents: ids for cents, ids in seen.items() if len(ids) > 1}
twice""",
    """\
for ids in twice.values():
    actions.refund(ids[-1])""",
]


def scripted(messages: list[ModelMessage], _: AgentInfo) -> ModelResponse:
    """Ask for one program after the other, and answer."""
    done = sum(isinstance(part, ToolReturnPart) for message in messages for part in message.parts)
    if done < len(PROGRAMS):
        return ModelResponse([ToolCallPart("run_python", {"code": PROGRAMS[done]})])
    return ModelResponse([TextPart("You were charged twice; I have proposed that ch_3 is given back.")])


async def main() -> None:
    """Answer one ticket."""
    outboxes: list[Outbox] = []

    def conversation(tools: list[Any], actions: list[Any]) -> Interpreter:
        outboxes.append(Outbox(":memory:", actions=actions, rules=[Allow("refund", count=1)]))
        return Interpreter(Sandbox(tools, actions=actions), outbox=outboxes[0], task="T-1")

    toolset = ProgramToolset(support, conversation, reads=["get_charges"])
    agent = Agent(FunctionModel(scripted), deps_type=Charges, toolsets=[toolset])
    charges = {"c1": [("ch_1", 1200), ("ch_2", 1900), ("ch_3", 1200)]}
    done = await agent.run("Was I charged twice? I am c1.", deps=charges)
    for message in done.all_messages():
        for part in message.parts:
            if isinstance(part, ToolReturnPart):
                print(part.content)
                print("  calls:", [call["name"] for call in part.metadata["calls"]])
    print(done.output)
    for entry in await outboxes[0].perform_async():
        print(f"{entry.state}: {entry}")


if __name__ == "__main__":
    asyncio.run(main())
