"""Every limit stops the run, and the error names it."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, fields
from typing import Any

import pytest

from codeact import Limits, Sandbox, tool
from codeact.limits import MOST_UNITS
from tests import tools
from tests.conftest import MakeSandbox

STOPPED: dict[str, tuple[str, dict[str, Any], str]] = {
    # name: program, limits, kind
    "endless loop": ("while True:\n    pass", {"timeout": 0.4}, "timeout"),
    "endless loop that catches": (
        "while True:\n    try:\n        while True:\n            pass\n    except BaseException:\n        pass",
        {"timeout": 0.4},
        "timeout",
    ),
    "endless finally": (
        "try:\n    while True:\n        pass\nfinally:\n    while True:\n        pass",
        {"timeout": 0.4},
        "timeout",
    ),
    "endless comprehension": (
        "import itertools\n[n for n in itertools.count()]",
        {"timeout": 0.4, "memory": 2**28},
        "timeout memory",
    ),
    "endless sum": ("import itertools\nsum(itertools.count())", {"timeout": 0.4}, "timeout"),
    "endless recursion through classes": (
        "class A:\n    def __getattr__(self, name):\n        return getattr(self, name + 'x')\nA().a",
        {"timeout": 5.0},
        "stack timeout memory denied",
    ),
    "fuel": ("n = 0\nwhile True:\n    n += 1", {"fuel": 3_000_000, "timeout": 20.0}, "fuel"),
    "fuel in a generator": (
        "def g():\n    while True:\n        yield 1\nfor _ in g():\n    pass",
        {"fuel": 5_000_000},
        "fuel",
    ),
    "big power": ("9 ** 9 ** 9", {"timeout": 0.5}, "timeout memory runtime"),
    "big shift": ("1 << 10 ** 12", {"timeout": 0.5}, "memory runtime"),
    "big string": ("'a' * 10 ** 11", {}, "memory runtime"),
    "big list": ("[0] * 10 ** 10", {}, "memory runtime"),
    "big range": ("list(range(2 * 10 ** 9))", {"timeout": 1.0}, "memory timeout"),
    "hoarding": (
        "hoard = []\nwhile True:\n    hoard.append('x' * 1_000_000 + str(len(hoard)))",
        {"timeout": 15.0},
        "memory",
    ),
    "recursion": ("def f(n):\n    return f(n + 1)\nf(0)", {}, "stack"),
    "output": ("while True:\n    print('flood')", {"output": 1000}, "output"),
    "output in one go": ("print('x' * 5000)", {"output": 1000}, "output"),
    "calls": ("while True:\n    tools.echo(1)", {"calls": 20}, "calls"),
    "calls that are caught": (
        "while True:\n    try:\n        tools.echo(1)\n    except BaseException:\n        pass",
        {"calls": 20},
        "calls",
    ),
    "deep value": ("x = []\nfor _ in range(200):\n    x = [x]\nx", {}, "value"),
    "large value": ("'x' * 200_000", {"value_bytes": 100_000}, "value"),
    "source": ("x = 1\n" * 1000, {"source": 1000}, "syntax"),
}


@pytest.mark.parametrize("case", STOPPED)
def test_limit_stops_the_run(make: MakeSandbox, case: str) -> None:
    program, limits, kinds = STOPPED[case]
    sandbox = make(tools.ALL, **limits)
    began = time.monotonic()
    result = sandbox.run(program)
    took = time.monotonic() - began
    told = result.observation()[:2000]
    assert result.error is not None, told
    assert result.error.kind in kinds.split(), told
    assert took < sandbox.limits.timeout + 2.0
    assert sandbox.run("1 + 1").value == 2, "an honest run works afterwards"


def test_a_catastrophic_regex_cannot_hold_the_run(make: MakeSandbox) -> None:
    began = time.monotonic()
    result = make(timeout=0.5).run("import re\nre.match(r'(a|aa|a*)+$', 'a' * 60 + 'b')")
    assert time.monotonic() - began < 2.5
    assert result.ok or result.error is not None


@dataclass(frozen=True)
class Row:
    """A limit that is met: by which program, and what is said of it.

    Attributes:
        limit: the field of `Limits`.
        setting: what it is set to.
        shown: how the error shows the setting.
        kind: the kind of the error.
        program: meets it.
        stops: whether the run ends there; otherwise one operation is refused, and the program can handle it.
    """

    limit: str
    setting: float
    shown: str
    kind: str
    program: str
    stops: bool = True


ROWS = {
    "wall clock": Row("timeout", 0.3, "0.3 s", "timeout", "while True: pass"),
    "wall clock, asleep": Row("timeout", 0.3, "0.3 s", "timeout", "import time\ntime.sleep(100)"),
    "wall clock, in a tool": Row("timeout", 0.3, "0.3 s", "timeout", "await tools.asleep(10_000)"),
    "fuel": Row("fuel", 2_000_000, "2,000,000", "fuel", "while True: pass"),
    "memory": Row(
        "memory",
        100 * 2**20,
        "104,857,600",
        "memory",
        "x = []\nwhile True: x.append('x' * 1_000_000 + str(len(x)))",
        stops=False,
    ),
    "memory at once": Row("memory", 100 * 2**20, "104,857,600", "memory", "'a' * (2 * 10**9)", stops=False),
    "stack": Row("stack", 1000, "1,000 frames", "stack", "def f(n): return f(n + 1)\nf(0)", stops=False),
    "output": Row("output", 1000, "1,000", "output", "print('x' * 2000)"),
    "source": Row("source", 1000, "1,000", "syntax", "x = 1\n" * 1000),
    "calls": Row("calls", 5, "5", "calls", "for n in range(9): tools.echo(n)"),
    "call": Row("call_timeout", 0.2, "0.2 s", "tool", "await tools.asleep(10_000)", stops=False),
    "value": Row("value_bytes", 10_000, "10,000", "value", "'x' * 20_000"),
    "argument": Row("value_bytes", 10_000, "10,000", "runtime", "tools.echo('x' * 20_000)", stops=False),
    "result of a tool": Row("value_bytes", 10_000, "10,000", "tool", "tools.large(20_000)", stops=False),
    "depth of a value": Row("value_depth", 3, "3", "value", "[[[[1]]]]"),
    "depth of an argument": Row("value_depth", 3, "3", "runtime", "tools.echo([[[[1]]]])", stops=False),
    "workspace": Row("workspace", 100_000, "100,000", "runtime", "open('a', 'w').write('x' * 200_000)", stops=False),
    "files": Row("files", 10, "10", "runtime", "for n in range(99): open(f'{n}', 'w').close()", stops=False),
}

ELSEWHERE = {"concurrency", "session_idle", "session_lifetime", "shown", "file_types"}
"""Limits of which no program meets an error: calls wait, sessions end between programs, and the rest is left out."""


@tool
def large(n: int) -> str:
    """A text of so many characters."""
    return "x" * n


@tool
async def asleep(n: int) -> int:
    """Come back after so many hundredths of a second."""
    await asyncio.sleep(n / 100)
    return n


def test_every_limit_has_a_row() -> None:
    assert {row.limit for row in ROWS.values()} | ELSEWHERE == {field.name for field in fields(Limits)}


@pytest.mark.parametrize("name", ROWS)
def test_the_error_names_the_limit_its_setting_and_what_to_do(make: MakeSandbox, name: str) -> None:
    row = ROWS[name]
    sandbox = make([tools.echo, large, asleep], **{row.limit: row.setting})
    error = sandbox.run(row.program).error
    assert error is not None
    assert error.kind == row.kind
    assert f"limit {row.limit}" in error.message
    assert row.shown in error.message
    assert error.hint
    if name in {"memory", "stack"}:
        return  # where it is met, little is left to handle it with
    body = "\n".join(f"    {line}" for line in row.program.splitlines())
    handled = sandbox.run(f"try:\n{body}\nexcept BaseException: pass\n'went on'")
    if row.limit in {"timeout", "fuel", "output", "calls"}:
        assert not handled.ok, "it stops the run, whatever the program catches"
    elif row.kind not in {"value", "syntax"}:
        assert (handled.ok, handled.value) == (not row.stops, "went on"), handled.observation()


@pytest.mark.parametrize(
    ("program", "limits", "line"),
    [
        ("x = 1\nfor n in range(9):\n    y = n\n    tools.echo(n)", {"calls": 5}, 4),
        ("x = 1\ndef f():\n    print('x' * 2000)\nf()", {"output": 1000}, 3),
    ],
)
def test_a_stop_at_a_door_names_the_line(make: MakeSandbox, program: str, limits: dict[str, int], line: int) -> None:
    error = make(tools.ALL, **limits).run(program).error
    assert error is not None
    assert error.line == line
    assert error.source_line == program.splitlines()[line - 1]


def test_the_stack_error_names_its_limit_on_wasm() -> None:
    error = Sandbox(engine="wasm", limits=Limits(stack=50)).run("def f(): return f()\nf()").error
    assert error is not None
    assert "limit stack=50 frames" in error.message


def test_a_cut_is_announced_with_what_was_left_out(make: MakeSandbox) -> None:
    result = make(output=100).run("print('a' * 60)\nprint('b' * 60)")
    assert result.stdout == "a" * 60 + "\n" + "b" * 39
    assert result.truncated[0].kept == 100
    assert result.truncated[0].left_out >= 21
    assert "cut: stdout" in result.observation()


def test_memory_is_a_wall_on_wasm() -> None:
    sandbox = Sandbox(engine="wasm", limits=Limits(memory=96 * 2**20))
    result = sandbox.run("try:\n    x = bytearray(90 * 2**20)\nexcept MemoryError:\n    caught = True\ncaught")
    assert result.value is True, result.observation()


def test_memory_used_is_reported_on_wasm() -> None:
    sandbox = Sandbox(engine="wasm")
    small, large = sandbox.run("1").usage.memory, sandbox.run("len(bytearray(50 * 2 ** 20))").usage.memory
    assert small is not None
    assert large is not None
    assert 45 * 2**20 < large - small < 60 * 2**20
    assert large <= sandbox.limits.memory
    failed = sandbox.run("x = bytearray(20 * 2 ** 20)\n1 / 0").usage.memory
    assert failed is not None
    assert failed > small
    lost = Sandbox(engine="wasm", limits=Limits(timeout=0.3)).run("while True:\n    pass")
    assert lost.usage.memory is None


def test_memory_below_what_the_interpreter_needs_is_an_error_that_says_so() -> None:
    result = Sandbox(engine="wasm", limits=Limits(memory=2**20)).run("1")
    assert result.error is not None
    assert result.error.kind == "memory"
    assert "less than the interpreter" in result.error.message


@pytest.mark.parametrize("name", [field.name for field in fields(Limits)])
@pytest.mark.parametrize("value", [0, -1, float("nan"), float("inf"), True, "5", 10**400, 1e11])
def test_a_senseless_limit_is_refused_by_name(name: str, value: Any) -> None:
    with pytest.raises((ValueError, TypeError), match=f"Limits\\({name}="):
        Limits(**{name: value})


def test_a_stack_limit_bounds_recursion_on_wasm() -> None:
    program = (
        "def depth(n):\n    try:\n        return depth(n + 1)\n    except RecursionError:\n        return n\ndepth(1)"
    )
    shallow = Sandbox(engine="wasm", limits=Limits(stack=100)).run(program).value
    deep = Sandbox(engine="wasm", limits=Limits(stack=1000)).run(program).value
    assert isinstance(shallow, int)
    assert isinstance(deep, int)
    assert shallow <= 120
    assert 800 < deep <= 1020


LARGE = ("fuel", "memory", "output", "source", "calls", "concurrency", "value_bytes", "workspace", "shown")


def test_limits_may_be_as_large_as_a_word(make: MakeSandbox) -> None:
    result = make(**dict.fromkeys(LARGE, MOST_UNITS)).run("print('a')\n1 + 1")
    assert (result.value, result.stdout) == (2, "a\n"), result.observation()
