"""What the tests of workers have in common: sandboxes with some, tools that hold a run, and looks at processes."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from codeact import Limits, Result, Sandbox, tool
from codeact.engines.workerpool import WorkerPool

ROOT = Path(__file__).parent.parent.parent


ROOMY = 20.0


def pool_of(sandbox: Sandbox) -> WorkerPool:
    return sandbox._grant.engine.pool  # type: ignore[attr-defined]


def until(true: Callable[[], object], seconds: float = 20.0) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it never came true"
        threading.Event().wait(0.01)


def gone(pid: int) -> bool:
    """Whether a process has ended; where nobody reaps orphans, one that has is still listed."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


def kill(pids: tuple[int, ...], number: signal.Signals = signal.SIGKILL) -> None:
    for pid in pids:
        os.kill(pid, number)


def stop(pids: tuple[int, ...]) -> None:
    """Stop worker processes, and wait until none of their threads does anything more."""
    kill(pids, signal.SIGSTOP)
    for pid in pids:
        os.waitid(os.P_PID, pid, os.WSTOPPED | os.WNOWAIT)


class Gate:
    """A tool that holds its run, and knows that it does."""

    def __init__(self) -> None:
        self.entered = threading.Semaphore(0)
        self.opened = threading.Event()

        @tool
        def hold() -> int:
            """Wait until the test goes on."""
            self.entered.release()
            self.opened.wait(ROOMY)
            return 1

        @tool
        def begun() -> int:
            """Tell the test."""
            self.entered.release()
            return 1

        self.tools = (hold, begun)

    def wait(self) -> None:
        assert self.entered.acquire(timeout=ROOMY)


@contextmanager
def made(tools: Any = (), workers: int = 1, **limits: Any) -> Iterator[Sandbox]:
    with Sandbox(tools, workers=workers, limits=Limits(**{"timeout": ROOMY, **limits})) as sandbox:
        yield sandbox


def died(result: Result) -> None:
    assert result.error is not None, result.observation()
    assert (result.error.kind, result.error.type) == ("host", "WorkerDied"), result.observation()
