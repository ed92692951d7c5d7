"""Tools that answer from afar, and one that does not."""

from __future__ import annotations

import asyncio

from codeact import tool


@tool
async def double(n: int) -> int:
    """Twice a number, from afar."""
    await asyncio.sleep(0)
    return 2 * n


@tool
async def nap(seconds: float) -> float:
    """Answer after some seconds."""
    await asyncio.sleep(seconds)
    return seconds


@tool
async def fail(n: int) -> int:
    """Fail."""
    await asyncio.sleep(0)
    msg = f"no {n}"
    raise ValueError(msg)


@tool
def triple(n: int) -> int:
    """Three times a number, at once."""
    return 3 * n


TOOLS = (double, nap, fail, triple)
