"""How long after its timeout a run comes back, whatever its program does: hostile programs, and tools that do not end."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path

from codeact import Limits, Sandbox, tool
from tests.escapes.case import get_charges, programs, search_kb

TABLES = Path(__file__).parents[1] / "tests" / "escapes" / "own"

LIMITS = Limits(timeout=0.3, memory=128 * 1024 * 1024)

TOOLS_THAT_DO_NOT_END = (
    "await tools.blocks()",
    "import asyncio\ntask = asyncio.create_task(tools.blocks())\nawait asyncio.sleep(0)\nwhile True: pass",
    "await tools.stubborn()",
    "import asyncio\ntask = asyncio.create_task(tools.stubborn())\nawait asyncio.sleep(0)\nwhile True: pass",
)

ROUNDS = 2


@tool
async def blocks() -> None:
    """Hold the loop that all async tools share."""
    time.sleep(1.0)  # noqa: ASYNC251 - that is what it is for


@tool
async def stubborn() -> None:
    """Go on for a while although cancelled."""
    try:
        await asyncio.Event().wait()
    finally:
        await asyncio.sleep(1.0)


def _programs(engine: str) -> Iterator[str]:
    """The programs of every table for an engine, and those that call tools that do not end."""
    for table in sorted(TABLES.glob("*.toml")):
        yield from (source for _, source, _ in programs(table, engine, []))
    yield from TOOLS_THAT_DO_NOT_END


def measure(engine: str, *, quick: bool = False) -> tuple[int, list[float]]:
    """Run every program, some times each; a tenth of them, once, when it is to be quick.

    Returns:
        How many runs there were, and the seconds by which those came late that met their timeout.
    """
    sandbox = Sandbox([blocks, stubborn, get_charges, search_kb], engine=engine, limits=LIMITS)
    sandbox.run("1")
    runs, late = 0, []
    programs = [*_programs(engine)]
    for program in programs[::10] if quick else programs * ROUNDS:
        begun = time.monotonic()
        result = sandbox.run(program)
        seconds = time.monotonic() - begun
        runs += 1
        if result.error is not None and result.error.kind == "timeout":
            late.append(seconds - LIMITS.timeout)
        if program in TOOLS_THAT_DO_NOT_END:
            time.sleep(1.2)  # until the loop that the next one needs is free again
    return runs, late
