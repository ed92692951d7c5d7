"""A Python interpreter in a process of its own, bare or inside bubblewrap, with calls of tools over its pipes."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from benchmarks.arms import CannotError, Run, Tools, WrongAnswerError
from benchmarks.arms.shop import granted
from benchmarks.peers.texts import VALUE, bound

BUBBLEWRAP = (
    "bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc",
    "--unshare-all", "--die-with-parent", "--new-session",
)  # fmt: skip

INSIDE = f"""
import json, sys
asked, told = sys.stdin, sys.stdout
sys.stdout = sys.stderr
def say(**what):
    told.write(json.dumps(what) + chr(10)); told.flush()
class Tools:
    def __getattr__(self, name):
        def call(*args, **kwargs):
            say(call=name, args=args, kwargs=kwargs)
            return json.loads(asked.readline())
        return call
names = {{"__name__": "__main__", "tools": Tools()}}
for line in asked:
    try:
        exec(json.loads(line), names)
        say(value=names.pop({VALUE!r}, None))
    except Exception as error:
        say(error=type(error).__name__ + ": " + str(error))
"""


class Interpreters:
    """Starts interpreters.

    Args:
        wrapper: what the command line begins with.
    """

    def __init__(self, wrapper: Sequence[str]) -> None:
        self._command = (*wrapper, sys.executable, "-I", "-c", INSIDE)

    @contextmanager
    def fresh(self, tools: Tools) -> Iterator[Run]:
        """See `Arm`."""
        functions = _tools(tools)

        def run(program: str) -> object:
            with self._started() as process:
                return _run(process, program, functions)

        yield run

    @contextmanager
    def session(self, tools: Tools) -> Iterator[Run]:
        """See `Arm`."""
        functions = _tools(tools)
        with self._started() as process:
            yield lambda program: _run(process, program, functions)

    @contextmanager
    def idle(self) -> Iterator[object]:
        """See `Arm`."""
        with self._started() as process:
            yield process

    @contextmanager
    def _started(self) -> Iterator[subprocess.Popen[str]]:
        process = subprocess.Popen(self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        try:
            yield process
        finally:
            process.communicate()  # it ends at the end of its input


def _tools(tools: Tools) -> Mapping[str, Callable[..., Any]]:
    if tools == "later":
        msg = "no calls at the same time: there is one pipe, and whoever calls waits for the answer"
        raise CannotError(msg)
    return granted(tools)


def _run(process: subprocess.Popen[str], program: str, functions: Mapping[str, Callable[..., Any]]) -> object:
    _say(process, bound(program))
    while True:
        if process.stdout is None or not (line := process.stdout.readline()):
            msg = f"the interpreter ended with code {process.wait()}"
            raise WrongAnswerError(msg)
        told: dict[str, Any] = json.loads(line)
        if "value" in told:
            return told["value"]
        if "error" in told:
            raise WrongAnswerError(told["error"])
        _say(process, functions[told["call"]](*told["args"], **told["kwargs"]))


def _say(process: subprocess.Popen[str], what: object) -> None:
    print(json.dumps(what), file=process.stdin, flush=True)


def arm(name: str) -> Interpreters:
    """The arm: `subprocess`, or `bubblewrap`."""
    return Interpreters(BUBBLEWRAP if name == "bubblewrap" else ())
