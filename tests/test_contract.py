"""What a program may rely on, the same on both engines."""

from __future__ import annotations

import datetime as dt
import json
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from codeact import Result, Sandbox
from tests import tools
from tests.conftest import MakeSandbox

VALUES: dict[str, tuple[str, Any]] = {
    "last expression": ("1 + 1", 2),
    "return": ("return [1, 2]", [1, 2]),
    "return in a branch": ("for n in range(9):\n    if n == 5:\n        return n", 5),
    "return with annotations": ("total: int = 3\nif total:\n    return total", 3),
    "return beside a function that uses a name": ("x = 2\ndef f():\n    return x * 2\nreturn f()", 4),
    "expression after statements": ("x = 2\ny = x * 3\ny", 6),
    "tuple": ("1, 'a'", (1, "a")),
    "nested augmented assignment": ("d = {}\nd['k'] = 1\nd['k'] += 2\nd", {"k": 3}),
    "annotation": ("x: int = 3\nx", 3),
    "nonlocal": (
        "def counter():\n    n = 0\n    def step():\n        nonlocal n\n        n += 1\n        return n\n"
        "    return step\nc = counter()\nc(); c()",
        2,
    ),
    "match": ("match {'a': [1, 2]}:\n    case {'a': [first, *rest]}:\n        r = (first, rest)\nr", (1, [2])),
    "underscore names": ("_, b = 1, 2\n_c = 3\nsum(1 for _ in range(4)) + b + _c", 9),
    "str.format": ("'{0}-{name:>4}-{1[k]}'.format('a', {'k': 1}, name='b')", "a-   b-1"),
    "f-string": ("x = 3.14159\nf'{x:.2f} {x!r:>10}'", "3.14    3.14159"),
    "class": (
        "class Point:\n    def __init__(self, x):\n        self.x = x\n        self._y = x + 1\n"
        "    def both(self):\n        return self.x, self._y\n"
        "class Named(Point):\n    @property\n    def name(self):\n        return f'p{self.x}'\n"
        "p = Named(1)\np.both(), p.name, isinstance(p, Point)",
        ((1, 2), "p1", True),
    ),
    "comprehensions": (
        "[x * y for x in range(3) for y in range(3) if x != y], {k: k for k in 'ab'}",
        ([0, 0, 0, 2, 0, 2], {"a": "a", "b": "b"}),
    ),
    "generator": ("def g():\n    yield from range(3)\nlist(g())", [0, 1, 2]),
    "try finally": (
        "log = []\ntry:\n    1 / 0\nexcept ZeroDivisionError as e:\n    log.append(str(e))\nfinally:\n    log.append('f')\nlog",
        ["division by zero", "f"],
    ),
    "with": ("import contextlib\nwith contextlib.suppress(KeyError):\n    {}['x']\n'on'", "on"),
    "walrus and star": ("first, *rest = [1, 2, 3]\n(n := len(rest)) + first", 3),
    "lambda and sorted": ("sorted(['bb', 'a'], key=lambda s: len(s))", ["a", "bb"]),
    "standard library": (
        "import json, math, re, statistics, collections, itertools, datetime\n"
        "[json.loads('[1]'), math.sqrt(16), re.findall(r'\\d+', 'a1b22'), statistics.mean([1, 2, 3]),\n"
        " dict(collections.Counter('aab')), list(itertools.accumulate([1, 2, 3])), datetime.date(2026, 1, 31).isoformat()]",
        [[1], 4.0, ["1", "22"], 2, {"a": 2, "b": 1}, [1, 3, 6], "2026-01-31"],
    ),
    "main guard": ("def main():\n    return 7\nif __name__ == '__main__':\n    x = main()\nx", 7),
    "big int": ("2 ** 200", 2**200),
    "bytes set date": (
        "import datetime\n[b'\\xff', {1, 2}, datetime.timedelta(days=1)]",
        [b"\xff", {1, 2}, dt.timedelta(days=1)],
    ),
    "unicode": ("'Zoë ' + '\\U0001f600'", "Zoë \U0001f600"),
    "empty": ("", None),
    "docstring only": ("'''hello'''", "hello"),
    "await of a plain value": ("async def f():\n    return 2\nawait f()", 2),
    "sys.exit": ("import sys\nsys.exit()", None),
}


