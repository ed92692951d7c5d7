"""Runs that wait for a worker."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from types import SimpleNamespace
from typing import cast

import pytest

from codeact import Limits, Result, Sandbox, tool
from codeact.engines import Doors, Fault, workerpool
from codeact.engines.workerpool import Lease
from tests.workers.scene import ROOMY, Gate, made, pool_of, until


def test_a_run_that_is_cancelled_gives_its_worker_back(gate: Gate) -> None:
    async def cancel(sandbox: Sandbox) -> Result:
        run = asyncio.ensure_future(sandbox.run_async("tools.begun()\nwhile True:\n    pass"))
        await asyncio.to_thread(gate.wait)
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run
        return await sandbox.run_async("1 + 1")

    with made(gate.tools) as sandbox:
        assert asyncio.run(cancel(sandbox)).value == 2


def test_what_waits_is_bounded(gate: Gate, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workerpool, "WAITING", 2)
    with made(gate.tools) as sandbox, ThreadPoolExecutor(3) as pool:
        first = pool.submit(sandbox.run, "tools.hold()")
        gate.wait()
        others = [pool.submit(sandbox.run, "6 * 7") for _ in range(2)]
        until(lambda: len(pool_of(sandbox)._waiters) == 2)
        refused = sandbox.run("1")
        gate.opened.set()
        assert [first.result().value, *(other.result().value for other in others)] == [1, 42, 42]
    assert refused.error is not None
    assert (refused.error.kind, refused.error.type) == ("host", "WorkersBusy")
    assert "2 runs wait already (workers=1)" in refused.error.message
    assert refused.error.hint == "nothing was run; run it again later"


def test_what_waits_too_long_is_told_so_and_has_not_run(gate: Gate) -> None:
    with made(gate.tools) as sandbox:
        assert sandbox.run("1").ok
        short = Sandbox(gate.tools, engine=sandbox._grant.engine, limits=Limits(timeout=0.3))
        session = short.session()
        session.run("kept = 1")
        with ThreadPoolExecutor(1) as pool:
            first = pool.submit(sandbox.run, "tools.hold()")
            gate.wait()
            refused = session.run("kept = 2")
            gate.opened.set()
            assert first.result().ok
        assert refused.error is not None
        assert refused.error.message == "no worker was free for 0.3 s (workers=1)"
        assert len(session.history) == 1
        assert session.run("kept").value == 1
        session.close()


def test_waiting_is_none_of_the_programs_time(gate: Gate) -> None:
    with made(gate.tools, timeout=1.5) as sandbox, ThreadPoolExecutor(2) as pool:
        assert sandbox.run("1").ok
        spin = "import time\nend = time.monotonic() + 0.9\nwhile time.monotonic() < end:\n    pass\ntools.begun()"
        runs = [pool.submit(sandbox.run, spin) for _ in range(2)]
        results = [run.result() for run in runs]
    assert [result.value for result in results] == [1, 1]
    assert max(result.usage.wall for result in results) < 1.5


def test_runs_inside_runs_never_wait_for_each_other() -> None:
    @tool
    def again(depth: int) -> object:
        """Run a program that calls this tool."""
        result = sandbox.run(f"tools.again({depth - 1})" if depth else "'the end'")
        return result.value if result.ok else result.observation()

    with made([again], workers=2) as sandbox:
        assert sandbox.run("tools.again(0)").value == "the end"
        told = str(sandbox.run("tools.again(2)").value)
        assert "hold the workers that it needs (workers=2)" in told
        assert "nothing was run; call such tools from one program, and not from those that they run" in told


def test_a_session_does_not_outlive_its_lifetime_while_it_waits(gate: Gate) -> None:
    with made(gate.tools) as sandbox, ThreadPoolExecutor(1) as pool:
        assert sandbox.run("1").ok
        short = Sandbox(gate.tools, engine=sandbox._grant.engine, limits=Limits(timeout=ROOMY, session_lifetime=1.0))
        session = short.session()
        assert session.run("kept = 1").ok
        first = pool.submit(sandbox.run, "tools.hold()")
        gate.wait()
        began = time.monotonic()
        late = session.run("kept = 2")
        assert time.monotonic() - began < ROOMY / 2
        assert not first.done()
        assert late.error is not None
        assert late.error.kind == "timeout"
        assert late.error.message == (
            "the program's turn did not come within the 1 s that its session may live (limit session_lifetime)"
        )
        assert late.error.hint == "this session is over; nothing was run; begin again in a new one"
        assert late.note == "the session is over, with the name kept"
        gate.opened.set()
        assert first.result().ok


def doors(interrupted: Callable[[], Fault | None]) -> Doors:
    """Doors of a run that only waits."""
    return cast("Doors", SimpleNamespace(interrupted=interrupted, waiting=nullcontext))


def test_a_lifetime_that_ends_just_as_a_worker_is_free_runs_nothing(gate: Gate) -> None:
    over = Fault("timeout", "TimeoutError", "it is over")
    with made(gate.tools) as sandbox, ThreadPoolExecutor(2) as pool:
        first = pool.submit(sandbox.run, "tools.hold()")
        gate.wait()
        waits = pool.submit(pool_of(sandbox).lease, None, ROOMY, doors(lambda: over if gate.opened.is_set() else None))
        until(lambda: pool_of(sandbox)._waiters)
        gate.opened.set()
        assert waits.result() is over
        assert first.result().ok
        assert sandbox.run("1 + 1").value == 2, "the worker was given back"


def test_who_stops_waiting_is_told_why_and_no_more() -> None:
    over = Fault("timeout", "TimeoutError", "it is over")
    with made() as sandbox:
        assert sandbox.run("1").ok
        pool = pool_of(sandbox)
        held = pool.lease(None, 1, doors(lambda: None))
        assert isinstance(held, Lease)
        assert pool.lease(None, ROOMY, doors(lambda: over)) is over
        held.end()
        assert not pool._waiters


def test_a_run_that_is_cancelled_while_it_waits_leaves_its_place(gate: Gate) -> None:
    async def cancel(sandbox: Sandbox) -> Result:
        first = asyncio.ensure_future(sandbox.run_async("tools.hold()"))
        await asyncio.to_thread(gate.wait)
        second = asyncio.ensure_future(sandbox.run_async("1"))
        await asyncio.to_thread(until, lambda: pool_of(sandbox)._waiters)
        second.cancel()
        with pytest.raises(asyncio.CancelledError):
            await second
        await asyncio.to_thread(until, lambda: not pool_of(sandbox)._waiters)
        gate.opened.set()
        return await first

    with made(gate.tools) as sandbox:
        assert asyncio.run(cancel(sandbox)).value == 1
        assert sandbox.run("1 + 1").value == 2


def test_an_interrupt_while_it_waits_reaches_the_caller_and_leaves_its_place(gate: Gate) -> None:
    def interrupt() -> None:
        until(lambda: pool_of(sandbox)._waiters)
        os.kill(os.getpid(), signal.SIGINT)

    with made(gate.tools) as sandbox, ThreadPoolExecutor(2) as pool:
        first = pool.submit(sandbox.run, "tools.hold()")
        gate.wait()
        pool.submit(interrupt)
        with pytest.raises(KeyboardInterrupt):
            sandbox.run("1")
        until(lambda: not pool_of(sandbox)._waiters)
        gate.opened.set()
        assert first.result().ok
        assert sandbox.run("1 + 1").value == 2


def test_who_waits_when_the_sandbox_is_closed_is_told_so(gate: Gate) -> None:
    with made(gate.tools) as sandbox, ThreadPoolExecutor(2) as pool:
        pool.submit(sandbox.run, "tools.hold()")
        gate.wait()
        waits = pool.submit(sandbox.run, "1")
        until(lambda: pool_of(sandbox)._waiters)
        sandbox.close()
        gate.opened.set()
        error = waits.result().error
    assert error is not None
    assert error.type == "WorkersClosed"
    assert error.hint == "nothing was run, and nothing more will be: stop here"


def test_many_async_runs_share_the_workers() -> None:
    @tool
    async def double(number: int) -> int:
        """Twice as much."""
        await asyncio.sleep(0)
        return 2 * number

    async def all_of_them(sandbox: Sandbox) -> list[object]:
        results = await asyncio.gather(*(sandbox.run_async(f"await tools.double({number})") for number in range(20)))
        return [result.value for result in results]

    with made([double], workers=2) as sandbox:
        assert asyncio.run(all_of_them(sandbox)) == [2 * number for number in range(20)]
