"""The one door: deadlines, receipts, and what happens to calls when a run ends."""

from __future__ import annotations

import asyncio
import contextvars
import threading
import time
from collections.abc import Iterator
from decimal import Decimal, localcontext
from typing import Annotated, Any

import pytest
from pydantic import BeforeValidator, Field

from codeact import Limits, Sandbox, Tool, tool
from codeact.calls import Door
from codeact.engines import Answer, Refusal, Stop
from codeact.grant import Deadline
from codeact.portal import Portal, own_loop
from tests import tools
from tests.conftest import MakeSandbox, offer


@pytest.fixture
def release() -> Iterator[None]:
    tools.released.clear()
    yield
    tools.released.set()


@pytest.mark.usefixtures("release")
def test_a_tool_that_overruns_cannot_hold_the_run(make: MakeSandbox) -> None:
    sandbox = make([tools.stuck, tools.echo], timeout=0.5)
    began = time.monotonic()
    result = sandbox.run("tools.echo(1)\ntools.stuck()")
    assert time.monotonic() - began < 2.5
    assert result.error is not None
    assert result.error.kind == "timeout"
    assert "the tool stuck had not answered at the deadline" in result.error.message
    assert [call.state for call in result.calls] == ["ok", "unfinished"]
    assert sandbox.run("tools.echo(2)").value == 2


def test_a_program_that_overruns_is_terminated_and_says_so(make: MakeSandbox) -> None:
    error = make(timeout=0.3).run("while True:\n    pass").error
    assert error is not None
    assert "terminated" in error.message


def test_whoever_notices_the_deadline_names_the_tool_under_way() -> None:
    noticed: list[object] = []

    @tool
    def slow() -> int:
        """Outlive the deadline, and let somebody notice it meanwhile."""
        while (fault := door.interrupted()) is None:
            threading.Event().wait(0.01)
        noticed.append(fault.message)
        return 1

    door = Door(
        offer([slow], Limits(timeout=0.1)),
        Limits(timeout=0.1),
        Deadline(Limits(timeout=0.1)),
        Portal(own_loop),
    )
    door.call("slow", (), {})
    assert noticed == [
        "the tool slow had not answered at the deadline of 0.1 s (limit timeout); the run ended without it"
    ]


def _waits_forever(ended: threading.Event) -> Tool[[], Any]:
    @tool
    async def forever() -> int:
        """Waits, and says when it no longer does."""
        try:
            await asyncio.sleep(3600)
        finally:
            ended.set()
        return 1

    return forever


def test_an_async_tool_that_overruns_is_cancelled(make: MakeSandbox) -> None:
    ended = threading.Event()

    forever = _waits_forever(ended)

    result = make([forever], timeout=0.4).run("await tools.forever()")
    assert result.error is not None
    assert result.error.kind == "timeout"
    assert result.calls[0].state == "unfinished"
    assert ended.wait(5)


def test_a_tools_own_timeout_is_an_error_inside(make: MakeSandbox) -> None:
    result = make([tools.impatient]).run("try:\n    tools.impatient()\nexcept ToolError as e:\n    why = str(e)\nwhy")
    assert result.value == "impatient() did not answer within 0.1 s", result.observation()
    assert result.calls[0].state == "unfinished"


def test_call_timeout_is_for_every_tool(make: MakeSandbox) -> None:
    result = make([tools.stuck_async], call_timeout=0.1).run("await tools.stuck_async()")
    assert result.error is not None
    assert result.error.kind == "tool"
    assert "0.1 s" in result.error.message


def test_receipts(make: MakeSandbox) -> None:
    result = make(tools.ALL, calls=4).run(
        "tools.echo(1)\ntools.echo(1)\n"
        "try:\n    tools.echo()\nexcept TypeError:\n    pass\n"
        "tools.echo(value=1)\ntools.echo(2)"
    )
    assert [(call.seq, call.name, call.state) for call in result.calls] == [
        (1, "echo", "ok"),
        (2, "echo", "ok"),
        (3, "echo", "refused"),
        (4, "echo", "ok"),
    ]
    first, second, third, fourth = (call.digest for call in result.calls)
    assert first == second
    assert len({first, third, fourth}) == 3
    assert all(call.duration >= 0 for call in result.calls)
    assert result.usage.calls == 4
    assert result.error is not None
    assert result.error.kind == "calls"


