"""pyeryx: CPython in wasm, as ours, with a host in Rust."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from eryx import ResourceLimits, Sandbox, Session

from benchmarks.arms import CannotError, Run, Tools
from benchmarks.arms.shop import granted
from benchmarks.peers.texts import awaiting, bound

LIMITS = ResourceLimits(
    execution_timeout_ms=60_000, max_memory_bytes=512 * 1024 * 1024, max_callback_invocations=1_000_000
)
"""By default 1,000 calls end a program. Fuel stays what it is by default, which is off."""


class Eryx:
    """Sandboxes, of which each run is a fresh world, and sessions."""

    @contextmanager
    def fresh(self, tools: Tools) -> Iterator[Run]:
        """See `Arm`."""
        functions = granted(tools)
        sandbox = Sandbox(resource_limits=LIMITS, callbacks=_callbacks(functions))
        yield lambda program: sandbox.execute(bound(awaiting(program, functions), "result")).result

    @contextmanager
    def session(self, tools: Tools) -> Iterator[Run]:
        """See `Arm`."""
        functions = granted(tools)
        session = Session(callbacks=_callbacks(functions))
        yield lambda program: session.execute(bound(awaiting(program, functions), "result")).result

    def idle(self) -> AbstractContextManager[object]:
        """See `Arm`."""
        msg = "a session has no instance before its first run"
        raise CannotError(msg)


def _callbacks(functions: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {"name": name, "fn": function, "description": function.__doc__ or ""} for name, function in functions.items()
    ]


def arm() -> Eryx:
    """The arm."""
    return Eryx()
