"""codeact itself, on one of its engines."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, cast

from benchmarks import tools as typed
from benchmarks.arms import CannotError, Run, Tools, WrongAnswerError
from benchmarks.arms.shop import granted
from codeact import Limits, Result, Sandbox, Tool
from codeact.engines import load
from codeact.engines.ready import ReadyEngine
from codeact.engines.wasm import WasmEngine

READY = 4
"""Worlds that are made ready, where that is measured."""

LIMITS = Limits(timeout=60.0, memory=512 * 1024 * 1024)
"""What none of the programs comes near; fuel and every other limit stay what they are by default."""


class Ours:
    """A sandbox on an engine.

    Args:
        engine: its name.
        workers: processes that its guests run in; None for this one.

    Raises:
        EngineUnavailable: it cannot be set up here.
    """

    def __init__(self, engine: str, workers: int | None = None) -> None:
        self._engine = load(engine)
        self._workers = workers
        self._sandboxes: dict[Tools, Sandbox] = {}

    @contextmanager
    def fresh(self, tools: Tools) -> Iterator[Run]:
        """See `Arm`."""
        sandbox = self._sandbox(tools)
        yield lambda program: _value(sandbox.run(program))

    @contextmanager
    def session(self, tools: Tools) -> Iterator[Run]:
        """See `Arm`."""
        with self._sandbox(tools).session() as session:
            yield lambda program: _value(session.run(program))

    @contextmanager
    def ready(self, tools: Tools) -> Iterator[tuple[Run, Callable[[], object]]]:
        """See `Prepared`."""
        if self._engine.name != "wasm" or self._workers is not None:
            msg = "worlds are made ready by wasm in one process alone"
            raise CannotError(msg)
        engine = ReadyEngine(cast("WasmEngine", self._engine), READY, LIMITS)

        def wait() -> None:
            while engine.pool.ready < READY:
                time.sleep(0.0005)

        try:
            sandbox = Sandbox(_TOOLS.get(tools) or granted(tools), engine=engine, limits=LIMITS)
            yield lambda program: _value(sandbox.run(program)), wait
        finally:
            engine.close()

    @contextmanager
    def idle(self) -> Iterator[object]:
        """See `Arm`."""
        if self._workers is not None:
            msg = "workers have no instance before its first run"
            raise CannotError(msg)
        instance = self._engine.open((), LIMITS)
        try:
            yield instance
        finally:
            instance.close()

    def _sandbox(self, tools: Tools) -> Sandbox:
        """One for all worlds with the same tools, as users have it; it ends with the process."""
        if tools not in self._sandboxes:
            self._sandboxes[tools] = self._new(tools)
        return self._sandboxes[tools]

    def _new(self, tools: Tools) -> Sandbox:
        return Sandbox(_TOOLS.get(tools) or granted(tools), engine=self._engine, limits=LIMITS, workers=self._workers)


_TOOLS: Mapping[str, tuple[Tool[..., Any], ...]] = {"five": typed.TOOLS, "records": typed.TOOLS}


def _value(result: Result) -> object:
    if result.error is not None:
        raise WrongAnswerError("; ".join(line.strip() for line in result.observation().splitlines()))
    return result.value


def arm(engine: str, *workers: str) -> Ours:
    """The arm: an engine, and where it is to have workers, how many."""
    return Ours(engine, *map(int, workers))
