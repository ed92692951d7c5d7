"""`run_python` as a tool of the OpenAI Agents SDK, in its own loop."""

from __future__ import annotations

import asyncio
import runpy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from agents import Agent, RunConfig, Runner, ToolCallOutputItem, UserError
from agents.testing import ScriptedModel, assistant_message, function_call

from codeact import Outbox, action, tool
from codeact.integrations import Conversations, Interpreter
from codeact.integrations.openai_agents import RESULT, run_python


@tool
def get_number(of: str) -> int:
    """A number."""
    return len(of)


@action
def send(text: str) -> None:
    """Send a text."""


def scripted(script: list[Any]) -> ScriptedModel:
    """Plays a script: a list is a turn that asks for programs, several at a time; a text is an answer."""
    return ScriptedModel(
        [assistant_message(turn)]
        if isinstance(turn, str)
        else [function_call("run_python", _arguments(one), call_id=f"{place}.{n}") for n, one in enumerate(turn)]
        for place, turn in enumerate(script)
    )


def _arguments(program: Any) -> Any:
    return {"code": program} if isinstance(program, str) and not program.startswith("raw:") else program[4:]


def agent(script: list[Any], programs: Any, **more: Any) -> Agent[Any]:
    return Agent(
        "Desk", instructions=programs.instructions, tools=[run_python(programs, **more)], model=scripted(script)
    )


async def ask(one: Agent[Any], group: str | None = None, context: Any = None) -> list[ToolCallOutputItem]:
    config = RunConfig(tracing_disabled=True, group_id=group)
    done = await Runner.run(one, "Go on.", run_config=config, context=context)
    return [item for item in done.new_items if isinstance(item, ToolCallOutputItem)]


def test_programs_run_in_one_session_and_what_fails_is_told(make) -> None:
    with Interpreter(make([get_number])) as interpreter:
        one = agent([["x = tools.get_number('abc')"], ["x + y"], ["x + 1"], "Four."], interpreter)
        first, failed, last = asyncio.run(ask(one))
    assert first.output.startswith("ok after 1 tool call")
    assert failed.output.startswith("failed: runtime\nNameError")
    assert last.output == "ok\nvalue: 4"
    assert first.custom_data[RESULT]["calls"][0]["name"] == "get_number"
    assert [item.custom_data[RESULT]["run"] for item in (first, failed, last)] == [r.run for r in interpreter.results]
    assert one.model.calls[0].system_instructions == interpreter.instructions


def test_parallel_calls_of_one_turn_run_one_after_the_other(make) -> None:
    with Interpreter(make([get_number])) as interpreter:
        programs = [f"mine = tools.get_number('{'a' * n}')\nmine" for n in range(4)]
        items = asyncio.run(ask(agent([programs, "Done."], interpreter)))
    assert [item.custom_data[RESULT]["value"] for item in items] == [0, 1, 2, 3]


def test_in_a_loop_that_is_not_async(make) -> None:
    with Interpreter(make([get_number])) as interpreter:
        one = agent([["tools.get_number('abc')"], "Three."], interpreter)
        asyncio.set_event_loop(loop := asyncio.new_event_loop())
        try:
            done = Runner.run_sync(one, "Go on.", run_config=RunConfig(tracing_disabled=True))
        finally:
            asyncio.set_event_loop(None)
            loop.close()
    assert done.final_output == "Three."
    assert interpreter.results[0].value == 3


def test_runs_that_are_streamed(make) -> None:
    async def asked() -> Any:
        with Interpreter(make([get_number])) as interpreter:
            one = agent([["tools.get_number('abc')"], "Three."], interpreter)
            running = Runner.run_streamed(one, "Go on.", run_config=RunConfig(tracing_disabled=True))
            items = [event.item async for event in running.stream_events() if event.type == "run_item_stream_event"]
            return [item.custom_data[RESULT]["value"] for item in items if isinstance(item, ToolCallOutputItem)]

    assert asyncio.run(asked()) == [3]


