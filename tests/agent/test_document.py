"""The document on the agent is true: its Python runs as it stands, and prints what it says."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

from codeact import Budget
from codeact.agent import Stop

TEXT = (Path(__file__).parent.parent.parent / "docs" / "agent.md").read_text(encoding="utf-8")


def test_its_python_runs_and_prints_what_it_says(capsys) -> None:
    world: dict[str, object] = {"__name__": "agent_document"}
    said: list[str] = []
    for block in re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL):
        exec(compile(block, "agent.md", "exec", dont_inherit=True), world)
        said += [
            line for told in re.findall(r"^print.*\s# (.*)$|^# (.*)$", block, re.MULTILINE) for line in told if line
        ]
    assert [line.strip() for line in capsys.readouterr().out.splitlines()] == said


def test_it_names_every_reason_to_stop() -> None:
    rows = re.findall(r"^\| `(\w+)` \| ", TEXT, re.MULTILINE)
    assert {*rows} - {"stop"} == {*get_args(Stop)}


def test_its_limits_are_the_budgets() -> None:
    for name, value in re.findall(r"Budget\((\w+)=([\d_]+)\)", TEXT):
        assert getattr(Budget(), name) == int(value)
