"""What programs propose leaves with an answer, once, and not without one."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable

import pytest
from annotated_types import Le

from codeact import Agent, Budget, Sandbox, action
from codeact.messages import Reply
from codeact.outbox import Outbox
from codeact.outbox.rules import Allow
from codeact.testing.models import Program, ScriptedModel

DONE: list[tuple[str, int]] = []


@action
def refund(charge: str, amount: int) -> str:
    """Give money back."""
    DONE.append((charge, amount))
    return "ok"


@pytest.fixture(autouse=True)
def _nothing_done() -> None:
    DONE.clear()


@pytest.fixture
def room(engine: str) -> Sandbox:
    return Sandbox(actions=[refund], engine=engine)


@pytest.fixture
def outbox() -> Iterable[Outbox]:
    with Outbox(":memory:", actions=[refund], rules=[Allow("refund", where={"amount": Le(50)})]) as outbox:
        yield outbox


FIRST = Program("actions.refund('ch_1', 20)\nactions.refund('ch_2', 70)")
AGAIN = Program("actions.refund('ch_1', 20)\nactions.refund('ch_3', 10)")
FAILS = Program("actions.refund('ch_4', 1)\n1 / 0")
ANSWER = "I have proposed the refunds."


def named(proposals: Iterable[object]) -> list[str]:
    return [str(proposal.arguments["charge"]) for proposal in proposals]


def test_an_answer_submits_what_was_proposed(room, outbox) -> None:
    result = Agent(ScriptedModel([FIRST, AGAIN, FAILS, ANSWER]), room, outbox=outbox).run("?", id="T-1")
    assert result.answer == ANSWER
    assert named(result.proposals) == ["ch_1", "ch_2", "ch_3"]
    assert [(entry.task, entry.state) for entry in result.entries] == [
        ("T-1", "approved"),
        ("T-1", "proposed"),
        ("T-1", "approved"),
    ]
    assert outbox.entries() == list(result.entries)
    first, second, _ = result.results
    assert [entry.run for entry in result.entries] == [first.run, first.run, second.run]
    assert DONE == []
    outbox.perform()
    assert DONE == [("ch_1", 20), ("ch_3", 10)]


def test_what_comes_back_is_data(room, outbox) -> None:
    result = Agent(ScriptedModel([FIRST, FAILS, ANSWER]), room, outbox=outbox).run("?", id="T-1")
    told = json.loads(json.dumps(result.to_dict()))
    assert (told["id"], told["ok"], told["stop"], told["answer"]) == ("T-1", True, "answered", ANSWER)
    assert [message["kind"] for message in told["messages"]] == [
        "said",
        "reply",
        "observed",
        "reply",
        "observed",
        "reply",
    ]
    assert told["messages"][1]["programs"][0]["code"] == FIRST.code
    assert [each["ok"] for each in told["results"]] == [True, False]
    assert [each["arguments"]["charge"] for each in told["proposals"]] == ["ch_1", "ch_2"]
    assert [each["state"] for each in told["entries"]] == ["approved", "proposed"]


def test_the_same_task_again_makes_no_second_entry(room, outbox) -> None:
    agent = Agent(ScriptedModel([FIRST, ANSWER, AGAIN, ANSWER]), room, outbox=outbox)
    first = agent.run("?", id="T-1")
    outbox.perform()
    again = agent.run("?", id="T-1")
    outbox.perform()
    assert again.entries[0].id == first.entries[0].id
    assert again.entries[0].state == "done"
    assert DONE == [("ch_1", 20), ("ch_3", 10)]


def test_another_task_makes_entries_of_its_own(room, outbox) -> None:
    agent = Agent(ScriptedModel([FIRST, ANSWER] * 2), room, outbox=outbox)
    assert agent.run("?").entries[0].id != agent.run("?").entries[0].id


@pytest.mark.parametrize(
    ("script", "budget", "stop"),
    [
        ([FIRST, Reply("No.", ending="refused")], {}, "refused"),
        ([FIRST, AGAIN], {"replies": 2}, "replies"),
        ([FIRST, Program("a"), Program("b")], {"failures": 2}, "failures"),
    ],
)
def test_whoever_gives_up_submits_nothing(room, outbox, script, budget, stop) -> None:
    result = Agent(ScriptedModel(script), room, outbox=outbox, budget=Budget(**budget)).run("?")
    assert result.stop == stop
    assert named(result.proposals)[:2] == ["ch_1", "ch_2"]
    assert (result.entries, outbox.entries()) == ((), [])


def test_without_an_outbox_they_are_the_hosts(room) -> None:
    result = Agent(ScriptedModel([FIRST, ANSWER]), room).run("?")
    assert (named(result.proposals), result.entries) == (["ch_1", "ch_2"], ())


def test_an_approver_may_be_async(room) -> None:
    async def approve(entry) -> bool:
        await asyncio.sleep(0)
        return entry.arguments["charge"] == "ch_2"

    with Outbox(":memory:", actions=[refund], approve=approve) as outbox:
        result = Agent(ScriptedModel([FIRST, ANSWER]), room, outbox=outbox).run("?")
    assert [entry.state for entry in result.entries] == ["refused", "approved"]


def test_what_is_no_outbox_is_named(room) -> None:
    with pytest.raises(TypeError, match="outbox=3"):
        Agent(ScriptedModel([]), room, outbox=3)