def test_arguments_are_validated_and_converted(make: MakeSandbox) -> None:
    seen: list[object] = []

    @tool
    def take(number: int, names: list[str], *, status: tools.Status = tools.Status.PAID) -> None:
        """Remember what came."""
        seen.extend([number, names, status])

    assert make([take]).run("tools.take('5', names=['a'], status='refunded')").ok
    assert seen == [5, ["a"], tools.Status.REFUNDED]


def test_a_tool_gets_copies_and_gives_copies(make: MakeSandbox) -> None:
    held: list[list[int]] = [[1, 2]]

    @tool
    def rows() -> list[list[int]]:
        """The host's own list."""
        return held

    result = make([rows]).run("a = tools.rows()\na[0].append(3)\na.append(4)\ntools.rows()")
    assert result.value == [[1, 2]]
    assert held == [[1, 2]]


def test_no_call_outlives_its_run(make: MakeSandbox) -> None:
    called: list[int] = []

    @tool
    def count() -> int:
        """Count."""
        called.append(1)
        return len(called)

    result = make([count]).run(
        "def g():\n    try:\n        yield 1\n    finally:\n        tools.count()\n"
        "class D:\n    def __del__(self):\n        tools.count()\n"
        "keep, d = g(), D()\nnext(keep)"
    )
    assert result.ok or result.error is not None
    assert called == []
    assert result.calls == ()


def test_tools_run_in_the_callers_context(make: MakeSandbox) -> None:
    tenant: contextvars.ContextVar[str] = contextvars.ContextVar("tenant", default="nobody")

    def who() -> str:
        """The tenant of the call."""
        return tenant.get()

    async def later() -> str:
        """The tenant of the call."""
        return tenant.get()

    tenant.set("ada")
    granted = [who, tool(name="hurried", timeout=9.0)(who), later]
    assert make(granted).run("[tools.who(), tools.hurried(), await tools.later()]").value == ["ada"] * 3


def _explode(value: object) -> object:
    raise KeyError(value)


def test_tools_round_as_the_host_does_however_a_program_rounds(make: MakeSandbox) -> None:
    @tool
    def total(price: Annotated[Decimal, Field(multiple_of=Decimal("0.01"))], amount: Decimal) -> Decimal:
        """What so many cost."""
        return price * amount

    @tool
    async def later(price: Decimal, amount: Decimal) -> Decimal:
        """What so many cost."""
        return price * amount

    program = (
        "import decimal\ndecimal.getcontext().prec = 1\n"
        "now = tools.total('123.45', '1.0000000001')\nthen = await tools.later('123.45', '1.0000000001')\n[now, then, now * 1]"
    )
    with localcontext(prec=8):
        result = make([total, later]).run(program)
    assert result.value == [Decimal("123.45"), Decimal("123.45"), Decimal(100)]


def test_a_validator_that_fails_is_a_refused_call(make: MakeSandbox) -> None:
    @tool
    def take(number: Annotated[int, BeforeValidator(_explode)]) -> int:
        """Never gets so far."""
        return number

    result = make([take]).run("try:\n    tools.take(1)\nexcept TypeError as e:\n    why = str(e)\nwhy")
    assert result.value == "take(): KeyError: 1", result.observation()
    assert [call.state for call in result.calls] == ["refused"]


def test_arguments_that_cannot_even_be_shown_are_refused(make: MakeSandbox) -> None:
    error = make(tools.ALL).run("tools.get_charges(10 ** 5000)").error
    assert error is not None
    assert error.type == "TypeError"
    assert "a very large int" in error.message


