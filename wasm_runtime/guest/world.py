"""The doors of the room, as Python functions.

`wit_world` is generated from `world.wit` and exists only inside. While the component is being made there is
nobody behind the doors: until `open_doors` both clocks stand still and what is printed is lost.
"""

from __future__ import annotations

import math
from typing import Any

import wit_world  # type: ignore[import-not-found]  # exists only inside

from .program import FILENAME, current_line

Exports: Any = wit_world.WitWorld
"""The base class of what the component exports."""

_opened = False
running = FILENAME
"""The name of the file of the program that runs."""


def begin(name: str) -> None:
    """From here on the program in the file of that name runs."""
    global running  # noqa: PLW0603  # one room, one state
    running = name


def call(name: str, arguments: str, line: int) -> str:
    """The door to the tools; `line` is the program's that calls."""
    answer: str = wit_world.call(name, arguments, line)
    return answer


def wait(sent: str, seconds: float | None) -> str:
    """Send calls and wait for answers; None waits for as long as a call is under way."""
    nanoseconds = -1 if seconds is None else min(math.ceil(seconds * _SECOND), _LONGEST)
    answers: str = wit_world.wait(sent, nanoseconds, current_line(running)) if _opened else ""
    return answers


_SECOND = 1_000_000_000
_LONGEST = 1 << 60


def write(text: str) -> None:
    """Printed text, in order."""
    if _opened:
        wit_world.write(text, current_line(running))


def now() -> int:
    """The wall clock, in nanoseconds since the epoch."""
    return wit_world.now() if _opened else 0


def monotonic() -> int:
    """A clock that never goes back, in nanoseconds."""
    return wit_world.monotonic() if _opened else 0


def open_doors() -> None:
    """From here on there is a host behind the doors."""
    global _opened  # noqa: PLW0603  # one room, one state
    _opened = True
