"""Workers as they start: when, with what, and what is said where that fails."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from codeact import Audit, Sandbox, engines, tool
from codeact.audit import Event
from codeact.engines.wasm import WasmEngine
from codeact.policy import Policy
from tests.walls.conftest import TEXT
from tests.workers.scene import ROOMY, ROOT, made, pool_of, until
from wasm_runtime import frames, processes
from wasm_runtime.processes import Worker


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
        assert pool_of(sandbox).pids == ()
        assert sandbox.run("6 * 7").value == 42
        until(lambda: len(pool_of(sandbox).pids) == 2)


def test_as_many_runs_at_once_as_there_are_workers() -> None:
    barrier = threading.Barrier(2)

    @tool
    def meet() -> int:
        """Wait for the other run."""
        return barrier.wait(ROOMY)

    with made([meet], workers=2) as sandbox, ThreadPoolExecutor(2) as pool:
        results = list(pool.map(lambda _: sandbox.run("tools.meet()"), range(2)))
    assert sorted(result.value for result in results) == [0, 1]


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="needs /proc")
def test_a_worker_has_nothing_of_its_host(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SECRET", "hunter2")
    with (tmp_path / "secret").open("wb") as secret:
        os.set_inheritable(secret.fileno(), True)
        with made() as sandbox:
            sandbox.run("1")
            (pid,) = pool_of(sandbox).pids
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


def test_a_worker_that_dies_while_it_starts_is_told_and_another_one_takes_its_place(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with made() as sandbox:
        start = pool_of(sandbox)._start
        dead: list[int] = []

        def start_dead() -> Worker:
            worker = start()
            if not dead:
                dead.append(worker.process.pid)
                worker.process.kill()
            return worker

        pool_of(sandbox)._start = start_dead
        error = sandbox.run("1").error
        assert error is not None
        assert error.type == "WorkerUnavailable"
        assert "was ended by SIGKILL before it was set up" in caplog.text
        until(lambda: sandbox.run("1").ok)
        assert pool_of(sandbox).pids != tuple(dead)


def test_a_worker_whose_guest_is_another_one_is_told(caplog: pytest.LogCaptureFixture) -> None:
    with made() as sandbox:
        start = pool_of(sandbox)._start
        pool_of(sandbox)._start = lambda: start.func(start.args[0], "0" * 64)  # type: ignore[attr-defined]
        result = sandbox.run("1")
        assert result.error is not None
        assert result.error.type == "WorkerUnavailable"
        assert "no longer the one that the host has loaded" in caplog.text


def _greeted(code: str, *words: str) -> bytes:
    """What a worker says when it is started by this code."""
    local = engines.load("wasm")
    assert isinstance(local, WasmEngine)
    here, there = socket.socketpair()
    with (
        here,
        there,
        subprocess.Popen(
            [sys.executable, "-c", code, str(local.guest), local.machine.digest, *words],
            stdin=there.fileno(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            cwd=ROOT,
        ) as process,
    ):
        there.close()
        try:
            here.settimeout(ROOMY)
            return here.recv(4096)
        finally:
            process.kill()


BEGIN = "import sys, wasm_runtime.worker as worker\n"


def test_a_worker_whose_host_was_gone_before_it_began_does_not_begin() -> None:
    assert _greeted(BEGIN + "worker.main(*sys.argv[1:])", str(os.getpid()))[:1] == frames.READY
    assert _greeted(BEGIN + "worker.main(*sys.argv[1:])", "1") == b""


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such promises")
@pytest.mark.parametrize("promise", ["_SIGNAL_OF_DEATH", "_NO_NEW_PRIVILEGES"])
def test_a_worker_that_cannot_give_up_what_it_should_does_not_begin(promise: str) -> None:
    said = _greeted(f"{BEGIN}worker.{promise} = 100_000\nworker.main(*sys.argv[1:])", str(os.getpid()))
    assert said[:1] == frames.FAILED
    assert b"a worker process cannot be confined: prctl(100000)" in said


def test_a_host_that_can_have_no_more_threads_is_told_and_goes_on_later(monkeypatch: pytest.MonkeyPatch) -> None:
    start = threading.Thread.start

    def refuse(thread: threading.Thread) -> None:
        if thread.name == "codeact-supervisor":
            msg = "can't start new thread"
            raise RuntimeError(msg)
        start(thread)

    with made(workers=2) as sandbox:
        monkeypatch.setattr(threading.Thread, "start", refuse)
        error = sandbox.run("1").error
        assert error is not None
        assert (error.kind, error.type) == ("host", "WorkerUnavailable")
        assert error.hint == "nothing was run; run it again later"
        monkeypatch.undo()
        assert sandbox.run("1 + 1").value == 2
        until(lambda: len(pool_of(sandbox).pids) == 2)


class Kept(list[Event]):
    """A sink."""

    write = list.append


def test_a_policy_s_sandbox_can_have_workers() -> None:
    policy = Policy.parse(TEXT.format(engine="wasm"))
    with Sandbox.from_policy(policy, audit=Audit([Kept()]), workers=1) as sandbox:
        assert sandbox.run("6 * 7").value == 42
        assert len(pool_of(sandbox).pids) == 1