@pytest.mark.parametrize("case", VALUES)
def test_value(sandbox: Sandbox, case: str) -> None:
    program, expected = VALUES[case]
    result = sandbox.run(program)
    assert result.ok, result.observation()
    assert result.value == expected
    assert type(result.value) is type(expected)


FAULTS: dict[str, tuple[str, str, str, int | None]] = {
    # name: program, kind, part of the message, line
    "syntax": ("x = 1\ny = = 2", "syntax", "invalid syntax", 2),
    "unclosed": ("x = 1\nprint((1, 2)", "syntax", "never closed", 2),
    "exception": ("def f(n):\n    return 1 / n\n\nf(0)", "runtime", "division by zero", 2),
    "name": ("x = 1\nx + undefined", "runtime", "undefined", 2),
    "raise": ("class Mine(Exception):\n    pass\n\nraise Mine('why')", "runtime", "why", 4),
    "key": ("d = {'a': 1}\nd['b']", "runtime", "'b'", 2),
    "assert": ("assert 1 == 2, 'unequal'", "runtime", "unequal", 1),
    "exit with a code": ("import sys\nsys.exit(3)", "runtime", "3", 2),
    "exit, which is for people at a prompt": ("x = 1\nexit(0)", "runtime", "exit", 2),
    "os._exit": ("import os\nos._exit(0)", "runtime", "", None),
    "recursion": ("def f(): return f()\n\nf()", "stack", "recursion", 1),
    "generator as value": ("(x for x in [1])", "value", "cannot return <generator>", None),
    "deep path": ("{'rows': [1, 2, {'x': iter([])}]}", "value", "value['rows'][2]['x']", None),
    "tool failed": ("\ntools.broken()", "tool", "ConnectionError: the database is away", 2),
    "tool told why": ("tools.get_charges('missing')", "tool", "LookupError: no customer 'missing'", 1),
    "tool gave what cannot cross": ("tools.leaky()", "tool", "value['rows'][0]", 1),
    "argument of the wrong type": ("tools.get_charges([1])", "runtime", "get_charges(customer_id: str", 1),
    "argument missing": ("tools.get_charges()", "runtime", "customer_id is missing", 1),
    "argument too many": ("tools.get_charges('a', 1, 2)", "runtime", "signature: get_charges(", 1),
    "argument unknown": ("tools.search('a', limit=1)", "runtime", "there is no parameter 'limit'", 1),
    "argument that cannot cross": ("tools.echo(iter([]))", "runtime", "cannot", 1),
    "tool unknown": ("tools.get_charge('c1')", "runtime", "get_charges", 1),
    "tools set": ("tools.mine = 1", "runtime", "cannot", 1),
    "tools item set": ("tools['mine'] = 1", "runtime", "", 1),
    "tools deleted": ("del tools.echo", "runtime", "cannot", 1),
    "missing package": ("import numpy", "runtime", "numpy", 1),
}


@pytest.mark.parametrize("case", FAULTS)
def test_fault_is_data(make: MakeSandbox, case: str) -> None:
    program, kind, message, line = FAULTS[case]
    result = make(tools.ALL).run(program)
    assert not result.ok
    assert result.value is None
    error = result.error
    assert error is not None
    told = result.observation()
    judged = make().engine == "restricted" and kind in {"runtime", "syntax"}  # before it runs, where others run into it
    assert error.kind == kind or (judged and error.kind == "denied"), told
    assert message in error.message, told
    if line is not None:
        assert error.line == line, told
        assert error.source_line == program.splitlines()[line - 1]
    assert "/" not in error.traceback.replace("1 / n", ""), "no path of the host shows"


