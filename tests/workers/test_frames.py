"""A worker that was taken over: whatever it says, the host stays whole, and each run gets an answer of its own."""

from __future__ import annotations

import itertools
import os
import resource
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codeact import Limits, Result, Sandbox, execution, tool
from codeact.engines import load
from codeact.engines.remote import RemoteEngine
from codeact.engines.wasm import WasmEngine
from codeact.engines.workerpool import WorkerPool
from tests.workers.scene import until
from wasm_runtime import frames, remote
from wasm_runtime.frames import Channel
from wasm_runtime.instance import Trap
from wasm_runtime.processes import Worker
from wasm_runtime.remote import Remote
from wasm_runtime.worker import REASONS

Script = Callable[[Channel, socket.socket], None]
"""What a worker does when it is told to run a program."""

HEADER = b'{"finished": true, "bound": [], "unbound": [], "unawaited": [], "exit": null, "fault": null}\n'


def frame(kind: bytes, body: bytes = b"", size: int | None = None) -> bytes:
    return frames.HEAD.pack(kind, len(body) if size is None else size) + body


def call(name: bytes, arguments: bytes, size: int | None = None) -> bytes:
    return frame(frames.CALL, frames.AT.pack(1, len(name) if size is None else size) + name + arguments)


def done(answer: bytes, fuel: int = 1, memory: int = 1) -> bytes:
    return frame(frames.DONE, frames.END.pack(fuel, memory) + answer)


class _Process:
    pid = 0
    returncode = 0


class Forger(Worker):
    """A worker that is a thread, and says what a test wants."""

    def __init__(self, script: Script) -> None:
        self._dead = False
        self._owner = os.getpid()
        self.worlds = 0
        self._doomed: list[int] = []
        self._numbers = itertools.count()
        here, self.there = socket.socketpair()
        self.channel = Channel(here)
        self.process = _Process()  # type: ignore[assignment]
        self.ended = threading.Event()
        threading.Thread(target=self._act, args=(script,), daemon=True).start()

    def _act(self, script: Script) -> None:
        channel = Channel(self.there)
        with suppress(EOFError, OSError, frames.Malformed):
            self.there.sendall(frame(frames.READY))
            while True:
                kind, _ = channel.receive({frames.RUN: 2**31, frames.CLOSE: 8, frames.STOP: 0})
                if kind == frames.RUN:
                    script(channel, self.there)
        self.there.close()

    def kill(self) -> None:
        self._dead = True
        with suppress(OSError):
            self.there.shutdown(socket.SHUT_RDWR)
        self.ended.set()

    def wait(self) -> None:
        self.ended.wait()

    def ending(self) -> str:
        return "was killed"


class Host:
    """Who stands behind the doors in these tests."""

    asked = 1000
    told = 1000

    def __init__(self) -> None:
        self.heard: list[object] = []
        self.over = False

    def call(self, name: str, arguments: str, line: int) -> str:
        self.heard.append((name, arguments, line))
        return "+1"

    def wait(self, sent: str, nanoseconds: int, line: int) -> str:
        self.heard.append((sent, nanoseconds, line))
        return ""

    def write(self, text: str, line: int) -> None:
        self.heard.append((text, line))

    def now(self) -> int:
        return 1

    def monotonic(self) -> int:
        return 2

    def stopped(self) -> bool:
        return self.over


def told(script: Script, host: Host) -> str:
    """What a run in a forger comes to: an answer, or why there is none."""
    worker = Forger(script)
    worker.greet()
    freed: list[int] = []
    try:
        return Remote(worker, memory=10**9, free=lambda: freed.append(1)).run("{}", host, 10**9)
    except Trap as trap:
        return f"{trap.reason}: {trap.detail}"
    finally:
        assert freed == [1], "its worker is free, once"
        worker.kill()
        worker.channel.close()


def says(*said: bytes) -> Script:
    """A worker that says this, and hangs up."""

    def script(_channel: Channel, line: socket.socket) -> None:
        line.sendall(b"".join(said))
        line.shutdown(socket.SHUT_WR)

    return script


_kinds = st.sampled_from([frames.CALL, frames.WAIT, frames.WRITE, frames.NOW, frames.MONOTONIC, frames.TRAP])
_frames = st.one_of(
    st.builds(frame, _kinds, st.binary(max_size=60)),
    st.builds(frame, st.binary(min_size=1, max_size=1), st.binary(max_size=30), st.integers(0, 2**32 - 1)),
    st.builds(call, st.binary(max_size=10), st.binary(max_size=10), st.integers(0, 2**32 - 1)),
    st.builds(done, st.binary(max_size=50), st.integers(0, 2**64 - 1), st.integers(-(2**63), 2**63 - 1)),
    st.binary(max_size=40),
)


