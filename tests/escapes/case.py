"""Runs one hostile program in a process of its own and prints what came of it, as JSON.

    python tests/escapes/case.py FILE ENGINE

The process is the host: the canaries are in its environment, in a file, and in what surrounds the tools.
"""

from __future__ import annotations

import gc
import json
import os
import resource
import signal
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from codeact import Limits, Result, Sandbox, tool

CANARY = "codeact-canary-5f1e9c"
TIMEOUT = 0.7
MEMORY = 128 * 1024 * 1024

calls: list[float] = []
closed_over = CANARY


@tool
def get_charges(customer_id: str) -> list[dict[str, Any]]:
    """Charges of a customer."""
    calls.append(time.monotonic())
    assert closed_over
    return [{"id": "ch_1", "amount": 1200, "date": "2026-01-02"}, {"id": "ch_2", "amount": 5, "date": customer_id}]


@tool
def search_kb(query: str) -> list[str]:
    """Help articles."""
    calls.append(time.monotonic())
    return [f"about {query}"]


def sources(path: Path, head: dict[str, Any]) -> str:
    """The program: the file's own text, or what the file makes on the host."""
    text = path.read_text(encoding="utf-8", errors="surrogateescape")
    if head.get("kind") == "source":
        made: dict[str, Any] = {}
        exec(compile(text, str(path), "exec"), made)
        source = made["SOURCE"]
        return source.decode("utf-8", "replace") if isinstance(source, bytes) else str(source)
    return text if text.rstrip().endswith("\nresult") else f"{text}\nresult\n"


def state() -> dict[str, object]:
    """What a run must leave as it was."""
    return {
        "cwd": str(Path.cwd()),
        "environment": dict(os.environ),
        "signals": {str(number): repr(signal.getsignal(number)) for number in signal.valid_signals()},
        "hooks": [repr(sys.excepthook), repr(sys.displayhook), repr(sys.gettrace()), repr(sys.getprofile())],
        "paths": [list(sys.path), len(sys.meta_path), len(sys.path_hooks)],
        "recursion": sys.getrecursionlimit(),
        "descriptors": len(list(Path("/proc/self/fd").iterdir())) if sys.platform == "linux" else 0,
        "collector": [gc.isenabled(), gc.get_threshold()],
        "builtins": sorted(vars(__builtins__)) if not isinstance(__builtins__, dict) else sorted(__builtins__),
    }


def main() -> None:
    path, engine = Path(sys.argv[1]), sys.argv[2]
    head = json.loads(path.read_text(errors="replace").partition("\n")[0].removeprefix("# "))
    with tempfile.NamedTemporaryFile("w", prefix="codeact_canary", suffix=".txt") as file:
        file.write(CANARY)
        file.flush()
        os.environ["CODEACT_CANARY"] = CANARY
        os.environ["CODEACT_CANARY_FILE"] = file.name
        sandbox = Sandbox([get_charges, search_kb], engine=engine, limits=Limits(timeout=TIMEOUT, memory=MEMORY))
        assert sandbox.run("import json, re, datetime\ntools.get_charges('c1')[0]['id']").value == "ch_1"
        source = sources(path, head)
        before = state()
        threads = threading.active_count()
        begun = time.monotonic()
        result = sandbox.run(source)
        if head.get("runs") == 2:
            begun = time.monotonic()
            result = sandbox.run(source)
        ended = time.monotonic()
        after = state()
        honest = sandbox.run("sum(charge['amount'] for charge in tools.get_charges('c1'))")
        calls_late = [moment for moment in calls[:-1] if moment > ended]
    told(result, honest, ended - begun, [key for key in before if before[key] != after[key]], calls_late, threads)


def told(  # noqa: PLR0913, PLR0917 - it is all there is to say
    result: Result, honest: Result, seconds: float, changed: list[str], late: list[float], threads: int
) -> None:
    error = None if result.error is None else [result.error.kind, result.error.type, result.error.message]
    everything = json.dumps(result.to_dict(), default=repr) + result.observation()
    print(  # noqa: T201 - that is what it is for
        json.dumps(
            {
                "ok": result.ok,
                "error": error,
                "escaped": "ESCAPED" in (result.value if isinstance(result.value, list) else [result.value]),
                "leaked": CANARY in everything,
                "seconds": seconds,
                "changed": changed,
                "late": len(late),
                "honest": honest.value,
                "threads": max(0, threading.active_count() - threads),
                "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
            }
        )
    )


if __name__ == "__main__":
    main()
