"""What runs programs in somebody else's loop keeps what a sandbox promises."""

from __future__ import annotations

import asyncio
import threading

import pytest

from codeact import Journal, Limits, Outbox, Sandbox, action, tool
from codeact.audit import Audit, Event
from codeact.integrations import Interpreter


@tool
def get_number(of: str) -> int:
    """A number."""
    return len(of)


@action
def send(text: str) -> None:
    """Send a text."""


def test_programs_share_a_session(make) -> None:
    with Interpreter(make([get_number])) as interpreter:
        assert interpreter.run("x = tools.get_number('abc')").ok
        assert interpreter.run("x + 1").value == 4
    assert [len(result.calls) for result in interpreter.results] == [1, 0]


def test_two_interpreters_share_nothing(make) -> None:
    sandbox = make([get_number])
    with Interpreter(sandbox) as one, Interpreter(sandbox) as other:
        one.run("secret = 1")
        assert other.run("secret").error.type == "NameError"


def test_programs_that_come_at_the_same_time_run_one_after_the_other(make) -> None:
    async def slow(n: int) -> int:
        """A number, later."""
        await asyncio.sleep(0.01)
        return n

    async def together() -> list[object]:
        with Interpreter(make([slow])) as interpreter:
            programs = [f"seen = [*globals().get('seen', []), await tools.slow({n})]\nlen(seen)" for n in range(4)]
            if interpreter.sandbox.engine == "restricted":
                programs = ["seen = []"] + [f"seen.append(await tools.slow({n}))\nlen(seen)" for n in range(4)]
            results = await asyncio.gather(*map(interpreter.run_async, programs))
            return [result.value for result in results if result.value is not None]

    assert asyncio.run(together()) == [1, 2, 3, 4]


def test_a_program_that_is_cancelled_lets_the_next_one_run(make) -> None:
    async def cancelled() -> object:
        running_now = asyncio.Event()

        async def begin() -> None:
            """It runs."""
            running_now.set()

        with Interpreter(make([begin], timeout=30.0)) as interpreter:
            running = asyncio.create_task(interpreter.run_async("await tools.begin()\nwhile True: pass"))
            await running_now.wait()
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)
            return (await interpreter.run_async("1 + 1")).value

    assert asyncio.run(cancelled()) == 2


def test_what_finished_programs_propose_is_submitted_once(make) -> None:
    outbox = Outbox(":memory:", actions=[send])
    with Interpreter(make([], actions=[send]), outbox=outbox, task="t-1") as interpreter:
        interpreter.run("actions.send('a')")
        interpreter.run("actions.send('a'); actions.send('b')")
        interpreter.run("actions.send('c'); 1 / 0")
    assert [str(entry) for entry in outbox.entries(task="t-1")] == ["send(text='a')", "send(text='b')"]
    assert [entry.id for entry in interpreter.entries] == [entry.id for entry in outbox.entries()]
    assert [str(proposal) for proposal in interpreter.proposals] == ["send(text='a')", "send(text='b')"]


def test_no_more_results_are_kept_than_the_host_wants() -> None:
    outbox = Outbox(":memory:", actions=[send])
    sandbox = Sandbox(engine="restricted", actions=[send])
    with Interpreter(sandbox, outbox=outbox, task="t-1", keep=2) as interpreter:
        for number in range(4):
            interpreter.run(f"actions.send('{number}'); {number}")
    assert [result.value for result in interpreter.results] == [2, 3]
    assert [entry.arguments["text"] for entry in interpreter.entries] == ["2", "3"]
    assert len(outbox.entries()) == 4


def test_without_an_outbox_they_are_the_hosts(make) -> None:
    interpreter = Interpreter(make([], actions=[send]))
    interpreter.run("actions.send('a')")
    assert [str(proposal) for proposal in interpreter.proposals] == ["send(text='a')"]
    assert interpreter.entries == ()


def test_audit_and_journal_know_whose_it_is(engine) -> None:
    class Kept(list[Event]):
        write = list.append

    journal, kept = Journal(":memory:"), Kept()
    sandbox = Sandbox([get_number], engine=engine, audit=Audit([kept]), journal=journal)
    with Interpreter(sandbox, task="t-1", tenant="acme") as interpreter:
        result = interpreter.run("tools.get_number('a')")
    assert {event.tenant for event in kept} == {"acme"}
    assert journal.run(result.run).head.task == "t-1"
    assert sandbox.replay(result.run).same


def test_a_session_that_was_idle_for_too_long_is_followed_by_another(engine) -> None:
    sandbox = Sandbox(engine=engine, limits=Limits(session_lifetime=0.05, timeout=0.05))
    with Interpreter(sandbox) as interpreter:
        while (error := interpreter.run("1").error) is None or error.type != "SessionExpired":
            pass  # a run that meets the end of its session is told of the time
        assert interpreter.run("1").ok


def test_names_that_cannot_be_had_again_elsewhere_are_said_to_be_gone(make) -> None:
    """The program has asked what there is, and elsewhere there is so much that the answer comes otherwise."""
    with Interpreter(make([get_number])) as interpreter:
        interpreter.run("print(tools)\nhasattr(tools, 'nothing')\nx = 1")
        interpreter.move(make([get_number, *(tool(name=f"get_{place}")(_described) for place in range(150))]))
        result = interpreter.run("x")
        assert result.error.type == "NameError"
        assert "the names of earlier programs are gone" in result.note
        assert interpreter.run("y = 2\nlen(tools) > 150").note is None


