"""Workers that must be gone."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from codeact import Sandbox
from tests.workers.scene import ROOT, Gate, died, gone, kill, made, pool_of, until
from wasm_runtime.processes import Worker


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


def test_a_session_can_be_closed_by_a_finalizer_wherever_that_runs() -> None:
    sandbox = Sandbox(workers=1)
    session = sandbox.session()
    session.run("a = 1")

    def finalized() -> None:
        with pool_of(sandbox)._lock:  # where the collector may run it
            session.close()

    thread = threading.Thread(target=finalized, daemon=True)
    thread.start()
    thread.join(20)
    assert not thread.is_alive()
    sandbox.close()


def _used(closed: bool) -> set[int]:
    """Workers that have been there, all of which should be gone."""
    sandbox = Sandbox(workers=2)
    sandbox.run("1")
    pool = pool_of(sandbox)
    until(lambda: len(pool.pids) == 2)
    first = pool.pids
    kill(first[:1])
    until(lambda: len(pool.pids) == 2 and pool.pids != first)
    if closed:
        sandbox.close()
    return {*first, *pool.pids}


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs /proc")
def test_nothing_is_left_behind() -> None:
    Sandbox().run("1")
    before = len(list(Path("/proc/self/fd").iterdir()))
    pids = _used(closed=True) | _used(closed=False) | _used(closed=True)
    gc.collect()
    until(lambda: all(gone(pid) for pid in pids))
    until(lambda: not [thread for thread in threading.enumerate() if thread.name == "codeact-supervisor"])
    for pid in pids:
        with pytest.raises(ChildProcessError):
            os.waitpid(pid, os.WNOHANG)
    assert len(list(Path("/proc/self/fd").iterdir())) == before


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
while len(s._grant.engine.pool.pids) < 2: time.sleep(0.01)
print(*s._grant.engine.pool.pids, flush=True)
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


STOPPED = """
import os, signal, subprocess, sys, time
from codeact import Limits, Sandbox
s = Sandbox(workers=2, limits=Limits(timeout=60))
s.run("1")
while len(s._grant.engine.pool.pids) < 2: time.sleep(0.01)
pids = s._grant.engine.pool.pids
for pid in pids: os.kill(pid, signal.SIGSTOP)
print(*pids, flush=True)
sys.stdin.read()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends what is stopped")
def test_workers_that_are_stopped_end_with_their_host() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", STOPPED], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT
    ) as host:
        assert host.stdout is not None
        pids = [int(word) for word in host.stdout.readline().split()]
        assert len(pids) == 2
        host.kill()
        host.wait(30)
    for pid in pids:
        until(lambda pid=pid: gone(pid))  # type: ignore[misc]


def test_closing_ends_workers_that_are_being_started(caplog: pytest.LogCaptureFixture) -> None:
    started: list[Worker] = []
    with made(workers=2) as sandbox, ThreadPoolExecutor(1) as pool:
        start = pool_of(sandbox)._start

        def start_stopped() -> Worker:
            worker = start()
            os.kill(worker.process.pid, signal.SIGSTOP)
            started.append(worker)
            return worker

        pool_of(sandbox)._start = start_stopped
        waits = pool.submit(sandbox.run, "1")
        until(lambda: len(started) == 2)
        sandbox.close()
        error = waits.result().error
    assert error is not None
    assert error.type == "WorkersClosed"
    for worker in started:
        until(lambda worker=worker: worker.process.returncode == -signal.SIGKILL)  # type: ignore[misc]
    assert "cannot be started" not in caplog.text


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs /proc")
def test_workers_that_are_replaced_leave_nothing() -> None:
    with made(workers=1) as sandbox:
        sandbox.run("1")
        before = len(list(Path("/proc/self/fd").iterdir()))
        threads = threading.active_count()
        for _ in range(10):
            pids = pool_of(sandbox).pids
            kill(pids)
            until(lambda pids=pids: pool_of(sandbox).pids not in {(), pids})  # type: ignore[misc]
            assert sandbox.run("1").ok
        until(lambda: len(list(Path("/proc/self/fd").iterdir())) <= before)
        assert threading.active_count() <= threads + 1  # the ticker comes and goes


PIPE = """
import os, signal, time
from codeact import Sandbox, tool
signal.signal(signal.SIGPIPE, signal.SIG_DFL)
@tool
def shoot() -> int:
    "End the worker, and answer it."
    (pid,) = s._grant.engine.pool.pids
    os.kill(pid, signal.SIGKILL)
    while s._grant.engine.pool.pids: time.sleep(0.01)
    return 1
s = Sandbox([shoot], workers=1)
print(s.run("tools.shoot()").error.type, s.run("1 + 1").value)
"""


def test_a_host_that_dies_of_broken_pipes_does_not_die_of_a_worker() -> None:
    done = subprocess.run([sys.executable, "-c", PIPE], capture_output=True, text=True, cwd=ROOT, check=False)
    assert (done.returncode, done.stdout) == (0, "WorkerDied 2\n"), done.stderr
