"""What a loop does with tasks of any loop: it sets them aside, and lets go those that would wait for ever."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

STUCK = "the program waits for something that nothing will ever do"


@contextmanager
def aside() -> Iterator[None]:
    """For a while no loop runs, so that another one may; then this one goes on where it was."""
    loop = asyncio._get_running_loop()  # noqa: SLF001 - made for loops of others, as are the next two
    if loop is None:
        yield
        return
    task = asyncio.current_task(loop)
    if task is not None:
        asyncio.tasks._leave_task(loop, task)  # noqa: SLF001
    asyncio._set_running_loop(None)  # noqa: SLF001
    try:
        yield
    finally:
        asyncio._set_running_loop(loop)  # noqa: SLF001
        if task is not None:
            asyncio.tasks._enter_task(loop, task)  # noqa: SLF001


def release(main: Any) -> None:
    """Let the innermost of what a task waits for fail, so that the program meets the error at the line that waits.

    Raises:
        RuntimeError: it cannot be met there.
    """
    waited, seen = main, set()
    while (inner := getattr(waited, "_fut_waiter", None)) is not None and id(inner) not in seen:
        seen.add(id(inner))
        waited = inner
    error = RuntimeError(STUCK)
    try:
        waited.set_exception(error)
    except (AttributeError, RuntimeError, asyncio.InvalidStateError):  # tasks take none, and these wait for each other
        raise error from None
