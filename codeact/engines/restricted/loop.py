"""The event loop of a world. It has no way to anything but the world's own calls and clock."""

from __future__ import annotations

import asyncio
import sys
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from contextvars import Context, copy_context
from heapq import heapify, heappop, heappush
from itertools import count
from types import CoroutineType
from typing import Any
from weakref import WeakSet

from codeact.engines.restricted.futures import BaseLoop, Closed, Future, Task
from codeact.engines.restricted.meter import Stopped
from codeact.engines.restricted.sealed import KEY
from codeact.engines.restricted.toolbox import PendingCall
from codeact.engines.restricted.world import World
from wasm_runtime.guest.awaits import settled
from wasm_runtime.guest.tasks import aside, release

_SECOND = 1_000_000_000


class Handle(Closed, key=KEY):
    """Something that the loop will call."""

    __slots__ = ("_args", "_callback", "_cancelled", "_context", "_when")

    def __init__(
        self, callback: Callable[..., object], args: tuple[Any, ...], context: Context | None, when: float
    ) -> None:
        self._callback = callback
        self._args = args
        self._context = copy_context() if context is None else context
        self._when = when
        self._cancelled = False

    def cancel(self) -> None:
        """Let it not be called."""
        self._cancelled = True

    def cancelled(self) -> bool:
        """Whether it will not be called."""
        return self._cancelled

    def when(self) -> float:
        """When it will be called, by the loop's clock."""
        return self._when

    def __repr__(self) -> str:
        return "<Handle cancelled>" if self._cancelled else "<Handle>"


