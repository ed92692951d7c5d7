"""How a task is run: streamed, cancelled, in time, beside others, from threads; and what a host may not do."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing

import pytest

from codeact import Agent, Budget, Sandbox
from codeact.agent import Finished, Ran, Running, Wrote, transport
from codeact.audit import Audit
from codeact.messages import Asked, ModelError, Reply
from codeact.testing.models import FunctionModel, Program, ScriptedModel
from tests.agent.conftest import get_charges
from tests.agent.talk import complaint
from tests.conftest import named


class Hanging:
    """A model that never replies, and says when it is asked and when it is let go."""

    name, has_tools = "hanging", True

    def __init__(self) -> None:
        self.asked, self.let_go = asyncio.Event(), False

    async def complete(self, request, on_text):
        self.asked.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.let_go = True


class Kept(list):
    write = list.append


# --- streaming


def test_events_come_in_order(sandbox) -> None:
    model = ScriptedModel([Program("1 + 1", text="Let me see."), Program("x"), "It is 2."])

    async def events() -> list[object]:
        return [event async for event in Agent(model, sandbox).stream("?")]

    found = asyncio.run(events())
    kinds = [type(event) for event in found if not isinstance(event, Wrote)]
    assert kinds == [Running, Ran, Running, Ran, Finished]
    assert "".join(event.text for event in found if isinstance(event, Wrote)) == "Let me see.It is 2."
    first, second = (event for event in found if isinstance(event, Ran))
    assert (first.result.value, first.observed.ok, first.asked.code) == (2, True, "1 + 1")
    assert second.observed.text == second.result.observation()
    assert found[-1].result.answer == "It is 2."
    assert found[-1].result.results == (first.result, second.result)


def test_a_model_that_does_not_stream_gives_its_text_as_one_piece(fast) -> None:
    class Plain:
        name, has_tools = "plain", True

        async def complete(self, request, on_text):
            return Reply("two words")

    async def events() -> list[object]:
        return [event async for event in Agent(Plain(), fast).stream("?")]

    assert asyncio.run(events())[0] == Wrote("two words")


def test_a_program_that_cannot_be_read_is_not_about_to_be_run(fast) -> None:
    async def events() -> list[object]:
        model = ScriptedModel([Reply("", (Asked("a", None, "no JSON"),)), "ok"])
        return [event async for event in Agent(model, fast).stream("?")]

    ran, *_ = asyncio.run(events())
    assert isinstance(ran, Ran)
    assert ran.result is None


def test_events_come_while_the_task_goes_on(fast) -> None:
    """The model is asked for the second reply only when the first program has been seen."""
    seen = asyncio.Event()

    async def second(_request) -> str:
        await seen.wait()
        return "ok"

    async def follow() -> object:
        async for event in Agent(ScriptedModel([Program("1"), second]), fast).stream("?"):
            if isinstance(event, Ran):
                seen.set()
        return event

    assert asyncio.run(asyncio.wait_for(follow(), 30)).result.answer == "ok"


def test_who_stops_listening_cancels_the_task(fast) -> None:
    async def leave() -> bool:
        model = ScriptedModel([Program("1"), lambda _request: hanging.complete(_request, None)])
        hanging = Hanging()
        async with aclosing(Agent(model, fast).stream("?")) as events:
            async for event in events:
                if isinstance(event, Ran):
                    break
            await hanging.asked.wait()
        return hanging.let_go

    assert asyncio.run(asyncio.wait_for(leave(), 30))


def test_a_mistake_of_the_models_author_comes_out_of_the_stream(fast) -> None:
    async def follow() -> None:
        async for _ in Agent(ScriptedModel([KeyError("x")]), fast).stream("?"):
            pass

    with pytest.raises(KeyError):
        asyncio.run(follow())


# --- time, and being cancelled


def test_a_model_that_hangs_is_left_at_the_end_of_the_time(fast) -> None:
    async def work() -> tuple[object, bool]:
        model = Hanging()
        result = await Agent(model, fast, budget=Budget(seconds=0.1)).run_async("?")
        return result, model.let_go

    result, let_go = asyncio.run(asyncio.wait_for(work(), 30))
    assert (result.stop, let_go) == ("seconds", True)
    assert result.why == "0.1 s were over before the task was done (limit seconds=0.1)"
    assert 0.1 <= result.seconds < 10


def test_a_program_that_takes_too_long_for_the_task_is_left_too(make) -> None:
    model = ScriptedModel([[Program("while True: pass"), Program("2")]])
    result = Agent(model, make(), budget=Budget(seconds=0.3)).run("?")
    assert (result.stop, result.results) == ("seconds", ())
    assert complaint(result.messages) is None
    assert result.seconds < 15


def test_cancelling_closes_the_session(engine) -> None:
    events = Kept()

    async def work() -> bool:
        model = Hanging()
        sandbox = Sandbox([get_charges], engine=engine, audit=Audit([events]))
        asking = ScriptedModel([Program("x = 1"), lambda request: model.complete(request, None)])
        task = asyncio.create_task(Agent(asking, sandbox).run_async("?", tenant="acme"))
        await model.asked.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return model.let_go

    assert asyncio.run(asyncio.wait_for(work(), 30))
    assert [event.name for event in events] == ["session_open", "sandbox_spawn", "sandbox_exit", "session_close"]
    assert {event.tenant for event in events} == {"acme"}


def test_cancelling_stops_a_program(make) -> None:
    started = threading.Event()

    def begin() -> int:
        started.set()
        return 1

    async def work() -> None:
        model = ScriptedModel([Program("tools.begin()\nwhile True: pass")])
        task = asyncio.create_task(Agent(model, make([begin], timeout=600)).run_async("?"))
        await asyncio.to_thread(started.wait, 30)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(asyncio.wait_for(work(), 30))


def test_cancelling_ends_a_pause(fast) -> None:
    async def work() -> None:
        pausing = asyncio.Event()

        async def sleep(_seconds: float) -> None:
            pausing.set()
            await asyncio.Event().wait()

        model = ScriptedModel([ModelError("busy", passing=True)])
        task = asyncio.create_task(Agent(model, fast, transport=transport(sleep=sleep)).run_async("?"))
        await pausing.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(asyncio.wait_for(work(), 30))


# --- many at once


def by_task(request) -> object:
    """Binds the task's number in the world, and asks for it back."""
    number = request.messages[0].text
    return [Program(f"n = {number}"), Program("n"), request.messages[-1].text][len(request.messages) // 2]


def test_tasks_side_by_side_see_nothing_of_each_other(sandbox) -> None:
    agent = Agent(FunctionModel(by_task), sandbox)

    async def many() -> list[object]:
        return await asyncio.gather(*(agent.run_async(str(n)) for n in range(30)))

    results = asyncio.run(many())
    assert [result.answer for result in results] == [f"ok\nvalue: {n}" for n in range(30)]
    assert len({result.id for result in results}) == 30


def test_tasks_from_many_threads(sandbox) -> None:
    agent = Agent(FunctionModel(by_task), sandbox)
    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(lambda n: agent.run(str(n)).answer, range(30)))
    assert answers == [f"ok\nvalue: {n}" for n in range(30)]


