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