class Loop(BaseLoop, key=KEY):
    """An event loop; see `asyncio.AbstractEventLoop`."""

    __slots__ = ("__weakref__", "_another", "_asyncgens", "_clock", "_closed", "_handler", "_main", "_names", "_order", "_passage", "_ready", "_running", "_stopping", "_swept", "_tasks", "_tell", "_tick", "_timers")  # fmt: skip

    def __init__(self, world: World) -> None:
        # Of the world no more than it needs: a program may come by the loop.
        self._another: Callable[[], Loop] = lambda: Loop(world)
        self._clock = world.monotonic
        self._tick = world.meter.tick
        self._passage = world.passage
        self._tell: Callable[[object, object], None] = lambda what, error: world.write(
            f"{what if type(what) is str else ''}\n{type(error).__name__}: {world.builtins['.str'](error)[:_TOLD]}\n"
        )
        self._ready: deque[Handle] = deque()
        self._timers: list[tuple[float, int, Handle]] = []
        self._swept = _SWEEP
        self._order = count()
        self._names = count(1)
        self._tasks: set[Task] = set()
        self._asyncgens: WeakSet[Any] = WeakSet()
        self._main: Any = None
        self._running = self._stopping = self._closed = False
        self._handler: Callable[[Any, Any], object] | None = None

    # --- what will be called -----------------------------------------------------------------------------------

    def time(self) -> float:
        """The loop's clock, in seconds."""
        return self._clock() / _SECOND

    def call_soon(self, callback: Callable[..., object], *args: Any, context: Context | None = None) -> Handle:
        """Call it in the next turn."""
        handle = Handle(callback, args, context, 0.0)
        self._ready.append(handle)
        return handle

    call_soon_threadsafe = call_soon

    def call_later(
        self, delay: Any, callback: Callable[..., object], *args: Any, context: Context | None = None
    ) -> Handle:
        """Call it after so many seconds."""
        return self.call_at(self.time() + float(delay), callback, *args, context=context)

    def call_at(self, when: Any, callback: Callable[..., object], *args: Any, context: Context | None = None) -> Handle:
        """Call it at a time of the loop's clock."""
        moment = float(when)
        if moment != moment:  # noqa: PLR0124 - that is what NaN is known by
            msg = "Invalid delay: NaN (not a number)"
            raise ValueError(msg)
        handle = Handle(callback, args, context, moment)
        if len(self._timers) >= self._swept:
            self._timers = [timer for timer in self._timers if not timer[2].cancelled()]
            heapify(self._timers)
            self._swept = max(_SWEEP, 2 * len(self._timers))
        heappush(self._timers, (moment, next(self._order), handle))
        return handle

    def create_future(self) -> Future:
        """A future of this loop."""
        return Future(loop=self)

    def create_task(self, coro: Any, *, name: object = None, context: Context | None = None) -> Task:
        """A task; of a value that is there already too, as the result of a sync tool is."""
        if not is_coroutine(coro):
            if hasattr(type(coro), "__await__"):
                msg = f"a coroutine was expected, got {type(coro).__name__}"
                raise TypeError(msg)
            coro = settled(coro)
        number = next(self._names)
        task = Task(coro, loop=self, name=f"Task-{number}" if name is None else str(name), context=context)
        self._tasks.add(task)
        return task

    def run_in_executor(self, _executor: object, func: Callable[..., Any], *args: Any) -> Future:
        """Call it here and now: there are no threads."""
        future = self.create_future()
        try:
            future.set_result(func(*args))
        except (SystemExit, KeyboardInterrupt, Stopped):
            raise
        except BaseException as error:  # noqa: BLE001 - the future carries it
            future.set_exception(error)
        return future

    # --- running -----------------------------------------------------------------------------------------------

    def is_running(self) -> bool:
        """Whether it runs."""
        return self._running

    def in_this_thread(self) -> bool:
        """Whether it runs here."""
        running: object = asyncio._get_running_loop()  # noqa: SLF001 - which raises nothing
        return running is self

    def is_closed(self) -> bool:
        """Whether it will never run again."""
        return self._closed

    def stop(self) -> None:
        """Let it end after this turn."""
        self._stopping = True

    def run_forever(self) -> None:
        """Run until it is stopped."""
        if self._closed:
            msg = "Event loop is closed"
            raise RuntimeError(msg)
        if self._running:
            msg = "This event loop is already running"
            raise RuntimeError(msg)
        outer, self._passage.loop = self._passage.loop, self
        hooks = sys.get_asyncgen_hooks()
        with aside():
            asyncio._set_running_loop(self)  # type: ignore[arg-type]  # noqa: SLF001 - made for loops of others
            sys.set_asyncgen_hooks(firstiter=self._asyncgens.add, finalizer=self._finish)
            self._running = True
            try:
                while True:
                    self._turn()
                    if self._stopping:
                        break
            finally:
                self._running = self._stopping = False
                sys.set_asyncgen_hooks(*hooks)
                asyncio._set_running_loop(None)  # noqa: SLF001
                self._passage.loop = outer

    def run_until_complete(self, future: Any) -> Any:
        """Run until it is done. Where this loop runs already, another one takes over meanwhile."""
        if self._running and is_coroutine(future):
            return complete(self._another(), future)
        main = future if isinstance(future, Future) else self.create_task(future)
        outer, self._main = self._main, main
        main.add_done_callback(self._done)
        try:
            self.run_forever()
        finally:
            main.remove_done_callback(self._done)
            self._main = outer
        if not main.done():
            msg = "Event loop stopped before Future completed."
            raise RuntimeError(msg)
        return main.result()

    def wind_up(self) -> None:
        """Cancel what is still going on and see it end."""
        left = [task for task in self._tasks if not task.done()]
        for task in left:
            task.cancel()
        if left or self._asyncgens or self._ready:
            self.run_until_complete(_ended(left, list(self._asyncgens)))

    def close(self) -> None:
        """Let go of everything."""
        if self._running:
            msg = "Cannot close a running event loop"
            raise RuntimeError(msg)
        self._closed = True
        self._passage.abandon(self)
        self._ready.clear()
        self._timers.clear()
        for task in list(self._tasks):
            with suppress(Exception):  # what it does instead of ending is nobody's business any more
                task.abandon()
        self._tasks.clear()

    async def shutdown_asyncgens(self) -> None:
        """Close the asynchronous generators that have not come to their end."""
        await _ended([], list(self._asyncgens))

    async def shutdown_default_executor(self, _timeout: object = None) -> None:
        """There is none."""

    # --- settings ----------------------------------------------------------------------------------------------

    def get_debug(self) -> bool:
        """Never."""
        return False

    def set_debug(self, enabled: object) -> None:
        """Without effect."""

    def get_exception_handler(self) -> Callable[[Any, Any], object] | None:
        """What is called with an exception that nobody could meet."""
        return self._handler

    def set_exception_handler(self, handler: Callable[[Any, Any], object] | None) -> None:
        """Call this with an exception that nobody could meet."""
        self._handler = handler

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        """Tell of such an exception: the handler, or whoever reads what is printed."""
        if self._handler is not None:
            self._handler(self, context)
        else:
            self._tell(context["message"], context.get("exception"))

    def __repr__(self) -> str:
        return f"<Loop {'running' if self._running else 'closed' if self._closed else 'idle'}>"

    # --- inside ------------------------------------------------------------------------------------------------

    def _turn(self) -> None:
        self._tick()
        timers = self._timers
        while timers and timers[0][2].cancelled():
            heappop(timers)
        if not self._passage.wait(self._pause()):
            release(self._main)
        if timers:
            now = self.time()
            while timers and timers[0][0] <= now:
                self._ready.append(heappop(timers)[2])
        for _ in range(len(self._ready)):
            self._call(self._ready.popleft())

    def _pause(self) -> float | None:
        """Seconds until something is to be called; None where nothing is."""
        if self._ready or self._stopping:
            return 0.0
        return max(0.0, self._timers[0][0] - self.time()) if self._timers else None

    def _call(self, handle: Handle) -> None:
        if handle.cancelled():
            return
        self._tick()
        try:
            handle._context.run(handle._callback, *handle._args)  # noqa: SLF001 - it is the loop's
        except (SystemExit, KeyboardInterrupt, Stopped):
            raise
        except BaseException as error:  # noqa: BLE001 - nobody waits for a callback
            self.call_exception_handler({"message": "Exception in callback", "exception": error})
        finally:
            del handle  # a traceback may keep this frame

    def _done(self, _main: Future) -> None:
        self._stopping = True

    def _finish(self, asyncgen: Any) -> None:
        if self._running:
            self.call_soon(self.create_task, asyncgen.aclose())


_TOLD = 500
"""Characters of an exception that are printed."""

_SWEEP = 100
"""Timers that are kept before those that were cancelled are looked for."""


def is_coroutine(value: object) -> bool:
    """Whether it can become a task. A program's own classes are not asked: that is remembered in the process."""
    return type(value) in _COROUTINES


_COROUTINES = frozenset({CoroutineType, PendingCall})


def complete(loop: Loop, coroutine: Any) -> object:
    """Run a coroutine, and what it started, to its end.

    Raises:
        Stopped: the run is over; nothing is seen to its end then.
    """
    try:
        value = _through(loop, coroutine)
    finally:
        loop.close()
    return value


def _through(loop: Loop, coroutine: Any) -> object:
    try:
        value = loop.run_until_complete(coroutine)
    except Stopped:
        raise
    except BaseException:
        loop.wind_up()
        raise
    loop.wind_up()
    return value


async def _ended(tasks: list[Task], asyncgens: list[Any]) -> None:
    for waited in (*tasks, *(asyncgen.aclose() for asyncgen in asyncgens)):
        try:
            await waited
        except GeneratorExit:  # a stop is one too
            raise
        except BaseException:  # noqa: BLE001, S110 - it was told to end, however it does
            pass
