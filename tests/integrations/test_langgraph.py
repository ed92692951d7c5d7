"""Programs of LangGraph CodeAct run in a sandbox."""

from __future__ import annotations

import asyncio
import runpy
from pathlib import Path
from typing import Any

import pytest
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage

from codeact import Outbox, action, tool
from codeact.integrations import Conversations, Interpreter
from codeact.integrations.langgraph import LAST, eval_fn, eval_fn_async, instructions

pytestmark = pytest.mark.filterwarnings("ignore:The default value of `allowed_objects`")  # an import of LangGraph's own


@tool
def get_number(of: str) -> int:
    """A number."""
    return len(of)


@action
def send(text: str) -> None:
    """Send a text."""


@pytest.fixture(scope="module")
def graph():
    """Makes a graph of `create_codeact` whose model plays a script: programs in fences, and answers."""
    from langgraph.checkpoint.memory import MemorySaver  # noqa: PLC0415 - takes a second
    from langgraph_codeact import create_codeact  # noqa: PLC0415 - as above

    def graph(script: list[str], runs: Any, *, tools: Any = (), programs: Any = None) -> Any:
        model = GenericFakeChatModel(messages=iter(map(AIMessage, script)))
        prompt = None if programs is None else instructions(programs, "Be brief.")
        return create_codeact(model, list(tools), runs, prompt=prompt).compile(checkpointer=MemorySaver())

    return graph


def program(code: str) -> str:
    return f"```python\n{code}\n```"


def at(thread: str) -> Any:
    return {"configurable": {"thread_id": thread}}


def ask(graph: Any, thread: str = "t", **state: Any) -> list[str]:
    found = graph.invoke({"messages": [("user", "Go on.")], **state}, at(thread))
    return [message.content for message in found["messages"]]


def test_programs_run_in_one_session_of_the_sandbox(graph, make) -> None:
    with Interpreter(make([get_number])) as interpreter:
        script = [program("x = tools.get_number('abc')"), program("x + y"), program("x + 1"), "Four."]
        told = ask(graph(script, eval_fn(interpreter), programs=interpreter))
    assert told[2].startswith("ok after 1 tool call")
    assert told[4].startswith("failed: runtime\nNameError")
    assert told[6:] == ["ok\nvalue: 4", "Four."]
    assert [len(result.calls) for result in interpreter.results] == [1, 0, 0]


def test_threads_share_nothing(graph, make) -> None:
    with Conversations(make()) as conversations:
        made = graph(
            [program("secret = 1"), "Done.", program("secret"), "Done.", program("secret"), "Done."],
            eval_fn(conversations),
        )
        ask(made, "a")
        assert "NameError" in ask(made, "b")[-2]
        assert ask(made, "a")[-2] == "ok\nvalue: 1"
        assert conversations.keys == ("a", "b")


def test_the_state_has_the_last_result_as_data_and_no_names(graph, make) -> None:
    with Interpreter(make([get_number])) as interpreter:
        made = graph([program("x = 2**70"), program("def f(): pass\n[x, len(tools)]"), "Done."], eval_fn(interpreter))
        ask(made)
        context = made.get_state(at("t")).values["context"]
        assert list(context) == [LAST]
        assert context[LAST]["value"] == [str(2**70), 1]
        assert context[LAST]["run"] == interpreter.results[-1].run


def test_a_thread_whose_names_are_gone_is_told(graph, make) -> None:
    sandbox = make()
    with Conversations(sandbox, lambda key: Interpreter(sandbox, task=key, keep=0)) as conversations:
        made = graph([program("x = 1"), "Done.", program("x"), program("2"), "Done."], eval_fn(conversations))
        ask(made)
        conversations.end("t")
        *_, failed, _, after, _ = ask(made)
        assert failed.endswith("this is a new session; the names of earlier programs are gone")
        assert after == "ok\nvalue: 2"


