"""An agent, a sandbox and a provider, from the task to the answer."""

from __future__ import annotations

import json

from codeact import Agent, tool
from codeact.agent import transport
from tests.models.server import Answer
from tests.models.wires import Call, OpenAIWire, call


@tool
def get_charges(customer_id: str) -> list[int]:
    """The amounts that a customer was charged, in cents."""
    return [1200, 1900] if customer_id == "c1" else []


async def at_once(_seconds: float) -> None:
    """A pause that takes no time."""


def test_an_agent_works_through_all_that_a_provider_may_do(wire, server, make) -> None:
    broken = wire.answer("This will", whole=False)
    server.say(
        Answer((b'{"error": {"type": "rate_limit_error", "message": "Slow down."}}',), 429, {"retry-after": "1"}),
        wire.answer("Let me see.", [call("a", "charges = tools.get_charges('c1')"), call("b", "sum(charge)")]),
        Answer(broken.body[:-1], headers=broken.headers, whole=False),
        wire.answer("", [Call("b", '{"source": "sum(charges)"}')]),
        wire.answer("", [call("b", "sum(charges)")]),
        wire.answer("They were charged 31.00."),
    )
    agent = Agent(wire.model(server), make([get_charges]), transport=transport(3, sleep=at_once))
    result = agent.run("How much was c1 charged? 🙂")
    assert server.refused == []
    assert (result.stop, result.answer) == ("answered", "They were charged 31.00.")
    assert [ran.value for ran in result.results if ran.ok] == [None, 3100]
    assert result.tokens.total == 4 * 16
    last = json.dumps(server.seen[-1].body)
    assert "NameError" in last
    assert "`code` is missing" in last
    assert len(server.seen) == 6


def test_an_agent_without_tools_reads_programs_in_the_text(server, make) -> None:
    wire = OpenAIWire(True)
    server.say(wire.answer("Let me see.\n\n```python\nsum(tools.get_charges('c1'))\n```"), wire.answer("It was 31.00."))
    agent = Agent(wire.model(server, tools=False), make([get_charges]))
    result = agent.run("How much was c1 charged?")
    assert server.refused == []
    assert (result.answer, [ran.value for ran in result.results]) == ("It was 31.00.", [3100])
    roles = [message["role"] for message in server.seen[-1].body["messages"]]
    assert roles == ["system", "user", "assistant", "user"]
    assert "3100" in server.seen[-1].body["messages"][-1]["content"]
