"""A call of an async tool until it is awaited, and how it makes itself heard where its value is missed."""

from __future__ import annotations

import sys
from collections.abc import Coroutine, Generator
from typing import Any, NoReturn, Protocol

from .program import number_of
from .traffic import Traffic

NAMED = 20
"""Calls that were never awaited, of which a host is told."""


class Ledger:
    """The calls of a run that have not been awaited yet."""

    def __init__(self) -> None:
        self._made = 0
        self._open: dict[int, tuple[str, int]] = {}

    def enter(self, name: str, line: int) -> int:
        """Take note of a call that was made at a line; gives its place."""
        self._made += 1
        self._open[self._made] = name, line
        return self._made

    def strike(self, place: int) -> None:
        """It was awaited, or thrown away on purpose."""
        self._open.pop(place, None)

    def close(self) -> list[tuple[str, int]]:
        """The end of the run: name and line of those that nobody awaited, the first of them."""
        left = list(self._open.values())[:NAMED]
        self._open.clear()
        return left


class Named(Protocol):
    """A call as it leaves."""

    @property
    def name(self) -> str:
        """The tool."""
        ...

    @property
    def line(self) -> int:
        """The program's line that makes it."""
        ...


class UnawaitedCall(Coroutine[Any, Any, object]):
    """A call that happens when it is awaited, and at most once. Using it as if it were the result says so."""

    __slots__ = ("__name__", "_call", "_ledger", "_place", "_running", "_traffic", "_used")

    def __init__(self, call: Named, traffic: Traffic[Any, Any], ledger: Ledger) -> None:
        """Make one.

        Args:
            call: what it asks for.
            traffic: carries it out.
            ledger: where it stands until it is awaited.
        """
        self.__name__ = call.name
        self._call = call
        self._traffic = traffic
        self._used = False
        self._running: Generator[Any, Any, object] | None = None
        self._ledger = ledger
        self._place = ledger.enter(call.name, call.line)

    def __await__(self) -> Generator[Any, Any, object]:
        return self._traffic.steps(self._taken())

    def send(self, value: Any, /) -> Any:
        """Go on to the next thing to wait for."""
        if self._running is None:
            self._running = self.__await__()
        return self._running.send(value)

    def throw(self, error: Any, *more: Any) -> Any:
        """Let it fail where it stands. Before it has begun it never does."""
        if self._running is None:
            self._used = True
            raise next((value for value in more if value is not None), error)
        return self._running.throw(error, *more)

    def close(self) -> None:
        """Give it up."""
        self._use()
        if self._running is not None:
            self._running.close()

    def _taken(self) -> Named:
        if self._used:
            msg = f"this call of {self.__name__} was awaited already; every await needs a call of its own"
            raise RuntimeError(msg)
        self._use()
        return self._call

    def _use(self) -> None:
        self._used = True
        self._ledger.strike(self._place)

    def forgotten(self) -> str:
        """What to say where its value was wanted."""
        return f"tools.{self.__name__}(...) was not awaited: write `await tools.{self.__name__}(...)`"

    def __getattr__(self, name: str) -> NoReturn:
        raise AttributeError(self.forgotten(), name=name)

    def __repr__(self) -> str:
        if self._used:
            return f"<call of {self.__name__}, awaited>"
        return f"<call of {self.__name__}, not awaited: write `await tools.{self.__name__}(...)`>"

    __hash__ = object.__hash__


def go_together(kind: type[UnawaitedCall], waited: tuple[object, ...]) -> bool:
    """Whether all of these are calls of that kind that can still be made, each of them once."""
    return len({id(call) for call in waited if type(call) is kind and not call._used}) == len(waited) > 1  # noqa: SLF001


async def gathered(calls: tuple[UnawaitedCall, ...], *, lenient: bool) -> list[object]:
    """What `gather` does with calls: they need no task each, which would take longer than all else that is done for them.

    Args:
        calls: see `go_together`.
        lenient: whether an error is a result like others.
    """
    traffic = calls[0]._traffic  # noqa: SLF001 - a call's own are not for programs, as is the next
    return await traffic.together([call._taken() for call in calls], lenient=lenient)  # noqa: SLF001


def _truth(self: UnawaitedCall) -> bool:
    """Asked by asyncio, which shows tasks with what they carry out, it is a thing like others."""
    if not number_of(sys._getframe(1).f_code.co_filename):  # noqa: SLF001 - as documented as it gets
        return True
    raise TypeError(self.forgotten())


def _missed(self: UnawaitedCall, *_: object) -> NoReturn:
    raise TypeError(self.forgotten())


_MISSED = """
len iter contains getitem setitem delitem call int float index eq ne lt le gt ge neg pos abs invert round aiter
add sub mul truediv floordiv mod divmod pow lshift rshift and xor or matmul
radd rsub rmul rtruediv rfloordiv rmod rdivmod rpow rlshift rrshift rand rxor ror rmatmul
"""
"""What a result may be asked for, and a call cannot answer."""

for _name in _MISSED.split():
    setattr(UnawaitedCall, f"__{_name}__", _missed)
UnawaitedCall.__bool__ = _truth  # type: ignore[attr-defined]