@settings(max_examples=150, deadline=None)
@given(st.lists(_frames, max_size=6))
def test_whatever_a_worker_says_is_an_answer_or_a_trap(said: list[bytes]) -> None:
    host = Host()
    assert isinstance(told(says(*said), host), str)
    for entry in host.heard:
        assert all(len(part) <= Host.told for part in entry if isinstance(part, str))  # type: ignore[attr-defined]


BREACHES = {
    "a length without end": frame(frames.DONE, size=2**32 - 1),
    "an answer that is too long": done(b"x" * 1001),
    "more fuel than there was": done(b"", fuel=10**9 + 1),
    "more memory than there may be": done(b"", memory=10**9 + 1),
    "an answer that is no text": done(b"\xff\xfe"),
    "a call that is too long": call(b"x" * 1001, b""),
    "arguments that are too long": call(b"x", b"y" * 1001),
    "a name longer than its frame": call(b"x", b"", size=2),
    "a name that is no text": call(b"\xff", b"[]"),
    "printed text that is too long": frame(frames.WRITE, frames.LINE.pack(1) + b"x" * 1001),
    "a call that is none": frame(frames.CALL, b"x"),
    "a clock with something to say": frame(frames.NOW, b"x"),
    "a trap for no reason": frame(frames.TRAP, frames.CAUSE.pack(0, len(REASONS))),
    "a trap with a story": frame(frames.TRAP, frames.CAUSE.pack(0, 0) + b"x" * 1000),
    "a greeting": frame(frames.READY),
    "a kind that there is not": frame(b"\0"),
    "what only a host says": frame(frames.RUN),
}


@pytest.mark.parametrize("breach", BREACHES)
def test_what_breaks_the_rules_ends_the_worker(breach: str) -> None:
    host = Host()
    assert told(says(BREACHES[breach]), host).startswith("lost: did not keep to the protocol"), breach
    assert host.heard == []


def test_a_worker_cannot_say_that_it_was_lost_or_write_what_it_likes() -> None:
    assert "lost" not in REASONS
    story = frame(frames.TRAP, frames.CAUSE.pack(0, REASONS.index("absent")) + b"a\nb\x1b[2J" + "\u202e".encode())
    assert told(says(story), Host()) == "absent: ab[2J"


def test_a_length_is_no_memory() -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    host = Host()
    host.told = 2**31
    assert told(says(frame(frames.DONE, size=2**31 - 1)), host) == "lost: was killed"
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000


@contextmanager
def taken_over(script: Script, tools: object = (), **limits: float) -> Iterator[tuple[Sandbox, list[Forger]]]:
    """A sandbox whose one worker is a forger, and those that there have been."""
    made: list[Forger] = []

    def start() -> Forger:
        made.append(Forger(script))
        return made[-1]

    local = load("wasm")
    assert isinstance(local, WasmEngine)
    engine = RemoteEngine(local, 1)
    engine.pool = WorkerPool(1, start)
    sandbox = Sandbox(tools, engine=engine, limits=Limits(**{"timeout": 5.0, **limits}))  # type: ignore[arg-type]
    try:
        yield sandbox, made
    finally:
        engine.pool.close()


def failed(result: Result) -> tuple[str, str]:
    assert result.error is not None, result.observation()
    return result.error.kind, result.error.type


@pytest.mark.parametrize("breach", ["a length without end", "a call that is none", "more fuel than there was"])
def test_a_breach_is_the_hosts_fault_and_the_worker_is_replaced(breach: str) -> None:
    said = BREACHES[breach] if breach != "more fuel than there was" else done(HEADER + b"1", fuel=2**63)
    with taken_over(says(said)) as (sandbox, made):
        for _ in range(3):
            assert failed(sandbox.run("1")) == ("host", "WorkerDied")
        assert len(made) >= 3


def test_what_a_worker_says_after_its_run_reaches_nobody() -> None:
    called = []

    @tool
    def note(text: str) -> int:
        """Remember."""
        called.append(text)
        return 1

    late = call(b"note", b'[["late"],{}]') + done(HEADER + b'"of another run"')
    with taken_over(says(done(HEADER + b"1"), late), [note]) as (sandbox, made):
        for number in range(1, 4):
            result = sandbox.run("1")
            assert result.value == 1
            assert result.calls == ()
            assert len(made) >= number
    assert called == []


