"""`run_python` as a tool of LangChain, in a loop of LangGraph."""

from __future__ import annotations

import asyncio
import runpy
from pathlib import Path
from typing import Any

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, SystemMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from pydantic import PrivateAttr

from codeact import Journal, Limits, Outbox, Sandbox, action, tool
from codeact.audit import Audit, Event
from codeact.integrations import Conversations, Interpreter
from codeact.integrations.langchain import run_python

pytestmark = [
    # What newer versions of LangGraph say of their own imports, and of the agent that older ones have too.
    pytest.mark.filterwarnings("ignore:create_react_agent has been moved"),
    pytest.mark.filterwarnings("ignore:AgentStatePydantic has been moved"),
    pytest.mark.filterwarnings("ignore:The default value of `allowed_objects`"),
]


@tool
def get_number(of: str) -> int:
    """A number."""
    return len(of)


@action
def send(text: str) -> None:
    """Send a text."""


class Scripted(BaseChatModel):
    """A chat model that asks for programs as it is told, several at a time where they are a list, and then answers."""

    script: list[Any]
    _seen: list[list[BaseMessage]] = PrivateAttr(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "scripted"

    @property
    def seen(self) -> list[list[BaseMessage]]:
        return self._seen

    def bind_tools(self, tools: Any, **_: Any) -> Any:
        return self

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        self._seen.append(messages)
        turn = self.script[len(self._seen) - 1]
        if isinstance(turn, str):
            return ChatResult(generations=[ChatGeneration(message=AIMessage(turn))])
        calls = [
            {
                "name": "run_python",
                "args": args if isinstance(args, dict) else {"code": args},
                "id": f"{len(messages)}.{n}",
            }
            for n, args in enumerate(turn)
        ]
        return ChatResult(generations=[ChatGeneration(message=AIMessage("", tool_calls=calls))])


@pytest.fixture(scope="module")
def agent():
    """Makes an agent of LangGraph that has the tool, and keeps its threads."""
    from langgraph.checkpoint.memory import MemorySaver  # noqa: PLC0415 - takes a second
    from langgraph.prebuilt import create_react_agent  # noqa: PLC0415 - as above

    def agent(script: list[Any], programs: Interpreter | Conversations, *, keeps: bool = True) -> Any:
        model = Scripted(script=script)
        saver = MemorySaver() if keeps else None
        made = create_react_agent(model, [run_python(programs)], prompt=programs.instructions, checkpointer=saver)
        made.seen = model.seen
        return made

    return agent


def at(thread: str) -> dict[str, Any]:
    return {"configurable": {"thread_id": thread}}


def asks(agent: Any, thread: str = "t") -> list[ToolMessage]:
    found = agent.invoke({"messages": [("user", "Go on.")]}, at(thread))["messages"]
    return [message for message in found if isinstance(message, ToolMessage)]


def test_programs_run_in_one_session_and_what_fails_is_content(agent, make) -> None:
    with Interpreter(make([get_number])) as interpreter:
        one = agent([["x = tools.get_number('abc')"], ["x + y"], ["x + 1"], "Four."], interpreter)
        first, failed, last = asks(one)
    assert first.content.startswith("ok after 1 tool call")
    assert failed.content.startswith("failed: runtime\nNameError")
    assert failed.artifact["error"]["type"] == "NameError"
    assert last.artifact["value"] == 4
    assert [result.run for result in interpreter.results] == [each.artifact["run"] for each in (first, failed, last)]
    assert first.artifact["calls"][0]["name"] == "get_number"
    system = one.seen[0][0]
    assert isinstance(system, SystemMessage)
    assert system.content == interpreter.instructions


def test_parallel_calls_of_one_turn_run_one_after_the_other(agent, make) -> None:
    with Interpreter(make([get_number])) as interpreter:
        programs = [f"mine = tools.get_number('{'a' * n}')\nmine" for n in range(4)]
        assert [each.artifact["value"] for each in asks(agent([programs, "Done."], interpreter))] == [0, 1, 2, 3]
        assert len(interpreter.results) == 4


def test_in_an_event_loop_too(agent, make) -> None:
    async def asked() -> list[Any]:
        with Interpreter(make([get_number])) as interpreter:
            one = agent([["1", "2"], ["tools.get_number('abc')"], "Done."], interpreter)
            found = await one.ainvoke({"messages": [("user", "Go on.")]}, at("t"))
            return [each.artifact["value"] for each in found["messages"] if isinstance(each, ToolMessage)]

    assert asyncio.run(asked()) == [1, 2, 3]


def test_threads_share_nothing(agent, make) -> None:
    with Conversations(make()) as conversations:
        one = agent([["secret = 1"], "Done.", ["secret"], "Done.", ["secret"], "Done."], conversations)
        asks(one, "a")
        assert asks(one, "b")[-1].artifact["error"]["type"] == "NameError"
        assert asks(one, "a")[-1].artifact["value"] == 1
        assert [len(conversations.of(key).results) for key in conversations.keys] == [2, 1]


def test_a_thread_that_has_no_id_is_refused(agent, make) -> None:
    with Conversations(make()) as conversations:
        with pytest.raises(ValueError, match="thread_id"):
            run_python(conversations).invoke({"code": "1"})
        assert conversations.keys == ()


def test_what_no_checkpointer_holds_is_text(agent, make) -> None:
    with Interpreter(make()) as interpreter:
        one = agent([["[2**70, '\\ud800', {'\\udfff': 1}, float('nan')]"], "Done.", "And again."], interpreter)
        assert asks(one)[0].artifact["value"] == [str(2**70), "\\ud800", {"\\udfff": 1}, "nan"]
        assert asks(one)[0].artifact["value"] == [str(2**70), "\\ud800", {"\\udfff": 1}, "nan"]
    assert interpreter.results[0].value[0] == 2**70


def test_what_is_proposed_is_in_the_outbox(agent, make) -> None:
    sandbox, outbox = make([], actions=[send]), Outbox(":memory:", actions=[send])
    with Conversations(sandbox, lambda key: Interpreter(sandbox, outbox=outbox, task=key)) as conversations:
        one = agent([["actions.send('a')"], "Done.", ["actions.send('a'); 1 / 0"], "Failed."], conversations)
        assert "proposed, to be decided outside: 1. send(text='a')" in asks(one, "t-1")[0].content
        asks(one, "t-2")
        assert [(entry.task, str(entry)) for entry in outbox.entries()] == [("t-1", "send(text='a')")]
        assert list(conversations.of("t-1").entries) == outbox.entries(task="t-1")


def test_limits_audit_and_journal_are_those_of_the_sandbox(agent, engine) -> None:
    class Kept(list[Event]):
        write = list.append

    journal, kept = Journal(":memory:"), Kept()
    limits = Limits(timeout=0.3, calls=1)
    sandbox = Sandbox([get_number], engine=engine, limits=limits, audit=Audit([kept]), journal=journal)
    with Conversations(sandbox) as conversations:
        script = [
            ["tools.get_number('a')", "tools.get_number('a'); tools.get_number('b')"],
            ["while True: pass"],
            "Done.",
        ]
        called, refused, stopped = asks(agent(script, conversations), "t-1")
    assert journal.run(called.artifact["run"]).head.task == "t-1"
    assert sandbox.replay(called.artifact["run"]).same
    assert [each.artifact["error"]["kind"] for each in (refused, stopped)] == ["calls", "timeout"]
    assert {event.run for event in kept} >= {each.artifact["run"] for each in (called, refused, stopped)}


@pytest.mark.parametrize("arguments", [{}, {"code": 1}, {"code": "1", "more": 2}, {"program": "1"}])
def test_arguments_that_are_none_are_told(agent, make, arguments) -> None:
    with Interpreter(make()) as interpreter:
        (told,) = asks(agent([[arguments], "Done."], interpreter))
    assert told.content.startswith("not run: `code`")
    assert interpreter.results == ()


def test_cancelling_the_agent_stops_the_program(agent, make) -> None:
    async def cancelled() -> object:
        begun = asyncio.Event()

        async def begin() -> None:
            """It has begun."""
            begun.set()

        with Interpreter(make([begin], timeout=60.0)) as interpreter:
            one = agent([["await tools.begin()\nwhile True: pass"], "Done."], interpreter)
            running = asyncio.create_task(one.ainvoke({"messages": [("user", "Go on.")]}, at("t")))
            await asyncio.wait_for(begun.wait(), 30)
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)
            return (await asyncio.wait_for(interpreter.run_async("1 + 1"), 30)).value

    assert asyncio.run(cancelled()) == 2


def test_what_the_model_is_told_of_the_tool(make) -> None:
    made = run_python(Interpreter(make([get_number])))
    assert (made.name, made.return_direct) == ("run_python", False)
    assert "tools.get_number" in made.description
    assert made.args == {
        "code": {"description": "The program's source, plain Python.", "title": "Code", "type": "string"}
    }


def test_what_runs_programs_is_checked() -> None:
    with pytest.raises(TypeError, match="expected an Interpreter or Conversations"):
        run_python("interpreter")


def test_the_example_runs(agent, capsys) -> None:
    runpy.run_path(str(Path(__file__).parents[2] / "examples" / "with_langchain.py"), run_name="__main__")
    assert "done: refund(charge='ch_3'" in capsys.readouterr().out
