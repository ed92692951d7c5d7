"""codeact itself, on one of its engines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from benchmarks import tools as typed
from benchmarks.arms import Run, Tools, WrongAnswerError
from benchmarks.arms.shop import granted
from codeact import Limits, Result, Sandbox, Tool
from codeact.engines import load

LIMITS = Limits(timeout=60.0, memory=512 * 1024 * 1024)
"""What none of the programs comes near; fuel and every other limit stay what they are by default."""


class Ours:
    """A sandbox on an engine.

    Args:
        engine: its name.

    Raises:
        EngineUnavailable: it cannot be set up here.
    """

    def __init__(self, engine: str) -> None:
        self._engine = load(engine)

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
    def idle(self) -> Iterator[object]:
        """See `Arm`."""
        instance = self._engine.open((), LIMITS)
        try:
            yield instance
        finally:
            instance.close()

    def _sandbox(self, tools: Tools) -> Sandbox:
        return Sandbox(_TOOLS.get(tools) or granted(tools), engine=self._engine, limits=LIMITS)


_TOOLS: Mapping[str, tuple[Tool[..., Any], ...]] = {"five": typed.TOOLS, "records": typed.TOOLS}


def _value(result: Result) -> object:
    if result.error is not None:
        raise WrongAnswerError("; ".join(line.strip() for line in result.observation().splitlines()))
    return result.value


def arm(engine: str) -> Ours:
    """The arm."""
    return Ours(engine)
