"""How long a session's world lives, and who sees to its end.

A world ends when its session is closed or nobody holds it any more, when it has been idle or has lived too long,
and with the process. A child made by a fork has none of its parent's worlds.
"""

from __future__ import annotations

import atexit
import logging
import math
import os
import threading
import time
from queue import Empty, SimpleQueue
from typing import Literal

from codeact.audit import Trail, Unrecorded, events
from codeact.engines import Instance
from codeact.limits import Limits
from codeact.threads import threads  # noqa: F401 - it must have its handler of forks before this module has its own

log = logging.getLogger("codeact")

Reason = Literal["closed", "dropped", "idle", "lifetime", "exit", "fork"]
"""Why a session is over: it was closed; nobody held it any more; it met `session_idle` or `session_lifetime`; the
process ended; or this is a forked child, and it is the parent's."""


MOMENT = 0.1
"""Seconds that it may take to see that a session is over, and to end it."""


class Life:
    """One session's world, from its opening to its end.

    Attributes:
        trail: what its events have in common.
        instance: the world; None before the first program, after one that cost the world, and at the end.
        busy: held while a program runs in it.
        over: why it is over; None while it is not.
        runs: programs that have run; a world made anew from its history counts for one.
        until: when it has met `session_lifetime`, by `time.monotonic`.
    """

    def __init__(self, trail: Trail, limits: Limits) -> None:
        self.trail = trail
        self.instance: Instance | None = None
        self.busy = threading.Lock()
        self.over: Reason | None = None
        self.runs = 0
        self._opened = time.monotonic()
        self._idle = limits.session_idle
        self._used = self._opened
        self._state = threading.Lock()
        self._ending = 0  # threads that just see whether it is over
        self.until = self._opened + limits.session_lifetime

    def used(self) -> None:
        """A program has ended."""
        self.runs += 1
        self._used = time.monotonic()

    def expired(self) -> Reason | None:
        """Which limit it has met, where no program runs."""
        now = time.monotonic()
        if now >= self.until:
            return "lifetime"
        return "idle" if now >= self._used + self._idle else None

    def due(self) -> float:
        """When it must be looked at again, by `time.monotonic`."""
        if self.busy.locked():  # it is not idle before the run ends, which looks at the lifetime itself
            return time.monotonic() + self._idle
        return min(self.until, self._used + self._idle)

    def expire(self) -> bool:
        """End it if it has met one of its limits and no program runs. Gives whether it is over."""
        if self.expired() is None:
            return False
        with self._state:
            self._ending += 1
        try:
            if not self.busy.acquire(blocking=False):
                return False
            try:
                reason = self.expired()
                if reason is not None:
                    self._finish(reason)
                    self.lose()
            finally:
                self.busy.release()
        finally:
            with self._state:
                self._ending -= 1
        return self.over is not None

    def enter(self) -> bool:
        """Begin to use the world. Gives whether nobody else does; whoever enters must release `busy`."""
        # What ends it holds `busy` too, for a moment, and is nobody who uses it.
        return self.busy.acquire(timeout=MOMENT) if self._ending else self.busy.acquire(blocking=False)

    def end(self, reason: Reason) -> None:
        """Destroy the world, unless a program runs in it: then whoever runs that does it. Harmless when called twice."""
        self._finish(reason)
        if self.busy.acquire(blocking=False):
            try:
                self.lose()
            finally:
                self.busy.release()

    def _finish(self, reason: Reason) -> None:
        if not worlds.forget(self):
            return
        self.over = reason
        try:
            events.session_close(self.trail, reason, self.runs, time.monotonic() - self._opened)
        except Unrecorded as error:  # there is no run that it could end
            log.error("the end of the session %s: %s", self.trail.session, error)  # noqa: TRY400 - it says it all

    def lose(self, *, close: bool = True) -> None:
        """Be without a world. One that a run has not left yet is closed by the run itself."""
        instance, self.instance = self.instance, None
        if instance is not None and close:
            instance.close()

    def abandon(self) -> None:
        """Be no life of this process, which is a forked child."""
        self.over = "fork"
        if self.busy.locked():  # a thread that is not in the child was in the middle of it
            _left.append(self.instance)
            self.instance = None
        self.busy, self._state = threading.Lock(), threading.Lock()
        self.lose()


_left: list[Instance | None] = []
"""Worlds in a state that nobody knows; to destroy one could wait for ever."""


class _Worlds:
    """The lives of a process, and the thread that ends them in time. It is started with the first of them."""

    def __init__(self) -> None:
        self._reset()
        os.register_at_fork(after_in_child=self._abandon)
        atexit.register(self._exit)

    def _reset(self) -> None:
        self._lives: dict[Life, float] = {}
        # A host's own finalizer may close a session, on a thread that is just in here.
        self._lock = threading.RLock()
        # A life may be dropped by the collector, anywhere and at any time: that takes no lock.
        self._inbox: SimpleQueue[Life | None] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._next = math.inf  # when the thread looks again by itself

    def watch(self, life: Life) -> None:
        """See to the end of a life that begins."""
        with self._lock:
            due = self._lives[life] = life.due()
            earlier = due < self._next
            if self._thread is None:
                thread = threading.Thread(target=self._serve, name="codeact-lifecycle", daemon=True)
                try:
                    thread.start()
                except RuntimeError:  # the process can have no more threads
                    del self._lives[life]
                    raise
                self._thread = thread
        if earlier:  # otherwise it wakes in time, and opening many sessions wakes it once
            self._inbox.put(None)

    def drop(self, life: Life) -> None:
        """End a life that nobody holds any more."""
        self._inbox.put(life)

    def forget(self, life: Life) -> bool:
        """Let a life be over. Gives whether it was not before."""
        with self._lock:
            return self._lives.pop(life, None) is not None

    def _serve(self) -> None:
        while True:
            try:
                dropped = self._inbox.get(timeout=self._pause())
            except Empty:
                dropped = None
            try:
                if dropped is not None:
                    dropped.end("dropped")
                self._look()
            except Exception:
                log.exception("a session could not be ended")

    def _pause(self) -> float | None:
        with self._lock:
            due = self._next = min(self._lives.values(), default=math.inf)
        return None if due == math.inf else min(max(0.0, due - time.monotonic()), threading.TIMEOUT_MAX)

    def _look(self) -> None:
        now = time.monotonic()
        with self._lock:
            ripe = [life for life in list(self._lives) if self._lives.get(life, math.inf) <= now]
        for life in ripe:
            if not life.expire():
                with self._lock:
                    if life in self._lives:
                        self._lives[life] = life.due()

    def _exit(self) -> None:
        for life in list(self._lives):
            try:
                life.end("exit")
            except Exception:
                log.exception("a session could not be ended")

    def _abandon(self) -> None:
        lives = list(self._lives)
        self._reset()
        for life in lives:
            life.abandon()


worlds = _Worlds()
"""The process's."""
