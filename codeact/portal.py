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


def portal_to(loop: asyncio.AbstractEventLoop) -> Portal:
    """A portal to a running loop: the caller's own, so that tools may use what is bound to it."""
    import asyncio  # noqa: PLC0415 - whoever has a loop has imported it

    def start(coroutine: Coroutine[Any, Any, object]) -> Future[object]:
        return asyncio.run_coroutine_threadsafe(coroutine, loop)

    return start


class _OwnLoop:
    """A loop on a daemon thread, started for the first async tool that is called outside any loop."""

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
