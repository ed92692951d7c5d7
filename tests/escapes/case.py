"""Runs hostile programs in a process of its own and prints what came of each, as a line of JSON.

    python tests/escapes/case.py FILE ENGINE [NAME...]
    python tests/escapes/case.py --each-in-a-child

The second reads lines of JSON, `[FILE, ENGINE]`, and answers each by one: a process that has imported all there is to import
is forked for each, so that nobody waits for that again. FILE is one program of the collection (`.py`), or a table of the project's own (`.toml`), of which NAMEs may be chosen.
The process is the host: the canaries are in its environment, in a file, and in what surrounds the tools.
"""

from __future__ import annotations

import decimal
import gc
import json
import logging
import os
import random
import resource
import signal
import sys
import tempfile
import threading
import time
import tomllib
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
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


def made(text: str, origin: str) -> str:
    """A program that Python code makes on the host, as SOURCE."""
    names: dict[str, Any] = {}
    exec(compile(text, origin, "exec"), names)
    source = names["SOURCE"]
    return source.decode("utf-8", "replace") if isinstance(source, bytes) else str(source)


def programs(path: Path, engine: str, chosen: list[str]) -> Iterator[tuple[str, str, int]]:
    """The programs of a file for an engine: their name, text, and how often they are run."""
    if path.suffix == ".toml":
        for name, case in tomllib.loads(path.read_text(encoding="utf-8")).items():
            if case.get("engine", engine) == engine and (not chosen or name in chosen):
                yield name, made(case["make"], name) if "make" in case else case["source"], case.get("runs", 1)
        return
    text = path.read_text(encoding="utf-8", errors="surrogateescape")
    head = json.loads(text.partition("\n")[0].removeprefix("# "))
    if head.get("kind") == "source":
        text = made(text, str(path))
    elif not text.rstrip().endswith("\nresult"):
        text = f"{text}\nresult\n"
    yield path.stem, text, head.get("runs", 1)


def state() -> dict[str, object]:
    """What a run must leave as it was."""
    return {
        "cwd": str(Path.cwd()),
        "environment": dict(os.environ),
        "signals": {str(number): repr(signal.getsignal(number)) for number in signal.valid_signals()},
        "timers": signal.getitimer(signal.ITIMER_REAL),
        "hooks": [repr(getattr(sys, name)) for name in _HOOKS],
        "traces": [repr(sys.gettrace()), repr(sys.getprofile())],
        "streams": [id(sys.stdin), id(sys.stdout), id(sys.stderr)],
        "paths": [list(sys.path), len(sys.meta_path), len(sys.path_hooks)],
        "interpreter": [sys.getrecursionlimit(), sys.getswitchinterval(), sys.get_int_max_str_digits()],
        "descriptors": len(list(Path("/proc/self/fd").iterdir())) if sys.platform == "linux" else 0,
        "collector": [gc.isenabled(), gc.get_threshold(), len(gc.callbacks)],
        "builtins": sorted(vars(__builtins__)) if not isinstance(__builtins__, dict) else sorted(__builtins__),
        "decimal": repr(decimal.getcontext()),
        "random": hash(random.getstate()),
        "logging": [repr(logging.root), list(map(repr, logging.root.handlers)), logging.root.manager.disable],
        "loggers": sorted(logging.root.manager.loggerDict),
        "threads": sorted(
            thread.name
            for thread in threading.enumerate()
            if not thread.name.startswith("codeact-")  # kept for reuse
        ),
        "classes": {
            f"{module}.{name}": [(key, id(value)) for key, value in vars(kind).items()]
            for module in _MODULES
            for name, kind in vars(sys.modules[module]).items()
            if isinstance(kind, type) and kind.__module__ == module
        },
        "names": {module: sorted(vars(sys.modules[module])) for module in _MODULES},
    }


_HOOKS = ("excepthook", "displayhook", "unraisablehook", "breakpointhook")
_MODULES = (
    "json", "re", "datetime", "collections", "functools", "itertools", "math", "random", "string", "typing", "enum",
    "dataclasses", "decimal", "fractions", "statistics", "copy", "contextlib", "os", "sys", "io", "time", "asyncio",
)  # fmt: skip


for _module in _MODULES:
    import_module(_module)  # that a first run imports them is no change


@contextmanager
def host(engine: str, timeout: float) -> Iterator[Sandbox]:
    """The host of the programs, with a canary in every place that an escape would look at."""
    with tempfile.NamedTemporaryFile("w", prefix="codeact_canary", suffix=".txt") as file:
        file.write(CANARY)
        file.flush()
        os.environ["CODEACT_CANARY"] = CANARY
        os.environ["CODEACT_CANARY_FILE"] = file.name
        sandbox = Sandbox([get_charges, search_kb], engine=engine, limits=Limits(timeout=timeout, memory=MEMORY))
        assert sandbox.run("import json, re, datetime\ntools.get_charges('c1')[0]['id']").value == "ch_1"
        yield sandbox


def judged(sandbox: Sandbox, source: str, runs: int) -> dict[str, Any]:
    """What came of one program."""
    before = state()
    del calls[:]
    for _ in range(runs):
        begun = time.monotonic()
        result = sandbox.run(source)
        ended = time.monotonic()
    done = len(calls)
    gc.collect()
    honest = sandbox.run("sum(charge['amount'] for charge in tools.get_charges('c1'))")
    after = state()
    return told(result) | {
        "seconds": ended - begun,
        "changed": [key for key in before if before[key] != after[key]],
        "late": len(calls) - done - 1,
        "honest": honest.value if honest.ok else honest.observation(),
        "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
    }


def told(result: Result) -> dict[str, Any]:
    """What the result says."""
    error = None if result.error is None else [result.error.kind, result.error.type, result.error.message[:500]]
    everything = json.dumps(result.to_dict(), default=repr) + result.observation()
    return {
        "ok": result.ok,
        "error": error,
        "value": repr(result.value)[:300],
        "escaped": "ESCAPED" in (result.value if isinstance(result.value, list) else [result.value]),
        "leaked": CANARY in everything,
    }


def main() -> None:
    warnings.simplefilter("default")
    if sys.argv[1:] == ["--each-in-a-child"]:
        serve()
    else:
        run(Path(sys.argv[1]), sys.argv[2], sys.argv[3:])


def run(path: Path, engine: str, chosen: list[str]) -> None:
    with host(engine, float(os.environ.get("CODEACT_CASE_TIMEOUT", TIMEOUT))) as sandbox:
        for name, source, runs in programs(path, engine, chosen):
            print(json.dumps({"begun": name}), flush=True)  # noqa: T201 - that is what it is for
            print(json.dumps({"name": name} | judged(sandbox, source, runs)), flush=True)  # noqa: T201


def serve() -> None:
    for module in ("codeact.engines.restricted.engine", "codeact.engines.wasm", "wasm_runtime.machine"):
        import_module(module)  # and not a thing more: an engine is set up by the process that uses it
    for line in sys.stdin:
        path, engine = json.loads(line)
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            child = os.fork()
            if child == 0:
                os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
                os.dup2(out.fileno(), 1)
                os.dup2(err.fileno(), 2)
                run(Path(path), engine, [])
                return  # and end as a process does that was started for it
            code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            told = [stream.seek(0) or stream.read().decode(errors="replace") for stream in (out, err)]
        print(json.dumps({"returncode": code, "stdout": told[0], "stderr": told[1]}), flush=True)  # noqa: T201 - as above


if __name__ == "__main__":
    main()
