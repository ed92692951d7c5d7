"""Tickers: the clocks by which running guests are interrupted.

Wasm code compares a counter with its deadline at every loop and call; somebody has to move the counter. Where guests run
in workers, somebody has to see whether their hosts want an end. A ticker is one thread that does such a thing while guests
run, ends soon after the last one has, and is started anew in a forked child.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable

log = logging.getLogger("codeact")

TICK = 0.01
"""Seconds between two ticks: how late a guest may notice that it must end."""

LINGER = 50
"""Idle ticks before the thread ends. Runs that follow each other then share one thread."""


class Ticker:
    """Calls `tick` every TICK seconds while guests run."""

    def __init__(self, tick: Callable[[], None]) -> None:
        self._tick = tick
        self._reset()
        os.register_at_fork(after_in_child=self._reset)

    def _reset(self) -> None:
        self._lock = threading.Lock()
        self._guests = 0
        self._thread: threading.Thread | None = None

    @property
    def alive(self) -> bool:
        """Whether the thread is there."""
        return self._thread is not None

    def __enter__(self) -> None:
        with self._lock:
            if self._thread is None:
                thread = threading.Thread(target=self._run, name="codeact-ticker", daemon=True)
                thread.start()  # may fail where the process can have no more threads; nothing has changed then
                self._thread = thread
            self._guests += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._guests -= 1

    def _run(self) -> None:
        idle = 0
        while True:
            time.sleep(TICK)
            try:
                self._tick()
            except Exception:
                log.exception("a tick failed")  # running guests still wait for the next one
            with self._lock:
                idle = 0 if self._guests else idle + 1
                if idle > LINGER:
                    self._thread = None
                    return
