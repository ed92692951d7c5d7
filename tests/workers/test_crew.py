"""Workers that die, that are stuck, that are busy, and that must be gone."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from codeact import Limits, Result, Sandbox, tool
from codeact.engines import crew as crews
from codeact.engines.crew import Crew
from wasm_runtime import processes, remote

ROOT = Path(__file__).parent.parent.parent
ROOMY = 20.0


def crew_of(sandbox: Sandbox) -> Crew:
    return sandbox._grant.engine.crew  # type: ignore[attr-defined]


def until(true: Callable[[], object], seconds: float = 20.0) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it never came true"
        threading.Event().wait(0.01)


def gone(pid: int) -> bool:
    """Whether a process has ended; where nobody reaps orphans, one that has is still listed."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


def kill(pids: tuple[int, ...], number: signal.Signals = signal.SIGKILL) -> None:
    for pid in pids:
        os.kill(pid, number)


class Gate:
    """A tool that holds its run, and knows that it does."""

    def __init__(self) -> None:
        self.entered = threading.Semaphore(0)
        self.opened = threading.Event()

        @tool
        def hold() -> int:
            """Wait until the test goes on."""
            self.entered.release()
            self.opened.wait(ROOMY)
            return 1

        @tool
        def begun() -> int:
            """Tell the test."""
            self.entered.release()
            return 1

        self.tools = (hold, begun)

    def wait(self) -> None:
        assert self.entered.acquire(timeout=ROOMY)


@pytest.fixture
def gate() -> Iterator[Gate]:
    gate = Gate()
    yield gate
    gate.opened.set()


@contextmanager
def made(tools: Any = (), workers: int = 1, **limits: Any) -> Iterator[Sandbox]:
    with Sandbox(tools, workers=workers, limits=Limits(**{"timeout": ROOMY, **limits})) as sandbox:
        yield sandbox


@pytest.mark.parametrize(
    ("settings", "error", "told"),
    [
        ({"workers": 0}, ValueError, r"workers=0: expected 1 to 256"),
        ({"workers": -1}, ValueError, r"workers=-1: expected 1 to 256"),
        ({"workers": 1000}, ValueError, r"workers=1000: expected 1 to 256"),
        ({"workers": True}, TypeError, r"workers=True: expected a number of processes"),
        ({"workers": "2"}, TypeError, r"workers='2': expected a number of processes"),
        ({"workers": 2, "engine": "restricted"}, ValueError, r"workers=2: only engine='wasm' runs in workers"),
    ],
)
def test_workers_that_cannot_be(settings: dict[str, Any], error: type[Exception], told: str) -> None:
    with pytest.raises(error, match=told):
        Sandbox(**settings)


def test_nothing_is_started_before_the_first_run() -> None:
    with made(workers=2) as sandbox:
        assert crew_of(sandbox).pids == ()
        assert sandbox.run("6 * 7").value == 42
        until(lambda: len(crew_of(sandbox).pids) == 2)


def test_as_many_runs_at_once_as_there_are_workers() -> None:
    barrier = threading.Barrier(2)

    @tool
    def meet() -> int:
        """Wait for the other run."""
        return barrier.wait(ROOMY)

    with made([meet], workers=2) as sandbox, ThreadPoolExecutor(2) as pool:
        results = list(pool.map(lambda _: sandbox.run("tools.meet()"), range(2)))
    assert sorted(result.value for result in results) == [0, 1]


def died(result: Result) -> None:
    assert result.error is not None, result.observation()
    assert (result.error.kind, result.error.type) == ("host", "WorkerDied"), result.observation()


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
        kill(crew_of(sandbox).pids)
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
        assert "SIGKILL" in result.error.message  # type: ignore[union-attr]
        assert result.stdout == "before\n"
        assert [call.state for call in result.calls if call.name != "nap"] == ["ok"]
        assert result.calls[0].state == state
        assert sandbox.run("1 + 1").value == 2


def test_a_worker_that_dies_while_it_has_nothing_to_do_costs_nothing() -> None:
    with made() as sandbox:
        assert sandbox.run("1").ok
        before = crew_of(sandbox).pids
        kill(before)
        until(lambda: crew_of(sandbox).pids not in {(), before})
        assert sandbox.run("1 + 1").value == 2


