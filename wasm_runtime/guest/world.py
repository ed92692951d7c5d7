"""The doors of the room, as Python functions.

`wit_world` is generated from `world.wit` and exists only inside. While the component is being made there is
nobody behind the doors: until `open_doors` both clocks stand still and what is printed is lost.
"""

from __future__ import annotations

import sys
from typing import Any

import wit_world  # type: ignore[import-not-found]  # exists only inside

from .program import number_of

Exports: Any = wit_world.WitWorld
"""The base class of what the component exports."""

_opened = False


def call(name: str, arguments: str) -> str:
    """The door to the tools."""
    answer: str = wit_world.call(name, arguments, _line())
    return answer


def write(text: str) -> None:
    """Printed text, in order."""
    if _opened:
        wit_world.write(text, _line())


def _line() -> int:
    """The program's own line that is running; 0 where none is."""
    frame = sys._getframe(1)  # noqa: SLF001 - as documented as it gets
    while frame is not None and not number_of(frame.f_code.co_filename):
        frame = frame.f_back  # type: ignore[assignment]
    return frame.f_lineno or 0 if frame is not None else 0


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
