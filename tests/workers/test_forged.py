"""A worker that was taken over: the host stays whole, and each run gets an answer of its own."""

from __future__ import annotations

import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from codeact import Result, execution, tool
from tests.workers.forger import HEADER, call, done, frame, says, taken_over
from tests.workers.scene import until
from wasm_runtime import frames, remote
from wasm_runtime.frames import Channel


def failed(result: Result) -> tuple[str, str]:
    assert result.error is not None, result.observation()
    return result.error.kind, result.error.type


BREACHES = {
    "a length without end": frame(frames.DONE, size=2**32 - 1),
    "a call that is none": frame(frames.CALL, b"x"),
    "more fuel than there was": done(HEADER + b"1", fuel=2**63),
}


@pytest.mark.parametrize("breach", BREACHES)
def test_a_breach_is_the_hosts_fault_and_the_worker_is_replaced(breach: str) -> None:
    with taken_over(says(BREACHES[breach])) as (sandbox, made):
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


DEEP = b"[" * 200_000

ASKED = {
    "arguments without end": call(b"note", DEEP),
    "arguments of great depth": call(b"note", DEEP + b"]" * len(DEEP)),
    "arguments that are no JSON": call(b"note", b"[[}"),
    "arguments that are none": call(b"note", b"5"),
    "a number of great length": call(b"note", b"[[" + b"9" * 100_000 + b"],{}]"),
    "a mark that means nothing": call(b"note", b'[[{"$":"bytes"}],{"a":{"$":1}}]'),
    "a name without end": call(b"x" * 900_000, b"[[],{}]"),
    "an end to what was not begun": frame(frames.WAIT, frames.PAUSE.pack(1, 0) + b"-999\n-x\n-\n+\n"),
    "a wait for nothing": frame(frames.WAIT, frames.PAUSE.pack(2**32 - 1, -(2**63))),
    "calls that are none": frame(frames.WAIT, frames.PAUSE.pack(1, -1) + b"\n".join([b"+1 note x"] * 500)),
}


@pytest.mark.parametrize("what", ASKED)
def test_what_a_worker_asks_for_is_refused_where_no_guest_could_ask_for_it(what: str) -> None:
    @tool
    def note(text: str) -> int:
        """Be called."""
        return len(text)

    def script(channel: Channel, line: socket.socket) -> None:
        line.sendall(ASKED[what])
        channel.receive({frames.ANSWER: 2**31})
        line.sendall(done(HEADER + b"1"))

    with taken_over(script, [note], timeout=20.0) as (sandbox, made):
        for _ in range(2):
            result = sandbox.run("1")
            assert result.value == 1, result.observation()
            assert {call.state for call in result.calls} <= {"refused"}
        assert len(made) == 1


ANSWERED = {
    "nothing": (b"", "runtime"),
    "a header of great depth": (DEEP + b"\n1", "runtime"),
    "a header that is no JSON": (b"{\n1", "runtime"),
    "a header of another shape": (b"[]\n1", "runtime"),
    "a value of great depth": (HEADER + DEEP, "value"),
    "a number of great length": (HEADER + b"9" * 1_000_000, "value"),
    "files that are none": (HEADER + b"1\n" + b"9" * 50, "runtime"),
    "a file that leads out": (HEADER + b"1\n3 a/b\n../../x 5\nhello", "runtime"),
}


@pytest.mark.parametrize("what", ANSWERED)
def test_what_a_worker_answers_is_data_or_a_fault(what: str) -> None:
    answer, kind = ANSWERED[what]
    with taken_over(says(done(answer))) as (sandbox, _):
        assert failed(sandbox.run("1"))[0] == kind
