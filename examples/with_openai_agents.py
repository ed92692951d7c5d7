"""An agent of the OpenAI Agents SDK whose model writes programs.

Needs `pip install 'codeact[openai-agents]'`. The model here plays a script, so that it runs offline; leave `model=` out, and
`tracing_disabled`, to ask the provider's.
"""

from __future__ import annotations

import asyncio
from decimal import Decimal

from agents import Agent, RunConfig, Runner, ToolCallOutputItem
from agents.testing import ScriptedModel, assistant_message, function_call

from codeact import Allow, Outbox, Sandbox, action, tool
from codeact.integrations import Conversations, Interpreter
from codeact.integrations.openai_agents import RESULT, run_python

CHARGES = {"c1": [("ch_1", Decimal("12.00")), ("ch_2", Decimal("19.00")), ("ch_3", Decimal("12.00"))]}


@tool
def get_charges(customer: str) -> list[tuple[str, Decimal]]:
    """The charges of a customer, oldest first: id and amount."""
    return CHARGES[customer]


@action
def refund(charge: str, amount: Decimal) -> str:
    """Give a charge back."""
    return f"re_{charge}: {amount}"


FINDS = """\
seen = {}
for id, amount in tools.get_charges("c1"):
    seen.setdefault(amount, []).append(id)
twice = {amount: ids for amount, ids in seen.items() if len(ids) > 1}
twice"""
PROPOSES = """\
for amount, ids in twice.items():
    actions.refund(ids[-1], amount)"""

MODEL = ScriptedModel(
    [
        [function_call("run_python", {"code": FINDS}, call_id="call_1")],
        [function_call("run_python", {"code": PROPOSES}, call_id="call_2")],
        [assistant_message("You were charged twice; I have proposed that ch_3 is given back.")],
    ]
)


async def main() -> None:
    """Answer one ticket."""
    sandbox = Sandbox([get_charges], actions=[refund])
    outbox = Outbox(":memory:", actions=[refund], rules=[Allow("refund", count=1)])
    with Conversations(sandbox, lambda group: Interpreter(sandbox, outbox=outbox, task=group)) as conversations:
        agent = Agent(
            "Support desk", instructions=conversations.instructions, tools=[run_python(conversations)], model=MODEL
        )
        config = RunConfig(group_id="T-1", tracing_disabled=True)
        done = await Runner.run(agent, "Was I charged twice? I am c1.", run_config=config)
        for item in done.new_items:
            if isinstance(item, ToolCallOutputItem) and item.custom_data is not None:
                print(item.output)
                print("  calls:", [call["name"] for call in item.custom_data[RESULT]["calls"]])
        print(done.final_output)
        for entry in await outbox.perform_async():
            print(f"{entry.state}: {entry}")


if __name__ == "__main__":
    asyncio.run(main())
