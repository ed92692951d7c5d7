"""Whether anything is left behind: many runs and sessions of all kinds of endings, and the process in between.

Runs that end well, fail, are stopped by each limit, trap, are cancelled; sessions that are closed, dropped, expire,
and lose their worlds. What must stay flat is the memory, the threads, the descriptors, the objects that Python
tracks, and the tables in which the binding to wasmtime keeps what the other side refers to.
"""

from __future__ import annotations

import asyncio
import gc
import statistics
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from codeact import Limits, Sandbox, Session, execution, tool
from codeact.lifecycle import worlds
from codeact.memory import resident

LIMITS = Limits(
    timeout=0.25,
    fuel=20_000_000_000,
    memory=96 * 1024 * 1024,
    output=20_000,
    calls=50,
    session_idle=0.05,
    workspace=2_000_000,
)
RESTRICTED = Limits(timeout=0.25, fuel=300_000, memory=96 * 1024 * 1024, output=20_000, calls=50, session_idle=0.05)

PROGRAMS = (
    "sum(range(100))",
    "import json\njson.dumps({'rows': [tools.charge(str(n)) for n in range(10)]})",
    "import asyncio\nlen(await asyncio.gather(*[tools.later(n) for n in range(10)]))",
    "1 / 0",
    "def broken(:",
    "tools.charge()",
    "try:\n    tools.fail()\nexcept ToolError as error:\n    str(error)",
    "tools.fail()",
    "tools.nobody()",
    "class Node:\n    def __init__(self): self.me = self\n[Node() for _ in range(1000)] and None",
    "def down(n): return down(n + 1)\ndown(0)",
    "print('x' * 30_000)",
    "for n in range(100): tools.charge('1')",
    "x = []\nwhile True: x.append('x' * 100_000 + str(len(x)))",
    "with open('a/b.txt', 'w') as f: f.write('x' * 10_000)",
    "import os\nos.makedirs('a')\nfor n in range(50): open(f'a/{n}', 'w').write('x' * 1000)",
    "def g():\n    try:\n        yield 1\n    finally:\n        print('late')\nx = g()\nnext(x)",
    "import sys\nsys.exit(3)",
    "lambda: 1",
    "```python\nx = 6 * 7\nx\n```",
    "async def f():\n    await tools.later(1)\nx = f()",
    "import asyncio\nt = asyncio.create_task(tools.never())\nawait asyncio.sleep(0)\n1",
)
"""What ends quickly, in all kinds of ways."""

STUCK = ("while True: pass", "await tools.never()", "while True:\n    try: tools.fail()\n    except ToolError: pass")
"""What only a limit ends; these take as long as it allows."""

EVERY = 50
"""Of so many runs one is stuck, and one is cancelled by its host."""

HELD = 3
"""Sessions that are held after their end."""

_expiring: list[Session] = []

TURNS = ("names = {n: str(n) for n in range(200)}", "open('note.txt', 'w').write(str(names))", "len(names), 1 / 0")

MOST_BYTES = 24 * 1024 * 1024
MOST_SHARE = 0.10
"""What the memory may differ by between the second quarter and the last one: the more of these two."""

MOST_OBJECTS = 0.02
"""The same for tracked objects, as a share."""


@tool
def charge(name: str) -> dict[str, str]:
    """Give something back."""
    return {"id": name, "filler": "x" * 100}


@tool
async def later(n: int) -> int:
    """Give it back, later."""
    await asyncio.sleep(0)
    return n


@tool
def fail() -> None:
    """Fail."""
    msg = "no such customer"
    raise LookupError(msg)


@tool
async def never() -> None:
    """Not answer."""
    await asyncio.Event().wait()


@dataclass(frozen=True, slots=True)
class Point:
    """What the process was after so many runs.

    Attributes:
        runs: runs so far, and the usual ones of sessions; those that run together count as one.
        sessions: sessions opened so far.
        memory: bytes that it holds.
        threads: its threads.
        descriptors: its open descriptors.
        objects: objects that Python's collector tracks.
        entries: entries in the tables of the binding.
        lives: sessions that are not over.
    """

    runs: int
    sessions: int
    memory: int
    threads: int
    descriptors: int
    objects: int
    entries: int
    lives: int


def look(runs: int, sessions: int) -> Point:
    """Look at the process, after what is garbage is gone."""
    settle()
    gc.collect()
    return Point(
        runs, sessions, resident() or 0, threading.active_count(), len(list(Path("/proc/self/fd").iterdir())),
        len(gc.get_objects()), _entries(), len(worlds._lives),  # noqa: SLF001 - how many there are is nobody else's
    )  # fmt: skip


