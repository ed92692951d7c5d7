"""Arms: everything that runs programs and is measured, behind one seam.

This package and `benchmarks.peers` import nothing but the standard library and, each in its own module, what is
measured: they run in the virtual environments of peers too.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Literal, Protocol, runtime_checkable

Tools = Literal["none", "five", "plain", "records", "later"]
"""What programs are granted: nothing; the five tools of a support desk in the form that is usual for the arm; the same
with plain values alone; the same with records; one async tool."""

Run = Callable[[str], object]
"""Runs a program and gives its value, as plain values. Raises whatever the arm raises."""


class Arm(Protocol):
    """What runs programs. Everything that can be made ahead of a program is made on entering a context."""

    def fresh(self, tools: Tools) -> AbstractContextManager[Run]:
        """Each program in a world of its own, from several threads at once where they are synchronous.

        Raises:
            CannotError: the arm has nothing of the kind.
        """
        ...

    def session(self, tools: Tools) -> AbstractContextManager[Run]:
        """All programs in one world, which finds what the earlier ones have bound.

        Raises:
            CannotError: the arm has nothing of the kind.
        """
        ...

    def idle(self) -> AbstractContextManager[object]:
        """A live instance that has not been given a program yet.

        Raises:
            CannotError: the arm has nothing of the kind.
        """
        ...


@runtime_checkable
class Prepared(Protocol):
    """An arm that can make worlds ready before they are asked for."""

    def ready(self, tools: Tools) -> AbstractContextManager[tuple[Run, Callable[[], object]]]:
        """Each program in a world that was ready: what runs one, and what waits until there are worlds again.

        Raises:
            CannotError: it has nothing of the kind.
        """
        ...


class CannotError(Exception):
    """The arm cannot do it; the text says why, in a few words."""


class WrongAnswerError(Exception):
    """A program did not come to the value it should: its time would mean nothing."""