def test_many_misfits_are_counted_not_listed(make: MakeSandbox) -> None:
    @tool
    def take(numbers: list[int]) -> int:
        """Add up."""
        return sum(numbers)

    error = make([take]).run("tools.take(['x'] * 20000)").error
    assert error is not None
    assert "20,000 values do not fit" in error.message


def test_calls_may_come_from_several_threads_at_once() -> None:
    together = threading.Barrier(3)

    @tool
    def meet(n: int) -> int:
        """Answer when three are here."""
        together.wait(20)
        return n

    door = Door(offer([meet], Limits()), Limits(), Deadline(Limits(timeout=60)), Portal(own_loop))
    replies: list[object] = []
    threads = [threading.Thread(target=lambda n=n: replies.append(door.call("meet", (n,), {}))) for n in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(reply.value for reply in replies if isinstance(reply, Answer)) == [0, 1, 2]
    assert [call.seq for call in sorted(door.calls, key=lambda call: call.seq)] == [1, 2, 3]


def test_a_door_that_is_shut_before_a_call_has_begun_still_cancels_it() -> None:
    ended = threading.Event()

    forever = _waits_forever(ended)

    class Slow(Portal):
        def begin(self, name: str, function: Any, promise: Any) -> None:
            super().begin(name, function, promise)
            self.wake()
            door.close()  # at the worst moment

    door = Door(offer([forever], Limits()), Limits(), Deadline(Limits(timeout=60)), Slow(own_loop))
    began = time.monotonic()
    assert isinstance(door.call("forever", (), {}), Stop)
    assert time.monotonic() - began < 10


def test_a_coroutine_that_would_end_the_loop_does_not() -> None:
    @tool
    async def leave() -> int:
        """Try to end the host."""
        raise SystemExit(3)

    sandbox = Sandbox([leave, tools.fetch])
    error = sandbox.run("await tools.leave()").error
    assert error is not None
    assert "SystemExit: 3" in error.message
    assert sandbox.run("await tools.fetch(2)").value == 4

    async def main() -> object:
        failed = await sandbox.run_async("await tools.leave()")
        return failed.error.kind if failed.error else None

    assert asyncio.run(main()) == "tool"


class Unspeakable(Exception):
    def __str__(self) -> str:
        raise SystemExit


def test_an_exception_that_cannot_be_shown_is_still_a_failed_call(make: MakeSandbox) -> None:
    @tool
    def fail() -> int:
        """Fail without words."""
        raise Unspeakable

    result = make([fail]).run("tools.fail()")
    assert result.error is not None
    assert result.error.message == "fail() failed: Unspeakable"
    assert result.calls[0].state == "failed"


def test_a_tools_own_timeout_error_keeps_its_words(make: MakeSandbox) -> None:
    @tool
    def slow() -> int:
        """Fail like a database."""
        msg = "the database took 3 s"
        raise TimeoutError(msg)

    error = make([slow]).run("tools.slow()").error
    assert error is not None
    assert error.message == "slow() failed: TimeoutError: the database took 3 s"


def test_a_parameter_may_be_called_self(make: MakeSandbox) -> None:
    assert make({"give": _give_self}).run("tools.give(self=3)").value == 3


def _give_self(self: int) -> int:
    return self


def test_a_name_of_any_length_is_refused_cheaply(make: MakeSandbox) -> None:
    result = make([tools.echo]).run(
        "try:\n    tools['x' * 100_000]\nexcept KeyError as e:\n    size = len(str(e))\nsize"
    )
    assert isinstance(result.value, int)
    assert result.value < 500
    door = Door(offer([tools.echo], Limits()), Limits(), Deadline(Limits(timeout=60)), Portal(own_loop))
    reply = door.call("x" * 5_000_000, (), {})
    assert isinstance(reply, Refusal)
    assert len(reply.message) < 500
    assert len(door.calls[0].name) < 100


def test_system_exit_in_a_tool_is_a_failed_call(make: MakeSandbox) -> None:
    @tool
    def leave() -> None:
        """Tries to end the host."""
        raise SystemExit(3)

    error = make([leave]).run("tools.leave()").error
    assert error is not None
    assert error.kind == "tool"
    assert "SystemExit: 3" in error.message


def test_run_async_uses_the_callers_loop(engine: str) -> None:
    async def main() -> None:
        loop = asyncio.get_running_loop()

        @tool
        async def here() -> bool:
            """Whether this is the caller's loop."""
            return asyncio.get_running_loop() is loop

        sandbox = Sandbox([here], engine=engine)
        results = await asyncio.gather(*(sandbox.run_async("await tools.here()") for _ in range(5)))
        assert [result.value for result in results] == [True] * 5

    asyncio.run(main())


def test_run_async_keeps_the_loop_free(engine: str) -> None:
    async def main() -> int:
        ticks = 0

        async def tick() -> None:
            nonlocal ticks
            while True:
                ticks += 1
                await asyncio.sleep(0.01)

        ticking = asyncio.create_task(tick())
        await Sandbox(engine=engine, limits=Limits(timeout=0.5)).run_async("while True:\n    pass")
        ticking.cancel()
        return ticks

    assert asyncio.run(main()) > 5


def test_cancelling_run_async_stops_the_guest(engine: str) -> None:
    async def main() -> None:
        sandbox = Sandbox([tools.stuck_async], engine=engine, limits=Limits(timeout=60))
        running = asyncio.create_task(sandbox.run_async("await tools.stuck_async()"))
        await asyncio.sleep(0.2)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running

    began = time.monotonic()
    asyncio.run(main())
    assert time.monotonic() - began < 5


def test_run_inside_a_loop_says_what_to_use(sandbox: Sandbox) -> None:
    async def main() -> None:
        sandbox.run("1")

    with pytest.raises(RuntimeError, match="await run_async in place of run"):
        asyncio.run(main())


def test_many_threads_share_a_sandbox(make: MakeSandbox) -> None:
    sandbox = make([tools.echo])
    results: dict[int, object] = {}

    def one(n: int) -> None:
        results[n] = sandbox.run(f"tools.echo({n}) * 2").value

    threads = [threading.Thread(target=one, args=(n,)) for n in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {n: n * 2 for n in range(12)}


def _door(*granted: Any, seconds: float = 60.0, **limits: Any) -> Door:
    return Door(offer(granted, Limits(**limits)), Limits(**limits), Deadline(Limits(timeout=seconds)), Portal(own_loop))


def test_a_submitted_call_is_answered_by_its_ticket() -> None:
    door = _door(tools.fetch)
    tickets = [door.submit("fetch", (n,), {}) for n in range(3)]
    assert all(isinstance(ticket, int) for ticket in tickets)
    answers: dict[int, object] = {}
    while len(answers) < 3:
        came = door.wait(None)
        assert not isinstance(came, Stop)
        answers |= dict(came)
    assert answers == {ticket: Answer(2 * n) for n, ticket in enumerate(tickets)}
    assert [call.state for call in door.calls] == ["ok"] * 3
    assert 0 < door.busy < 60


@pytest.mark.parametrize("seconds", [None, 0.0, -1.0, -1e300, float("nan"), float("-inf")])
def test_waiting_for_nothing_is_over_at_once(seconds: float | None) -> None:
    assert _door().wait(seconds) == ()


def test_what_needs_no_waiting_is_answered_at_once() -> None:
    door = _door(tools.echo, tools.fetch)
    assert door.submit("echo", (1,), {}) == Answer(1)
    assert isinstance(door.submit("nope", (), {}), Refusal)
    assert isinstance(door.submit("fetch", ("x",), {}), Refusal)
    assert door.wait(None) == ()
    assert [call.state for call in door.calls] == ["ok", "refused", "refused"]


def test_no_more_calls_are_under_way_than_may_be() -> None:
    door = _door(tools.stuck_async, concurrency=2)
    first, _, third = (door.submit("stuck_async", (), {}) for _ in range(3))
    assert third == Refusal("ToolError", "2 calls are under way already (limit concurrency)")
    assert isinstance(first, int)
    door.cancel(first)
    assert isinstance(door.submit("stuck_async", (), {}), int)
    door.close()
    assert [call.state for call in door.calls] == ["unfinished", "unfinished", "refused", "unfinished"]


@pytest.mark.parametrize("ticket", [-1, 0, 2, 10**30, None, "x", 1.0])
def test_giving_up_what_is_not_under_way_is_harmless(ticket: Any) -> None:
    door = _door(tools.echo)
    door.call("echo", (1,), {})
    door.cancel(ticket)
    assert [call.state for call in door.calls] == ["ok"]


@pytest.mark.parametrize("how", ["close", "expire"])
def test_shutting_the_door_wakes_who_waits(how: str) -> None:
    ended = threading.Event()
    forever = _waits_forever(ended)
    door = _door(forever)
    ticket = door.submit("forever", (), {})
    assert isinstance(ticket, int)
    came: list[object] = []
    waiting = threading.Thread(target=lambda: came.append(door.wait(None)))
    waiting.start()
    assert door.expire() is False if how == "expire" else door.close() is None
    waiting.join(10)
    assert isinstance(came[0], Stop)
    assert isinstance(door.wait(None), Stop)
    assert isinstance(door.submit("forever", (), {}), Stop)
    door.cancel(ticket)
    assert [call.state for call in door.calls] == ["unfinished"]


def test_waiting_ends_at_the_deadline() -> None:
    door = _door(tools.stuck_async, seconds=0.2, timeout=0.2)
    door.submit("stuck_async", (), {})
    began = time.monotonic()
    stop = door.wait(3600.0)
    assert time.monotonic() - began < 10
    assert isinstance(stop, Stop)
    assert stop.fault.message.startswith("the tool stuck_async had not answered at the deadline of 0.2 s")
    door.close()


def test_a_call_that_nobody_asks_for_is_on_record_as_what_it_came_to() -> None:
    done = threading.Event()

    @tool
    async def fail() -> int:
        """Fail."""
        asyncio.get_running_loop().call_later(0.01, done.set)  # by then the failure is known
        raise ValueError

    door = _door(fail, tools.stuck_async)
    door.submit("stuck_async", (), {})
    door.submit("fail", (), {})
    door.wait(0.0)
    assert done.wait(10)
    door.close()
    assert [call.state for call in door.calls] == ["unfinished", "failed"]


def test_a_loop_that_is_closed_is_a_failed_call() -> None:
    loop = asyncio.new_event_loop()
    loop.close()
    door = Door(offer([tools.fetch], Limits()), Limits(), Deadline(Limits(timeout=60)), Portal(lambda: loop))
    ticket = door.submit("fetch", (1,), {})
    came = door.wait(None)
    assert not isinstance(came, Stop)
    assert came == ((ticket, Refusal("ToolError", "fetch(1) failed: RuntimeError: Event loop is closed")),)
    reply = door.call("fetch", (1,), {})
    assert isinstance(reply, Refusal)
    assert "Event loop is closed" in reply.message


def test_a_tool_may_run_programs_itself(make: MakeSandbox) -> None:
    @tool
    def again(depth: int) -> object:
        """Run a program that calls this tool."""
        return sandbox.run(f"tools.again({depth - 1})" if depth else "'the end'").value

    sandbox = make([again])
    result = sandbox.run("tools.again(4)")
    assert result.value == "the end", result.observation()
    assert [call.state for call in result.calls] == ["ok"]


def test_a_tool_cannot_enter_the_world_that_waits_for_it(make: MakeSandbox) -> None:
    @tool
    def same() -> object:
        """Run a program in the session that calls."""
        return session.run("1").value

    with make([same]).session() as session:
        error = session.run("x = 1\ntools.same()").error
        assert error is not None
        assert "this session runs another program just now" in error.message
        assert session.run("x + 1").value == 2
