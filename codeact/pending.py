"""A call that has begun: what is known of it until it has its receipt."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from concurrent.futures import CancelledError
from types import MappingProxyType
from typing import cast

from codeact.promise import Awaited, Promise
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
        line: the program's line that made it; 0 where that is not known.
        started: when it began, by `time.perf_counter`.
        ended: when what it was promised was there, by the same clock; None before, and where the guest stands still.
        until: when it has used up its own time, by `time.monotonic`.
        timed_out: whether it has.
        said: what an event says of its arguments; see `codeact.audit.events`.
    """

    __slots__ = (
        "_cancelled",
        "_promise",
        "digest",
        "ended",
        "line",
        "name",
        "said",
        "seq",
        "started",
        "timed_out",
        "until",
    )

    def __init__(self, seq: int, name: str, digest: str, line: int = 0, said: Mapping[str, object] = NOTHING) -> None:
        self.seq = seq
        self.line = line
        self.name = name
        self.digest = digest
        self.said = said
        self.started = time.perf_counter()
        self.ended: float | None = None
        self.until = math.inf
        self.timed_out = False
        self._cancelled = False
        self._promise: Promise | None = None

    def stand_still(self, promise: Awaited, seconds: float) -> object:
        """Wait for what was promised.

        Raises:
            TimeoutError: it is not there after so many seconds.
            CancelledError: the call has been given up.
        """
        self._attach(promise)
        promise.wait(seconds)
        return self.result()

    def followed(self, done: Callable[[Pending], object]) -> Promise:
        """Go on. Gives what is to be settled, and lets know when it is."""

        def told() -> None:
            self.ended = time.perf_counter()
            done(self)

        promise = Promise(told)
        self._attach(promise)
        return promise

    def result(self) -> object:
        """What has come of it.

        Raises:
            TimeoutError: nothing yet, and its own time is over.
            CancelledError: it has been given up.
        """
        promise = cast("Promise", self._promise)
        if promise.settled:
            return promise.result()
        if promise.given_up:
            raise CancelledError
        self.timed_out = True
        promise.give_up()
        raise TimeoutError

    def cancel(self) -> None:
        """Let what carries it out end, without waiting for that."""
        self._cancelled = True
        if self._promise is not None:
            self._promise.give_up()

    def state(self) -> State:
        """How it ended, where nobody takes its answer."""
        promise = self._promise
        if promise is None or not promise.settled or isinstance(promise.error, CancelledError):
            return "unfinished"
        return "ok" if promise.error is None else "failed"

    def receipt(self, state: State) -> Call:
        """Its receipt, were it to end now."""
        ended = time.perf_counter() if self.ended is None else self.ended
        return Call(self.seq, self.name, self.digest, state, ended - self.started, self.line or None)

    def _attach(self, promise: Promise) -> None:
        self._promise = promise
        if self._cancelled:  # the door was shut before there was anything to give up
            promise.give_up()