def _described(of: str) -> int:
    """A number that is found in some way which takes a good many words to be told, more than there are here in all."""
    return len(of)


def test_a_program_after_the_end_of_a_session_is_told(make) -> None:
    interpreter = Interpreter(make([]))
    assert interpreter.run("x = 1\nx").note is None
    interpreter.close()
    assert interpreter.run("2").note == "this is a new session; the names of earlier programs are gone"
    assert interpreter.run("3").note is None


def test_a_program_under_way_is_not_told_of_the_session_that_comes_after_it(make) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def wait() -> None:
        """Wait."""
        begun.set()
        go_on.wait(20)

    interpreter = Interpreter(make([tool(wait)]))
    told = []
    under_way = threading.Thread(target=lambda: told.append(interpreter.run("tools.wait()\n1").note))
    under_way.start()
    begun.wait(20)
    interpreter.close()
    go_on.set()
    under_way.join()
    assert told == [None]
    assert interpreter.run("2").note == "this is a new session; the names of earlier programs are gone"


def test_limits_are_named(make) -> None:
    with Interpreter(make([], timeout=0.2)) as interpreter:
        assert "timeout" in interpreter.run("while True: pass").observation()


def test_a_description_fits_every_provider() -> None:
    def made(place: int) -> object:
        return tool(name=f"get_something_of_the_number_{place}")(get_number.function)

    for number in (0, 1, 10, 500):
        interpreter = Interpreter(Sandbox([made(place) for place in range(number)], engine="restricted"))
        assert len(interpreter.description) <= 1_024
    assert "more" in interpreter.description
    assert "tools.get_something_of_the_number_0" in interpreter.description


WRONG = [
    ({"sandbox": 1}, TypeError, "sandbox=1: expected a codeact.Sandbox"),
    ({"outbox": 1, "task": "t"}, TypeError, "outbox=1: expected a codeact.outbox.Outbox"),
    ({"outbox": Outbox(":memory:", actions=[send])}, ValueError, "task=None: an outbox needs the task"),
    ({"keep": -1}, ValueError, "keep=-1: expected how many results are kept"),
]


@pytest.mark.parametrize(("given", "kind", "told"), WRONG, ids=["sandbox", "outbox", "task", "keep"])
def test_what_is_no_such_thing_is_refused_at_once(given, kind, told) -> None:
    with pytest.raises(kind, match=told):
        Interpreter(**{"sandbox": Sandbox(engine="restricted"), **given})


def test_a_prologue_is_run_once_and_again_in_a_fresh_world(make) -> None:
    asked: list[str] = []

    @tool
    def get_names(of: str) -> list[str]:
        """Names."""
        asked.append(of)
        return [of]

    with Interpreter(make([get_names], timeout=1.0)) as interpreter:
        interpreter.prepare("names = tools.get_names('a')")
        assert interpreter.run("names").value == ["a"]
        assert interpreter.run("names").value == ["a"]
        assert asked == ["a"]
        interpreter.close()
        assert interpreter.run("names").value == ["a"]
        assert asked == ["a", "a"]
        interpreter.prepare("names = tools.get_names('b')")
        assert interpreter.run("names").value == ["b"]
    assert len(interpreter.results) == 4


def test_a_prologue_comes_back_where_a_program_has_cost_the_world() -> None:
    with Interpreter(Sandbox([get_number], limits=Limits(timeout=0.5))) as interpreter:
        interpreter.prepare("number = tools.get_number('abc')")
        assert "world is lost" in interpreter.run("while True: pass").observation()
        assert interpreter.run("number").value == 3


def test_where_a_prologue_fails_the_program_is_told(make) -> None:
    with Interpreter(make([get_number])) as interpreter:
        interpreter.prepare("number = tools.get_numbr('abc')")
        assert "get_numbr" in interpreter.run("1").error.message
        interpreter.prepare("number = tools.get_number('abc')")
        assert interpreter.run("number").value == 3


def test_names_move_to_another_sandbox_and_no_tool_is_called_again(make) -> None:
    asked: list[int] = []

    @tool
    def count() -> int:
        """How often it was asked."""
        asked.append(1)
        return len(asked)

    with Interpreter(make([count])) as interpreter:
        interpreter.run("n = tools.count()\ndef twice():\n    return n * 2")
        interpreter.move(make([count, get_number]))
        assert interpreter.run("twice() + tools.get_number('abc')").value == 5
    assert asked == [1]


def test_it_says_whether_names_of_earlier_programs_are_there(make) -> None:
    with Interpreter(make(), keep=0) as interpreter:
        assert not interpreter.is_open
        interpreter.run("x = 1")
        assert interpreter.is_open
    assert not interpreter.is_open


def test_one_that_would_hold_the_loop_of_another_is_refused_and_does_not_wait(make) -> None:
    async def both() -> bool:
        begun, over = asyncio.Event(), asyncio.Event()

        async def wait() -> None:
            """It has begun, and goes on when it is told."""
            begun.set()
            await over.wait()

        with Interpreter(make([wait])) as interpreter:
            running = asyncio.create_task(interpreter.run_async("await tools.wait()"))
            await begun.wait()
            with pytest.raises(RuntimeError, match="run_async"):
                interpreter.run("1")
            over.set()
            return (await running).ok

    assert asyncio.run(both())
