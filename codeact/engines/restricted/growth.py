"""Growth: what the process has come to hold since a run began, by the kernel's word."""

from __future__ import annotations

import os
import threading
import time

from codeact import memory
from codeact.engines import Fault


class Growth:
    """What the process has grown by since the run began.

    The heap is the process's, so this is only an estimate: a host that allocates in other threads is counted too,
    memory that was free inside the process before is not, and where the kernel does not tell (no `/proc`) nothing
    is seen. Runs that are under way at the same time share the sum of their limits.

    Attributes:
        most: the most that was seen, in bytes.
    """

    _active = 0
    _lock = threading.Lock()

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._begin = 0
        self.most = 0

    def start(self) -> None:
        """Begin to count."""
        with Growth._lock:
            Growth._active += 1
        self._begin = resident()

    def finish(self) -> None:
        """Stop counting."""
        self.most = max(self.most, resident() - self._begin)
        with Growth._lock:
            Growth._active -= 1

    def fault(self) -> Fault | None:
        """The fault when the process has grown by more than the runs under way may take."""
        grown = resident() - self._begin
        self.most = max(self.most, grown)
        if grown <= self._limit * max(1, Growth._active):
            return None
        return Fault(
            "memory",
            "MemoryError",
            f"no more memory (limit memory={self._limit:,} bytes): the program had grown by about {grown:,} bytes",
        )


def _after_fork() -> None:
    Growth._active, Growth._lock = 0, threading.Lock()  # noqa: SLF001 - the runs that were under way are not in the child


os.register_at_fork(after_in_child=_after_fork)


_FRESH = 0.001
"""Seconds that a reading is good for: a process cannot grow by much in them, and asking the kernel costs up to a
tenth of a small run."""


class _Resident:
    """What the process holds, asked for no more often than it matters."""

    def __init__(self) -> None:
        self._read = 0.0
        self._bytes = 0

    def now(self) -> int:
        now = time.monotonic()
        if now - self._read > _FRESH:
            self._read = now
            self._bytes = memory.resident() or 0
        return self._bytes


resident = _Resident().now
"""Bytes of the process that are in memory; 0 where nobody tells."""
