"""Calls that are under way while the program goes on.

A loop hands its calls over here, and waits here: for their answers, and for time to pass. What leaves, leaves when a
loop next waits, so that calls which begin together cross together.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Iterable
from typing import Any, Generic, TypeVar

Call = TypeVar("Call")
Reply = TypeVar("Reply")


class Errand(Generic[Call]):
    """A call on its way.

    Attributes:
        call: the call.
        future: what is waited for; any kind of asyncio's, or a share of one.
        number: its place among the calls that have left in this run, from 0; None while it has not.
    """

    __slots__ = ("call", "future", "number")

    def __init__(self, call: Call, future: Any) -> None:
        self.call = call
        self.future = future
        self.number: int | None = None


class Batch:
    """Calls that are awaited together.

    Attributes:
        future: what is waited for: it comes to the first error, or None when all are answered.
        results: what they came to, in their order.
    """

    __slots__ = ("_left", "_lenient", "future", "results")

    def __init__(self, future: Any, size: int, *, lenient: bool) -> None:
        self.future = future
        self.results: list[object] = [None] * size
        self._left = size
        self._lenient = lenient

    def settle(self, place: int, result: object, error: Exception | None = None) -> None:
        """One of them has been answered."""
        self.results[place] = result
        self._left -= 1
        if not self.future.done() and (not self._left or (error is not None and not self._lenient)):
            self.future.set_result(None if self._lenient else error)


class Share:
    """One call's part of a batch; to those who answer it, a future."""

    __slots__ = ("_batch", "_done", "_place")

    def __init__(self, batch: Batch, place: int) -> None:
        self._batch = batch
        self._place = place
        self._done = False

    def get_loop(self) -> Any:
        """The loop of those who wait."""
        return self._batch.future.get_loop()

    def done(self) -> bool:
        """Whether it needs no answer any more."""
        return self._done

    def cancel(self) -> None:
        """Let it need none."""
        self._done = True

    def set_result(self, result: object) -> None:
        """Give it its result."""
        self._done = True
        self._batch.settle(self._place, result)

    def set_exception(self, error: Exception) -> None:
        """Let it fail."""
        self._done = True
        self._batch.settle(self._place, error, error)


class Traffic(Generic[Call, Reply]):
    """The calls of one world; each kind of world has its own way out.

    Attributes:
        most: calls that may be under way at the same time.
    """

    def __init__(self, most: int = 1) -> None:
        self.most = most
        self.reset()

    def running(self) -> Any:
        """The loop that runs, or None."""
        raise NotImplementedError

    def exchange(
        self, leaving: list[Errand[Call]], given_up: list[int], seconds: float | None
    ) -> Iterable[tuple[int, Reply]]:
        """Let calls leave, give others up by their numbers, and wait for answers no longer than so many seconds."""
        raise NotImplementedError

    def opened(self, reply: Reply) -> object:
        """The value in a reply; raises what the program is to meet instead of one."""
        raise NotImplementedError

    def at_once(self, call: Call) -> object:
        """Make a call while the program stands still; gives its value."""
        raise NotImplementedError

    def reset(self) -> None:
        """Forget all calls: a run begins."""
        self._waiting: deque[Errand[Call]] = deque()
        self._under_way: dict[int, Errand[Call]] = {}
        self._given_up: list[int] = []
        self._sent = 0

    @property
    def oldest(self) -> Call | None:
        """The call that has been under way for longest."""
        errand = next(iter(self._under_way.values()), None)
        return None if errand is None else errand.call

    def steps(self, call: Call) -> Generator[Any, Any, object]:
        """What awaiting a call does: the loop goes on without it until it is answered; where none runs, it is made at once."""
        loop = self.running()
        if loop is None:
            return self.at_once(call)
        errand = Errand(call, loop.create_future())
        self._waiting.append(errand)
        try:
            return (yield from errand.future)
        except BaseException:
            self._give_up(errand)
            raise

    async def together(self, calls: list[Call], *, lenient: bool) -> list[object]:
        """Await several calls in a loop that runs.

        Args:
            calls: the calls.
            lenient: whether an error is a result like others; otherwise the first is raised, and the others go on.
        """
        batch = Batch(self.running().create_future(), len(calls), lenient=lenient)
        errands = [Errand(call, Share(batch, place)) for place, call in enumerate(calls)]
        self._waiting.extend(errands)
        try:
            error = await batch.future
        except BaseException:
            for errand in errands:
                self._give_up(errand)
            raise
        if error is None:
            return batch.results
        try:
            raise error
        finally:
            del error, batch, errands  # the traceback keeps this frame, and would keep itself

    def abandon(self, loop: Any) -> None:
        """Give up what a loop has waited for: it is about to be closed."""
        for errand in [*self._waiting, *self._under_way.values()]:
            if errand.future.get_loop() is loop:
                self._give_up(errand)

    def wait(self, seconds: float | None) -> bool:
        """Let calls leave and time pass, until something is answered or the seconds are over.

        Returns:
            Whether there was anything to wait for: without it, None would be for ever.
        """
        leaving = self._leaving()
        if seconds is None and not self._under_way:
            seconds, lasting = 0.0, False
        else:
            lasting = True
        if not (self._under_way or self._given_up or seconds):
            return lasting
        given_up, self._given_up = self._given_up, []
        for number, reply in self.exchange(leaving, given_up, seconds):
            errand = self._under_way.pop(number, None)
            if errand is not None and not errand.future.done():
                self._answer(errand.future, reply)
        return lasting

    def _leaving(self) -> list[Errand[Call]]:
        """The calls for which there is room now; more of them stay until others have ended."""
        leaving = []
        while self._waiting and len(self._under_way) < self.most:
            errand = self._waiting.popleft()
            if not errand.future.done():
                errand.number = self._sent
                self._sent += 1
                self._under_way[errand.number] = errand
                leaving.append(errand)
        return leaving

    def _answer(self, future: Any, reply: Reply) -> None:
        try:
            value = self.opened(reply)
        except Exception as error:  # noqa: BLE001 - it is for whoever awaits it
            future.set_exception(error)
        else:
            future.set_result(value)

    def _give_up(self, errand: Errand[Call]) -> None:
        errand.future.cancel()
        if errand.number is not None and self._under_way.pop(errand.number, None) is not None:
            self._given_up.append(errand.number)
