"""Threads that run guests and tools, kept for the next run.

A run never holds its caller: it happens on another thread, and the caller waits no longer than the deadline. These
threads are daemons, because a tool that never returns must not keep the process alive, and have deep stacks, because
a guest's recursion lives on them.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from contextvars import copy_context
from queue import SimpleQueue

from codeact.promise import Promise

STACK = 256 * 1024 * 1024
"""Bytes of a thread's stack. It is address space: memory is used only as deep as a guest recurses, which on
`restricted` is in the host's own C code, where the end of the stack would be the end of the process."""

IDLE = 8
"""Threads that are kept waiting for work; more than these end when their work does."""

Job = Callable[[], None]

_here = threading.local()


class Threads:
    """A pool that grows with the work in hand and never queues."""

    def __init__(self) -> None:
        self._reset()
        os.register_at_fork(after_in_child=self._reset)

    def _reset(self) -> None:
        # They do not survive a fork, and a lock may have been held by one of them.
        self._starting = threading.Lock()
        self._idle: deque[SimpleQueue[Job]] = deque()

    def submit(self, job: Job) -> None:
        """Run a job, which must not raise, on a thread of its own.

        Raises:
            RuntimeError: the process can have no more threads; the job is not run.
        """
        try:
            self._idle.pop().put(job)
        except IndexError:
            self._start(job)

    def call(self, function: Callable[[], object], promise: Promise) -> None:
        """Call a function on a thread, in the caller's context, and settle with that; a deadline can then pass without it."""
        context = copy_context()

        def job() -> None:
            if promise.given_up:
                return
            try:
                value = context.run(function)
            except BaseException as error:  # noqa: BLE001 - it travels on in the promise
                promise.settle(None, error)
            else:
                promise.settle(value)

        self.submit(job)

    def within(self, job: Job) -> None:
        """Do a job, which must not raise, on a thread, and wait for its end."""
        if getattr(_here, "serving", False):
            job()
            return
        done = threading.Lock()
        done.acquire()

        def last() -> None:
            try:
                job()
            finally:
                done.release()

        self.submit(last)
        done.acquire()

    def _start(self, job: Job) -> None:
        inbox: SimpleQueue[Job] = SimpleQueue()
        inbox.put(job)
        with self._starting:
            before = threading.stack_size(STACK)
            try:
                threading.Thread(target=self._serve, args=(inbox,), name="codeact-thread", daemon=True).start()
            finally:
                threading.stack_size(before)

    def _serve(self, inbox: SimpleQueue[Job]) -> None:
        _here.serving = True
        while True:
            with suppress(BaseException):  # a job reports for itself; the thread must live on
                inbox.get()()
            if len(self._idle) >= IDLE:
                return
            self._idle.append(inbox)


threads = Threads()
"""Those of the process."""
