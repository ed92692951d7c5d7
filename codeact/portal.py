"""Where the coroutines of async tools run while the program goes on, or waits for them."""

from __future__ import annotations

import logging
import os
import sys
import threading
from collections import deque
from collections.abc import Callable, Coroutine
from concurrent.futures import CancelledError
from contextlib import suppress
from contextvars import Context, copy_context
from functools import partial
from typing import TYPE_CHECKING, Any

from codeact.audit import Unrecorded
from codeact.promise import Promise

if TYPE_CHECKING:
    import asyncio

log = logging.getLogger("codeact")

SPEAKING = 0.03
"""Seconds that the loop gets to say who has not ended."""

Begin = Callable[[], Coroutine[Any, Any, object]]
"""Makes the coroutine; it is called on the loop, and not at all when the call is given up before."""


class Portal:
    """The way of one run to an event loop.

    Coroutines are handed over one by one and the loop is woken once for all of them, and results that come together
    are delivered together: whenever one thread wakes the other, both want the interpreter, and one has to wait for
    milliseconds.
    """

    def __init__(self, loop: Callable[[], asyncio.AbstractEventLoop]) -> None:
        """Make one.

        Args:
            loop: gives the loop; asked when the first coroutine begins.
        """
        self._loop = loop
        self._inbox: deque[tuple[str, Begin, Promise, Context]] = deque()
        self._outbox: list[tuple[Promise, object, BaseException | None]] = []
        self._waking = False
        self._tasks: set[asyncio.Task[None]] = set()

    def begin(self, name: str, function: Begin, promise: Promise) -> None:
        """Hand a coroutine over, from any thread and in the caller's context. It begins when the loop is woken.

        Args:
            name: what it is called in the log.
            function: makes it.
            promise: settled with what it comes to. Giving that up cancels the coroutine.
        """
        self._inbox.append((name, function, promise, copy_context()))

    def wake(self) -> None:
        """Let what was handed over begin."""
        # Whoever empties the inbox says so first: what comes in later is for another waking.
        if not self._inbox or self._waking:
            return
        self._waking = True
        try:
            self._loop().call_soon_threadsafe(self._empty_inbox)
        except RuntimeError as error:  # the loop is closed
            self._waking = False
            while self._inbox:
                _, _, promise, _ = self._inbox.popleft()
                promise.settle(None, error)

    def _empty_inbox(self) -> None:
        self._waking = False
        loop = self._loop()
        while self._inbox:
            name, function, promise, context = self._inbox.popleft()
            if promise.given_up:
                continue
            task = loop.create_task(self._perform(function, promise), name=name, context=context)
            if task.done():  # a loop may begin its tasks at once
                continue
            self._tasks.add(task)  # the loop itself keeps no hold of it
            promise.withdraw = partial(self._withdraw, task)
            if promise.given_up:  # meanwhile
                self._withdraw(task)

    async def _perform(self, function: Begin, promise: Promise) -> None:
        """Carry a coroutine to its end. Nothing is raised: a SystemExit would end the loop, which is everybody's."""
        import asyncio  # noqa: PLC0415 - whoever has a loop has imported it

        try:
            self._deliver(promise, await function())
        except asyncio.CancelledError:
            promise.settle(None, CancelledError())
        except BaseException as error:  # noqa: BLE001 - it travels on in the promise
            self._deliver(promise, None, error)
        finally:
            self._tasks.discard(asyncio.current_task())

    def _deliver(self, promise: Promise, value: object, error: BaseException | None = None) -> None:
        self._outbox.append((promise, value, error))
        if len(self._tasks) == 1:
            self._empty_outbox()
        elif len(self._outbox) == 1:
            self._loop().call_soon(self._empty_outbox)

    def _empty_outbox(self) -> None:
        outbox, self._outbox = self._outbox, []
        for promise, value, error in outbox:
            if not promise.settle(value, error) and isinstance(error, Unrecorded):
                log.error("what a call did that had been given up: %s", error)

    def _withdraw(self, task: asyncio.Task[None]) -> None:
        if not task.done():
            with suppress(RuntimeError):  # the loop is closed, and the task with it
                self._loop().call_soon_threadsafe(task.cancel)

    async def settle(self, seconds: float) -> None:
        """Wait until all coroutines have ended, no longer than so many seconds; whoever takes longer is logged.

        It is for the end of a run: what has not ended by itself has been given up, or just is, by another thread.
        """
        import asyncio  # noqa: PLC0415 - as above

        if self._tasks:
            _, left = await asyncio.wait(self._tasks, timeout=seconds)
            for task in left:
                log.warning("the tool %s was cancelled and goes on, although its run is over", task.get_name())

    def join(self, seconds: float) -> None:
        """The same from a thread that is not the loop's."""
        if not self._tasks:
            return
        import asyncio  # noqa: PLC0415 - as above

        with suppress(RuntimeError, TimeoutError):  # a tool that does not await holds the loop
            asyncio.run_coroutine_threadsafe(self.settle(seconds), self._loop()).result(seconds + SPEAKING)


class _OwnLoop:
    """A loop on a daemon thread, started for the first async tool that is called outside any loop.

    It is shared, so that tools may keep what is bound to it. An async tool that blocks instead of awaiting holds up
    the async tools of all other runs.
    """

    def __init__(self) -> None:
        self._reset()
        os.register_at_fork(after_in_child=self._reset)

    def _reset(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None

    def __call__(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                import asyncio  # noqa: PLC0415 - only for those who have async tools

                loop = asyncio.new_event_loop()
                threading.Thread(target=loop.run_forever, name="codeact-loop", daemon=True).start()
                self._loop = loop
            return self._loop


own_loop = _OwnLoop()
"""The loop of synchronous runs."""


def inside_a_loop() -> bool:
    """Whether this thread runs an event loop just now."""
    running = getattr(sys.modules.get("asyncio"), "get_running_loop", None)
    if running is None:  # not imported, or just being imported by another thread: nobody can run a loop here
        return False
    try:
        running()
    except RuntimeError:
        return False
    return True