def test_a_worker_that_answers_by_itself_gets_nothing_past_the_limits() -> None:
    @tool
    def note(text: str) -> int:
        """Remember."""
        return len(text)

    def script(channel: Channel, line: socket.socket) -> None:
        for _ in range(50):
            line.sendall(call(b"note", b'[["x"],{}]'))
            kind, _ = channel.receive({frames.ANSWER: 1000, frames.STOP: 0})
            if kind == frames.STOP:
                break
        line.sendall(done(HEADER + b'"mine"'))

    with taken_over(script, [note], calls=10) as (sandbox, _):
        result = sandbox.run("1")
    assert failed(result)[0] == "calls"
    assert len(result.calls) == 10
    assert result.value is None


@pytest.fixture
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker gets less time to stop."""
    monkeypatch.setattr(remote, "STUCK", 0.4)


@pytest.mark.usefixtures("soon")
def test_a_worker_that_goes_on_after_the_end_is_ended() -> None:
    def script(channel: Channel, line: socket.socket) -> None:
        for _ in range(10_000):
            line.sendall(frame(frames.NOW))
            time.sleep(0.01)

    with taken_over(script, timeout=0.3) as (sandbox, made):
        began = time.monotonic()
        assert failed(sandbox.run("1")) == ("timeout", "TimeoutError")
        assert time.monotonic() - began < 3
        assert made[0].ended.wait(10)


@pytest.mark.usefixtures("soon")
def test_a_worker_that_says_nothing_is_ended() -> None:
    silent = threading.Event()
    with taken_over(lambda _channel, _line: silent.wait(20) and None, timeout=0.3) as (sandbox, made):
        assert failed(sandbox.run("1")) == ("timeout", "TimeoutError")
        assert made[0].ended.wait(10)
        silent.set()


@pytest.mark.usefixtures("soon")
def test_a_worker_that_feeds_a_frame_byte_by_byte_is_ended() -> None:
    def script(_channel: Channel, line: socket.socket) -> None:
        line.sendall(frame(frames.DONE, size=1000))
        for _ in range(1000):
            line.sendall(b"x")
            time.sleep(0.01)

    with taken_over(script, timeout=0.3) as (sandbox, made):
        assert failed(sandbox.run("1")) == ("timeout", "TimeoutError")
        assert made[0].ended.wait(10)


def test_a_worker_that_was_left_is_nobody_elses_before_it_has_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "STUCK", 30.0)
    opened, goes_on = threading.Event(), threading.Event()

    @tool
    def hold() -> int:
        """Outlive the run."""
        opened.wait(20)
        return 1

    def script(channel: Channel, line: socket.socket) -> None:
        if not opened.is_set():
            line.sendall(call(b"hold", b"[[],{}]"))
            channel.receive({frames.STOP: 0})
            goes_on.wait(20)
        line.sendall(done(HEADER + b"1"))

    with taken_over(script, [hold], timeout=0.3) as (sandbox, made):
        pool = sandbox._grant.engine.pool  # type: ignore[attr-defined]
        assert failed(sandbox.run("1")) == ("timeout", "TimeoutError")
        until(lambda: [thread for thread in threading.enumerate() if thread.name == "codeact-finish"])
        opened.set()
        until(lambda: not execution._live)
        assert pool._leased == {made[0]}
        goes_on.set()
        until(lambda: not pool._leased)
        assert sandbox.run("1").value == 1
        assert len(made) == 1


def test_the_end_of_a_run_is_not_told_to_a_worker_that_has_another(monkeypatch: pytest.MonkeyPatch) -> None:
    worker, host, said = Forger(says(done(b""))), Host(), []
    worker.greet()
    talk = remote._Talk(worker, host, lambda: None)
    assert talk.run(b"") == (frames.DONE, done(b"")[frames.HEAD.size :])
    talk.end()
    monkeypatch.setattr(worker.channel, "send_now", lambda *frame: said.append(frame))
    host.over = True
    talk.look()
    assert said == []
    worker.kill()
    worker.channel.close()


def test_what_a_worker_says_after_its_run_ends_it_where_somebody_waits_for_it() -> None:
    opened = threading.Event()

    @tool
    def hold() -> int:
        """Wait until the test goes on."""
        opened.wait(20)
        return 1

    def script(channel: Channel, line: socket.socket) -> None:
        line.sendall(call(b"hold", b"[[],{}]"))
        channel.receive({frames.ANSWER: 1000})
        line.sendall(done(HEADER + b"1") + done(HEADER + b'"of another run"'))

    with taken_over(script, [hold]) as (sandbox, made), ThreadPoolExecutor(2) as pool:
        runs = [pool.submit(sandbox.run, "1") for _ in range(2)]
        until(lambda: sandbox._grant.engine.pool._waiters)  # type: ignore[attr-defined]
        opened.set()
        assert [run.result().value for run in runs] == [1, 1]
        assert len(made) >= 2
