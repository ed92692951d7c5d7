"""Many runs and sessions of all kinds of endings leave nothing behind: the benchmark in small."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]

BOMBS = """
import sys, threading, time
from codeact import Limits, Sandbox, execution
from codeact.memory import resident
sandbox = Sandbox(engine="restricted", limits=Limits(memory=96 * 1024 * 1024, timeout=20.0, fuel=10**9))
def settled():
    while execution._live: time.sleep(0.01)
    return resident()
def bomb():
    assert sandbox.run("x = []\\nwhile True: x.append('x' * 100_000 + str(len(x)))").error.kind == "memory"
sandbox.run("1")
before = settled()
for _ in range(4):
    threads = [threading.Thread(target=bomb) for _ in range(4)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
print(settled() - before)
"""


def test_runs_and_sessions_leave_nothing_behind(engine: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks", "soak", "--engine", engine, "--runs", "400", "--sessions", "40"],
        cwd=ROOT, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count(": flat") == 6


def test_memory_that_a_program_took_is_given_back() -> None:
    done = subprocess.run(
        [sys.executable, "-c", BOMBS], cwd=ROOT, capture_output=True, text=True, timeout=120, check=True
    )
    assert int(done.stdout) < 150 * 2**20, "without giving it back it is some hundred MiB"
