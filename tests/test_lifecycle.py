"""How long a session lives, and that nothing of it is left."""

from __future__ import annotations

import asyncio
import gc
import itertools
import os
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from codeact import Limits, Sandbox, Session, Tool, tool
from codeact.audit import Audit, Event
from codeact.lifecycle import worlds
from tests.conftest import MakeSandbox

LONG = 20.0
"""Seconds within which what takes milliseconds has happened on any machine."""


class Kept:
    """A sink that keeps what it is told."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    def write(self, event: Event) -> None:
        self.events.append(event)

    def closed(self) -> list[object]:
        return [event.data["reason"] for event in self.events if event.name == "session_close"]


def until(condition: Callable[[], object]) -> None:
    end = time.monotonic() + LONG
    while not condition():
        assert time.monotonic() < end
        threading.Event().wait(0.005)


def audited(engine: str, *tools: Tool[..., Any], **limits: float) -> tuple[Sandbox, Kept]:
    kept = Kept()
    return Sandbox(tools, engine=engine, audit=Audit([kept]), limits=Limits(**{"timeout": LONG, **limits})), kept


def world_of(session: Session) -> object:
    return session._life.instance


def test_an_idle_session_is_over_and_its_world_destroyed_though_nobody_asks(engine: str) -> None:
    sandbox, kept = audited(engine, session_idle=0.2)
    session = sandbox.session()
    assert session.run("secret = 41").ok
    until(lambda: world_of(session) is None)
    until(kept.closed)
    assert kept.closed() == ["idle"]
    late = session.run("secret")
    assert late.error is not None
    assert (late.error.kind, late.error.type) == ("timeout", "SessionExpired")
    assert "had no program for 0.2 s (limit session_idle)" in late.error.message
    assert "with the name secret" in late.error.message
    assert "new session" in (late.error.hint or "")
    assert session.names == ()
    session.close()
    assert kept.closed() == ["idle"]


def test_a_session_is_not_idle_while_a_program_runs(engine: str) -> None:
    begun, go = threading.Event(), threading.Event()

    @tool
    def wait() -> int:
        begun.set()
        return 1 if go.wait(LONG) else 0

    sandbox = Sandbox([wait], engine=engine, limits=Limits(timeout=LONG, session_idle=0.1))
    session = sandbox.session()
    answers = []
    thread = threading.Thread(target=lambda: answers.append(session.run("x = 5\ntools.wait()")))
    thread.start()
    assert begun.wait(LONG)
    threading.Event().wait(0.4)  # several times what it may be idle
    go.set()
    thread.join(LONG)
    assert answers[0].value == 1
    until(lambda: world_of(session) is None)


def test_a_lifetime_stops_the_program_that_runs_and_names_itself(engine: str) -> None:
    sandbox, kept = audited(engine, session_lifetime=0.4)
    with sandbox.session() as session:
        assert session.run("x = 1").ok
        stopped = session.run("while True: pass")
        assert stopped.error is not None
        assert stopped.error.kind == "timeout"
        assert "0.4 s that its session may live (limit session_lifetime)" in stopped.error.message
        assert "new one" in (stopped.error.hint or "")
        late = session.run("x")
        assert late.error is not None
        assert late.error.type == "SessionExpired"
        assert "has lived 0.4 s (limit session_lifetime)" in late.error.message
    assert kept.closed() == ["lifetime"]


async def _late(session: Session) -> str:
    result = await session.run_async("1")
    return result.error.type if result.error else "ok"


def test_run_async_says_the_same(engine: str) -> None:
    sandbox, _ = audited(engine, session_idle=0.05)
    session = sandbox.session()
    until(lambda: session._life.over)
    assert asyncio.run(_late(session)) == "SessionExpired"
    with pytest.raises(RuntimeError, match=r"idle for too long \(limit session_idle\)"):
        session.restore()


def test_a_session_that_nobody_holds_is_over(engine: str) -> None:
    sandbox, kept = audited(engine)
    session = sandbox.session()
    session.run("class A: pass\na = A()\na.a = a")
    world = weakref.ref(world_of(session))
    del session
    gc.collect()
    until(kept.closed)
    assert kept.closed() == ["dropped"]
    until(lambda: gc.collect() + 1 and world() is None)


def test_a_session_whose_thread_has_died_is_over_in_time(engine: str) -> None:
    sandbox, kept = audited(engine, session_idle=0.2)
    held: list[Session] = []

    def work() -> None:
        held.append(sandbox.session())
        held[0].run("x = 1")  # and the thread ends with the session open

    thread = threading.Thread(target=work)
    thread.start()
    thread.join(LONG)
    until(kept.closed)
    assert world_of(held[0]) is None


def test_closing_during_a_run_destroys_the_world_when_the_run_ends(engine: str) -> None:
    @tool
    def close() -> None:
        session.close()

    sandbox, kept = audited(engine, close)
    session = sandbox.session()
    assert session.run("tools.close()\n7").value == 7
    assert world_of(session) is None
    with pytest.raises(RuntimeError, match="this session is closed"):
        session.run("1")
    session.close()
    assert kept.closed() == ["closed"]


def test_a_session_that_is_closed_just_before_a_run_keeps_no_world(
    engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = Sandbox(engine=engine).session()
    assert session.run("x = 1").ok
    enter = session._life.enter

    def entered() -> bool:
        done = enter()
        closing = threading.Thread(target=session.close)
        closing.start()
        closing.join(LONG)
        return done

    monkeypatch.setattr(session._life, "enter", entered)
    with pytest.raises(RuntimeError, match="this session is closed"):
        session.run("x")
    assert world_of(session) is None


def test_a_session_can_be_closed_by_a_finalizer_wherever_that_runs(engine: str) -> None:
    session = Sandbox(engine=engine).session()

    def finalized() -> None:
        with worlds._lock:  # where the collector may run it
            session.close()

    thread = threading.Thread(target=finalized, daemon=True)
    thread.start()
    thread.join(LONG)
    assert not thread.is_alive()


@pytest.mark.parametrize("method", ["run", "restore"])
def test_a_host_that_would_hold_its_loop_keeps_its_session(engine: str, method: str) -> None:
    with Sandbox(engine=engine).session() as session:
        assert session.run("x = 1").ok

        async def held() -> None:
            getattr(session, method)(*["x"][: method == "run"])

        with pytest.raises(RuntimeError, match="would hold the running event loop"):
            asyncio.run(held())
        assert session.names == ("x",)
        assert session.run("x").value == 1


def test_nothing_is_watched_that_is_over(make: MakeSandbox) -> None:
    sandbox = make()
    with sandbox.session() as session:
        assert session._life in worlds._lives
    assert session._life not in worlds._lives


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # from 3.12 on: there are threads
def test_a_forked_child_has_none_of_its_parents_sessions(engine: str) -> None:
    sandbox, kept = audited(engine)
    session = sandbox.session(tenant="acme")
    session.run("secret = 'of the parent'\nopen('s.txt', 'w').write(secret)")
    child = os.fork()
    if child == 0:
        code = 1
        try:
            fine = world_of(session) is None and session.names == ()
            with pytest.raises(RuntimeError, match="belongs to the process that this one was forked from"):
                session.run("secret")
            with sandbox.session() as own:
                fine = fine and own.run("[x for x in globals() if 'secret' in x]").value == []
            code = 0 if fine else 2
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert session.run("open('s.txt').read()").value == "of the parent"
    session.close()
    assert kept.closed() == ["closed"]


def test_the_end_of_the_process_is_the_end_of_its_sessions(engine: str, tmp_path: Path) -> None:
    program = (
        "import sys\nfrom codeact import Sandbox\nfrom codeact.audit import Audit\nfrom codeact.audit.files import JsonLines\n"
        f"s = Sandbox(engine={engine!r}, audit=Audit([JsonLines(sys.argv[1])])).session()\ns.run('x = 1')\n"
    )
    path = tmp_path / "audit.jsonl"
    done = subprocess.run(
        [sys.executable, "-c", program, str(path)], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stderr == ""
    last = path.read_text().splitlines()[-1]
    assert '"session_close"' in last
    assert '"reason":"exit"' in last


def test_whoever_comes_while_a_session_is_being_ended_is_told_so_and_not_that_it_is_busy(engine: str) -> None:
    sandbox, kept = audited(engine, session_idle=0.1)
    for _ in range(10):
        session = sandbox.session()
        told = set()
        end = time.monotonic() + LONG
        for pause in itertools.cycle(0.0985 + 0.0003 * step for step in range(10)):  # around the limit, and beyond it
            threading.Event().wait(pause)
            result = session.run("1")
            told.add(result.error.type if result.error else "ok")
            if "SessionExpired" in told:
                break
            assert time.monotonic() < end
        assert told <= {"ok", "SessionExpired"}
    assert kept.closed() == ["idle"] * 10
