"""What a model reads of its mistakes: the cause, the line, and the next step, in the same words on both engines."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pytest
from typing_extensions import TypedDict

from codeact import Limits, Sandbox, tool
from tests import tools
from tests.conftest import MakeSandbox

LINES = 15
"""Lines that an observation of a failure may have."""

CHARGE = "charge = tools.get_charges('c1')[0]\n"
CHARGES = "charges = tools.get_charges('c1')\n"
ROW = "row = {'amount': 3, 'id': 'x'}\n"
TOOLS = "the tools are: get_charges, search, get_customers, fetch, echo, broken, leaky"

MISTAKES: dict[str, tuple[str, str | None, str | None]] = {
    # name: program, part of the message, part of the hint
    # --- names
    "a tool without tools": ("get_charges('c1')", None, "write tools.get_charges(…): get_charges(customer_id: str, "),
    "an awaited tool without tools": ("fetch(1)", None, "write await tools.fetch(…): async fetch(number: int) -> int"),
    "a misspelt tool without tools": ("get_charge('c1')", None, "did you mean 'tools.get_charges'?"),
    "tools misspelt": ("tool.get_charges('c1')", None, "did you mean 'tools'?"),
    "a name of its own": ("customer_count = 3\ncustomer_cuont + 1", None, "did you mean 'customer_count'?"),
    "a local name": ("def f(values):\n    return sum(vlues)\nf([1])", None, "did you mean 'values'?"),
    "a style of names": ("customerId = 3\ncustomer_id", None, "did you mean 'customerId'?"),
    "a builtin": ("pritn(3)", None, "did you mean 'print'?"),
    "a name nobody knows": ("frobnicate + 1", None, "define it in this program"),
    "a module": ("json.dumps(3)", None, "import it first: import json"),
    "datetime, the class": ("datetime.now()", None, "import it first: from datetime import datetime"),
    "datetime, the module": ("datetime.datetime.now()", None, "import it first: import datetime"),
    "a name of a module": ("Decimal('1')", None, "import it first: from decimal import Decimal"),
    "a constant of JSON": ("x = [true, null]", None, "write True"),
    "a star import": ("from math import *\nsqroot(3)", None, "did you mean 'sqrt'"),
    "a local variable": ("n = 0\ndef f():\n    n += 1\nf()", None, "write `global n` first"),
    "a variable of an outer function": (
        "def f():\n    n = 0\n    def g():\n        n += 1\n    g()\nf()",
        None,
        "`nonlocal n` names an outer one",
    ),
    # --- tools
    "an unknown tool": ("tools.get_charge('c1')", f"did you mean 'get_charges'? {TOOLS}", None),
    "an unknown tool by item": ("tools['get_charge']('c1')", f"did you mean 'get_charges'? {TOOLS}", None),
    "a tool like no other": ("tools.send_mail()", f"there is no tool 'send_mail'; {TOOLS}", None),
    "tools imported": ("from tools import get_charges", "tools", "`tools` is there already"),
    "tools called": ("tools('get_charges')", None, "call one of the tools: tools.name(…)"),
    "a tool subscripted": ("tools.get_charges['c1']", None, "call a tool: tools.name(…)"),
    "an argument missing": (
        "tools.get_charges()",
        "get_charges(): customer_id is missing\nsignature: get_charges(customer_id: str, limit: int = 10)",
        None,
    ),
    "an argument too many": ("tools.get_charges('a', 1, 2)", "3 positional arguments are too many\nsignature: ", None),
    "an argument of another name": (
        "tools.get_charges(customer='c1')",
        "customer_id is missing; there is no parameter 'customer', did you mean 'customer_id'?\nsignature: ",
        None,
    ),
    "an argument twice": ("tools.get_charges('a', customer_id='b')", "customer_id is given twice", None),
    "an argument of another type": ("tools.get_charges([1])", "customer_id should be a valid string, got [1]\n", None),
    "an argument that is no number": (
        "tools.get_charges('c1', limit='many')",
        "get_charges(): limit should be a valid integer, got 'many'\nsignature: ",
        None,
    ),
    "an argument that cannot cross": (
        "tools.echo({'a': [iter([])]})",
        "echo(): argument 1['a'][0]: cannot pass <list_iterator>; make it a list",
        None,
    ),
    "a tool that failed": (
        "tools.get_charges('missing', limit=3)",
        "get_charges('missing', limit=3) failed: LookupError: no customer 'missing'",
        None,
    ),
    "a tool that gave too strange a thing": (
        "tools.leaky()",
        "leaky() gave what cannot cross into the sandbox: value['rows'][0]: cannot return <lock>",
        None,
    ),
    # --- waiting
    "an attribute of what was not awaited": ("x = tools.fetch(1)\nx.real", "write `await tools.fetch(...)`", None),
    "arithmetic with it": ("tools.fetch(1) * 2", "write `await tools.fetch(...)`", None),
    "a loop over it": ("for x in tools.fetch(1):\n    pass", "write `await tools.fetch(...)`", None),
    "an item of it": ("tools.fetch(1)[0]", "write `await tools.fetch(...)`", None),
    "it as value": ("tools.fetch(1)", "value: tools.fetch(...) was not awaited: write `await tools.fetch(...)`", None),
    # --- attributes
    "a field": (
        f"{CHARGE}charge.amout",
        "record has no field 'amout'; did you mean 'amount'? its fields are: id",
        None,
    ),
    "a field by item": (f"{CHARGE}charge['amout']", "did you mean 'amount'? its fields are: id, amount, day", None),
    "a field by place": (f"{CHARGE}charge[0]", "no item of type int; its fields are: id, amount", None),
    "a field of a list": (f"{CHARGES}charges.amount", None, "charges is a list of 3: take one, charges[0].amount, or"),
    "an item of a list by name": (f"{CHARGES}charges['amount']", None, "take one, charges[0]['amount'], or loop over"),
    "an attribute of a dict": (f"{ROW}row.amount", None, "row is a dict: write row['amount']; its keys are: 'amount'"),
    "a misspelt one": (f"{ROW}row.amout", None, "row is a dict: write row['amount']; its keys are: 'amount', 'id'"),
    "an attribute of None": ("x = None\nx.amount", None, "x is None: check for that before use"),
    "another language's method": ("xs = [1]\nxs.push(2)", None, "write xs.append(…)"),
    "a length": ("xs = [1]\nxs.length", None, "write len(xs)"),
    "contains": ("'abc'.contains('a')", None, "write part in x"),
    "a method of text": ("'abc'.uper()", None, "did you mean 'upper'?"),
    "a member of an Enum": (f"{CHARGE}charge.status.PAID", None, "a member has .name and .value, and equals its value"),
    "an attribute of its own class": (
        "class P:\n    def __init__(self):\n        self.amount = 1\nP().amout",
        None,
        "did you mean 'amount'?",
    ),
    # --- keys and indices
    "a key": (f"{ROW}row['amout']", "'amout'", "did you mean 'amount'? its keys are: 'amount', 'id'"),
    "a key like no other": (f"{ROW}row['zzz']", None, "row.get('zzz') gives None where it is missing"),
    "a key of another type": ("row = {1: 'a', 2: 'b'}\nrow['1']", None, "its keys are of type int: write 1, not '1'"),
    "a key of an empty dict": ("row = {}\nrow['a']", None, "row is empty"),
    "a key among many": ("row = {f'k{n}': n for n in range(500)}\nrow['zz']", None, "'k15' and 484 more"),
    "a key further in": ("row = {'a': {'b': 1}}\nrow['a']['c']", None, "its keys are: 'b'; row['a'].get('c')"),
    "a key in a loop": ("rows = [{'a': 1}, {'b': 1}]\nfor r in rows:\n    r['a']", None, "its keys are: 'b'"),
    "a key in a comprehension": ("rows = [{'a': 1}, {'b': 1}]\n[r['a'] for r in rows]", None, "its keys are: 'b'"),
    "a key in a function": ("def f(r):\n    return r['a']\nf({'b': 1})", None, "its keys are: 'b'"),
    "a key in a lambda": ("sorted([{'a': 1}, {'b': 1}], key=lambda r: r['a'])", None, "its keys are: 'b'"),
    "a key deleted": (f"{ROW}del row['amout']", None, "did you mean 'amount'?"),
    "a key popped": (f"{ROW}row.pop('amout')", None, "did you mean 'amount'?"),
    "a key that was raised": ("raise KeyError('no such customer')", "'no such customer'", None),
    "an index": ("xs = [1, 2, 3]\nxs[3]", None, "xs has 3 items: indices go from 0 to 2"),
    "an index of nothing": ("xs = []\nxs[0]", None, "xs is empty"),
    "an index that is assigned": ("xs = [1]\nxs[1] = 2", None, "xs has 1 item: indices go from 0 to 0"),
    "an index of text": ("s = 'abc'\ns[7]", None, "s has 3 characters: indices go from 0 to 2"),
    "pop of nothing": ("[].pop()", None, "check that it is not empty before"),
    # --- types
    "an item of None": ("x = None\nx['a']", None, "x is None: check for that before use"),
    "a comparison with None": ("x = None\nx < 3", None, "x is None: check for that before use, or give a default: (x"),
    "a number of None": ("x = None\nint(x)", None, "x is None"),
    "a loop over None": ("def f():\n    pass\nfor x in f():\n    pass", None, "a value is None"),
    "a sum of text and number": ("'a' + 1", None, "make it text: str(…), or an f-string"),
    "a sum of number and text": ("1 + 'a'", None, "one is text and one a number"),
    "Decimal and float": ("from decimal import Decimal\nDecimal('1') * 1.5", None, "Decimal(str(x))"),
    "times with and without zone": (
        "from datetime import datetime, timezone\ndatetime.now() - datetime.now(timezone.utc)",
        None,
        "give both a time zone",
    ),
    "a date and a text": (f"{CHARGE}charge.day > '2026-01-01'", None, "make the text a date"),
    "a date and a datetime": (f"{CHARGE}import datetime\ncharge.day < datetime.datetime(2026, 1, 1)", None, "x.date()"),
    "JSON of what JSON has not": (f"import json\n{CHARGE}json.dumps(charge)", None, "json.dumps(…, default=str)"),
    "JSON read twice": ("import json\njson.loads({'a': 1})", None, "it is no text but the data itself"),
    "a list in a set": ("{[1]}", None, "use tuple(…)"),
    "a record in a set": (f"{CHARGE}{{charge}}", None, "use a field of it"),
    "an item of a set": ("{1}[0]", None, "a set has no order"),
    "an item of keys": ("{'a': 1}.keys()[0]", None, "make it a list first"),
    "a builtin's name taken": ("sum = 3\nsum([1])", None, "has given the name sum to something else"),
    "a list called": ("xs = [1]\nxs(0)", None, "xs is a list: an item is xs[…]"),
    "a slice of a dict": ("row = {'a': 1}\nrow[0:1]", None, "slice"),
    "two of one": ("d = {'a': 1}\nfor k, v in d:\n    pass", None, "write d.items()"),
    "the largest of nothing": ("max([])", None, "max(items, default=None)"),
    "a number that is none": ("int('12.5')", None, "use float(…)"),
    "the next of nothing": ("next(iter([]))", None, "next(items, None)"),
    "an import of a name": ("from math import sqr", "cannot import name 'sqr' from 'math'", "did you mean 'sqrt'"),
    "an import like no other": ("from json import frobnicate", None, "json has: JSONDecodeError, JSONDecoder"),
    # --- that say it all themselves
    "a division": ("1 / 0", "division by zero", None),
    "an assertion": ("assert 1 == 2, 'unequal'", "unequal", None),
    "an exit": ("import sys\nsys.exit(3)", "the program ended with exit code 3", None),
    "an exit with a word": ("import sys\nsys.exit('no charges')", "no charges", None),
    "a note": ("e = ValueError('a')\ne.add_note('look here')\nraise e", "a\nlook here", None),
    "a long text": ("raise ValueError('x' * 5000)", "… (3,500 more characters)", None),
    "a group": (
        "raise ExceptionGroup('many', [ValueError('a'), KeyError('b'), TypeError('c'), OSError('d')])",
        "many (4 sub-exceptions); ValueError: a; KeyError: 'b'; TypeError: c; and 1 more",
        None,
    ),
    "a function as value": ("def f():\n    pass\nf", "cannot return <function>; call it first", None),
    "a generator as value": ("(x for x in [])", "cannot return <generator>; make it a list", None),
    "a value that is too deep": (
        "x = []\nfor _ in range(200):\n    x = [x]\nx",
        "limit value_depth=100",
        "return less",
    ),
    "a value that is too large": ("'a' * 20_000_000", "limit value_bytes=10,485,760", "return less"),
    "recursion": ("def f(n):\n    return f(n + 1)\nf(0)", "1,000 frames)", "use a loop"),
    "printing": ("print('a' * 200_000)", "more than 100,000 characters (limit output)", "print less"),
    "memory": ("x = 'a' * 10 ** 10", "no more memory (limit memory=268,435,456 bytes)", "piece by piece"),
}


@pytest.mark.parametrize("case", MISTAKES)
def test_a_mistake_is_explained(make: MakeSandbox, case: str) -> None:
    program, message, hint = MISTAKES[case]
    result = make(tools.ALL).run(program)
    told = result.observation()
    assert result.error is not None, told
    if result.error.kind == "denied":
        pytest.skip("the policy of restricted refuses it before it runs")
    if message is not None:
        assert message in result.error.message, told
    if hint is not None:
        assert result.error.hint is not None, told
        assert hint in result.error.hint, told
    elif message is not None:
        assert result.error.hint is None, told
    short = told.partition("\noutput:")[0]
    assert len(short.splitlines()) <= LINES, told
    assert len(short) < 2200
    assert not INSIDE.search(told), told


INSIDE = re.compile(r'/python/|site-packages|File "|guest\.|codeact\.|wasm_runtime|0x[0-9a-f]{6}|\.py\b')
"""What would tell of the host, or of the machinery."""

OBSERVED: dict[str, tuple[str, str]] = {
    "an unknown tool": (
        "tools.get_charge('c1')",
        "failed: runtime\n"
        f"AttributeError: there is no tool 'get_charge'; did you mean 'get_charges'? {TOOLS}\n"
        "  line 1: tools.get_charge('c1')",
    ),
    "a wrong argument": (
        "tools.get_charges(customer='c1')",
        "failed after 1 tool call: runtime\n"
        "TypeError: get_charges(): customer_id is missing; "
        "there is no parameter 'customer', did you mean 'customer_id'?\n"
        "signature: get_charges(customer_id: str, limit: int = 10) -> list[Charge]\n"
        "  line 1: tools.get_charges(customer='c1')",
    ),
    "a tool that failed, in a function": (
        "def f(customer):\n    return tools.get_charges(customer)\n\nf('missing')",
        "failed after 1 tool call: tool\n"
        "ToolError: get_charges('missing') failed: LookupError: no customer 'missing'\n"
        "  line 4: f('missing')\n"
        "  line 2, in f: return tools.get_charges(customer)",
    ),
    "a missing field": (
        f"{CHARGES}sum(c.amont for c in charges)",
        "failed after 1 tool call: runtime\n"
        "AttributeError: record has no field 'amont'; did you mean 'amount'? its fields are: id, amount, day, status\n"
        "  line 2: sum(c.amont for c in charges)\n"
        "  line 2, in <genexpr>: sum(c.amont for c in charges)",
    ),
    "a missing key": (
        f"{ROW}row['amout']",
        "failed: runtime\nKeyError: 'amout'\n  line 2: row['amout']\n"
        "hint: did you mean 'amount'? its keys are: 'amount', 'id'",
    ),
    "an undefined name": (
        "total = 1\nprint('begun')\ntotl + 1",
        "failed: runtime\nNameError: name 'totl' is not defined\n  line 3: totl + 1\nhint: did you mean 'total'?\n"
        "output:\nbegun",
    ),
    "an undefined name, said by the program": (
        "raise NameError('limit source=1')",
        "failed: runtime\nNameError: limit source=1\n  line 1: raise NameError('limit source=1')\n"
        "hint: define it in this program: a run starts without the names of earlier ones",
    ),
    "what was not awaited": (
        "x = tools.fetch(1)\nx + 1",
        "failed: runtime\nTypeError: tools.fetch(...) was not awaited: write `await tools.fetch(...)`\n  line 2: x + 1",
    ),
    "a syntax error": (
        "x = 1\ny = = 2",
        "failed: syntax\nSyntaxError: invalid syntax\n  line 2: y = = 2\n              ^",
    ),
    "a syntax error after a tab": (
        "if True:\n\tx =\t= 3",
        "failed: syntax\nSyntaxError: invalid syntax\n  line 2: x = = 3\n              ^",
    ),
    "a syntax error after wide letters": (
        "x = ('日本', é = 3 3)",
        "failed: syntax\nSyntaxError: invalid syntax. Maybe you meant '==' or ':=' instead of '='?\n"
        "  line 1: x = ('日本', é = 3 3)\n                       ^",
    ),
    "an indentation error": (
        "def f():\nreturn 1",
        "failed: syntax\nIndentationError: expected an indented block after function definition on line 1\n"
        "  line 2: return 1\n          ^",
    ),
    "a cause": (
        "try:\n    {}['a']\nexcept KeyError as e:\n    raise ValueError('bad row') from e",
        "failed: runtime\nValueError: bad row\n  caused by KeyError: 'a' (line 2)\n"
        "  line 4: raise ValueError('bad row') from e",
    ),
    "an error while handling one": (
        "try:\n    [][0]\nexcept IndexError as e:\n    {}['a']",
        "failed: runtime\nKeyError: 'a'\n  while handling IndexError: list index out of range (line 2)\n  line 4: {}['a']",
    ),
    "a statement of several lines": (
        "x = [\n    1,\n    2 / 0,\n]",
        "failed: runtime\nZeroDivisionError: division by zero\n  line 3: 2 / 0,",
    ),
    "a decorator": (
        "def deco(function):\n    raise ValueError('no')\n\n@deco\ndef g():\n    pass",
        "failed: runtime\nValueError: no\n  line 4: @deco\n  line 2, in deco: raise ValueError('no')",
    ),
    "a case": (
        "match {'a': 1}:\n    case {'a': x}:\n        x / 0",
        "failed: runtime\nZeroDivisionError: division by zero\n  line 3: x / 0",
    ),
    "a comprehension": (
        "rows = [1, 0]\n[\n    1 / r\n    for r in rows\n]",
        "failed: runtime\nZeroDivisionError: division by zero\n  line 3: 1 / r",
    ),
}


@pytest.mark.parametrize("case", OBSERVED)
def test_an_observation_word_for_word(make: MakeSandbox, case: str) -> None:
    program, told = OBSERVED[case]
    assert make(tools.ALL).run(program).observation() == told


def test_a_deep_traceback_says_how_much_it_leaves_out(sandbox: Sandbox) -> None:
    told = sandbox.run("def f(n):\n    return 1 / n if n == 0 else f(n - 1)\nf(50)").observation()
    assert told.splitlines()[2:] == [
        "  line 3: f(50)",
        *["  line 2, in f: return 1 / n if n == 0 else f(n - 1)"] * 2,
        "  … 46 more frames",
        *["  line 2, in f: return 1 / n if n == 0 else f(n - 1)"] * 3,
    ]


def test_a_long_line_is_cut_around_the_place_of_a_syntax_error(sandbox: Sandbox) -> None:
    told = sandbox.run("x = [" + "1, " * 300 + "= 2]").observation().splitlines()
    assert told[-2].startswith("  line 1: …")
    assert told[-2][told[-1].index("^")] == "="
    error = sandbox.run("x = 1 / 0 # " + "x" * 1000).error
    assert error is not None
    assert error.source_line is not None
    assert error.source_line.endswith("… (852 more characters)")


def test_a_message_of_many_lines_is_cut(sandbox: Sandbox) -> None:
    told = sandbox.run("raise ValueError('\\n'.join(map(str, range(100))))").observation().splitlines()
    assert told[1:8] == ["ValueError: 0", "1", "2", "3", "4", "… (95 more lines)", told[7]]


def test_a_cut_output_says_how_much_and_what_to_do(sandbox: Sandbox) -> None:
    told = sandbox.run("print('x' * 5000)\n1").observation()
    assert "… (1,000 more characters; to see more, let a program print a part)" in told


HOSTILE: dict[str, str] = {
    "a key with a loud repr": "class K(str):\n    def __repr__(self):\n        print('loud')\n        return 'K'\n{}[K('a')]",
    "a dict with loud keys": "class K:\n    def __hash__(self):\n        return hash('a')\n    def __eq__(self, other):\n        print('loud')\n        return False\nd = {K(): 1}\nd['zz']",
    "a loud iterator": "class D(dict):\n    def __iter__(self):\n        print('loud')\n        return iter([])\nd = D(a=1)\nd['zz']",
    "an error of its own kind": "class E(KeyError):\n    @property\n    def args(self):\n        print('loud')\n        return ()\nraise E('a')",
    "a loud dir": "class A:\n    def __dir__(self):\n        print('loud')\n        return []\nA().x",
}


@pytest.mark.parametrize("case", HOSTILE)
def test_advice_calls_nothing_of_the_programs(sandbox: Sandbox, case: str) -> None:
    result = sandbox.run(HOSTILE[case])
    if result.error is not None and result.error.kind == "denied":
        pytest.skip("the policy of restricted refuses it before it runs")
    assert result.error is not None
    if case != "a key with a loud repr":  # the text of a KeyError is the repr of its key, as in any Python
        assert "loud" not in result.stdout


def test_a_name_lost_with_an_earlier_run_is_not_explained_in_a_session(make: MakeSandbox) -> None:
    with make().session() as session:
        error = session.run("frobnicate").error
    assert error is not None
    assert error.hint is None


def test_a_mistake_in_an_earlier_program_of_a_session(make: MakeSandbox) -> None:
    with make().session() as session:
        session.run("# first\ndef total(row):\n    return row['amout']")
        error = session.run("total({'amount': 3})").error
    assert error is not None
    assert error.hint == "did you mean 'amount'? its keys are: 'amount'"
    assert error.traceback == "  line 1: total({'amount': 3})\n  line 3 of program 1, in total: return row['amout']"


# --- arguments -----------------------------------------------------------------------------------------------


@dataclass
class Line:
    sku: str
    count: int


class Options(TypedDict):
    currency: Literal["EUR", "USD"]


@tool
def order(lines: list[Line], options: Options | None = None, ref: int | list[int] = 0) -> int:
    """Place an order."""
    return len(lines)


@tool
def read(name: str) -> str:
    """Read a file of the host."""
    return Path("/nowhere/at/all", name).read_text()


ARGUMENTS: dict[str, tuple[str, str]] = {
    "further in": (
        "order([{'sku': 'a', 'count': 1}, {'sku': 'b', 'count': 'x'}])",
        "lines[1]['count'] should be a valid integer, got 'x'",
    ),
    "a field that is missing": ("order([{'sku': 'a'}])", "lines[0]['count'] is missing"),
    "a field of a TypedDict": (
        "order([], {'currency': 'GBP'})",
        "options['currency'] should be 'EUR' or 'USD', got 'GBP'",
    ),
    "one of several types": ("order([], ref='x')", "ref should be a valid integer or a valid list, got 'x'"),
    "many": ("order(list(range(500)))", "lines[2] should be a dictionary or an instance of Line, got 2; and 497 more"),
    "very many": ("order(list(range(5000)))", "order(): 5,000 values do not fit"),
    "large": ("order('x' * 1_000_000)", "got 'xxxxxxxxxxxxxxxxx...xxxxxxxxxxxxxxxxxx'"),
}


@pytest.mark.parametrize("case", ARGUMENTS)
def test_arguments_that_do_not_fit_are_named_by_their_path(make: MakeSandbox, case: str) -> None:
    call, reason = ARGUMENTS[case]
    error = make([order]).run(f"tools.{call}").error
    assert error is not None
    assert reason in error.message
    assert "\nsignature: order(lines: list[Line], options: Options | None = None, " in error.message
    assert len(error.message) < 600


def test_a_failed_call_shows_its_arguments_short(make: MakeSandbox) -> None:
    @tool
    def fail(rows: list[object], text: str, *, extra: dict[str, object]) -> int:
        raise RuntimeError

    call = "tools.fail(list(range(100)), 'y' * 500, extra={'a': {'b': {'c': {'d': 1}}}, 'z': b'q' * 1000})"
    error = make([fail]).run(call).error
    assert error is not None
    assert error.message.startswith("fail([0, 1, 2, 3, ...], 'yyyyyyyyyyyyyyyyy...")
    assert error.message.endswith("failed: RuntimeError")
    assert len(error.message) < 200


def test_a_file_of_the_host_is_named_without_its_directories(make: MakeSandbox) -> None:
    error = make([read]).run("tools.read('prices.csv')").error
    assert error is not None
    assert error.message == "read('prices.csv') failed: FileNotFoundError: No such file or directory: 'prices.csv'"


LIMITS: dict[str, tuple[str, dict[str, Any], str]] = {
    "timeout": ("while True:\n    pass", {"timeout": 0.3}, "the program was terminated after 0.3 s (limit timeout)"),
    "calls": ("for n in range(9):\n    tools.echo(n)", {"calls": 3}, "more than 3 tool calls (limit calls)"),
    "output": ("print('x' * 11)", {"output": 10}, "more than 10 characters (limit output)"),
    "fuel": ("while True:\n    pass", {"fuel": 50_000}, "the program used up its 50,000 "),
    "source": ("x = 1" + " " * 100, {"source": 50}, "105 bytes are more than the limit source=50"),
}


@pytest.mark.parametrize("case", LIMITS)
def test_a_limit_that_was_met_is_named_with_its_setting(engine: str, case: str) -> None:
    program, limits, message = LIMITS[case]
    if case == "fuel" and engine == "wasm":
        limits = {"fuel": 50_000_000}
        message = "the program used up its 50,000,000 units (limit fuel)"
    result = Sandbox(tools.ALL, engine=engine, limits=Limits(**{"timeout": 20.0, **limits})).run(program)
    assert result.error is not None
    assert message in result.error.message
    assert len(result.observation().splitlines()) <= LINES
    assert result.error.kind == "syntax" or result.error.hint
