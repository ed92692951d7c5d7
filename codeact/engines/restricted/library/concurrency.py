"""`asyncio`, with a loop of the world's own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import Any, Self

from codeact.engines.restricted.futures import Closed, Future, Task
from codeact.engines.restricted.library.parts import Parts, take
from codeact.engines.restricted.loop import Handle, Loop, complete, is_coroutine
from codeact.engines.restricted.sealed import KEY, Sealed
from codeact.engines.restricted.toolbox import PendingCall
from wasm_runtime.guest.unawaited import gathered, go_together

_PLAIN = (
    "ALL_COMPLETED FIRST_COMPLETED FIRST_EXCEPTION Barrier BoundedSemaphore BrokenBarrierError CancelledError Condition "
    "Event InvalidStateError Lock QueueEmpty QueueFull QueueShutDown Semaphore TaskGroup Timeout TimeoutError "
    "iscoroutinefunction sleep timeout timeout_at"
)
"""What goes through the running loop and keeps nothing for itself."""


class _Showing:
    """A queue does not show what is in it: that can be anything, and nothing judges its size."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.qsize()}>"  # type: ignore[attr-defined]

    __str__ = __repr__


class Queue(_Showing, asyncio.Queue[Any]):
    """See `asyncio.Queue`."""


class PriorityQueue(_Showing, asyncio.PriorityQueue[Any]):
    """See `asyncio.PriorityQueue`."""


class LifoQueue(_Showing, asyncio.LifoQueue[Any]):
    """See `asyncio.LifoQueue`."""


class Gathering(Future, key=KEY):
    """What `gather` gives: cancelling it cancels all of them."""

    __slots__ = ("_cancel_requested", "_children", "_left", "_lenient", "_order")

    def __init__(self, loop: Loop, order: list[Future], *, lenient: bool) -> None:
        super().__init__(loop=loop)
        self._order = order
        self._children = list({id(child): child for child in order}.values())
        self._left = len(self._children)
        self._lenient = lenient
        self._cancel_requested = False
        for child in self._children:
            child.add_done_callback(self._told)

    def cancel(self, msg: object = None) -> bool:
        """Cancel all of them."""
        if self.done():
            return False
        cancelled = [child.cancel(msg) for child in self._children]
        if any(cancelled):
            self._cancel_requested = True
            self._message = msg
        return any(cancelled)

    def _told(self, child: Future) -> None:
        self._left -= 1
        if self.done():
            return
        if not self._lenient:
            error = child.cancellation() if child.cancelled() else child.exception()
            if error is not None:
                self.set_exception(error)
                return
        if self._left:
            return
        if self._cancel_requested:
            self.set_exception(self.cancellation())
        else:
            self.set_result([_came_of(child) for child in self._order])


def _came_of(child: Future) -> object:
    if child.cancelled():
        return child.cancellation()
    return child.exception() or child.result()


class Completed(Closed, key=KEY):
    """What `as_completed` gives: an iterator, and an asynchronous one."""

    def __init__(self, loop: Loop, futures: list[Future], timeout: Any) -> None:
        self._arrived: asyncio.Queue[Future | None] = asyncio.Queue()
        self._pending = dict.fromkeys(futures)
        self._left = len(self._pending)
        for future in self._pending:
            future.add_done_callback(self._told)
        self._timer = None if timeout is None or not futures else loop.call_later(timeout, self._late)

    def __iter__(self) -> Completed:
        return self

    def __aiter__(self) -> Completed:
        return self

    def __next__(self) -> Any:
        if not self._left:
            raise StopIteration
        self._left -= 1
        return self._result()

    async def __anext__(self) -> Any:
        if not self._left:
            raise StopAsyncIteration
        self._left -= 1
        return await self._next()

    async def _result(self) -> Any:
        return (await self._next()).result()

    async def _next(self) -> Future:
        future = await self._arrived.get()
        if future is None:
            raise TimeoutError
        return future

    def _told(self, future: Future) -> None:
        if self._pending.pop(future, self) is not self:
            self._arrived.put_nowait(future)
            if not self._pending and self._timer is not None:
                self._timer.cancel()

    def _late(self) -> None:
        for _ in self._pending:
            self._arrived.put_nowait(None)
        self._pending.clear()


