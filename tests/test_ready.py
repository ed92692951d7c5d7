"""Worlds that are made ready: they are as fresh as others, there are always enough, and they end with their sandbox."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Iterator

import pytest

from codeact import Audit, Limits, Sandbox
from codeact.audit import Event
from codeact.engines.ready import ReadyEngine
from codeact.policy import Policy
from tests.walls.conftest import TEXT
from wasm_runtime.instance import Instance, Trap
from wasm_runtime.pool import Pool


def add(one: int, other: int) -> int:
    """The sum."""
    return one + other


def pool_of(sandbox: Sandbox) -> Pool:
    engine = sandbox._grant.engine
    assert isinstance(engine, ReadyEngine)
    return engine.pool


def filled(pool: Pool, size: int) -> bool:
    """Whether it comes to hold so many, in good time."""
    until = time.monotonic() + 20
    while pool.ready != size and time.monotonic() < until:
        threading.Event().wait(0.005)
    return pool.ready == size


def settled(pool: Pool) -> bool:
    """Whether nobody makes any more for it, in good time."""
    until = time.monotonic() + 20
    while pool._making and time.monotonic() < until:
        threading.Event().wait(0.005)
    return not pool._making


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    with Sandbox([add], ready=2, limits=Limits(timeout=20)) as sandbox:
        yield sandbox


PROGRAMS = [
    "1+1",
    "import random\n[random.random() for _ in range(3)] != [random.random() for _ in range(3)]",
    "sorted(globals()), __file__, __name__",
    "import os, linecache\n(os.listdir('.'), sorted(linecache.cache))",
    "tools.add(1, 2), print(tools)",
    "import asyncio\nasync def f(): return 3\nawait asyncio.gather(f(), f())",
    "open('a.txt', 'w').write('x')\nimport os\nstat = os.stat('a.txt')\n(stat.st_ino, stat.st_size)",
    "class A: pass\nA().x",
    "def f(:",
    "rehearse",
    "tools.rehearse()",
    "import gc\nlen([o for o in gc.get_objects() if type(o).__name__ == 'Tool'])",
]


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_world_that_was_ready_is_like_any_other(sandbox: Sandbox, program: str) -> None:
    assert filled(pool_of(sandbox), 2)
    ready, fresh = sandbox.run(program), Sandbox([add], limits=Limits(timeout=20)).run(program)
    assert (ready.ok, ready.value, ready.stdout, ready.note) == (fresh.ok, fresh.value, fresh.stdout, fresh.note)
    assert (ready.error and ready.error.message) == (fresh.error and fresh.error.message)


def test_fuel_is_the_same_whether_a_world_was_ready_or_made_at_once(sandbox: Sandbox) -> None:
    pool = pool_of(sandbox)
    assert filled(pool, 2)
    ready = sandbox.run("sum(range(100))").usage.fuel
    pool.close()
    assert sandbox.run("sum(range(100))").usage.fuel == ready


def test_runs_and_sessions_take_worlds_and_others_are_made(sandbox: Sandbox) -> None:
    pool = pool_of(sandbox)
    for _ in range(3):
        assert filled(pool, 2)
        assert sandbox.run("x = 1\nx").value == 1
    with sandbox.session() as session:
        session.run("x = 2")
        assert filled(pool, 2)
        assert session.run("x").value == 2
    assert "x" not in str(sandbox.run("sorted(globals())").value).replace("__", "")


def test_more_runs_at_once_than_worlds_all_get_one(sandbox: Sandbox) -> None:
    values: list[object] = []
    threads = [
        threading.Thread(target=lambda number=number: values.append(sandbox.run(f"{number}").value))
        for number in range(12)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(values, key=str) == sorted(range(12), key=str)
    assert filled(pool_of(sandbox), 2)


def test_closing_and_forgetting_a_sandbox_ends_its_worlds(monkeypatch: pytest.MonkeyPatch) -> None:
    closed: list[Instance] = []
    close = Instance.close
    monkeypatch.setattr(Instance, "close", lambda self: (closed.append(self), close(self))[1])
    sandbox = Sandbox(ready=3)
    pool = pool_of(sandbox)
    assert filled(pool, 3)
    sandbox.close()
    sandbox.close()
    assert (pool.ready, len(closed)) == (0, 3)
    assert sandbox.run("1").value == 1
    assert pool.ready == 0

    sandbox = Sandbox(ready=1)
    pool = pool_of(sandbox)
    assert filled(pool, 1)
    gone = weakref.ref(sandbox._grant.engine)
    del sandbox
    gc.collect()
    assert gone() is None
    assert pool.ready == 0


def test_limits_that_leave_no_room_for_a_guest_are_told_by_the_run() -> None:
    with Sandbox(ready=1, limits=Limits(memory=1 << 20)) as sandbox:
        error = sandbox.run("1").error
    assert error is not None
    assert "less than the interpreter itself needs" in error.message


@pytest.mark.parametrize(
    ("arguments", "kind", "said"),
    [
        ({"ready": -1}, ValueError, "ready=-1: expected 1 to"),
        ({"ready": 10**6}, ValueError, "ready=1000000: expected 1 to"),
        ({"ready": True}, TypeError, "ready=True: expected a number of worlds"),
        ({"ready": "2"}, TypeError, "ready='2': expected a number of worlds"),
        ({"ready": 1, "engine": "restricted"}, ValueError, "ready=1: only engine='wasm'"),
        ({"ready": 1, "workers": 1}, ValueError, "leave one of them out"),
    ],
)
def test_a_number_of_worlds_that_is_none_is_refused(
    arguments: dict[str, object], kind: type[Exception], said: str
) -> None:
    with pytest.raises(kind, match=said):
        Sandbox(**arguments)  # type: ignore[arg-type]  # on purpose


AT_ONCE = "from codeact import Sandbox; s = Sandbox(ready=50); print(s.run('1').value)"


def test_a_process_ends_while_worlds_are_made() -> None:
    done = subprocess.run([sys.executable, "-c", AT_ONCE], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "1\n", "")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
def test_a_forked_child_makes_worlds_of_its_own() -> None:
    code = (
        "import os, time\nfrom codeact import Sandbox\ns = Sandbox(ready=2); s.run('1')\n"
        "pid = os.fork()\nassert s.run('2+2').value == 4\n"
        "if not pid: os._exit(0)\nprint(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (0, "0\n"), done.stderr


def test_the_collector_may_close_a_pool_on_a_thread_that_is_just_in_it(sandbox: Sandbox) -> None:
    pool = pool_of(sandbox)

    def collected() -> None:
        with pool._lock:
            pool.close()

    thread = threading.Thread(target=collected, daemon=True)
    thread.start()
    thread.join(20)
    assert not thread.is_alive()


def test_worlds_that_cannot_be_made_ready_are_logged_once_and_made_when_they_are_needed(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(_self: Instance) -> None:
        msg = "fuel"
        raise Trap(msg)

    with Sandbox(ready=1, limits=Limits(timeout=20)) as sandbox:
        pool = pool_of(sandbox)
        assert filled(pool, 1)
        rehearse = Instance.rehearse
        for number in range(1, 3):
            monkeypatch.setattr(Instance, "rehearse", fail)
            for value in range(3):
                assert sandbox.run(str(value)).ok == (value == 0), "the first one was ready; the others are told"
                assert settled(pool)
            assert (
                caplog.text.count("a guest cannot be made ready, and is made when it is needed: Trap: fuel") == number
            )
            monkeypatch.setattr(Instance, "rehearse", rehearse)
            assert sandbox.run("1").ok
            assert filled(pool, 1)


class Kept(list[Event]):
    """A sink."""

    write = list.append


def test_a_policy_s_sandbox_can_have_worlds_made_ready() -> None:
    with Sandbox.from_policy(Policy.parse(TEXT.format(engine="wasm")), audit=Audit([Kept()]), ready=1) as sandbox:
        assert filled(pool_of(sandbox), 1)
        assert sandbox.run("6 * 7").value == 42
