"""Programs that a type checker judges before they run."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import pytest
from pydantic import BeforeValidator, Field

from codeact import Actions, Limits, Sandbox, tool
from codeact.check import Checker
from codeact.tools import Toolset
from tests import tools as granted

HUMAN_EVAL = Path(__file__).parents[2] / "shared" / "data" / "HumanEval.jsonl.gz"


@tool
def count(text: str, *, times: int = 1) -> list[granted.Customer]:
    """Count."""
    return [{"id": text, "name": "x" * times}]


@tool
async def fetch(page: int) -> list[str]:
    """Fetch."""
    return [str(page)]


@pytest.fixture
def check(engine: str) -> Callable[..., Sandbox]:
    return lambda *more: Sandbox([count, fetch, *more], engine=engine, limits=Limits(timeout=30), check=True)


WRONG = {
    "an argument of another type": (
        "x = 1\ntools.count(7)",
        2,
        "TypeError",
        "count(): text cannot be 7\nsignature: count(",
    ),
    "an argument too many": ("tools.count('a', 'b')", 1, "TypeError", "count(): 2 positional arguments are too many"),
    "a missing argument": ("\n\ntools.count()", 3, "TypeError", "count(): text is missing"),
    "an unknown argument": (
        "tools.count('a', time=1)",
        1,
        "TypeError",
        "count(): there is no parameter 'time', did you mean 'times'?",
    ),
    "an unknown tool": (
        "x = 1\ntools.counts('a')",
        2,
        "AttributeError",
        "there is no tool 'counts'; did you mean 'count'?",
    ),
    "an unknown field": (
        "tools.count('a')[0].idd",
        1,
        "AttributeError",
        "record has no field 'idd'; did you mean 'id'?",
    ),
    "a field of a list": (
        "rows = tools.count('a')\nrows.name",
        2,
        "AttributeError",
        "'list' object has no attribute 'name'",
    ),
    "a forgotten await": ("for x in tools.fetch(1):\n    print(x)", 1, "TypeError", "is used before it is there"),
    "a name that nobody has bound": (
        "total = tools.count('a')\nif not total:\n    print(totl)",
        3,
        "NameError",
        "name 'totl' is not defined",
    ),
    "in a fence": ("```python\ntools.count()\n```", 2, "TypeError", "text is missing"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_sure_to_fail_is_not_begun(check: Callable[..., Sandbox], name: str) -> None:
    program, line, kind, told = WRONG[name]
    result = check().run(f"{program}\nprint('ran')" if not program.endswith("```") else program)
    assert result.error is not None
    assert (result.error.kind, result.error.type, result.error.line) == ("denied", kind, line)
    assert told in result.error.message
    assert result.error.hint is not None
    assert "nothing was run" in result.error.hint
    assert len(result.observation().splitlines()) <= 15
    assert result.stdout == ""
    assert result.calls == ()


def test_several_findings_are_told_with_their_lines(check: Callable[..., Sandbox]) -> None:
    error = check().run("tools.count()\ntools.count(1)\ntools.count(2)\ntools.count(3)\n").error
    assert error is not None
    assert "\nline 2: count(): text cannot be 1\n" in error.message
    assert error.message.endswith("\n… and 1 more")


RIGHT = [
    "return tools.count('a')[0]['name']",
    "x = await tools.fetch(1)\nreturn x",
    "(await tools.count('a'))[0].id",
    "tools['count']('a')[0]",
    "import numpy_is_not_here",
    "import re\nm = re.search('a', 'a')\nm.group()",
    "x = None\nfor i in range(3):\n    x = i if x is None else x + i\nx + 1",
    "try:\n    tools.fetch\nexcept ToolError:\n    pass\nprint(help(tools.count), tools)",
    "exec('y = 1')\ny",
    "from math import *\nfloor(1.5)",
    "if __name__ == '__main__':\n    print(1)",
    "class A:\n    pass\na = A()\nsetattr(a, 'b', 1)\na.b",
    "def f(rows: list[dict]) -> int:\n    return sum(r['n'] for r in rows)\nf([{'n': 1}])",
    "for name in tools:\n    print(name)\nlen(tools), 'count' in tools, list(tools)",
    "rows = tools.count('a')\nrows[0].get('vip'), rows[0].items(), rows[0].name",
    "if 'nope' in tools:\n    tools.nope()\n3",
    "class P: pass\np = P()\np.x = 1\np.x",
    "def f(): return f.count\nf.count = 2\nf()",
    "res = None\ndef init():\n    global res\n    res = []\ninit()\nres.append(1)\nres",
    "def f():\n    r = None\n    def g():\n        nonlocal r\n        r = [1]\n    g()\n    return r[0]\nf()",
    "class S:\n    def __init__(self): self.x = None\n    def load(self): self.x = [1]\ns = S()\ns.x = None\ns.load()\ns.x.append(2)\ns.x",
    "d = {'a': None}\ndef fill(): d['a'] = [1]\nd['a'] = None\nfill()\nd['a'].append(1)\nd",
    "def f(id: str) -> str:\n    return tools.get_charges(id)[0]\nf('c1').amount",
    "x: str = tools.get_charges('c1')\nx[0].amount",
    "from dataclasses import dataclass\n@dataclass\nclass R:\n    total: int = None\n    rows: str = ''\nr = R()\nr.rows = []\nr.rows.append(1)\nr.total = tools.get_charges('c1')[0].amount\nr.total.quantize(1)",
    "c = tools.get_charges('c1')[0]\nc['total'] = 3\nc.total",
    "cs = tools.get_charges('c1')\nfor c in cs:\n    c['double'] = c.amount * 2\nsum(c.double for c in cs)",
    "c = tools.get_charges('c1')[0]\nc.update(total=3)\nc.total",
    "c = tools.get_charges('c1')[0]\nsetattr(c, 'total', 3)\nc.total",
    "args = {'customer_id': 'c1', 'limit': 2}\ntools.get_charges(**args)",
    "args = ['c1', 2]\ntools.get_charges(*args)",
    "tools.get_charges('c1', '2'), tools.search('x', top='2'), tools.search('x', top=2.0)",
    "xs = [c for c in tools.get_charges('c1') if c.amount]\nbest = max(xs, key=lambda c: c.amount, default=None)\nbest.amount",
    "c = next((c for c in tools.get_charges('c1') if c.id == 'ch_1'), None)\nc.amount",
    "people = tools.get_customers()\npeople.get('c1').name",
    "try:\n    tools.nope()\nexcept Exception as e:\n    x = str(e)\nx",
    "import contextlib\nwith contextlib.suppress(AttributeError):\n    tools.nope()\n1",
    "def f(): return tools.nope()\ntry:\n    f()\nexcept AttributeError:\n    pass\n1",
    "exec('zz = 3') if False else None\nglobals().setdefault('zz', 3)\nzz",
    "from math import *\nsqrt(4)",
    "def f(c: dict) -> int:\n    return len(c)\nf(tools.get_charges('c1')[0])",
    "def f(cs: list[dict]) -> int:\n    return len(cs)\nf(tools.get_charges('c1'))",
    "rows = await tools.get_charges('c1')\nrows[0].amount",
    "import asyncio\nxs = await asyncio.gather(*(tools.fetch(i) for i in range(3)))\nsum(xs)",
    "import asyncio\nt = asyncio.create_task(tools.fetch(1))\nawait t",
    "c = tools.fetch(1)\nx = await c\nx + 1",
    "if tools.get_charges('c1'):\n    return 1\nreturn 2",
    "return 1\nundefined_thing",
    "c = tools.get_charges('c1')[0]\nc.status == 'paid', c.status.name, c.status.value, str(c.status)",
    "c = tools.get_charges('c1')[0]\n[*c.keys(), *c.values()], c.get('x'), {**c}, dict(c), len(c), 'id' in c, c | {'a': 1}, c.copy()",
    "a = tools.search('x')[0]\na.items[0], a['items']",
    "list(tools), len(tools), tools['echo'](1), tools.get('nope'), [*tools.keys()], 'echo' in tools, getattr(tools, 'nope', None), hasattr(tools, 'nope')",
    "t = tools\nt.echo(1), [f(1) for f in (tools.echo,)]",
    "list(map(tools.echo, [1, 2]))",
    "import functools\nf = functools.partial(tools.get_charges, limit=1)\nf('c1')",
    "fns = {'a': tools.get_charges, 'b': tools.search}\nfns['a']('c1', limit=2)",
    "for name in ['echo']:\n    getattr(tools, name)(1)\n1",
    "from dataclasses import dataclass\n@dataclass\nclass A:\n    x: int\ntools.echo(A(1))",
    "from decimal import Decimal\nc = tools.get_charges('c1')[0]\n(c.amount * 2).quantize(Decimal('1'))",
    "c = tools.get_charges('c1')[0]\nc.day.isoformat(), c.day.year, c.day.strftime('%Y')",
    "import re\nm = re.match('a', 'a')\nm.group()",
    "import json\njson.loads('{\"a\": 1}')['a']",
    "best = [0]\ndef f(v): best[0] = v\nf('a')\nbest[0].upper()",
    "best = {'x': 0}\ndef f(v): best['x'] = v\nf('a')\nbest['x'].upper()",
    "best = [0]\ndef f(v): best[0] = v\nf('a')\n[b.upper() for b in best]",
    "state = {'last': None}\ndef f(v): state['last'] = v\nf(tools.get_charges('c1')[0])\nstate['last'].amount",
    "def main():\n    return 1\nif __name__ == '__main__':\n    x = main()\nx",
    "from enum import Enum\nclass C(Enum):\n    A = 'c1'\ntools.get_charges(C.A)",
    "from enum import Enum\nclass C(str, Enum):\n    A = 'c1'\ntools.get_charges(C.A)",
    "from collections import namedtuple\nP = namedtuple('P', 'x y')\nP(1, 2).x",
    "from types import SimpleNamespace\nn = SimpleNamespace(a=1)\nn.b = 2\nn.a + n.b",
    "total = sum(c.amount for c in tools.get_charges('c1'))\ntotal.quantize(1)",
    "from collections import defaultdict\nd = defaultdict(list)\nfor c in tools.get_charges('c1'): d[c.id].append(c)\n{k: v[0].amount for k, v in d.items()}",
    "import itertools\n[(k, [c.amount for c in g]) for k, g in itertools.groupby(tools.get_charges('c1'), key=lambda c: c.day)]",
    "sorted(tools.get_charges('c1'), key=lambda c: (c.day, -c.amount))[0].id",
    "class Client:\n    def __init__(self, t): self.t = t\n    def rows(self): return self.t.get_charges('c1')\nClient(tools).rows()[0].amount",
    "class Charge:\n    def __init__(self, c): self.other = c.amount\nCharge(tools.get_charges('c1')[0]).other",
    "xs = [1, 2]\n[[y for y in xs if y > x] for x in xs]",
    "x = 1\ndel x\ntry:\n    x\nexcept NameError:\n    y = 2\ny",
    "if (n := len(tools.get_charges('c1'))) > 2:\n    pass\nn",
    "match tools.get_charges('c1')[0]:\n    case {'amount': a}:\n        r = a\nr",
    "if len(tools.get_charges('c1')) > 100:\n    x = 1\n1",
    "x = tools.echo(1)\nif isinstance(x, str):\n    y = x.upper()\nelse:\n    y = x + 1\ny",
    "c = tools.get_charges('c1')[0]\nc.vip if hasattr(c, 'vip') else None",
    "def f(\n    a: dict[\n        str, int\n    ],\n    b: 'list[int]' = None,\n) -> (\n    int\n):\n    return a\nf({'x': 1})",
    "def f(a: 'Charge', b: 'Undefined') -> 'Other':\n    return a\nf(1, 2)",
    "from typing import Optional, List\nRows = List[dict]\ndef f(r: Rows, x: Optional[int] = None) -> Rows:\n    return r\nf([])",
    "é = tools.get_charges('c1'); ü: str = é[0].amount; ü",
]


@pytest.mark.parametrize("program", RIGHT, ids=range(len(RIGHT)))
def test_what_may_be_right_is_run(engine: str, program: str) -> None:
    sandbox = Sandbox([count, *granted.ALL], engine=engine, limits=Limits(timeout=30), check=True)
    result = sandbox.run(program)
    assert result.error is None or "nothing was run" not in (result.error.hint or ""), result.observation()
    assert "not checked" not in (result.note or "")


def test_names_of_earlier_programs_are_known(check: Callable[..., Sandbox]) -> None:
    with check().session() as session:
        assert session.run("rows = tools.count('a')").ok
        assert session.run("rows[0].id").value == "a"


def test_a_program_that_is_no_python_keeps_its_own_error(check: Callable[..., Sandbox]) -> None:
    error = check().run("x = = 1").error
    assert error is not None
    assert error.kind == "syntax"


def test_without_the_extra_the_error_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ty", None)
    with pytest.raises(ImportError, match=r"pip install 'codeact\[check\]'"):
        Sandbox([count], engine="restricted", check=True)


def problems() -> list[dict[str, Any]]:
    with gzip.open(HUMAN_EVAL, "rt") as file:
        return [json.loads(line) for line in file]


@pytest.mark.skipif(not HUMAN_EVAL.exists(), reason="HumanEval is not beside this checkout")
def test_honest_programs_are_not_refused() -> None:
    judge = Checker(Toolset([count, fetch]), Actions(), (3, 14))
    for problem in problems()[::8]:
        program = (
            f"{problem['prompt']}{problem['canonical_solution']}\n{problem['test']}\ncheck({problem['entry_point']})"
        )
        assert judge.check(program, [], 30.0) is None, problem["task_id"]


def test_what_cannot_be_checked_in_time_is_run_and_says_so(check: Callable[..., Sandbox], monkeypatch: Any) -> None:
    monkeypatch.setattr("codeact.check.SECONDS", 0.0)
    result = check().run("1 + 1")
    assert result.value == 2
    assert result.note == "the types were not checked: it was not done in time"


def test_the_checker_sees_nothing_of_the_host(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[dict[str, Any]] = []
    popen = subprocess.Popen

    def spy(*args: Any, **named: Any) -> Any:
        seen.append(named | {"mode": Path(named["cwd"]).stat().st_mode & 0o777})
        return popen(*args, **named)

    monkeypatch.setenv("SECRET", "x")
    monkeypatch.setattr("codeact.check.subprocess.Popen", spy)
    assert Checker(Toolset([count]), Actions(), (3, 14)).check("tools.counts()", [], 30.0) is not None
    assert len(seen) == 2, "the checker, and who judges what it found"
    for one in seen:
        assert set(one["env"]) <= {"HOME", "TY_MAX_PARALLELISM"}
        assert one["mode"] == 0o700
        assert not Path(one["cwd"]).exists(), "it is gone afterwards"


HOSTILE = {
    "deep": "(" * 50_000 + ")" * 50_000,
    "long": "x = 1\n" * 40_000,
    "many findings": "tools.nope()\n" * 15_000,
    "a wide union": "x = " + " or ".join(f"{n!r}" for n in range(20_000)) + "\nx.foo",
}


@pytest.mark.parametrize("case", HOSTILE)
def test_a_hostile_text_costs_no_more_than_its_time(case: str) -> None:
    sandbox = Sandbox(
        engine="restricted", check=True
    )  # which engine it is makes no difference to who reads a text first
    begun = time.monotonic()
    result = sandbox.run(HOSTILE[case])
    assert result.usage.wall < 35
    assert time.monotonic() - begun < 60
    assert len(result.observation()) < 10_000


def test_only_bounds_keep_a_parameter_narrow() -> None:
    @tool
    def take(a: Annotated[int, Field(ge=1)], b: Annotated[int, BeforeValidator(len)]) -> int:
        return a + b

    judge = Checker(Toolset([take]), Actions(), (3, 14))
    assert judge.check("tools.take(1, [1])", [], 30.0) is None
    assert judge.check("tools.take([1], 1)", [], 30.0) is not None
