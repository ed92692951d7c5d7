"""A call that has begun: what is known of it until it has its receipt."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from types import MappingProxyType
from typing import cast

from codeact.result import Call, State

Arguments = tuple[tuple[object, ...], dict[str, object]]
"""What a call was made with: positional and keyword arguments."""

NOTHING: Mapping[str, object] = MappingProxyType({})


class Pending:
    """A call that has not been answered yet.

    Attributes:
        seq: its place in the run, from 1.
        name: the tool asked for, shortened.
        digest: the digits of its arguments that a receipt shows.
        started: when it began, by `time.perf_counter`.
        ended: when its future was done, by the same clock; None before, and for calls that have none.
        until: when it has used up its own time, by `time.monotonic`.
        timed_out: whether it has.
        said: what an event says of its arguments; see `codeact.audit.events`.
    """

    __slots__ = ("_cancelled", "_future", "digest", "ended", "name", "said", "seq", "started", "timed_out", "until")

    def __init__(self, seq: int, name: str, digest: str, said: Mapping[str, object] = NOTHING) -> None:
        self.seq = seq
        self.name = name
        self.digest = digest
        self.said = said
        self.started = time.perf_counter()
        self.ended: float | None = None
        self.until = math.inf
        self.timed_out = False
        self._cancelled = False
        self._future: Future[object] | None = None

    def wait(self, future: Future[object], seconds: float) -> object:
        """Stand still until a future has a result.

        Raises:
            TimeoutError: it has none after so many seconds.
        """
        self._attach(future)
        try:
            return future.result(max(seconds, 0.0))
        except FutureTimeout:
            self.timed_out = not future.done()
            future.cancel()
            raise

    def follow(self, future: Future[object], done: Callable[[Pending], object]) -> None:
        """Go on, and be told when a future has a result."""

        def told(_future: Future[object]) -> None:
            self.ended = time.perf_counter()
            done(self)

        self._attach(future)
        future.add_done_callback(told)

    def result(self) -> object:
        """What the future that it follows has come to.

        Raises:
            TimeoutError: nothing yet; its own time is over.
        """
        return self.wait(cast("Future[object]", self._future), 0.0)

    def cancel(self) -> None:
        """Let what carries it out end, without waiting for that."""
        self._cancelled = True
        if self._future is not None:
            self._future.cancel()

    def state(self) -> State:
        """How it ended, where nobody takes its answer."""
        future = self._future
        if future is None or not future.done() or future.cancelled():
            return "unfinished"
        return "ok" if future.exception() is None else "failed"

    def receipt(self, state: State) -> Call:
        """Its receipt, were it to end now."""
        ended = time.perf_counter() if self.ended is None else self.ended
        return Call(self.seq, self.name, self.digest, state, ended - self.started)

    def _attach(self, future: Future[object]) -> None:
        self._future = future
        if self._cancelled:  # the door was shut before there was anything to cancel
            future.cancel()
