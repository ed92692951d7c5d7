"""Every limit stops the run, and the error names it."""

from __future__ import annotations

import time
from dataclasses import fields
from typing import Any

import pytest

from codeact import Limits, Sandbox
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


NAMED = {
    "timeout": ("while True:\n    pass", {"timeout": 0.3}),
    "fuel": ("while True:\n    pass", {"fuel": 2_000_000}),
    "output": ("print('x' * 2000)", {"output": 1000}),
    "calls": ("for _ in range(9):\n    tools.echo(1)", {"calls": 5}),
    "source": ("x = 1\n" * 1000, {"source": 1000}),
    "value_bytes": ("'x' * 200_000", {"value_bytes": 100_000}),
    "value_depth": ("[[[[1]]]]", {"value_depth": 3}),
    "memory": ("'a' * (2 * 10 ** 9)", {}),
}


@pytest.mark.parametrize("limit", NAMED)
def test_the_error_names_the_limit(make: MakeSandbox, limit: str) -> None:
    program, limits = NAMED[limit]
    error = make(tools.ALL, **limits).run(program).error
    assert error is not None
    assert limit in error.message
    assert error.hint or error.kind == "syntax"


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