def settle() -> None:
    """Wait, for a moment, until sessions that nobody holds have ended, and worlds that nobody waits for."""
    until = time.monotonic() + 2.0
    while (worlds._lives or execution._live) and time.monotonic() < until:  # noqa: SLF001 - as above
        gc.collect()
        time.sleep(0.01)


def soak(engine: str, runs: int, sessions: int, points: int) -> Iterator[Point]:
    """Run programs and sessions, and look at the process now and then.

    Args:
        engine: which.
        runs: how many runs; those of sessions come on top.
        sessions: how many sessions.
        points: how often to look.
    """
    limits = LIMITS if engine == "wasm" else RESTRICTED
    sandbox = Sandbox([charge, later, fail, never], engine=engine, limits=limits)
    done = opened = 0
    for point in range(1, points + 1):
        for number in range(done, runs * point // points):
            _one(sandbox, number)
        done = max(done, runs * point // points)
        for number in range(opened, sessions * point // points):
            _session(sandbox, number)
        opened = max(opened, sessions * point // points)
        yield look(done + opened * len(TURNS), opened)


def _one(sandbox: Sandbox, number: int) -> None:
    turn, place = divmod(number, EVERY)
    if place == 0:
        sandbox.run(STUCK[turn % len(STUCK)])
    elif place == 1:
        asyncio.run(_cancelled(sandbox))
    elif place == 2:
        asyncio.run(_together(sandbox))
    else:
        sandbox.run(PROGRAMS[number % len(PROGRAMS)])


async def _cancelled(sandbox: Sandbox) -> None:
    task = asyncio.create_task(sandbox.run_async("while True: pass"))
    await asyncio.sleep(0.01)
    task.cancel()
    await asyncio.wait([task])


async def _together(sandbox: Sandbox) -> None:
    await asyncio.gather(*(sandbox.run_async(program) for program in PROGRAMS[:4]))


def _session(sandbox: Sandbox, number: int) -> None:
    session = sandbox.session(tenant=f"tenant {number}")
    for program in TURNS:
        session.run(program)
    match number % 4:
        case 0:
            session.close()
        case 1:
            session.run(STUCK[0])  # which costs its world
        case 2:
            _expiring.append(session)  # held, until it has been idle for too long
            del _expiring[:-HELD]
        case _:
            pass  # it is dropped


def flat(points: Sequence[Point]) -> dict[str, bool]:
    """Of each number, whether the last quarter of the points is what the second one was."""
    quarter = len(points) // 4
    early, late = points[quarter : 2 * quarter], points[-quarter:]

    def middle(some: Sequence[Point], name: str) -> float:
        return statistics.median(float(getattr(point, name)) for point in some)

    def grown(name: str) -> float:
        return middle(late, name) - middle(early, name)

    memory, objects = middle(early, "memory"), middle(early, "objects")
    return {
        "memory": grown("memory") <= max(MOST_BYTES, MOST_SHARE * memory),
        "threads": grown("threads") <= 1,
        "descriptors": grown("descriptors") <= 0,
        "objects": grown("objects") <= MOST_OBJECTS * objects,
        "entries": grown("entries") <= 0,
        "lives": max(point.lives for point in points) == 0,
    }


def told(point: Point) -> str:
    """A point as a row of a Markdown table."""
    return (
        f"| {point.runs:,} | {point.sessions:,} | {point.memory / 2**20:.1f} | {point.threads} | {point.descriptors} |"
        f" {point.objects:,} | {point.entries} | {point.lives} |"
    )


HEAD = (
    "| runs | sessions | memory, MiB | threads | descriptors | objects | entries | lives |\n"
    "| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
)


def document(points: Sequence[Point]) -> dict[str, object]:
    """All of it, ready for JSON."""
    return {"points": [asdict(point) for point in points], "flat": flat(points)}


def _entries() -> int:
    from wasmtime import _func, _value  # noqa: PLC0415 - the tables have no public names
    from wasmtime.component import _linker  # noqa: PLC0415 - as above

    tables: tuple[Any, ...] = (_func.FUNCTIONS, _value.SLAB, _linker.RESOURCE_DTORS)
    return sum(len(getattr(table, "handles", ()) or getattr(table, "list", ())) for table in tables)
