"""Programs that a type checker judges before they run."""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from codeact import Limits, Sandbox, tool
from codeact.check import checker
from codeact.declarations import stubs
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
    "an argument of another type": ("x = 1\ntools.count(7)", 2, "Argument to tool `count` is incorrect"),
    "an argument too many": ("tools.count('a', 'b')", 1, "Too many positional arguments"),
    "a missing argument": ("\n\ntools.count()", 3, "required parameter `text`"),
    "an unknown argument": ("tools.count('a', size=1)", 1, "Argument `size` does not match"),
    "an unknown tool": ("x = 1\ntools.counts('a')", 2, "`tools` has no attribute `counts`"),
    "an unknown field": ("tools.count('a')[0].idd", 1, "has no attribute `idd`"),
    "a forgotten await": ("for x in tools.fetch(1):\n    print(x)", 1, "is not iterable"),
    "a name that nobody has bound": (
        "total = tools.count('a')\nif not total:\n    print(totl)",
        3,
        "`totl` used when not defined",
    ),
    "in a fence": ("```python\ntools.count()\n```", 2, "required parameter `text`"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_sure_to_fail_is_not_begun(check: Callable[..., Sandbox], name: str) -> None:
    program, line, told = WRONG[name]
    result = check().run(f"{program}\nprint('ran')" if not program.endswith("```") else program)
    assert result.error is not None
    assert (result.error.kind, result.error.type, result.error.line) == ("denied", "TypeCheckError", line)
    assert told in result.error.message
    assert result.stdout == ""
    assert result.calls == ()


def test_several_findings_are_told_with_their_lines(check: Callable[..., Sandbox]) -> None:
    error = check().run("tools.count()\ntools.count(1)\ntools.count(2)\ntools.count(3)\n").error
    assert error is not None
    assert "(line 2)" in error.message
    assert error.message.endswith("; and 1 more")


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
]


@pytest.mark.parametrize("program", RIGHT)
def test_what_may_be_right_is_run(check: Callable[..., Sandbox], program: str) -> None:
    error = check().run(program).error
    assert error is None or error.type != "TypeCheckError", error


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
    monkeypatch.delitem(sys.modules, "codeact.check", raising=False)
    with pytest.raises(ImportError, match=r"pip install 'codeact\[check\]'"):
        Sandbox([count], engine="restricted", check=True)


def problems() -> list[dict[str, Any]]:
    with gzip.open(HUMAN_EVAL, "rt") as file:
        return [json.loads(line) for line in file]


@pytest.mark.skipif(not HUMAN_EVAL.exists(), reason="HumanEval is not beside this checkout")
def test_honest_programs_are_not_refused() -> None:
    judge = checker(stubs(Toolset([count, fetch])))
    for problem in problems()[::8]:
        program = (
            f"{problem['prompt']}{problem['canonical_solution']}\n{problem['test']}\ncheck({problem['entry_point']})"
        )
        assert judge.fault(program, 30.0, alone=True) is None, problem["task_id"]
