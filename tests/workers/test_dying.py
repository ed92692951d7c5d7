"""Workers that die, and that are stuck."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from codeact import tool
from tests.workers.scene import ROOMY, Gate, died, kill, made, pool_of, stop, until
from wasm_runtime import remote

KILLED = {
    "in a call": ("print('before')\ntools.shoot()\nprint('after')", "ok"),
    "while it computes": ("print('before')\ntools.shoot_soon()\nwhile True:\n    pass", "ok"),
    "while a call is under way": (
        "import asyncio\nprint('before')\njobs = [asyncio.create_task(tools.nap())]\n"
        "await asyncio.sleep(0.01)\ntools.shoot_soon()\nwhile True:\n    pass",
        "unfinished",
    ),
    "while it prints": ("print('before')\ntools.shoot_soon()\nwhile True:\n    print(end='')", "ok"),
}


@pytest.mark.parametrize("moment", KILLED)
def test_a_worker_that_is_killed_costs_its_run_and_no_other(moment: str) -> None:
    @tool
    def shoot() -> int:
        """Kill the worker."""
        kill(pool_of(sandbox).pids)
        return 1

    @tool
    def shoot_soon() -> int:
        """Kill the worker in a moment."""
        threading.Timer(0.05, shoot.function).start()
        return 1

    @tool
    async def nap() -> int:
        """Never answer."""
        await asyncio.sleep(ROOMY)
        return 1

    program, state = KILLED[moment]
    with made([shoot, shoot_soon, nap]) as sandbox:
        result = sandbox.run(program)
        died(result)
        assert result.error is not None
        assert "SIGKILL" in result.error.message
        assert (
            result.error.hint == "run it again: another worker is there for it; tell the operator where that fails too"
        )
        assert result.stdout == "before\n"
        assert [call.state for call in result.calls if call.name != "nap"] == ["ok"]
        assert result.calls[0].state == state
        assert sandbox.run("1 + 1").value == 2


def test_a_worker_that_dies_while_it_has_nothing_to_do_costs_nothing() -> None:
    with made() as sandbox:
        assert sandbox.run("1").ok
        before = pool_of(sandbox).pids
        kill(before)
        until(lambda: pool_of(sandbox).pids not in {(), before})
        assert sandbox.run("1 + 1").value == 2


def test_other_runs_go_on_when_a_worker_is_killed(gate: Gate) -> None:
    with made(gate.tools, workers=2) as sandbox, ThreadPoolExecutor(2) as pool:
        assert sandbox.run("1").ok
        until(lambda: len(pool_of(sandbox).pids) == 2)
        runs = [pool.submit(sandbox.run, "tools.hold()") for _ in range(2)]
        gate.wait()
        gate.wait()
        kill(pool_of(sandbox).pids[:1])
        gate.opened.set()
        results = [run.result() for run in runs]
    assert sorted(result.ok for result in results) == [False, True]
    died(next(result for result in results if not result.ok))


def test_a_session_loses_its_world_with_its_worker_and_can_be_restored() -> None:
    with made() as sandbox, sandbox.session() as session:
        session.run("names = ['a']")
        assert session.run("names.append('b')\nnames").value == ["a", "b"]
        before = pool_of(sandbox).pids
        kill(before)
        until(lambda: pool_of(sandbox).pids not in {(), before})
        result = session.run("names")
        died(result)
        assert result.note is not None
        assert "the session's world is lost, with the name names" in result.note
        assert session.names == ()
        assert session.restore() == ("names",)
        assert session.run("names").value == ["a", "b"]


def test_sessions_spread_over_the_workers_and_stay_there() -> None:
    with made(workers=2) as sandbox:
        sandbox.run("1")
        until(lambda: len(pool_of(sandbox).pids) == 2)
        sessions = [sandbox.session() for _ in range(6)]
        for number, session in enumerate(sessions):
            session.run(f"mine = {number}")
        assert [len(worker.worlds) for worker in pool_of(sandbox)._there] == [3, 3]
        with ThreadPoolExecutor(6) as pool:
            results = list(pool.map(lambda session: session.run("mine"), sessions))
        assert [result.value for result in results] == list(range(6))
        for session in sessions:
            session.close()
        assert [len(worker.worlds) for worker in pool_of(sandbox)._there] == [0, 0]


def test_a_worker_that_is_stuck_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "STUCK", 0.4)

    @tool
    def freeze() -> int:
        """Stop the worker."""
        stop(pool_of(sandbox).pids)
        return 1

    with made([freeze], timeout=0.5) as sandbox:
        result = sandbox.run("print('before')\ntools.freeze()")
        assert result.error is not None
        assert result.error.kind == "timeout", result.observation()
        assert result.stdout == "before\n"
        before = pool_of(sandbox).pids
        until(lambda: pool_of(sandbox).pids not in {(), before})
        assert sandbox.run("1 + 1").value == 2


def test_a_tool_that_does_not_come_back_holds_no_worker(gate: Gate) -> None:
    with made(gate.tools, timeout=0.5) as sandbox, sandbox.session() as session:
        session.run("kept = 1")
        before = pool_of(sandbox).pids
        result = sandbox.run("tools.hold()")
        assert result.error is not None
        assert result.error.kind == "timeout"
        assert [call.state for call in result.calls] == ["unfinished"]
        assert sandbox.run("1 + 1").value == 2, "the tool still stands"
        assert pool_of(sandbox).pids == before
        assert session.run("kept").value == 1
        gate.opened.set()
        assert sandbox.run("1 + 1").value == 2


def test_a_tool_that_does_not_come_back_holds_no_worker_where_there_are_no_more_threads(
    gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = threading.Thread.start

    def refuse(thread: threading.Thread) -> None:
        if thread.name == "codeact-finish":
            msg = "can't start new thread"
            raise RuntimeError(msg)
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", refuse)
    with made(gate.tools, timeout=0.5) as sandbox:
        result = sandbox.run("tools.hold()")
        assert result.error is not None
        assert result.error.kind == "timeout"
        assert sandbox.run("1 + 1").value == 2, "the tool still stands"
        gate.opened.set()
        assert sandbox.run("1 + 1").value == 2


@pytest.mark.parametrize("moment", ["with much to read", "between runs"])
def test_a_worker_that_is_stopped_ends_in_time(moment: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "STUCK", 0.4)
    with made(timeout=1.0) as sandbox:
        assert sandbox.run("1").ok
        pids = pool_of(sandbox).pids
        stop(pids)
        files = {"a.bin": bytes(20_000_000)} if moment == "with much to read" else {}
        result = sandbox.run("1", files=files)
        assert result.error is not None
        assert result.error.kind == "timeout", result.observation()
        until(lambda: pool_of(sandbox).pids not in {(), pids})
        assert sandbox.run("1 + 1").value == 2


def test_a_session_whose_worker_is_gone_is_told_what_to_do() -> None:
    with made() as sandbox, sandbox.session() as session:
        session.run("a = 1")
        before = pool_of(sandbox).pids
        kill(before)
        until(lambda: pool_of(sandbox).pids not in {(), before})
        error = session.run("a").error
        assert error is not None
        assert error.message == "the worker process that held this world has ended; the world is lost"
        assert error.hint == (
            "nothing was run; run it again, with what it needs of earlier programs: it finds an empty world"
        )