class Runner(Closed, key=KEY):
    """See `asyncio.Runner`."""

    def __init__(self, make: Callable[[], Loop]) -> None:
        self._make = make
        self._loop: Loop | None = None

    def __enter__(self) -> Self:
        self.get_loop()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def get_loop(self) -> Loop:
        """Its loop."""
        if self._loop is None:
            self._loop = self._make()
        return self._loop

    def run(self, coro: Any) -> Any:
        """Run a coroutine in it."""
        return self.get_loop().run_until_complete(coro)

    def close(self) -> None:
        """Cancel what is left in it."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.wind_up()
            self._loop.close()


def make_asyncio(parts: Parts) -> dict[str, Any]:  # noqa: PLR0915 - a table of closures
    """The names of `asyncio`."""
    world = parts.world
    awaitable, charge = parts.guards[".awaitable"], world.meter.charge
    outside: list[Loop] = []

    def running() -> Loop:
        return asyncio.get_running_loop()  # type: ignore[return-value]

    def ensure_future(coro_or_future: Any, *, loop: Any = None) -> Future:
        if isinstance(coro_or_future, Future):
            return coro_or_future
        waited = awaitable(coro_or_future)
        return (loop or running()).create_task(waited if is_coroutine(waited) else waiting(waited))

    def create_task(coro: Any, *, name: Any = None, context: Any = None) -> Task:
        return running().create_task(coro, name=name, context=context)

    def gather(*coros_or_futures: Any, return_exceptions: Any = False) -> Future:
        loop = running()
        charge(len(coros_or_futures))
        if not coros_or_futures:
            nothing = loop.create_future()
            nothing.set_result([])
            return nothing
        if go_together(PendingCall, coros_or_futures):  # type: ignore[arg-type]  # which says that programs cannot make one
            return loop.create_task(gathered(coros_or_futures, lenient=bool(return_exceptions)))
        known: dict[int, Future] = {}
        for waited in coros_or_futures:
            if id(waited) not in known:
                known[id(waited)] = ensure_future(waited)
        return Gathering(loop, [known[id(waited)] for waited in coros_or_futures], lenient=bool(return_exceptions))

    async def wait_for(fut: Any, timeout: Any) -> Any:  # noqa: ASYNC109 - its name
        return await asyncio.wait_for(ensure_future(fut), timeout)

    def shield(arg: Any) -> Any:
        return asyncio.shield(ensure_future(arg))

    async def wait(fs: Iterable[Any], *, timeout: Any = None, return_when: Any = asyncio.ALL_COMPLETED) -> Any:  # noqa: ASYNC109
        if isinstance(fs, Future) or is_coroutine(fs):
            msg = f"expect a list of futures, not {type(fs).__name__}"
            raise TypeError(msg)
        futures = set(world.meter.charged(fs))
        if not all(isinstance(future, Future) for future in futures):
            msg = "Passing coroutines is forbidden, use tasks explicitly: asyncio.create_task(...)"
            raise TypeError(msg)
        return await asyncio.wait(futures, timeout=timeout, return_when=return_when)

    def as_completed(fs: Iterable[Any], *, timeout: Any = None) -> Completed:
        if isinstance(fs, Future) or is_coroutine(fs):
            msg = f"expect an iterable of futures, not {type(fs).__name__}"
            raise TypeError(msg)
        return Completed(running(), [ensure_future(waited) for waited in world.meter.charged(fs)], timeout)

    def run(main: Any, *, debug: Any = None, loop_factory: Any = None) -> Any:
        del debug, loop_factory
        if not is_coroutine(main):
            msg = f"a coroutine was expected, got {type(main).__name__}"
            raise ValueError(msg)
        return complete(Loop(world), main)

    def current_task(loop: Any = None) -> Any:
        known: Any = loop or running()
        return asyncio.current_task(known)

    def all_tasks(loop: Any = None) -> set[Task]:
        return {task for task in (loop or running())._tasks if not task.done()}  # noqa: SLF001 - it is ours

    async def to_thread(func: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        return func(*args, **kwargs)

    def get_event_loop() -> Loop:
        if world.passage.loop is not None:
            return world.passage.loop
        if not outside or outside[0].is_closed():
            outside[:] = [Loop(world)]
        return outside[0]

    def set_event_loop(loop: Any) -> None:
        outside[:] = [loop] if isinstance(loop, Loop) else []

    def new_event_loop() -> Loop:
        return Loop(world)

    def make_runner(*, debug: Any = None, loop_factory: Any = None) -> Runner:
        del debug, loop_factory
        return Runner(new_event_loop)

    granted: dict[str, Any] = {
        **take("asyncio", _PLAIN),
        "AbstractEventLoop": _SEALED[Loop],
        "Future": Future,
        "LifoQueue": LifoQueue,
        "PriorityQueue": PriorityQueue,
        "Queue": Queue,
        "Runner": make_runner,
        "Task": _SEALED[Task],
        "iscoroutine": is_coroutine,
        "isfuture": lambda obj: isinstance(obj, Future),
    }
    for function in (
        all_tasks, as_completed, create_task, current_task, ensure_future, gather, get_event_loop, new_event_loop, run,
        set_event_loop, shield, to_thread, wait, wait_for,
    ):  # fmt: skip
        granted[function.__name__] = function
    granted["get_running_loop"] = running
    world.stand_ins.update(_SEALED)
    return granted


_SEALED: dict[type, Any] = {kind: Sealed(kind) for kind in (Completed, Gathering, Handle, Loop, Runner, Task)}


async def waiting(waited: Any) -> Any:
    """A coroutine that waits for something that can be awaited."""
    return await waited
