"""Calls that are under way together: how they begin and end, and that none outlives its run."""

from __future__ import annotations

import asyncio
import threading
import time
from typing import Any

import pytest

from codeact import Limits, Sandbox, tool
from tests.afar import TOOLS, double
from tests.conftest import MakeSandbox


def meeting(number: int) -> Any:
    """A tool whose calls answer when so many of them are under way together, and never before."""
    here: list[int] = []
    all_here = asyncio.Event()

    @tool
    async def meet(n: int) -> int:
        """Answer when all are here."""
        here.append(n)
        if len(here) == number:
            all_here.set()
        await all_here.wait()
        return n

    return meet


@pytest.mark.parametrize("how", ["run", "run_async"])
def test_calls_are_under_way_together(make: MakeSandbox, how: str) -> None:
    program = "import asyncio\nawait asyncio.gather(*[tools.meet(n) for n in range(20)])"
    sandbox = make([meeting(20)])
    result = sandbox.run(program) if how == "run" else asyncio.run(sandbox.run_async(program))
    assert result.value == list(range(20)), result.observation()
    assert [call.state for call in result.calls] == ["ok"] * 20
    assert result.usage.guest < result.usage.wall


def test_they_are_together_however_they_are_started(make: MakeSandbox) -> None:
    for program in (
        "ts = [asyncio.create_task(tools.meet(n)) for n in range(4)]\n[await t for t in ts]",
        "async with asyncio.TaskGroup() as g:\n    ts = [g.create_task(tools.meet(n)) for n in range(4)]\n[t.result() for t in ts]",
        "sorted([await c for c in asyncio.as_completed([tools.meet(n) for n in range(4)])])",
        "async def f(n):\n    return await tools.meet(n)\nasync def main():\n    return await asyncio.gather(*map(f, range(4)))\nasyncio.run(main())",
    ):
        result = make([meeting(4)]).run("import asyncio\n" + program)
        assert result.value == [0, 1, 2, 3], result.observation()


def test_calls_leave_while_the_program_sleeps(make: MakeSandbox) -> None:
    waiting = Waiting()
    program = (
        "import asyncio, time\nt = asyncio.create_task(tools.forever())\nawait asyncio.sleep(0)\n"
        "while not tools.begun():\n    time.sleep(0.001)\n1"
    )
    assert make([waiting.tool, waiting.look]).run(program).value == 1


def test_more_than_may_be_under_way_wait_for_their_turn(make: MakeSandbox) -> None:
    now = most = 0

    @tool
    async def work(n: int) -> int:
        """Count how many are at work."""
        nonlocal now, most
        now += 1
        most = max(most, now)
        await asyncio.sleep(0.01)
        now -= 1
        return n

    result = make([work], concurrency=3).run(
        "import asyncio\nawait asyncio.gather(*[tools.work(n) for n in range(10)])"
    )
    assert result.value == list(range(10)), result.observation()
    assert most == 3
    assert [call.seq for call in result.calls] == list(range(1, 11))


def test_answers_that_are_large_together_cross_one_after_the_other(make: MakeSandbox) -> None:
    @tool
    async def text(size: int) -> str:
        """Much text."""
        return "x" * size

    program = "import asyncio\n[len(t) for t in await asyncio.gather(*[tools.text(400_000) for _ in range(9)])]"
    assert make([text]).run(program).value == [400_000] * 9
    program = "import asyncio\n[len(t) for t in await asyncio.gather(*[tools.echo('x' * 60_000) for _ in range(9)])]"

    @tool
    async def echo(value: str) -> str:
        """The same."""
        return value

    assert make([echo]).run(program).value == [60_000] * 9


def test_receipts_of_siblings(make: MakeSandbox) -> None:
    program = (
        "import asyncio\nr = await asyncio.gather(tools.double(1), tools.fail(2), tools.double('x'), tools.nope(1)"
        " if 'nope' in tools else tools.double(4), return_exceptions=True)\n[type(x).__name__ for x in r]"
    )
    result = make(TOOLS).run(program)
    assert result.value == ["int", "ToolError", "TypeError", "int"]
    assert [(call.name, call.state) for call in result.calls] == [
        ("double", "ok"),
        ("fail", "failed"),
        ("double", "refused"),
        ("double", "ok"),
    ]


