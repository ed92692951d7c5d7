"""What models do, and what the agent makes of it: why it stops, and what the model is told."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any

import pytest

from codeact import Agent, Budget, Sandbox
from codeact.messages import Asked, ModelError, Observed, Reply, Request, Said, Tokens
from codeact.portal import own_loop
from codeact.testing.models import FunctionModel, Program, ScriptedModel, Step
from tests.agent.conftest import get_charges
from tests.agent.talk import complaint


@dataclass(frozen=True)
class Case:
    """A model's behaviour.

    Attributes:
        name: what it does.
        script: the same, played.
        stop: why the task is over.
        told: what the messages of the host hold, one after the other, without the task.
        answer: what comes of it.
        budget: limits.
        has_tools: of the model.
    """

    name: str
    script: Sequence[Step]
    stop: str
    told: Sequence[str] = ()
    answer: str | None = None
    budget: dict[str, Any] = field(default_factory=dict)
    has_tools: bool = True


SUM = "sum(tools.get_charges('c1'))"
FENCED = f"```python\n{SUM}\n```"
BAD = "1 + None"
SHOWN = "Do it like this:\n```python\nfor x in y:\n    pass\n```"

CASES = [
    Case("answers at once", ["4300"], "answered", (), "4300"),
    Case("one program", [Program(SUM), "4300"], "answered", ("value: 4300",), "4300"),
    Case(
        "names survive",
        [Program("a = tools.get_charges('c1')"), Program("len(a)"), "3"],
        "answered",
        ("it bound a", "value: 3"),
        "3",
    ),
    Case("mends", [Program(BAD), Program("1 + 1"), "2"], "answered", ("failed: runtime", "value: 2"), "2"),
    Case(
        "several programs in one reply",
        [[Program("a = 1"), Program(BAD), Program("a + 1")], "2"],
        "answered",
        ("it bound a", "failed: runtime", "value: 2"),
        "2",
    ),
    Case("words beside a program", [Program("1", text="Let me see."), "1"], "answered", ("value: 1",), "1"),
    Case("refuses", [Reply("I will not.", ending="refused")], "refused"),
    Case(
        "refuses beside a program",
        [Reply("No.", (Asked("a", "1"),), "refused")],
        "refused",
        ("the task was over before",),
    ),
    Case("is cut off, then shorter", [Reply("It is lo", ending="length"), "ok"], "answered", ("cut off",), "ok"),
    Case("is empty, then not", [Reply(" \n"), "ok"], "answered", ("your message is empty",), "ok"),
    Case(
        "unreadable arguments",
        [Reply("", (Asked("a", None, 'the arguments are no JSON: write {"code": …}'),)), "ok"],
        "answered",
        ("not run: the arguments are no JSON",),
        "ok",
    ),
    Case(
        "unreadable because it was cut off",
        [Reply("", (Asked("a", None, "it was cut off"),), "length"), "ok"],
        "answered",
        ("not run: it was cut off",),
        "ok",
    ),
    Case(
        "readable although it was cut off",
        [Reply("", (Asked("a", "1"),), "length"), "ok"],
        "answered",
        ("value: 1",),
        "ok",
    ),
    Case("ends for another reason", [Reply("so", ending="other")], "answered", (), "so"),
    Case(
        "ids twice, and none",
        [Reply("", (Asked("a", "1"), Asked("a", "2"), Asked("", "3"))), Reply("", (Asked("a", "4"),)), "ok"],
        "answered",
        ("value: 1", "value: 2", "value: 3", "value: 4"),
        "ok",
    ),
    # --- fenced text
    Case("fenced", [f"Let me see:\n{FENCED}\nSo.", "ok"], "answered", ("value: 4300",), "ok", has_tools=False),
    Case(
        "two fenced", [f"{FENCED}\nand\n```py\n2\n```", "ok"], "answered", ("4300", "value: 2"), "ok", has_tools=False
    ),
    Case("a fence not closed", [f"```python\n{SUM}\n", "ok"], "answered", ("value: 4300",), "ok", has_tools=False),
    Case(
        "a fence cut off",
        [Reply("```python\nprint('a", ending="length"), "ok"],
        "answered",
        ("not run: it was cut off at the limit of tokens",),
        "ok",
        has_tools=False,
    ),
    Case(
        "another language in fences",
        ["```json\n{}\n```"],
        "answered",
        (),
        "```json\n{}\n```",
        has_tools=False,
    ),
    Case("nameless fence that uses tools", [f"```\n{SUM}\n```", "ok"], "answered", ("4300",), "ok", has_tools=False),
    Case("nameless fence that does not", ["```\nabc\n```"], "answered", (), "```\nabc\n```", has_tools=False),
    Case("code in text, with tools", [f"Let me see:\n{FENCED}", "ok"], "answered", ("value: 4300",), "ok"),
    Case("an answer that shows code", [SHOWN], "answered", (), SHOWN),
    Case("an answer that goes on after code", [f"{FENCED}\nThat is how."], "answered", (), f"{FENCED}\nThat is how."),
    Case("code in text beside a call", [Program("1", text=FENCED), "ok"], "answered", ("value: 1",), "ok"),
    # --- budgets, at their edges
    Case(
        "programs: as many as it may",
        [Program("1"), Program("2"), "ok"],
        "answered",
        ("1", "last program"),
        "ok",
        {"programs": 2},
    ),
    Case(
        "programs: one more",
        [Program("1"), Program("2"), Program("3")],
        "programs",
        ("value: 1", "that was the last program of this task (limit programs=2): answer now", "the task was over"),
        budget={"programs": 2},
    ),
    Case(
        "programs: too many in one reply",
        [[Program("1"), Program("2"), Program("3")]],
        "programs",
        ("value: 1", "value: 2", "the task was over"),
        budget={"programs": 2},
    ),
    Case(
        "failures in a row",
        [Program("a1"), Program("a2")],
        "failures",
        ("NameError", "NameError"),
        budget={"failures": 2},
    ),
    Case(
        "failures that are not in a row",
        [Program("a1"), Program("1"), Program("a2"), "ok"],
        "answered",
        ("NameError", "value: 1", "NameError"),
        "ok",
        {"failures": 2},
    ),
    Case(
        "failures of other kinds",
        [Reply(""), Reply("x", ending="length")],
        "failures",
        ("empty", "cut"),
        budget={"failures": 2},
    ),
    Case(
        "repeats",
        [Program(BAD), Program("# again\n1 + None  \n\n"), Program(BAD)],
        "repeats",
        ("TypeError", "this is the same program with the same error as before", "this is the same program"),
    ),
    Case(
        "repeats, with others between",
        [Program(BAD), Program("1"), Program(BAD), "ok"],
        "answered",
        ("TypeError", "value: 1", "this is the same program"),
        "ok",
    ),
    Case(
        "the same program with another error",
        [Program("n = globals().get('n', 0) + 1\n{}[n]")] * 3 + ["ok"],
        "answered",
        ("KeyError: 1", "KeyError: 2", "KeyError: 3"),
        "ok",
    ),
    Case(
        "the same program that finishes",
        [Program("1"), Program("1"), Program("1"), "ok"],
        "answered",
        ("1", "1", "1"),
        "ok",
    ),
    Case(
        "repeats of what cannot be read",
        [Reply("", (Asked("", None, "no JSON"),))] * 2,
        "repeats",
        ("no JSON", "the same program"),
        budget={"repeats": 2},
    ),
    Case(
        "replies: the last is an answer",
        [Program("1"), "ok"],
        "answered",
        ("your next message is the last one",),
        "ok",
        {"replies": 2},
    ),
    Case(
        "replies",
        [Program("1"), Program("2")],
        "replies",
        ("your next message is the last one", "2"),
        budget={"replies": 2},
    ),
    Case("the only reply", [Program("1")], "replies", ("value: 1",), budget={"replies": 1}),
    # --- the model
    Case("does not pass", [ModelError("no such model", passing=False)], "model"),
]


@pytest.mark.parametrize("case", CASES, ids=attrgetter("name"))
def test_what_comes_of_it(sandbox: Sandbox, case: Case) -> None:
    model = ScriptedModel(case.script, has_tools=case.has_tools)
    result = Agent(model, sandbox, budget=Budget(**case.budget)).run("How much was c1 charged?")
    heard = [message for message in result.messages[1:] if isinstance(message, (Said, Observed))]
    assert (result.stop, result.answer) == (case.stop, case.answer), result.why
    assert result.ok == (case.stop == "answered")
    assert len(heard) == len(case.told), heard
    for message, part in zip(heard, case.told, strict=True):
        assert part in message.text
    assert model.left == 0
    assert complaint(result.messages) is None
    assert all(complaint(request.messages, over=False) is None for request in model.requests)
    assert result.messages[0] == Said("How much was c1 charged?")


@pytest.mark.parametrize(
    ("script", "budget", "why"),
    [
        (["4300"], {}, "the model answered"),
        ([Reply("I will not.", ending="refused")], {}, "I will not."),
        ([Reply("", ending="refused")], {}, "the model would not answer"),
        ([Program("1"), Program("2")], {"programs": 1}, "1 program was asked for, and none is left (limit programs=1)"),
        (
            [Reply("", tuple(Asked(str(n), None, "no JSON") for n in range(20_000)))],
            {"programs": 7, "repeats": 100},
            "7 programs were asked for, and none is left (limit programs=7)",
        ),
        ([Program("a")], {"failures": 1}, "1 turn in a row failed (limit failures=1)"),
        ([Program("a")] * 2, {"repeats": 2}, "the same program failed in the same way 2 times (limit repeats=2)"),
        ([Program("1")], {"replies": 1}, "1 reply brought no answer (limit replies=1)"),
        ([Program("1")], {"tokens": 12}, "12 tokens are used up (limit tokens=12)"),
        ([ModelError("401: bad key", passing=False)], {}, "scripted gave no reply: 401: bad key"),
    ],
)
def test_every_stop_says_why_with_its_numbers(
    fast: Sandbox, script: list[Step], budget: dict[str, Any], why: str
) -> None:
    result = Agent(ScriptedModel(script, tokens=Tokens(10, 2)), fast, budget=Budget(**budget)).run("?")
    assert result.why == why


def test_results_and_tokens_are_there_when_it_gives_up(fast: Sandbox) -> None:
    model = ScriptedModel([Program(SUM), Program(BAD)], tokens=Tokens(10, 2))
    result = Agent(model, fast, budget=Budget(replies=2)).run("?", id="t-1")
    assert result.id == "t-1"
    assert result.stop == "replies"
    assert [each.value for each in result.results] == [4300, None]
    assert result.tokens == Tokens(20, 4)
    assert result.seconds > 0
    assert len(result.messages) == 5


def test_the_reply_that_goes_beyond_the_tokens_still_counts(fast: Sandbox) -> None:
    result = Agent(ScriptedModel(["ok"], tokens=Tokens(10, 2)), fast, budget=Budget(tokens=1)).run("?")
    assert result.answer == "ok"


def test_a_world_that_is_lost_is_made_again(make) -> None:
    """The tool is not called again, and what programs had made of its answer is there."""
    script = [
        Program("a = tools.get_charges('c1')\nopen('a.txt', 'a').write('!')"),
        Program("a.append(1)\nwhile True: pass"),
        Program("[len(a), open('a.txt').read()]"),
        "ok",
    ]
    result = Agent(ScriptedModel(script), make([get_charges], timeout=0.5)).run("?", files={"a.txt": "here"})
    lost = "world is lost" in result.messages[4].text
    assert result.results[-1].value == [3 if lost else 4, "here!"]
    assert len(result.results[0].calls) == 1
    assert ("note: it is restored to what it was before this program" in result.messages[4].text) == lost


def test_files_are_there_when_the_first_program_costs_the_world(make) -> None:
    model = ScriptedModel([Program("while True: pass"), Program("open('a.txt').read()"), "ok"])
    result = Agent(model, make(timeout=0.5)).run("?", files={"a.txt": "here"})
    assert result.results[-1].value == "here"
    assert "note: it is restored" not in result.messages[2].text


def test_a_world_that_cannot_be_made_again_is_not_tried_twice(make, monkeypatch, caplog) -> None:
    monkeypatch.setattr("codeact.tape.LONGEST", 100)
    often, loop = Program("import time\na = [time.time() for _ in range(200)]"), Program("while True: pass")
    script = [often, loop, Program("1"), Program("while 1: pass"), "ok"]
    result = Agent(ScriptedModel(script), make(timeout=0.5)).run("?")
    lost = "world is lost" in result.messages[4].text
    assert not any("note: it is restored" in message.text for message in result.messages)
    assert len([record for record in caplog.records if "empty world" in record.message]) == lost


def test_a_model_that_is_broken_is_the_hosts_mistake(fast: Sandbox) -> None:
    with pytest.raises(KeyError):
        Agent(ScriptedModel([KeyError("x")]), fast).run("?")
    with pytest.raises(RuntimeError, match="the script of 0 steps is over"):
        Agent(ScriptedModel([]), fast).run("?")


@pytest.mark.parametrize("error", [SystemExit(3), KeyboardInterrupt()], ids=lambda error: type(error).__name__)
def test_what_ends_programs_is_raised_where_the_task_was_begun_and_ends_nobody_elses_loop(fast, error) -> None:
    def leave(_: Request) -> str:
        raise error

    with pytest.raises(type(error)):
        Agent(FunctionModel(leave), fast).run("Go.")
    asyncio.run_coroutine_threadsafe(asyncio.sleep(0), own_loop()).result(timeout=30)


def test_a_model_that_gives_no_reply_at_all_is_too(fast: Sandbox) -> None:
    class Wrong:
        name, has_tools = "wrong", True

        async def complete(self, request, on_text):
            return "4300"

    with pytest.raises(TypeError, match="the model wrong gave '4300'"):
        Agent(Wrong(), fast).run("?")
