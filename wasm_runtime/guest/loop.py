"""asyncio without an operating system: what a loop waits for are the calls of tools, and the clock."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from . import clock
from .awaits import awaitable, settled
from .patching import replace
from .tasks import aside, release
from .tools import traffic
from .unawaited import UnawaitedCall, gathered, go_together


class _Outside:
    """Stands where a loop has its selector."""

    def __init__(self, loop: Loop) -> None:
        self._loop = loop

    def select(self, timeout: float | None) -> list[Any]:
        """Wait for answers, and so long."""
        if not traffic.wait(timeout):
            release(self._loop.main)
        return []


class Loop(asyncio.BaseEventLoop):
    """The event loop of the room.

    Attributes:
        main: what it runs until.
    """

    def __init__(self) -> None:
        super().__init__()
        self.main: Any = None
        self._selector = _Outside(self)

    def _process_events(self, _events: list[Any]) -> None:
        """There are none."""

    def _write_to_self(self) -> None:
        """Nobody waits in another thread."""

    def run_until_complete(self, future: Any) -> Any:
        """Run until it is done. Where this loop runs already, another one takes over meanwhile."""
        if self.is_running() and asyncio.iscoroutine(future):
            return asyncio.run(future)
        self._check_closed()  # type: ignore[attr-defined]  # before there is a task that nobody runs
        main = asyncio.ensure_future(future, loop=self)
        outer, self.main = self.main, main
        try:
            with aside():
                return super().run_until_complete(main)
        finally:
            self.main = outer

    def create_task(self, coro: Any, **options: Any) -> asyncio.Task[Any]:
        """A task; of a value that is there already too, as the result of a sync tool is."""
        return super().create_task(coro if hasattr(coro, "__await__") else settled(coro), **options)

    def close(self) -> None:
        """Let go of everything."""
        if not self.is_running():
            traffic.abandon(self)
        super().close()

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
    traffic.reset()


def _run(main: Any, **options: Any) -> Any:
    """Run a coroutine in a loop of its own; a loop that runs already waits meanwhile."""
    with aside():
        return _asyncio_run(main, **options)


def _runner_run(self: asyncio.Runner, coro: Any, **options: Any) -> Any:
    """Run a coroutine in the runner's loop; a loop that runs already waits meanwhile."""
    with aside():
        return _asyncio_runner_run(self, coro, **options)


def _gather(*coros_or_futures: Any, return_exceptions: bool = False) -> Any:
    """Wait for all of them together; values that are there already are as good as awaited."""
    loop = asyncio._get_running_loop()  # noqa: SLF001
    if loop is not None and go_together(UnawaitedCall, coros_or_futures):
        return loop.create_task(gathered(coros_or_futures, lenient=return_exceptions))
    return _asyncio_gather(*map(awaitable, coros_or_futures), return_exceptions=return_exceptions)


def _wait_for(fut: Any, timeout: Any) -> Any:
    """Wait for one, no longer than so many seconds; a value that is there already is as good as awaited."""
    return _asyncio_wait_for(awaitable(fut), timeout)


_asyncio_run, _asyncio_runner_run = asyncio.run, asyncio.Runner.run
_asyncio_gather, _asyncio_wait_for = asyncio.gather, asyncio.wait_for


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
    clock.pass_time = traffic.wait
    asyncio.Runner.run = _runner_run  # type: ignore[method-assign]
    for original, ours in (
        (_asyncio_run, _run),
        (_asyncio_gather, _gather),
        (_asyncio_wait_for, _wait_for),
    ):
        ours.__name__ = ours.__qualname__ = original.__name__
        replace(original, ours)
