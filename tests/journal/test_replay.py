"""A run that is on record does the same again, without any of its tools."""

from __future__ import annotations

import asyncio

import pytest

from codeact import Journal, Result, action, tool
from codeact.testing.equality import same
from tests.journal.conftest import Keep

asked: list[object] = []


@tool
def ask(n: int) -> dict[str, int]:
    """Ask."""
    asked.append(n)
    return {"n": n, "made": len(asked)}


@tool
async def later(n: int) -> int:
    """Ask and go on."""
    asked.append(n)
    await asyncio.sleep(0.001 * n)
    return len(asked)


@tool
def broken() -> int:
    """Fail."""
    asked.append("broken")
    msg = f"failed {len(asked)} times"
    raise ValueError(msg)


@action
def refund(charge: str, amount: int = 20) -> None:
    """Pay back."""
    asked.append(charge)


TOOLS = [ask, later, broken]

PROGRAMS = {
    "value": "1 + 1",
    "nothing": "x = 1",
    "chance": "import random, uuid, os\nrandom.random(), uuid.uuid4(), os.urandom(8)",
    "clocks": "import time\nfrom datetime import datetime\n[time.time(), time.monotonic(), datetime.now()]",
    "identities": "print([id(object()) for _ in range(5)]); id([])",
    "calls": "[tools.ask(n) for n in range(5)]",
    "same call": "[tools.ask(1), tools.ask(n=1), tools.ask(1)]",
    "gather": "import asyncio\nawait asyncio.gather(*[tools.later(n) for n in (5, 1, 3)])",
    "as completed": "import asyncio\n[await each for each in asyncio.as_completed([tools.later(n) for n in (30, 1, 9)])]",
    "given up": (
        "import asyncio\ntry:\n    await asyncio.wait_for(tools.later(5000), 0.01)\nexcept TimeoutError:\n    print('late')\n"
        "tools.ask(1)"
    ),
    "caught": "try:\n    tools.broken()\nexcept Exception as error:\n    print(error)\ntools.ask(2)",
    "tool failed": "print('before')\ntools.broken()",
    "failed": "print('before')\nx = tools.ask(1)\n1 / 0",
    "misfit": "tools.ask('one')",
    "no such tool": "tools.tell(1)",
    "no value": "lambda: 1",
    "syntax": "x = = 1",
    "fenced": "Here it is:\n```python\nprint(tools.ask(1))\n```",
    "exit": "import sys\nprint('out')\nsys.exit(3)",
    "files": "from pathlib import Path\nPath('b.txt').write_text(Path('a.txt').read_text() * 2)\nPath('a.txt').unlink()",
    "text": "print('ä \\ud800 𝄞')\n'\\ud800'",
    "sets": "{'a', 'b', 'c'}, frozenset({1, 2}), {1: {2: b'\\xff'}}",
    "help": "help(tools.ask)\nprint(tools)\nlist(tools)",
    "memory": "xs = []\nwhile True: xs.append(bytes(50_000_000))",
    "memory, caught": "try:\n    'a' * 10**10\nexcept (MemoryError, OverflowError) as error:\n    print(type(error).__name__)",
    "stack": "def f(n): return f(n + 1)\ntools.ask(1)\nf(0)",
    "absent": "import socket\nsocket.socket()",
    "outside": "open('/etc/passwd').read()",
    "unraised": "class Own(Exception): pass\nraise Own('ä\ud800') from ValueError('x')",
    "group": "import asyncio\nasync with asyncio.TaskGroup() as group:\n    group.create_task(tools.later(1))\n    group.create_task(tools.ask('x'))",
    "database": "import sqlite3\nwith sqlite3.connect(':memory:') as c: c.execute('create table t(x)')\nprint(c.execute('select sqlite_version()').fetchone())",
    "sleep": "import asyncio, time\nbegan = time.monotonic()\nawait asyncio.sleep(0.02)\ntime.sleep(0.01)\nprint(time.monotonic() - began)",
    "large": "tools.ask(len(str([tools.ask(n) for n in range(10)]) * 1000))\n['x' * 100] * 1000",
    "fuel": "print(1)\nwhile True: pass",
    "output": "while True: print('x' * 1000)",
    "proposals": (
        "print(actions.refund('c1').status)\nn = tools.ask(1)['n']\nactions.refund('c1', 20)\nactions.refund(charge='c2', amount=n)"
    ),
    "proposals dropped": "actions.refund('c1', 10)\n1 / 0",
    "no proposal": "actions.refund()",
    "too many calls": "for n in range(100): tools.ask(n)",
}


def alike(one: Result, other: Result) -> bool:
    """Whether nothing but its time tells two results apart."""
    return (
        same(one.value, other.value)
        and one.usage.fuel == other.usage.fuel
        and (one.error, one.stdout, one.files, one.exit_code, one.truncated, one.calls, one.run)
        == (other.error, other.stdout, other.files, other.exit_code, other.truncated, other.calls, other.run)
        and one.proposals == other.proposals
    )


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_run_does_the_same_again(keep: Keep, name: str) -> None:
    fuel = 200_000_000 if keep().engine == "wasm" else 100_000
    files = {"a.txt": "text"} if name == "files" else {}
    result = keep(TOOLS, actions=[refund], fuel=fuel, calls=50, output=20_000).run(PROGRAMS[name], files=files)
    before = len(asked)
    replayed = keep().replay(result.run)
    assert replayed.diverged is None
    if (name, keep().engine) == ("memory", "restricted"):  # the process has more to do than this program
        assert replayed.same or "the memory of the process ended it" in (replayed.unfinished or "")
    else:
        assert replayed.same
        assert alike(replayed.result, result)
    assert alike(replayed.recorded.result, result)
    assert len(asked) == before


def test_inside_an_event_loop(keep: Keep) -> None:
    async def both() -> bool:
        sandbox = keep(TOOLS)
        result = await sandbox.run_async(PROGRAMS["gather"])
        replayed = await sandbox.replay_async(result.run)
        return replayed.same and alike(replayed.result, result)

    assert asyncio.run(both())


def test_a_program_of_a_session(keep: Keep) -> None:
    session = keep(TOOLS).session()
    session.run("import random\nx = tools.ask(1)", files={"a.txt": "a"})
    session.run("y = random.random()\n1 / 0")
    result = session.run("open('b.txt', 'w').write('b')\nx, y, random.random(), open('a.txt').read(), tools.ask(2)")
    assert result.ok
    before = len(asked)
    replayed = keep().replay(result.run)
    assert replayed.same
    assert alike(replayed.result, result)
    assert len(replayed.recorded.earlier) == 2
    assert len(asked) == before


def test_a_program_of_a_session_that_was_restored(keep: Keep) -> None:
    session = keep(TOOLS).session()
    session.run("x = tools.ask(1)")
    session.run("y = tools.ask(2)")
    session.restore()
    session.run("z = 3")
    result = session.run("x, y, z")
    assert keep().replay(result.run).same
    assert alike(keep().replay(result.run).result, result)


def test_a_session_goes_on_elsewhere(keep: Keep, journal: Journal) -> None:
    session = keep(TOOLS).session()
    session.run("x = tools.ask(1)")
    last = session.run("y = x['made'] + 1")
    with keep(TOOLS).session(history=journal.history(last.run)) as other:
        assert other.restore() == ("x", "y")
        result = other.run("y - x['made']")
    assert result.value == 1
    assert keep().replay(result.run).same
