"""What a program leaves behind is taken apart where the stack is deep enough for it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SLICES = "s = None\nfor i in range(400_000): s = slice(s)\n"
COROUTINES = "async def f(x): return x\ns = None\nfor i in range(200_000): s = f(s)\n"
KEPT = "a = [s]\na.append(a)\n1"

HOST = """
import gc, time
from codeact import Limits, Sandbox
from codeact.execution import _live
sandbox = Sandbox(engine="restricted", limits=Limits(timeout=30.0))
for program in {programs!r}:
    {how}
    while _live: time.sleep(0.01)  # a caller need not wait for that
gc.collect()
print(sandbox.run("1 + 1").value)
"""
ONE_RUN = "assert sandbox.run(program).value == 1"
SESSION = "with sandbox.session() as session: assert session.run(program).value == 1"


@pytest.mark.parametrize("how", [ONE_RUN, SESSION], ids=["run", "session"])
def test_what_is_nested_without_end_is_taken_apart(tmp_path: Path, how: str) -> None:
    host = tmp_path / "host.py"
    host.write_text(HOST.format(programs=[SLICES + "1", SLICES + KEPT, COROUTINES + KEPT], how=how))
    done = subprocess.run([sys.executable, str(host)], capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, "2"), done.stderr[-1000:]
    assert not done.stderr, "the host's own output is the host's"


TWO_TESTS = """
import gc
from codeact import Sandbox

def test_that_runs_a_program():
    assert Sandbox(engine="restricted").run({program!r}).value == 1

def test_that_has_nothing_to_do_with_it():
    gc.collect()
"""


def test_what_is_freed_in_the_test_of_another_is_no_fault_of_it(tmp_path: Path) -> None:
    """Pytest sets the filters of warnings anew for every test."""
    tests = tmp_path / "test_two.py"
    tests.write_text(TWO_TESTS.format(program="async def f(x): return x\na = [f(1)]\na.append(a)\n1"))
    command = [sys.executable, "-m", "pytest", "-W", "error", "-p", "no:xdist", "-p", "no:cacheprovider", str(tests)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stdout[-1000:]
    assert "2 passed" in done.stdout