def test_groups_share_nothing(make) -> None:
    async def asked() -> list[Any]:
        with Conversations(make()) as conversations:
            one = agent([["secret = 1"], "Done.", ["secret"], "Done.", ["secret"], "Done."], conversations)
            found = [await ask(one, group) for group in "aba"]
            assert conversations.keys == ("a", "b")
            return [item.custom_data[RESULT] for (item,) in found]

    _, other, same = asyncio.run(asked())
    assert other["error"]["type"] == "NameError"
    assert same["value"] == 1


def test_conversations_are_told_apart_by_what_the_host_says(make) -> None:
    @dataclass
    class Desk:
        ticket: str

    async def asked() -> tuple[str, ...]:
        with Conversations(make()) as conversations:
            one = agent([["1"], "Done."] * 2, conversations, key=lambda context: context.context.ticket)
            await ask(one, context=Desk("T-1"))
            await ask(one, context=Desk("T-2"))
            return conversations.keys

    assert asyncio.run(asked()) == ("T-1", "T-2")


def test_a_run_that_nothing_tells_from_others_is_refused(make) -> None:
    with Conversations(make()) as conversations:
        with pytest.raises(UserError, match="group_id"):
            asyncio.run(ask(agent([["1"], "Done."], conversations)))
        assert conversations.keys == ()


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ("{", "not JSON"),
        ("[1]", "not an object"),
        ("{}", "`code` is missing"),
        ('{"code": 1}', "`code` is not a string"),
        ('{"code": "1", "more": 2}', "only `code` is taken"),
    ],
)
def test_arguments_that_are_none_are_told(make, arguments, why) -> None:
    with Interpreter(make()) as interpreter:
        (item,) = asyncio.run(ask(agent([["raw:" + arguments], "Done."], interpreter)))
    assert item.output.startswith("not run: ")
    assert why in item.output
    assert item.custom_data is None
    assert interpreter.results == ()


def test_values_that_json_does_not_hold_end_no_run(make) -> None:
    with Interpreter(make()) as interpreter:
        (item,) = asyncio.run(ask(agent([["[2**70, float('nan'), b'a', '\\ud800']"], "Done."], interpreter)))
    assert item.custom_data[RESULT]["value"] == [str(2**70), "nan", "YQ==", "\\ud800"]


def test_what_is_proposed_is_in_the_outbox(make) -> None:
    sandbox, outbox = make([], actions=[send]), Outbox(":memory:", actions=[send])
    with Conversations(sandbox, lambda key: Interpreter(sandbox, outbox=outbox, task=key)) as conversations:
        (item,) = asyncio.run(ask(agent([["actions.send('a')"], "Proposed."], conversations), "t-1"))
    assert "proposed, to be decided outside: 1. send(text='a')" in item.output
    assert [(entry.task, str(entry)) for entry in outbox.entries()] == [("t-1", "send(text='a')")]


def test_cancelling_a_run_stops_its_program(make) -> None:
    async def cancelled() -> object:
        begun = asyncio.Event()

        async def begin() -> None:
            """It has begun."""
            begun.set()

        with Interpreter(make([begin], timeout=60.0)) as interpreter:
            running = asyncio.create_task(ask(agent([["await tools.begin()\nwhile True: pass"], "Done."], interpreter)))
            await asyncio.wait_for(begun.wait(), 30)
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)
            return (await asyncio.wait_for(interpreter.run_async("1 + 1"), 30)).value

    assert asyncio.run(cancelled()) == 2


def test_what_the_model_is_told_of_the_tool(make) -> None:
    made = run_python(Interpreter(make([get_number])))
    assert made.strict_json_schema
    assert made.params_json_schema["required"] == ["code"]
    assert made.params_json_schema["additionalProperties"] is False
    assert "tools.get_number" in made.description


def test_the_host_is_told_what_it_did_wrong(make) -> None:
    with pytest.raises(TypeError, match="expected an Interpreter or Conversations"):
        run_python(make())
    with pytest.raises(TypeError, match="key='T-1'"):
        run_python(Conversations(make()), key="T-1")


def test_the_example_runs(capsys) -> None:
    runpy.run_path(str(Path(__file__).parents[2] / "examples" / "with_openai_agents.py"), run_name="__main__")
    assert "done: refund(charge='ch_3'" in capsys.readouterr().out
