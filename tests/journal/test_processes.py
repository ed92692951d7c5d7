"""A journal and its runs in other processes: later ones, killed ones, and those beside this one."""

from __future__ import annotations

import ast
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from codeact import Journal, ReplayError, Sandbox, tool
from tests.journal.conftest import Keep

ROOT = Path(__file__).parents[2]


def stranger(*arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
    """What another process says."""
    return subprocess.run(
        [sys.executable, "-m", "tests.journal.stranger", *map(str, arguments)],
        cwd=ROOT, env={**os.environ, **environment}, capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip


@tool
def find(names: list[str]) -> dict[str, set[str]]:
    """Find."""
    return {"found": {*names, "one", "two", "three"}}


@tool
async def later(n: int) -> int:
    """Ask and go on."""
    return n


PROGRAMS = {
    "numbers": "tools.find(['a'])['found'] >= {'a'}, sorted(tools.find(['b'])['found'])",
    "times": "import time\nfrom datetime import datetime, timezone\nstr(datetime.now()), time.time(), time.localtime().tm_hour, time.tzname",
    "chance": "import random, uuid\nrandom.random(), str(uuid.uuid4()), random.sample(range(100), 5)",
    "sets go out": "tools.find(list(range(3)) and ['x'])\nlen(tools.find(sorted({'x', 'y', 'z'}))['found'])",
    "numbers in sets": "list({33, 1, 65, 97}), list(frozenset({-1, -2, 1000}))",
    "waiting": "import asyncio\nsum(await asyncio.gather(*[tools.later(n) for n in range(5)]))",
    "failed": "print('x')\n{}['a']",
}
HASHED = {
    "order of texts": "list({'a', 'b', 'c', 'd', 'e', 'f'}), list(tools.find(['q'])['found'])",
    "hash": "hash('text')",
    "sent": "tools.find(list({'a', 'b', 'c', 'd', 'e', 'f', 'g'}))",
}


def told(result: subprocess.CompletedProcess[str]) -> list[Any]:
    """What a stranger said of replays."""
    assert result.returncode == 0, result.stderr
    return [ast.literal_eval(line) for line in result.stdout.splitlines()]


def test_later_elsewhere(keep: Keep, path: Path, engine: str) -> None:
    programs = PROGRAMS if engine == "restricted" else {**PROGRAMS, **HASHED}
    results = [keep([find, later]).run(program) for program in programs.values()]
    found = told(
        stranger("replay", path, engine, *[result.run for result in results], PYTHONHASHSEED="77", TZ="Asia/Tokyo")
    )
    for name, result, (diverged, unfinished, value, fuel) in zip(programs, results, found, strict=True):
        assert (name, diverged, unfinished) == (name, None, None)
        assert (name, value, fuel) == (name, result.value, result.usage.fuel)


def test_an_order_that_a_process_has_for_itself_is_said(path: Path) -> None:
    with Journal(path) as journal:
        sandbox = Sandbox([find], engine="restricted", journal=journal)
        runs = [sandbox.run(program).run for program in HASHED.values()]
    for diverged, *_ in told(stranger("replay", path, "restricted", *runs, PYTHONHASHSEED="77")):
        assert diverged is not None
        assert diverged.endswith(
            "(this process hashes texts otherwise (PYTHONHASHSEED), which gives sets another order)"
        )


def test_a_run_whose_process_was_killed(path: Path, engine: str) -> None:
    assert stranger("die", path, engine).returncode == -signal.SIGKILL
    with Journal(path) as journal:
        (head,) = journal.runs(task="T-1")
        assert (head.ok, head.wall, head.kind, head.calls) == (None, None, None, None)
        record = journal.run(head.id)
        assert (record.source, record.result, record.calls) == ("tools.step(1)\ntools.step(2)", None, ())
        assert [entry.kind for entry in journal.conversation("T-1").entries()] == ["asked"]
        sandbox = Sandbox(engine=engine, journal=journal)
        with pytest.raises(ReplayError, match="no end on record"):
            sandbox.replay(head.id)
        assert sandbox.run("1", task="T-1").ok
        assert [each.ok for each in journal.runs(task="T-1")] == [True, None]


def test_processes_side_by_side(path: Path) -> None:
    Journal(path).close()
    beside = [
        subprocess.Popen(
            [sys.executable, "-m", "tests.journal.stranger", "write", str(path), "restricted", "30"], cwd=ROOT
        )
        for _ in range(2)
    ]
    with Journal(path) as journal:
        sandbox = Sandbox(engine="restricted", journal=journal)
        own = [sandbox.run(str(n)).run for n in range(30)]
        assert [process.wait(timeout=300) for process in beside] == [0, 0]
        assert {head.id for head in journal.runs(task=None) if head.task is None} == set(own)
        assert [each.runs for each in journal.tasks()] == [30, 30]
        assert len({head.number for head in journal.runs()}) == 90


def test_a_forked_child_goes_on(path: Path, engine: str) -> None:
    with Journal(path) as journal:
        sandbox = Sandbox(engine=engine, journal=journal)
        before = sandbox.run("1").run
        child = os.fork()
        if child == 0:
            ok = sandbox.run("2", task="child").ok and sandbox.replay(before).same
            os._exit(0 if ok else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        sandbox.run("3")
        assert [head.task for head in journal.runs()] == [None, "child", None]


def test_memory_is_the_parents(engine: str) -> None:
    with Journal() as journal:
        sandbox = Sandbox(engine=engine, journal=journal)
        sandbox.run("1")
        child = os.fork()
        if child == 0:
            error = sandbox.run("2").error
            os._exit(0 if error is not None and error.type == "Unrecorded" else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert len(journal.runs()) == 1