def test_other_runs_go_on_when_a_worker_is_killed(gate: Gate) -> None:
    with made(gate.tools, workers=2) as sandbox, ThreadPoolExecutor(2) as pool:
        assert sandbox.run("1").ok
        until(lambda: len(crew_of(sandbox).pids) == 2)
        runs = [pool.submit(sandbox.run, "tools.hold()") for _ in range(2)]
        gate.wait()
        gate.wait()
        kill(crew_of(sandbox).pids[:1])
        gate.opened.set()
        results = [run.result() for run in runs]
    assert sorted(result.ok for result in results) == [False, True]
    died(next(result for result in results if not result.ok))


def test_a_session_loses_its_world_with_its_worker_and_can_be_restored() -> None:
    with made() as sandbox, sandbox.session() as session:
        session.run("names = ['a']")
        assert session.run("names.append('b')\nnames").value == ["a", "b"]
        before = crew_of(sandbox).pids
        kill(before)
        until(lambda: crew_of(sandbox).pids not in {(), before})
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
        until(lambda: len(crew_of(sandbox).pids) == 2)
        sessions = [sandbox.session() for _ in range(6)]
        for number, session in enumerate(sessions):
            session.run(f"mine = {number}")
        assert [worker.worlds for worker in crew_of(sandbox)._there] == [3, 3]
        with ThreadPoolExecutor(6) as pool:
            results = list(pool.map(lambda session: session.run("mine"), sessions))
        assert [result.value for result in results] == list(range(6))
        for session in sessions:
            session.close()
        assert [worker.worlds for worker in crew_of(sandbox)._there] == [0, 0]


def test_a_worker_that_is_stuck_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "STUCK", 0.4)

    @tool
    def freeze() -> int:
        """Stop the worker."""
        kill(crew_of(sandbox).pids, signal.SIGSTOP)
        return 1

    with made([freeze], timeout=0.5) as sandbox:
        result = sandbox.run("print('before')\ntools.freeze()")
        assert result.error is not None
        assert result.error.kind == "timeout", result.observation()
        assert result.stdout == "before\n"
        before = crew_of(sandbox).pids
        until(lambda: crew_of(sandbox).pids not in {(), before})
        assert sandbox.run("1 + 1").value == 2


def test_a_tool_that_does_not_come_back_holds_no_worker(gate: Gate) -> None:
    with made(gate.tools, timeout=0.5) as sandbox, sandbox.session() as session:
        session.run("kept = 1")
        before = crew_of(sandbox).pids
        result = sandbox.run("tools.hold()")
        assert result.error is not None
        assert result.error.kind == "timeout"
        assert [call.state for call in result.calls] == ["unfinished"]
        assert sandbox.run("1 + 1").value == 2, "the tool still stands"
        assert crew_of(sandbox).pids == before
        assert session.run("kept").value == 1
        gate.opened.set()
        assert sandbox.run("1 + 1").value == 2


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
    monkeypatch.setattr(crews, "WAITING", 2)
    with made(gate.tools) as sandbox, ThreadPoolExecutor(3) as pool:
        first = pool.submit(sandbox.run, "tools.hold()")
        gate.wait()
        others = [pool.submit(sandbox.run, "6 * 7") for _ in range(2)]
        until(lambda: len(crew_of(sandbox)._waiters) == 2)
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
        assert "hold the workers that it needs (workers=2)" in str(sandbox.run("tools.again(2)").value)


def test_a_closed_sandbox_runs_nothing_more(gate: Gate) -> None:
    with made(gate.tools) as sandbox, ThreadPoolExecutor(1) as pool:
        session = sandbox.session()
        session.run("a = 1")
        running = pool.submit(sandbox.run, "tools.begun()\nwhile True:\n    pass")
        gate.wait()
        sandbox.close()
        died(running.result())
        for result in (sandbox.run("1"), session.run("a")):
            assert result.error is not None
            assert result.error.kind == "host"
        session.close()
        sandbox.close()


