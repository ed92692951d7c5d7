"""An agent of the Microsoft Agent Framework whose model writes programs.

Needs `pip install 'codeact[agent-framework]'`. The chat client here plays a script, so that it runs offline; put one of your
provider in its place.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Mapping, Sequence
from decimal import Decimal
from typing import Any

from agent_framework import Agent, BaseChatClient, ChatResponse, Content, FunctionInvocationLayer, Message

from codeact import Allow, Outbox, Sandbox, action, tool
from codeact.integrations import Conversations, Interpreter
from codeact.integrations.agent_framework import CodeactProvider

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


class Scripted(FunctionInvocationLayer[Any], BaseChatClient[Any]):
    """Asks for two programs, and answers."""

    def _inner_get_response(
        self, *, messages: Sequence[Message], stream: bool, options: Mapping[str, Any], **_: Any
    ) -> Awaitable[ChatResponse[Any]]:
        del stream, options
        return self._reply(sum(message.role == "tool" for message in messages))

    async def _reply(self, done: int) -> ChatResponse[Any]:
        if done < len(PROGRAMS):
            call = Content.from_function_call(f"call_{done}", "run_python", arguments={"code": PROGRAMS[done]})
            return ChatResponse(messages=[Message("assistant", [call])])
        answer = "You were charged twice; I have proposed that ch_3 is given back."
        return ChatResponse(messages=[Message("assistant", [answer])])


async def main() -> None:
    """Answer one ticket."""
    sandbox = Sandbox([get_charges], actions=[refund])
    outbox = Outbox(":memory:", actions=[refund], rules=[Allow("refund", count=1)])
    with Conversations(sandbox, lambda session: Interpreter(sandbox, outbox=outbox, task=session)) as conversations:
        agent = Agent(Scripted(), "You work at a support desk.", context_providers=[CodeactProvider(conversations)])
        session = agent.create_session(session_id="T-1")
        done = await agent.run("Was I charged twice? I am c1.", session=session)
        for result in conversations.of("T-1").results:
            print(result.observation())
            print("  calls:", [call.name for call in result.calls])
        print(done.text)
        for entry in await outbox.perform_async():
            print(f"{entry.state}: {entry}")


if __name__ == "__main__":
    asyncio.run(main())
