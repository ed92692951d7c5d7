"""The watchdog: who sees that a run must end while it does not tick."""

from __future__ import annotations

import logging
import os
import threading
from typing import Protocol

log = logging.getLogger("codeact")


class Watched(Protocol):
    """A meter, as the watchdog knows it."""

    def overdue(self) -> bool:
        """End the run where it must end; whether it is over."""
        ...


class Watchdog:
    """One thread for the whole process that asks for runs whose ticks are far apart.

    A program that calls a builtin over a large list in a loop ticks once a call: a chunk of ticks would take it
    minutes. The watchdog asks every few milliseconds, and cuts the chunk short when the run must end.
    """

    PERIOD = 0.01
    IDLE = 100

    def __init__(self) -> None:
        self._reset()
        os.register_at_fork(after_in_child=self._reset)

    def _reset(self) -> None:
        self._lock = threading.Lock()
        self._meters: set[Watched] = set()
        self._wake = threading.Event()
        self._thread: threading.Thread | None = None

    def watch(self, meter: Watched) -> None:
        """Look after a run."""
        self._meters.add(meter)
        if self._thread is None:
            with self._lock:
                if self._thread is None:
                    thread = threading.Thread(target=self._serve, name="codeact-watchdog", daemon=True)
                    thread.start()
                    self._thread = thread
        if not self._wake.is_set():
            self._wake.set()

    def forget(self, meter: Watched) -> None:
        """The run is over."""
        self._meters.discard(meter)

    def _serve(self) -> None:
        idle = 0
        pause = threading.Event()
        while True:
            self._wake.wait()
            pause.wait(self.PERIOD)
            for meter in self._meters.copy():
                if self._has_ended(meter):
                    self._meters.discard(meter)
            idle = 0 if self._meters else idle + 1
            if idle > self.IDLE:
                idle = 0
                self._wake.clear()
                if self._meters:
                    self._wake.set()

    def _has_ended(self, meter: Watched) -> bool:
        try:
            return meter.overdue()
        except Exception:
            log.exception("a run could not be asked whether it must end")  # the others must be
            return False


watchdog = Watchdog()
"""The process's watchdog."""
