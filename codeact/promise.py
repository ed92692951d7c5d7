"""A result that another thread will have."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from queue import Empty, SimpleQueue


class Promise:
    """What `concurrent.futures.Future` is, without its locks, whose making takes longer than many a call.

    One thread settles it, once. Any other may give it up, and what comes afterwards is nobody's.

    Attributes:
        settled: whether there is a result, or an error instead.
        given_up: whether nobody waits for it any more.
        error: the error; None where there is none.
        withdraw: ends what is to settle it; whoever carries that out puts it here, and then looks at `given_up`.
    """

    __slots__ = ("_told", "_value", "error", "given_up", "settled", "withdraw")

    def __init__(self, told: Callable[[], object]) -> None:
        """Make one.

        Args:
            told: called by whoever settles it.
        """
        self._told = told
        self._value: object = None
        self.error: BaseException | None = None
        self.settled = False
        self.given_up = False
        self.withdraw: Callable[[], object] | None = None

    def settle(self, value: object, error: BaseException | None = None) -> bool:
        """Give it its result, or an error instead. Gives whether anybody waits for that."""
        if self.given_up:
            return False
        self._value, self.error = value, error
        self.settled = True
        self._told()
        return True

    def result(self) -> object:
        """The result, where it is settled; raises the error where there is one."""
        if self.error is None:
            return self._value
        try:
            raise self.error
        finally:
            del self  # the traceback keeps this frame, and would keep itself

    def give_up(self) -> None:
        """Wait for it no longer, and end what is to settle it without waiting for that either."""
        self.given_up = True
        if self.withdraw is not None:
            self.withdraw()


class Awaited(Promise):
    """One that somebody stands still for."""

    __slots__ = ("_news",)

    def __init__(self) -> None:
        self._news: SimpleQueue[None] = SimpleQueue()
        super().__init__(partial(self._news.put, None))

    def wait(self, seconds: float) -> None:
        """Stand still until it is settled or given up, no longer than so many seconds."""
        with suppress(Empty):
            self._news.get(timeout=max(seconds, 0.0))

    def give_up(self) -> None:
        """As any other; whoever stands still goes on."""
        super().give_up()
        self._news.put(None)