def test_records_have_attributes_and_items(make: MakeSandbox) -> None:
    result = make(tools.ALL).run(
        "rows = tools.get_charges('c1')\n"
        "hit = tools.search('refund', top=2)[0]\n"
        "people = tools['get_customers']()\n"
        "[sum(r.amount for r in rows), rows[1]['day'], rows[0].status == 'paid', rows[0].status.name,\n"
        " hit.title, hit.items, hit['score'], people['c1'].name, people['c2']['id']]"
    )
    assert result.ok, result.observation()
    assert result.value == [
        Decimal("35.00"), dt.date(2026, 1, 2), True, "PAID", "refund 1", [1], 1.0, "Ada", "c2",
    ]  # fmt: skip


def test_a_record_that_is_returned_is_a_record_of_plain_values(make: MakeSandbox) -> None:
    value: Any = make(tools.ALL).run("tools.get_charges('c1')[0]").value
    assert value == {"id": "ch_1", "amount": Decimal("10.00"), "day": dt.date(2026, 1, 1), "status": "paid"}
    assert value.amount == Decimal("10.00")


def test_tool_failures_can_be_caught_and_other_results_survive(make: MakeSandbox) -> None:
    result = make(tools.ALL).run(
        "rows = tools.get_charges('c1')\n"
        "try:\n    tools.broken()\nexcept ToolError as e:\n    why = str(e)\n"
        "len(rows), why"
    )
    assert result.value == (3, "broken() failed: ConnectionError: the database is away")
    assert [call.state for call in result.calls] == ["ok", "failed"]


def test_tools_is_a_mapping_that_shows_signatures(make: MakeSandbox) -> None:
    result = make(tools.ALL).run(
        "print(tools)\nhelp(tools.get_charges)\n[*tools], len(tools), 'echo' in tools, 'x' in tools"
    )
    assert result.value == ([tool.name for tool in tools.ALL], len(tools.ALL), True, False), result.observation()
    assert result.stdout.count("get_charges(customer_id: str, limit: int = 10) -> list[Charge]") == 2
    assert "The charges of a customer, oldest first." in result.stdout
    assert "amount: Decimal" in result.stdout


def test_help_on_tools_is_about_the_tools(make: MakeSandbox) -> None:
    result = make(tools.ALL).run("help(tools)\ndir(tools)")
    assert result.value == sorted(tool.name for tool in tools.ALL)
    assert "get_charges(customer_id: str, limit: int = 10) -> list[Charge]" in result.stdout
    assert "Method resolution" not in result.stdout


def test_a_call_that_was_not_awaited_says_so(make: MakeSandbox) -> None:
    error = make(tools.ALL).run("tools.fetch(1) * 2").error
    assert error is not None
    assert error.message == "tools.fetch(...) was not awaited: write `await tools.fetch(...)`"
    error = make(tools.ALL).run("tools.fetch(1)").error
    assert error is not None
    assert error.message == "value: tools.fetch(...) was not awaited: write `await tools.fetch(...)`"


def test_an_empty_success_explains_itself(sandbox: Sandbox) -> None:
    result = sandbox.run("total = 3\n_private = 1\ndef f():\n    pass")
    assert result.ok
    assert result.value is None
    assert result.note is not None
    assert "total, f" in result.note
    assert "_private" not in result.note


@pytest.mark.parametrize(
    ("program", "note"),
    [
        ("import json\nx = 1", "it bound x."),
        ("if False:\n    return 1\ny = 2", "it bound y."),
        ("return None", None),
        ("print('done')", None),
    ],
)
def test_notes(sandbox: Sandbox, program: str, note: str | None) -> None:
    result = sandbox.run(program)
    assert result.ok, result.observation()
    assert (result.note is None) if note is None else (result.note is not None and note in result.note)


@pytest.mark.parametrize(
    ("program", "line"),
    [("x = 'a\u2028b'\n1/0", 2), ("x = 1\n\x0c\n1/0", 3), ("x = 1\r\ny = 2\r\n1/0", 3), ("x = [\n\n]\n1/0", 4)],
)
def test_lines_are_pythons_lines(sandbox: Sandbox, program: str, line: int) -> None:
    error = sandbox.run(program).error
    assert error is not None
    assert (error.line, error.source_line) == (line, "1/0")


