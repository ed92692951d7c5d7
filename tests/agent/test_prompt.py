"""What the model is told: the room as it is, in few words."""

from __future__ import annotations

import re
from dataclasses import dataclass

from codeact import Agent, Limits, Sandbox, action, stubs, tool
from codeact.catalogue import FULL
from codeact.testing.models import Program, ScriptedModel
from tests.agent.conftest import get_charges


@dataclass
class Charge:
    id: str
    amount: int


def many(number: int) -> list[object]:
    def made(place: int) -> object:
        def read(customer_id: str, since: int = 0) -> list[Charge]:
            """The charges of a customer, oldest first.

            Those that were cancelled are among them, with an amount of zero. Amounts are in cents, without tax.
            """
            return [Charge(customer_id, since)]

        return tool(name=f"get_charges_{place}")(read)

    return [made(place) for place in range(number)]


def prompt(sandbox: Sandbox, *, has_tools: bool = True, instructions: str = "") -> str:
    return Agent(ScriptedModel([], has_tools=has_tools), sandbox, instructions=instructions).system


def test_it_is_what_the_model_gets(fast) -> None:
    model = ScriptedModel([Program("1"), "ok"])
    agent = Agent(model, fast)
    agent.run("?")
    assert {request.system for request in model.requests} == {agent.system}


def test_it_is_short(sandbox) -> None:
    bare = len(prompt(sandbox)) - len(stubs(sandbox.tools))
    assert bare < 1600


def test_few_tools_are_told_whole(fast) -> None:
    assert stubs([get_charges]) in prompt(fast)


def test_many_tools_have_a_line_each(make) -> None:
    sandbox = make(many(60))
    text = prompt(sandbox)
    assert len(stubs(sandbox.tools)) > FULL > len(text)
    line = "tools.get_charges_7(customer_id: str, since: int = 0) -> list[Charge]  # The charges of a customer, oldest first."
    assert line in text.splitlines()
    assert "cancelled" not in text
    assert 'tools.describe("name")' in text
    told = sandbox.run("help(tools.get_charges_7)").observation()
    assert "Those that were cancelled are among them" in told
    assert "class Charge" in told


def test_without_tools_it_says_nothing_of_them(make) -> None:
    assert "`tools`" not in prompt(make())


def test_limits_are_those_of_the_sandbox(engine) -> None:
    sandbox = Sandbox(engine=engine, limits=Limits(timeout=1.5, memory=64 * 2**20, calls=7, shown=100))
    text = prompt(sandbox)
    assert "1.5 s, 64 MiB, 7 tool calls" in text
    assert "up to 100 characters" in text


def test_a_model_without_tools_is_told_to_fence_its_programs(fast) -> None:
    assert "run_python" in prompt(fast)
    assert "```python" not in prompt(fast)
    text = prompt(fast, has_tools=False)
    assert "run_python" not in text
    (example,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert fast.run(example).ok


def test_the_host_has_the_first_word(fast) -> None:
    assert prompt(fast, instructions="\nYou work at a support desk.\n").startswith(
        "You work at a support desk.\n\nTo find"
    )


@action
def send_reply(ticket: str, text: str) -> None:
    """Answer a ticket.

    The text is sent as it is.
    """


def test_actions_are_told_too(engine) -> None:
    text = prompt(Sandbox([get_charges], actions=[send_reply], engine=engine))
    assert stubs([get_charges], [send_reply]) in text
    assert "This is in `tools` and `actions`:" in text
    assert "proposals are decided outside, later" in text
    alone = prompt(Sandbox(actions=[send_reply], engine=engine))
    assert "This is in `actions`:" in alone
    assert "from `tools`" not in alone


def test_many_tools_leave_actions_a_line(engine) -> None:
    text = prompt(Sandbox(many(60), actions=[send_reply], engine=engine))
    assert "actions.send_reply(ticket: str, text: str) -> Proposed  # Answer a ticket." in text.splitlines()
