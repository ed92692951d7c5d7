"""The doors of the room, as Python functions.

`wit_world` is generated from `world.wit` and exists only inside. While the component is being made there is
nobody behind the doors: until `open_doors` both clocks stand still and what is printed is lost.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import wit_world  # type: ignore[import-not-found]  # exists only inside

Exports: Any = wit_world.WitWorld
"""The base class of what the component exports."""

call: Callable[[str, str], str] = wit_world.call

_opened = False


def write(text: str) -> None:
    """Printed text, in order."""
    if _opened:
        wit_world.write(text)


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