RETURNING = {
    "future import": "from __future__ import annotations\ndef f(x: Undefined):\n    return x\nreturn f(3)",
    "async comprehension": "async def g():\n    yield 3\nreturn [x async for x in g()][0]",
    "await in a default": "async def g():\n    return 3\ndef f(x=await g()):\n    return x\nreturn f()",
}


@pytest.mark.parametrize("case", RETURNING)
def test_programs_that_return(sandbox: Sandbox, case: str) -> None:
    result = sandbox.run(RETURNING[case])
    assert result.value == 3, result.observation()


@pytest.mark.parametrize(
    "program",
    ["class A:\n    return 1", "yield 1", "if 1:\n    yield 1\nreturn 2", "def f():\n    await g()\nreturn f()"],
)
def test_what_no_module_and_no_function_can(sandbox: Sandbox, program: str) -> None:
    error = sandbox.run(program).error
    assert error is not None
    assert error.kind in {"syntax", "denied"}


def test_whatever_stands_among_the_globals(sandbox: Sandbox) -> None:
    if sandbox.engine == "wasm":
        assert sandbox.run("globals()[1] = 2\n5").value == 5
    result = sandbox.run(
        "for n in range(3000):\n    pass\nclass A:\n    pass\n" + "\n".join(f"v{n} = {n}" for n in range(2000))
    )
    assert result.ok
    assert result.note is not None
    assert len(result.note) < 1000


def test_a_group_of_exceptions_names_its_members(make: MakeSandbox) -> None:
    result = make(tools.ALL).run(
        "import asyncio\nasync with asyncio.TaskGroup() as g:\n    g.create_task(tools.fetch('x'))"
    )
    assert result.error is not None
    assert "fetch(number: int)" in result.error.message


def test_lone_surrogates_are_printed_escaped(sandbox: Sandbox) -> None:
    assert sandbox.run("print('a\\ud800b')").stdout == "a\\ud800b\n"


def test_a_line_that_ends_in_a_colon_is_shown_whole(sandbox: Sandbox) -> None:
    assert "line 1: for x in 5:" in sandbox.run("for x in 5:\n    pass").observation().splitlines()[2]


def test_left_out_frames_are_counted_truly(sandbox: Sandbox) -> None:
    program = "def f(n):\n    if n == 0:\n        return 1 / 0\n    return f(n - 1)\nf(100)"
    error = sandbox.run(program).error
    assert error is not None
    assert "96 more frames" in error.traceback
    assert error.line == 3


HOSTILE_SYNTAX_ERRORS = [
    "raise SyntaxError('x', ('<program>', 'abc', 1, 't'))",
    "raise SyntaxError('x', ('<program>', 10 ** 30, 10 ** 15, 't'))",
    "class N(int):\n    pass\nraise SyntaxError('x', ('<program>', N(3), N(4), 't'))",
    "raise SyntaxError('x' * 2_000_000)",
    "e = SyntaxError('x')\ne.msg = 5\ne.lineno = -1\nraise e",
    "raise KeyError('x' * 2_000_000)",
]


@pytest.mark.parametrize("program", HOSTILE_SYNTAX_ERRORS)
def test_an_exception_that_lies_about_its_place_is_still_data(sandbox: Sandbox, program: str) -> None:
    result = sandbox.run(program)
    error = result.error
    assert error is not None
    assert error.kind in {"runtime", "denied"}, result.observation()[:500]
    assert type(error.line) is int
    assert len(result.observation()) < 6000


def test_every_run_is_a_fresh_world(sandbox: Sandbox) -> None:
    assert sandbox.run("leak = 1\nimport json\njson.leak = 1" if sandbox.engine == "wasm" else "leak = 1").ok
    result = sandbox.run("leak")
    assert result.error is not None
    assert result.error.type == "NameError"


