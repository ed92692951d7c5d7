"""Guests made ready ahead of demand.

A fresh guest pays for its first steps with page faults: what it writes to is copied from the snapshot. One that waits
in a pool has paid already, because it has rehearsed: it ran a program of ours and forgot it, as the interpreter of the
snapshot did many times.
"""

from __future__ import annotations

import atexit
import logging
import os
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable

from wasm_runtime.instance import Instance, Trap

log = logging.getLogger("codeact")

PAUSE = 0.01
"""Seconds after which a guest that was taken is replaced: the run that took it goes first."""

AT_EXIT = 1.0
"""Seconds that a process waits at its end for a guest that is just being made."""


class Pool:
    """Guests that are ready, and who makes more of them as they are taken.

    Where one cannot be made ready the log says why, once for each cause that follows another, and it is tried again when
    the next one is taken. Meanwhile each is made as it is taken, and what goes wrong then is for whoever takes it.
    """

    def __init__(self, make: Callable[[], Instance], size: int, submit: Callable[[Callable[[], None]], None]) -> None:
        """Begin to make guests.

        Args:
            make: makes one.
            size: how many are kept ready.
            submit: does a job on another thread, whose stack is deep enough for a guest; raises RuntimeError where the
                process can have no more threads.
        """
        self._make = make
        self._size = size
        self._submit = submit
        self._reset()
        _pools.add(self)
        self._refill()

    def _reset(self) -> None:
        self._lock = threading.RLock()  # the collector may close a pool, on a thread that is just in here
        self._ready: deque[Instance] = deque()
        self._making = False
        self._trouble: str | None = None
        self._over = threading.Event()

    @property
    def ready(self) -> int:
        """How many guests are ready."""
        return len(self._ready)

    def take(self) -> Instance:
        """A guest that has rehearsed: one that waits or, where there is none, one that is made now.

        Raises:
            Trap: none can be made.
        """
        try:
            instance = self._ready.popleft()
        except IndexError:
            instance = self._rehearsed()
        self._refill()
        return instance

    def close(self) -> None:
        """Destroy the guests that wait; no more are made ready. Harmless when called twice."""
        with self._lock:
            self._over.set()
        while self._ready:
            self._ready.popleft().close()

    def _refill(self) -> None:
        with self._lock:
            if self._making or self._over.is_set() or len(self._ready) >= self._size:
                return
            self._making = True
        try:
            self._submit(self._fill)
        except RuntimeError as error:  # the process can have no more threads
            self._fail(error)

    def _fill(self) -> None:
        """Make guests until there are enough."""
        try:
            self._over.wait(PAUSE)
            while self._wanting():
                self._keep(self._rehearsed())
        except BaseException as error:  # noqa: BLE001 - nobody waits for what is done here
            self._fail(error)

    def _fail(self, error: BaseException) -> None:
        cause = f"{type(error).__name__}: {error}"
        if cause != self._trouble:
            log.warning("a guest cannot be made ready, and is made when it is needed: %s", cause)
        self._trouble = cause
        self._making = False

    def _wanting(self) -> bool:
        with self._lock:
            self._making = not self._over.is_set() and len(self._ready) < self._size
            return self._making

    def _keep(self, instance: Instance) -> None:
        with self._lock:
            self._trouble = None
            if not self._over.is_set():
                self._ready.append(instance)
                return
        instance.close()

    def _rehearsed(self) -> Instance:
        instance = self._make()
        try:
            instance.rehearse()
        except Trap:
            instance.close()
            raise
        return instance

    def forget(self) -> None:
        """In a forked child: what the parent has made ready is the parent's, and a lock may have been held."""
        _abandoned.extend(self._ready)
        self._reset()

    def finish(self) -> None:
        """At the end of the process: nobody may be inside a guest when the interpreter goes."""
        self.close()
        until = time.monotonic() + AT_EXIT
        while self._making and time.monotonic() < until:
            time.sleep(0.001)


_pools: weakref.WeakSet[Pool] = weakref.WeakSet()
_abandoned: list[Instance] = []
"""A parent's guests in a forked child, where nobody takes them apart."""


@atexit.register
def _finish_all() -> None:
    for pool in list(_pools):
        pool.finish()


def _fork_all() -> None:
    for pool in list(_pools):
        pool.forget()


os.register_at_fork(after_in_child=_fork_all)
