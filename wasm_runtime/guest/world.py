"""The doors of the room, as Python functions.

`wit_world` is generated from `world.wit` and exists only inside. While the component is being made there is
nobody behind the doors: both clocks stand still until `open_doors`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import wit_world  # type: ignore[import-not-found]  # exists only inside

Exports: Any = wit_world.WitWorld
"""The base class of what the component exports."""

call: Callable[[str, str], str] = wit_world.call
write: Callable[[str], None] = wit_world.write

_opened = False


def now() -> int:
    """The wall clock, in nanoseconds since the epoch."""
    return wit_world.now() if _opened else 0  # type: ignore[no-any-return]


def monotonic() -> int:
    """A clock that never goes back, in nanoseconds."""
    return wit_world.monotonic() if _opened else 0  # type: ignore[no-any-return]


def open_doors() -> None:
    """From here on there is a host behind the doors."""
    global _opened  # noqa: PLW0603  # one room, one state
    _opened = True