def test_output_is_kept_in_order_and_survives_a_failure(make: MakeSandbox) -> None:
    result = make(tools.ALL).run("print('a', 1, sep='-', end=';')\nprint('b')\ntools.broken()")
    assert not result.ok
    assert result.stdout == "a-1;b\n"


def test_what_was_printed_survives_the_end_of_the_world(make: MakeSandbox) -> None:
    result = make(timeout=0.5).run("print('begun', end=' ')\nprint('a', 'b', sep='', end='')\nwhile True:\n    pass")
    assert result.error is not None
    assert result.stdout == "begun ab"


def test_async_tools(make: MakeSandbox) -> None:
    result = make(tools.ALL).run(
        "async def both():\n    return await tools.fetch(1) + await tools.fetch(2)\nreturn await both()"
    )
    assert result.value == 6, result.observation()
    assert [call.state for call in result.calls] == ["ok", "ok"]


def test_awaiting_a_sync_tool_is_harmless(make: MakeSandbox) -> None:
    assert make(tools.ALL).run("len(await tools.get_charges('c1'))").value == 3


def test_result_is_json_ready(make: MakeSandbox) -> None:
    result = make(tools.ALL).run(
        "print('hi')\n{'rows': tools.get_charges('c1'), 1: {2}, 'nan': float('nan'), 'raw': b'a'}"
    )
    document = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert document["ok"] is True
    assert document["value"]["rows"][0] == {"id": "ch_1", "amount": "10.00", "day": "2026-01-01", "status": "paid"}
    assert document["value"]["1"] == [2]
    assert document["calls"][0]["state"] == "ok"
    assert document["usage"]["fuel"] > 0


def test_a_value_of_thousands_of_digits_can_be_shown(sandbox: Sandbox) -> None:
    result = sandbox.run("from fractions import Fraction\n[10 ** 5000, {'x': 10 ** 5000}, Fraction(10 ** 5000, 3)]")
    assert result.value == [10**5000, {"x": 10**5000}, Fraction(10**5000, 3)], result.error
    assert "0x" in result.observation()
    json.dumps(result.to_dict())


def test_observation_of_a_failure_is_short_and_names_the_line(make: MakeSandbox) -> None:
    told = make(tools.ALL).run("def f(x):\n    return tools.get_charges(x)\nf('missing')").observation()
    assert told.splitlines()[0] == "failed after 1 tool call: tool"
    assert "line 2" in told
    assert "LookupError" in told
    assert len(told.splitlines()) <= 15


def test_usage_counts_fuel_repeatably(sandbox: Sandbox) -> None:
    program = "total = 0\nfor n in range(2000):\n    total += n\ntotal"
    fuel = {sandbox.run(program).usage.fuel for _ in range(3)}
    assert len(fuel) == 1
    assert fuel.pop() >= 2000


def test_clocks_and_randomness_work(sandbox: Sandbox) -> None:
    program = (
        "import datetime, random, time, uuid\n"
        "[datetime.datetime.now().year, datetime.date.today().year, time.time(), random.random(), str(uuid.uuid4())]"
    )
    first, second = sandbox.run(program), sandbox.run(program)
    for result in (first, second):
        assert isinstance(result, Result)
        assert result.ok, result.observation()
    a: Any = first.value
    b: Any = second.value
    assert a[0] == a[1] == dt.datetime.now(dt.UTC).year
    assert abs(a[2] - dt.datetime.now(dt.UTC).timestamp()) < 60
    assert a[3] != b[3]
    assert a[4] != b[4]


def test_an_exit_code_is_a_number_that_any_log_can_hold(sandbox: Sandbox) -> None:
    assert sandbox.run("import sys\nsys.exit(2 ** 70)").exit_code == -1
    assert sandbox.run("import sys\nsys.exit(-7)").exit_code == -7
    assert json.dumps(sandbox.run("import sys\nsys.exit(10 ** 5000)").to_dict())