def test_one_loop_serves_all_that_is_run(fast) -> None:
    """A client keeps connections that belong to a loop; with one loop a task, the second would find them dead."""
    loops = []

    async def reply(_request) -> str:
        loops.append(asyncio.get_running_loop())
        return "ok"

    agent = Agent(FunctionModel(reply), fast)
    agent.run("?")
    agent.run("?")
    assert loops[0] is loops[1]


# --- a host's mistakes


def test_run_does_not_hold_a_running_loop(fast) -> None:
    async def inside() -> None:
        Agent(ScriptedModel(["ok"]), fast).run("?")

    with pytest.raises(RuntimeError, match="await run_async"):
        asyncio.run(inside())


@pytest.mark.parametrize(
    ("arguments", "kind", "named"),
    [
        ({"task": ""}, ValueError, "task=''"),
        ({"task": 3}, TypeError, "task=3"),
        ({"id": " "}, ValueError, "id=' '"),
        ({"id": 7}, TypeError, "id=7"),
        ({"tenant": 7}, TypeError, "tenant=7"),
        ({"files": {"../a": ""}}, ValueError, "files"),
        ({"files": 3}, TypeError, "files"),
    ],
)
def test_a_mistake_raises_before_the_model_is_asked(fast, arguments, kind, named) -> None:
    model = ScriptedModel(["ok"])
    agent = Agent(model, fast)
    with pytest.raises(kind, match=named):
        agent.run(**{"task": "?", **arguments})
    with pytest.raises(kind, match=named):
        agent.stream(**{"task": "?", **arguments})
    assert model.requests == []


@pytest.mark.parametrize(
    "wrong",
    [
        {"model": "claude"},
        {"sandbox": None},
        {"budget": 3},
        {"instructions": None},
        {"transport": 3},
        {"programs": lambda: None},
    ],
    ids=named,
)
def test_what_an_agent_is_made_of(fast, wrong) -> None:
    (name,) = wrong
    with pytest.raises(TypeError, match=f"{name}="):
        Agent(**{"model": ScriptedModel([]), "sandbox": fast, **wrong})


def test_a_time_limit_of_the_models_own_is_not_the_tasks(fast) -> None:
    with pytest.raises(TimeoutError, match="mine"):
        Agent(ScriptedModel([TimeoutError("mine")]), fast).run("?")


def test_an_agent_says_what_it_is(fast) -> None:
    assert repr(Agent(ScriptedModel([]), fast)) == f"<Agent of scripted in {fast!r}>"


@pytest.mark.parametrize(
    ("limits", "kind"),
    [
        ({"replies": 0}, ValueError),
        ({"programs": -1}, ValueError),
        ({"tokens": 1.5}, TypeError),
        ({"failures": True}, TypeError),
        ({"repeats": None}, TypeError),
        ({"seconds": float("nan")}, ValueError),
        ({"seconds": float("inf")}, ValueError),
        ({"attempts": 2**70}, ValueError),
        ({"seconds": "1"}, TypeError),
    ],
)
def test_budgets_are_checked(limits, kind) -> None:
    (name,) = limits
    with pytest.raises(kind, match=rf"Budget\({name}="):
        Budget(**limits)