class Waiting:
    """A tool that waits for ever, and what is known of its calls."""

    def __init__(self) -> None:
        self.begun = 0
        self._begun = threading.Semaphore(0)
        self._cancelled = threading.Semaphore(0)

        @tool
        async def forever(n: int = 0) -> int:
            """Never answer."""
            self.begun += 1
            self._begun.release()
            try:
                await asyncio.sleep(3600)
            except asyncio.CancelledError:
                self._cancelled.release()
                raise
            return n

        @tool
        def begun() -> int:
            """How many calls are under way."""
            return self.begun

        self.tool = forever
        self.look = begun

    def all_begun(self, number: int) -> bool:
        """Whether so many calls are under way, at last."""
        return all(self._begun.acquire(timeout=10) for _ in range(number))

    def ended(self, number: int) -> bool:
        """Whether so many calls have met their cancellation, at last."""
        return all(self._cancelled.acquire(timeout=10) for _ in range(number))


def test_a_program_that_ends_ends_its_calls(make: MakeSandbox) -> None:
    waiting = Waiting()
    result = make([waiting.tool, waiting.look]).run(
        "import asyncio\nts = [asyncio.create_task(tools.forever(n)) for n in range(3)]\n"
        "while tools.begun() < 3:\n    await asyncio.sleep(0.001)\n1"
    )
    assert result.value == 1
    assert waiting.ended(3)
    assert [call.state for call in result.calls if call.name == "forever"] == ["unfinished"] * 3


def test_a_task_that_is_cancelled_cancels_its_call(make: MakeSandbox) -> None:
    waiting = Waiting()

    @tool
    async def look() -> bool:
        """Whether the other call has ended."""
        return await asyncio.to_thread(waiting.ended, 1)

    result = make([waiting.tool, waiting.look, look]).run(
        "import asyncio\nt = asyncio.create_task(tools.forever())\nwhile not tools.begun():\n    await asyncio.sleep(0.001)\n"
        "t.cancel()\nawait tools.look()"
    )
    assert result.value is True
    assert {(call.name, call.state) for call in result.calls} == {
        ("forever", "unfinished"),
        ("begun", "ok"),
        ("look", "ok"),
    }


def _looking(waiting: Waiting, number: int) -> Any:
    @tool
    async def look() -> bool:
        """Whether so many other calls have ended."""
        return await asyncio.to_thread(waiting.ended, number)

    return look


def test_calls_that_are_gathered_need_no_tasks_of_their_own(make: MakeSandbox) -> None:
    program = (
        "import asyncio\ng = asyncio.gather(*[tools.double(n) for n in range(3)])\nawait asyncio.sleep(0)\n"
        "tasks = len(asyncio.all_tasks())\ntasks, await g"
    )
    assert make(TOOLS).run(program).value == (2, [0, 2, 4])


def test_what_is_gathered_is_made_once(make: MakeSandbox) -> None:
    sandbox = make(TOOLS)
    result = sandbox.run("import asyncio\nc = tools.double(1)\nawait asyncio.gather(c, c, tools.double(2))")
    assert result.value == [2, 2, 4]
    assert len(result.calls) == 2
    error = sandbox.run("import asyncio\nc = tools.double(1)\nawait c\nawait asyncio.gather(c, tools.double(2))").error
    assert error is not None
    assert error.line == 4
    assert "was awaited already" in error.message


def test_the_first_error_of_what_is_gathered_leaves_the_others(make: MakeSandbox) -> None:
    waiting = Waiting()
    result = make([*TOOLS, waiting.tool, waiting.look, _looking(waiting, 1)]).run(
        "import asyncio\nasync def main():\n    try:\n        await asyncio.gather(tools.forever(), tools.fail(1), tools.double(2))\n"
        "    except Exception as error:\n        return type(error).__name__, tools.begun()\n"
        "[asyncio.run(main()), await tools.look()]"
    )
    assert result.value == [("ToolError", 1), True], "the loop that waited has gone, and its calls with it"
    assert {call.name: call.state for call in result.calls}["forever"] == "unfinished"


def test_cancelling_what_is_gathered_cancels_its_calls(make: MakeSandbox) -> None:
    waiting = Waiting()
    result = make([waiting.tool, waiting.look, _looking(waiting, 2)]).run(
        "import asyncio\ng = asyncio.gather(tools.forever(1), tools.forever(2), return_exceptions=True)\n"
        "while tools.begun() < 2:\n    await asyncio.sleep(0.001)\ng.cancel()\nended = await tools.look()\n"
        "try:\n    await g\nexcept asyncio.CancelledError:\n    ended = ended, 'cancelled'\nended"
    )
    assert result.value == (True, "cancelled"), result.observation()


def test_a_wait_that_is_over_cancels_its_call(make: MakeSandbox) -> None:
    waiting = Waiting()
    result = make([waiting.tool]).run(
        "import asyncio\ntry:\n    await asyncio.wait_for(tools.forever(), 0.05)\nexcept TimeoutError:\n    r = 'late'\nr"
    )
    assert result.value == "late"
    assert waiting.ended(1)
    assert [call.state for call in result.calls] == ["unfinished"]


