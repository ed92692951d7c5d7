"""Another process: it replays runs, or begins one and is killed, or writes beside others.

python -m tests.journal.stranger replay PATH ENGINE RUN...     says for each run what came of it, one a line
python -m tests.journal.stranger die PATH ENGINE               begins a run and kills itself in its second call
python -m tests.journal.stranger write PATH ENGINE NUMBER      does so many runs
"""

from __future__ import annotations

import os
import signal
import sys

from codeact import Journal, Sandbox, tool


@tool
def step(n: int) -> int:
    """Take a step; the second one is the last."""
    if n == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return n


@tool
def ask(n: int) -> int:
    """Ask."""
    return n


def main(what: str, path: str, engine: str, *rest: str) -> None:
    """Do what is asked for."""
    with Journal(path) as journal:
        if what == "replay":
            sandbox = Sandbox(engine=engine, journal=journal)
            for run in rest:
                replayed = sandbox.replay(run)
                result = replayed.result
                found = (replayed.diverged, replayed.unfinished, result.value, result.usage.fuel)
                sys.stdout.write(f"{found!a}\n")
        elif what == "die":
            journal.conversation("T-1").append("asked", {"code": "…"})
            Sandbox([step], engine=engine, journal=journal).run("tools.step(1)\ntools.step(2)", task="T-1")
        else:
            sandbox = Sandbox([ask], engine=engine, journal=journal)
            for n in range(int(rest[0])):
                assert sandbox.run(f"tools.ask({n})", task=str(os.getpid())).value == n


if __name__ == "__main__":
    main(*sys.argv[1:])
