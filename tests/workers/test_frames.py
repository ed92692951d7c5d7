"""What a worker says, read by the host: whatever it is, it comes to an answer or to a trap."""

from __future__ import annotations

import resource

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.workers.forger import Forger, Script, call, done, frame, says
from wasm_runtime import frames, remote
from wasm_runtime.instance import Trap
from wasm_runtime.remote import Remote


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
    "a trap for no reason": frame(frames.TRAP, frames.CAUSE.pack(0, len(frames.REASONS))),
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
    assert "lost" not in frames.REASONS
    story = frame(
        frames.TRAP, frames.CAUSE.pack(0, frames.REASONS.index("absent")) + b"a\nb\x1b[2J" + "\u202e".encode()
    )
    assert told(says(story), Host()) == "absent: ab[2J"


def test_a_length_is_no_memory() -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    host = Host()
    host.told = 2**31
    assert told(says(frame(frames.DONE, size=2**31 - 1)), host) == "lost: was killed"
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000


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