def test_cancelling_the_run_cancels_its_calls(engine: str) -> None:
    waiting = Waiting()

    async def main() -> int:
        sandbox = Sandbox([waiting.tool], engine=engine, limits=Limits(timeout=60))
        running = asyncio.create_task(
            sandbox.run_async("import asyncio\nawait asyncio.gather(*[tools.forever(n) for n in range(5)])")
        )
        await asyncio.to_thread(waiting.all_begun, 5)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        return len(asyncio.all_tasks())

    began = time.monotonic()
    assert asyncio.run(main()) == 1, "whoever has cancelled a run finds none of its calls"
    assert time.monotonic() - began < 20
    assert waiting.ended(5)


def test_a_tool_may_clean_up_before_its_run_is_over(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("codeact.execution.GRACE", 10.0)  # a loaded machine takes its time
    seen: list[str] = []

    @tool
    async def careful() -> int:
        """Never answer, and tidy up."""
        seen.append("begun")
        try:
            await asyncio.sleep(3600)
        finally:
            await asyncio.sleep(0.01)
            seen[:] = ["clean"]
        return 1

    @tool
    def begun() -> bool:
        """Whether the other call is under way."""
        return seen == ["begun"]

    program = "import asyncio\nt = asyncio.create_task(tools.careful())\nwhile not tools.begun():\n    await asyncio.sleep(0.001)\n1"
    sandbox = Sandbox([careful, begun], engine=engine, limits=Limits(timeout=20))
    assert sandbox.run(program).value == 1
    assert seen == ["clean"]
    seen.clear()
    assert asyncio.run(sandbox.run_async(program)).value == 1
    assert seen == ["clean"]


def test_a_tool_that_will_not_be_cancelled_holds_nobody(make: MakeSandbox, caplog: pytest.LogCaptureFixture) -> None:
    release = threading.Event()

    at_it = threading.Event()

    @tool
    def begun() -> bool:
        """Whether it is at it."""
        return at_it.is_set()

    @tool
    async def stubborn() -> int:
        """Go on whatever happens."""
        at_it.set()
        while not release.is_set():
            try:
                await asyncio.sleep(0.01)
            except asyncio.CancelledError:
                continue
        return 1

    program = "import asyncio\nt = asyncio.create_task(tools.stubborn())\nwhile not tools.begun():\n    await asyncio.sleep(0.001)\n1"
    sandbox = make([stubborn, begun, double])
    try:
        result = sandbox.run(program)
        assert result.value == 1
        assert "unfinished" in [call.state for call in result.calls]
        assert "stubborn was cancelled and goes on" in caplog.text
        assert sandbox.run("await tools.double(2)").value == 4
    finally:
        release.set()


def test_the_deadline_ends_what_is_under_way(make: MakeSandbox) -> None:
    waiting = Waiting()
    began = time.monotonic()
    result = make([waiting.tool], timeout=0.5).run(
        "import asyncio\n\nawait asyncio.gather(*[tools.forever(n) for n in range(3)])"
    )
    assert time.monotonic() - began < 5
    assert result.error is not None
    assert result.error.kind == "timeout"
    assert result.error.message.startswith("3 calls of forever had not answered at the deadline of 0.5 s")
    assert result.error.line == 3
    assert [call.state for call in result.calls] == ["unfinished"] * 3
    assert waiting.ended(3)


def test_the_deadline_ends_a_program_that_goes_on_beside_a_call(make: MakeSandbox) -> None:
    waiting = Waiting()
    result = make([waiting.tool], timeout=0.5).run(
        "import asyncio\nt = asyncio.create_task(tools.forever())\nawait asyncio.sleep(0)\nwhile True:\n    await asyncio.sleep(0)"
    )
    assert result.error is not None
    assert result.error.kind == "timeout"
    assert "the program was terminated" in result.error.message
    assert waiting.ended(1)


@pytest.mark.parametrize(
    "program",
    [
        "import asyncio\nawait asyncio.sleep(3600)",
        "import asyncio\nawait asyncio.sleep(float('inf'))",
        "import asyncio\nasyncio.run(asyncio.sleep(3600))",
        "import time\ntime.sleep(3600)",
        "import asyncio\nwhile True:\n    await asyncio.sleep(0)",
        "import asyncio\nwhile True:\n    try:\n        await asyncio.sleep(3600)\n    except BaseException:\n        pass",
        "import asyncio\nasync def f():\n    while True:\n        try:\n            await asyncio.sleep(0.001)\n"
        "        except BaseException:\n            pass\nt = asyncio.create_task(f())\nawait asyncio.sleep(0.01)",
        "import asyncio\nasync def f():\n    try:\n        await asyncio.sleep(3600)\n    finally:\n        while True:\n            pass\n"
        "await asyncio.gather(f(), f(), return_exceptions=True)",
        "import asyncio\nloop = asyncio.get_running_loop()\ndef again():\n    loop.call_soon(again)\nagain()\nawait asyncio.sleep(3600)",
        "import asyncio\nasync def f():\n    await asyncio.gather(f(), f())\nawait f()",
        "async def f():\n    while True:\n        yield 1\nasync for x in f():\n    pass",
    ],
)
def test_nothing_waits_past_the_deadline(make: MakeSandbox, program: str) -> None:
    sandbox = make(TOOLS, timeout=0.5)
    began = time.monotonic()
    result = sandbox.run(program)
    assert time.monotonic() - began < 10
    assert result.error is not None
    assert result.error.kind in {"timeout", "memory"}, result.observation()


def test_a_calls_own_time(make: MakeSandbox) -> None:
    waiting = Waiting()
    program = "import asyncio\nr = await asyncio.gather(tools.forever(), return_exceptions=True)\nstr(r[0])"
    result = make([waiting.tool], call_timeout=0.1).run(program)
    assert result.value == "forever() did not answer within 0.1 s (limit call_timeout)", result.observation()
    assert [call.state for call in result.calls] == ["unfinished"]
    assert waiting.ended(1)


def test_a_tools_own_timeout(make: MakeSandbox) -> None:
    @tool(timeout=0.05)
    async def hasty() -> int:
        """Has no time."""
        await asyncio.sleep(3600)
        return 1

    program = "import asyncio\nr = await asyncio.gather(tools.hasty(), tools.double(1), return_exceptions=True)\n[str(r[0]), r[1]]"
    result = make([hasty, double]).run(program)
    assert result.value == ["hasty() did not answer within 0.05 s", 2], result.observation()
    assert [call.state for call in result.calls] == ["unfinished", "ok"]


def test_every_call_counts(make: MakeSandbox) -> None:
    result = make(TOOLS, calls=5).run(
        "import asyncio\nx = 1\nawait asyncio.gather(*[tools.double(n) for n in range(9)])"
    )
    assert result.error is not None
    assert result.error.kind == "calls"
    assert result.error.line == 3
    assert len(result.calls) == 5


def test_an_async_tool_that_blocks_holds_no_run(make: MakeSandbox) -> None:
    @tool
    async def blocks() -> int:
        """Hold the loop."""
        time.sleep(1)  # noqa: ASYNC251 - that is what it is for
        return 1

    began = time.monotonic()
    result = make([blocks], timeout=0.3).run("import asyncio\nawait asyncio.gather(tools.blocks(), tools.blocks())")
    assert time.monotonic() - began < 10
    assert result.error is not None
    assert result.error.kind == "timeout"


@pytest.mark.parametrize(
    "how",
    ["raise SystemExit(3)", "raise KeyboardInterrupt", "raise asyncio.CancelledError", "raise BaseException('b')"],
)
def test_what_no_coroutine_should_raise(make: MakeSandbox, how: str) -> None:
    scope: dict[str, Any] = {"asyncio": asyncio}
    exec(f"async def rude() -> int:\n    'Be rude.'\n    {how}", scope)
    result = make([scope["rude"], double]).run(
        "import asyncio\nr = await asyncio.gather(tools.rude(), tools.double(1), return_exceptions=True)\n[type(r[0]).__name__, r[1]]"
    )
    assert result.value == ["ToolError", 2], result.observation()
    assert [call.state for call in result.calls] == ["failed", "ok"]


def test_a_sync_tool_finds_no_loop_of_ours(make: MakeSandbox) -> None:
    @tool
    def nested(n: int) -> int:
        """Run a loop of its own, as wrappers of async clients do."""
        return asyncio.run(double.function(n))

    program = "import asyncio\nasync def f():\n    return tools.nested(2), await tools.double(1)\nawait asyncio.gather(f(), f())"
    assert make([nested, double]).run(program).value == [(4, 2), (4, 2)]


def test_many_runs_at_once(engine: str) -> None:
    async def main() -> list[object]:
        sandbox = Sandbox(TOOLS, engine=engine, limits=Limits(timeout=30))
        program = "import asyncio\nsum(await asyncio.gather(*[tools.double(n) for n in range({})]))"
        return [
            result.value for result in await asyncio.gather(*[sandbox.run_async(program.format(n)) for n in range(8)])
        ]

    assert asyncio.run(main()) == [n * (n - 1) for n in range(8)]
