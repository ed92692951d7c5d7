"""asyncio without an operating system: one loop, whose only way to wait is the clock."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine
from typing import Any


class _Idle:
    """Stands where a loop has its selector. Nothing arrives from outside; there is only time to let pass."""

    def select(self, timeout: float | None) -> list[Any]:
        if timeout is None:
            msg = "the program waits for something that nothing will ever do"
            raise RuntimeError(msg)
        if timeout > 0:
            time.sleep(timeout)
        return []


class Loop(asyncio.BaseEventLoop):
    """The event loop of the room."""

    def __init__(self) -> None:
        super().__init__()
        self._selector = _Idle()

    def _process_events(self, _events: list[Any]) -> None:
        """There are none."""

    def _write_to_self(self) -> None:
        """Nobody waits in another thread."""

    def run_in_executor(  # type: ignore[override]  # any executor is the program itself
        self, _executor: object, function: Callable[..., Any], *args: Any
    ) -> asyncio.Future[Any]:
        """Call it here and now: there are no threads."""
        future = self.create_future()
        try:
            future.set_result(function(*args))
        except (SystemExit, KeyboardInterrupt):
            raise
        except BaseException as error:  # noqa: BLE001  # the future carries it
            future.set_exception(error)
        return future


def complete(coroutine: Coroutine[Any, Any, object]) -> object:
    """Run a coroutine, and what it started, to its end."""
    with asyncio.Runner(loop_factory=Loop) as runner:
        return runner.run(coroutine)


def reset() -> None:
    """Begin a run with no loop running; the component's own runtime leaves one behind."""
    asyncio._set_running_loop(None)  # noqa: SLF001


def install() -> None:
    """Make this the loop that asyncio makes."""

    class Policy(asyncio.events._BaseDefaultEventLoopPolicy):  # type: ignore[name-defined,misc]  # noqa: SLF001
        _loop_factory = Loop

        def get_event_loop(self) -> asyncio.AbstractEventLoop:
            """The current loop; a program outside of one is given one, as it was for many years."""
            if self._local._loop is None:  # noqa: SLF001
                self.set_event_loop(self.new_event_loop())
            return super().get_event_loop()  # type: ignore[no-any-return]

    asyncio.events._set_event_loop_policy(Policy())  # type: ignore[attr-defined]  # noqa: SLF001
    asyncio.SelectorEventLoop = asyncio.EventLoop = Loop  # type: ignore[assignment,attr-defined]
