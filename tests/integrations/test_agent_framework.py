"""An agent of the Microsoft Agent Framework runs programs, in its own loop."""

from __future__ import annotations

import asyncio
import runpy
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from agent_framework import (
    Agent,
    AgentSession,
    BaseChatClient,
    ChatResponse,
    ChatResponseUpdate,
    Content,
    FunctionInvocationLayer,
    Message,
)

from codeact import Outbox, action, tool
from codeact.integrations import Conversations, Interpreter
from codeact.integrations.agent_framework import CodeactProvider


@tool
def get_number(of: str) -> int:
    """A number."""
    return len(of)


@action
def send(text: str) -> None:
    """Send a text."""


class Scripted(FunctionInvocationLayer, BaseChatClient):
    """A chat client that plays a script: a list is a turn that asks for programs, several at a time; a text is an answer."""

    def __init__(self, script: list[Any]) -> None:
        super().__init__()
        self.script = iter(script)
        self.seen: list[dict[str, Any]] = []

    def _inner_get_response(self, *, messages: Any, stream: bool, options: Any, **_: Any) -> Any:
        self.seen.append(dict(options))
        turn = next(self.script)
        contents = [turn] if isinstance(turn, str) else [self._call(n, one) for n, one in enumerate(turn)]
        if stream:
            return self._build_response_stream(self._updates(contents))
        return self._response(contents)

    def _call(self, n: int, program: Any) -> Content:
        arguments = {"code": program} if isinstance(program, str) else program["arguments"]
        return Content.from_function_call(f"{len(self.seen)}.{n}", "run_python", arguments=arguments)

    async def _response(self, contents: list[Any]) -> ChatResponse[Any]:
        return ChatResponse(messages=[Message("assistant", contents)])

    async def _updates(self, contents: list[Any]) -> AsyncIterator[ChatResponseUpdate]:
        for one in contents:
            content = Content.from_text(one) if isinstance(one, str) else one
            yield ChatResponseUpdate(role="assistant", contents=[content])


def agent(script: list[Any], programs: Any) -> Agent[Any]:
    return Agent(Scripted(script), "Be brief.", context_providers=[CodeactProvider(programs)])


async def ask(one: Agent[Any], session: AgentSession | None = None) -> list[str]:
    """What the model was told of its programs."""
    done = await one.run("Go on.", session=session)
    return [each.result for message in done.messages for each in message.contents if each.type == "function_result"]


def test_programs_run_in_one_session_and_what_fails_is_told(make) -> None:
    with Interpreter(make([get_number])) as interpreter:
        one = agent([["x = tools.get_number('abc')"], ["x + y"], ["x + 1"], "Four."], interpreter)
        first, failed, last = asyncio.run(ask(one))
    assert first.startswith("ok after 1 tool call")
    assert failed.startswith("failed: runtime\nNameError")
    assert last == "ok\nvalue: 4"
    assert [len(result.calls) for result in interpreter.results] == [1, 0, 0]


def test_parallel_calls_of_one_turn_run_one_after_the_other(make) -> None:
    with Interpreter(make([get_number])) as interpreter:
        programs = [f"mine = tools.get_number('{'a' * n}')\nmine" for n in range(4)]
        told = asyncio.run(ask(agent([programs, "Done."], interpreter)))
    assert [text.partition("value: ")[2] for text in told] == ["0", "1", "2", "3"]


def test_sessions_share_nothing_and_are_there_in_the_next_run(make) -> None:
    async def asked() -> list[str]:
        with Conversations(make()) as conversations:
            one = agent([["secret = 1"], "Done.", ["secret"], "Done.", ["secret"], "Done."], conversations)
            a, b = one.create_session(session_id="a"), one.create_session(session_id="b")
            told = [*await ask(one, a), *await ask(one, b), *await ask(one, a)]
            assert conversations.keys == ("a", "b")
            return told

    _, other, same = asyncio.run(asked())
    assert "NameError" in other
    assert same == "ok\nvalue: 1"


def test_runs_without_a_session_share_nothing(make) -> None:
    async def asked() -> list[str]:
        with Conversations(make()) as conversations:
            one = agent([["secret = 1"], ["secret"], "Done.", ["secret"], "Done."], conversations)
            return [*await ask(one), *await ask(one)]

    _, same, other = asyncio.run(asked())
    assert same == "ok\nvalue: 1"
    assert "NameError" in other


def test_a_session_whose_names_are_gone_is_told(make) -> None:
    async def asked() -> list[str]:
        sandbox = make()
        with Conversations(sandbox) as conversations:
            one = agent([["x = 1"], "Done."], conversations)
            session = one.create_session()
            await ask(one, session)
        kept = AgentSession.from_dict(session.to_dict())
        with Conversations(sandbox) as conversations:
            return await ask(agent([["x"], ["2"], "Done."], conversations), kept)

    failed, after = asyncio.run(asked())
    assert failed.endswith("this is a new session; the names of earlier programs are gone")
    assert after == "ok\nvalue: 2"


def test_runs_that_are_streamed(make) -> None:
    async def asked() -> str:
        with Interpreter(make()) as interpreter:
            stream = agent([["6 * 7"], "Forty-two."], interpreter).run("Go on.", stream=True)
            texts = [update.text async for update in stream]
            assert interpreter.results[0].value == 42
            return "".join(texts)

    assert asyncio.run(asked()) == "Forty-two."


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ({}, "`code` is missing"),
        ("{", "`code` is missing"),
        ({"code": 1}, "`code` is not a string"),
        ({"code": "1", "more": 2}, "only `code` is taken"),
    ],
)
def test_arguments_that_are_none_are_told(make, arguments, why) -> None:
    with Interpreter(make()) as interpreter:
        (told,) = asyncio.run(ask(agent([[{"arguments": arguments}], "Done."], interpreter)))
    assert told.startswith("not run: ")
    assert why in told
    assert interpreter.results == ()


def test_what_is_proposed_is_in_the_outbox(make) -> None:
    sandbox, outbox = make([], actions=[send]), Outbox(":memory:", actions=[send])
    with Conversations(sandbox, lambda key: Interpreter(sandbox, outbox=outbox, task=key)) as conversations:
        one = agent([["actions.send('a')"], "Proposed."], conversations)
        (told,) = asyncio.run(ask(one, one.create_session(session_id="t-1")))
    assert "proposed, to be decided outside: 1. send(text='a')" in told
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


def test_what_the_model_is_told(make) -> None:
    with Interpreter(make([get_number])) as interpreter:
        one = agent(["Hello."], interpreter)
        asyncio.run(ask(one))
    (options,) = one.client.seen
    assert options["instructions"] == f"Be brief.\n{interpreter.instructions}"
    (given,) = options["tools"]
    assert given.description == interpreter.description
    assert given.parameters()["required"] == ["code"]
    assert given.parameters()["additionalProperties"] is False


def test_what_runs_programs_is_checked(make) -> None:
    with pytest.raises(TypeError, match="expected an Interpreter or Conversations"):
        CodeactProvider(make())


def test_the_example_runs(capsys) -> None:
    runpy.run_path(str(Path(__file__).parents[2] / "examples" / "with_agent_framework.py"), run_name="__main__")
    assert "done: refund(charge='ch_3'" in capsys.readouterr().out
