"""Where the coroutines of async tools run while a guest waits for them."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import asyncio
    from concurrent.futures import Future

Portal = Callable[[Coroutine[Any, Any, object]], "Future[object]"]
"""Starts a coroutine on an event loop and gives its future at once, from any thread."""


class Contained(Exception):
    """Stands in for a SystemExit or KeyboardInterrupt that a coroutine has raised, which is in `error`."""

    def __init__(self, error: BaseException) -> None:
        super().__init__(type(error).__name__)
        self.error = error


def portal_to(loop: asyncio.AbstractEventLoop) -> Portal:
    """A portal to a running loop: the caller's own, so that tools may use what is bound to it."""
    import asyncio  # noqa: PLC0415 - whoever has a loop has imported it

    async def contained(coroutine: Coroutine[Any, Any, object]) -> object:
        try:
            return await coroutine
        except (Exception, asyncio.CancelledError):
            raise
        except BaseException as error:  # noqa: BLE001 - it would end the loop, which is everybody's
            raise Contained(error) from None

    def start(coroutine: Coroutine[Any, Any, object]) -> Future[object]:
        return asyncio.run_coroutine_threadsafe(contained(coroutine), loop)

    return start


class _OwnLoop:
    """A loop on a daemon thread, started for the first async tool that is called outside any loop.

    It is shared: an async tool that blocks instead of awaiting holds up the async tools of all other runs.
    """

    def __init__(self) -> None:
        self._reset()
        os.register_at_fork(after_in_child=self._reset)

    def _reset(self) -> None:
        self._lock = threading.Lock()
        self._portal: Portal | None = None

    def __call__(self, coroutine: Coroutine[Any, Any, object]) -> Future[object]:
        with self._lock:
            if self._portal is None:
                import asyncio  # noqa: PLC0415 - only for those who have async tools

                loop = asyncio.new_event_loop()
                threading.Thread(target=loop.run_forever, name="codeact-loop", daemon=True).start()
                self._portal = portal_to(loop)
        return self._portal(coroutine)


own_loop: Portal = _OwnLoop()
"""The portal of synchronous runs."""