def test_awaited_graphs_run_together(graph, make) -> None:
    async def asked() -> Any:
        meeting = asyncio.Barrier(2)

        async def meet() -> int:
            """Both are here."""
            await meeting.wait()
            return 7

        with Conversations(make([meet])) as conversations:
            script = [program("await tools.meet()"), program("await tools.meet()"), "Done.", "Done."]
            made = graph(script, eval_fn_async(conversations))
            states = [made.ainvoke({"messages": [("user", "Go on.")]}, at(thread)) for thread in "ab"]
            return [state["messages"][-2].content for state in await asyncio.gather(*states)]

    assert asyncio.run(asked()) == ["ok after 1 tool call\nvalue: 7"] * 2


def test_cancelling_a_graph_stops_its_program(graph, make) -> None:
    async def cancelled() -> object:
        begun = asyncio.Event()

        async def begin() -> None:
            """It has begun."""
            begun.set()

        with Interpreter(make([begin], timeout=60.0)) as interpreter:
            made = graph([program("await tools.begin()\nwhile True: pass"), "Done."], eval_fn_async(interpreter))
            running = asyncio.create_task(made.ainvoke({"messages": [("user", "Go on.")]}, at("t")))
            await asyncio.wait_for(begun.wait(), 30)
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)
            return (await asyncio.wait_for(interpreter.run_async("1 + 1"), 30)).value

    assert asyncio.run(cancelled()) == 2


def test_what_is_proposed_is_in_the_outbox(graph, make) -> None:
    sandbox, outbox = make([], actions=[send]), Outbox(":memory:", actions=[send])
    with Conversations(sandbox, lambda key: Interpreter(sandbox, outbox=outbox, task=key)) as conversations:
        made = graph([program("actions.send('a')"), "Proposed."], eval_fn(conversations))
        assert "proposed, to be decided outside: 1. send(text='a')" in ask(made, "t-1")[2]
    assert [(entry.task, str(entry)) for entry in outbox.entries()] == [("t-1", "send(text='a')")]


def test_tools_of_the_graph_do_not_become_tools_inside(graph, make) -> None:
    def delete_all() -> str:
        """Delete everything."""
        raise AssertionError

    with Interpreter(make([get_number])) as interpreter:
        made = graph([program("delete_all()"), "Done."], eval_fn(interpreter), tools=[delete_all])
        with pytest.raises(ValueError, match="would pass delete_all, which its programs would not find"):
            ask(made)
        made = graph([program("1"), "Done."], eval_fn(interpreter))
        with pytest.raises(ValueError, match="would pass x"):
            ask(made, context={"x": 1})
    assert interpreter.results == ()


def test_tools_that_the_sandbox_grants_too_are_its_own_inside(graph, make) -> None:
    def theirs(of: str) -> int:
        """A number."""
        raise AssertionError

    theirs.__name__ = "get_number"
    with Interpreter(make([get_number])) as interpreter:
        made = graph(
            [program("get_number('abc')"), program("tools.get_number('abc')"), "Done."],
            eval_fn(interpreter),
            tools=[theirs],
        )
        _, _, failed, _, told, _ = ask(made)
    assert "NameError" in failed
    assert told.endswith("value: 3")


def test_a_thread_without_an_id_is_refused(make) -> None:
    with Conversations(make()) as conversations, pytest.raises(ValueError, match="thread_id"):
        eval_fn(conversations)("1", {})


def test_what_the_model_is_told(make) -> None:
    told = instructions(Conversations(make([get_number])), "Be brief.")
    assert told.startswith("Be brief.")
    assert "```python" in told
    assert "get_number" in told


@pytest.mark.parametrize("made", [eval_fn, eval_fn_async, instructions])
def test_what_runs_programs_is_checked(made) -> None:
    with pytest.raises(TypeError, match="expected an Interpreter or Conversations"):
        made(None)


def test_the_example_runs(capsys) -> None:
    runpy.run_path(str(Path(__file__).parents[2] / "examples" / "with_langgraph.py"), run_name="__main__")
    assert "done: refund(charge='ch_3'" in capsys.readouterr().out