def _descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def _used(closed: bool) -> set[int]:
    """Workers that have been there, all of which should be gone."""
    sandbox = Sandbox(workers=2)
    sandbox.run("1")
    crew = crew_of(sandbox)
    until(lambda: len(crew.pids) == 2)
    first = crew.pids
    kill(first[:1])
    until(lambda: len(crew.pids) == 2 and crew.pids != first)
    if closed:
        sandbox.close()
    return {*first, *crew.pids}


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs /proc")
def test_nothing_is_left_behind() -> None:
    Sandbox().run("1")
    before = len(list(Path("/proc/self/fd").iterdir()))
    pids = _used(closed=True) | _used(closed=False) | _used(closed=True)
    gc.collect()
    until(lambda: all(gone(pid) for pid in pids))
    until(lambda: not [thread for thread in threading.enumerate() if thread.name == "codeact-minder"])
    for pid in pids:
        with pytest.raises(ChildProcessError):
            os.waitpid(pid, os.WNOHANG)
    assert len(list(Path("/proc/self/fd").iterdir())) == before


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="needs /proc")
def test_a_worker_has_nothing_of_its_host(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SECRET", "hunter2")
    with (tmp_path / "secret").open("wb") as secret:
        os.set_inheritable(secret.fileno(), True)
        with made() as sandbox:
            sandbox.run("1")
            (pid,) = crew_of(sandbox).pids
            there = Path(f"/proc/{pid}")
            names = {entry.partition(b"=")[0] for entry in (there / "environ").read_bytes().split(b"\0") if entry}
            assert names <= {b"HOME", b"XDG_CACHE_HOME", b"CODEACT_CACHE_DIR", b"LD_LIBRARY_PATH", b"LC_CTYPE"}
            assert (there / "cwd").readlink() == Path("/")
            assert os.getsid(pid) == pid != os.getsid(0)
            opened = set()
            for entry in (there / "fd").iterdir():
                with suppress(OSError):
                    opened.add(str(entry.readlink()))
            assert not {name for name in opened if "secret" in name}
            assert len([name for name in opened if name.startswith("socket:")]) == 1
            limits = (there / "limits").read_text(encoding="utf-8").splitlines()
            (core,) = (line for line in limits if line.startswith("Max core file size"))
            assert core.split()[4:6] == ["0", "0"]


HOST = """
import sys, threading, time
from codeact import Limits, Sandbox, tool
entered = threading.Event()
@tool
def begun() -> int:
    "Say so."
    entered.set()
    return 1
s = Sandbox([begun], workers=2, limits=Limits(timeout=60))
threading.Thread(target=s.run, args=("tools.begun()\\nwhile True: pass",), daemon=True).start()
entered.wait()
while len(s._grant.engine.crew.pids) < 2: time.sleep(0.01)
print(*s._grant.engine.crew.pids, flush=True)
"""


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs /proc")
@pytest.mark.parametrize("end", ["killed", "exits"])
def test_workers_end_with_their_host(end: str) -> None:
    code = HOST + ("sys.stdin.read()" if end == "killed" else "")
    with subprocess.Popen(
        [sys.executable, "-W", "error", "-c", code],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    ) as host:
        assert host.stdout is not None
        assert host.stderr is not None
        pids = [int(word) for word in host.stdout.readline().split()]
        assert len(pids) == 2
        if end == "killed":
            host.kill()
        status = host.wait(30)
        assert status == (-signal.SIGKILL if end == "killed" else 0)
        assert host.stderr.read() == ""
    for pid in pids:
        until(lambda pid=pid: gone(pid))  # type: ignore[misc]


def test_a_worker_that_cannot_be_started_is_told(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    with made(workers=2) as sandbox:
        result = sandbox.run("1")
        assert result.error is not None
        assert (result.error.kind, result.error.type) == ("host", "WorkerUnavailable")
        assert "No such file" in caplog.text
        monkeypatch.undo()
        until(lambda: sandbox.run("1").ok)


def test_a_host_that_can_open_nothing_more_is_told_and_goes_on_later(monkeypatch: pytest.MonkeyPatch) -> None:
    def full() -> None:
        raise OSError(24, "Too many open files")

    monkeypatch.setattr(processes.socket, "socketpair", full)
    with made() as sandbox:
        result = sandbox.run("1")
        assert result.error is not None
        assert result.error.type == "WorkerUnavailable"
        monkeypatch.undo()
        until(lambda: sandbox.run("1").ok)


def test_a_worker_whose_guest_is_another_one_is_told(caplog: pytest.LogCaptureFixture) -> None:
    with made() as sandbox:
        start = crew_of(sandbox)._start
        crew_of(sandbox)._start = lambda: start.func(start.args[0], "0" * 64)  # type: ignore[attr-defined]
        result = sandbox.run("1")
        assert result.error is not None
        assert result.error.type == "WorkerUnavailable"
        assert "no longer the one that the host has loaded" in caplog.text
