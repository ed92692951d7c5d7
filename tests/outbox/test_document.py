"""What docs/actions.md says is so."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest

from codeact.audit import EventName
from codeact.outbox.entries import MOVES, STATES

TEXT = (Path(__file__).parent.parent.parent / "docs" / "actions.md").read_text(encoding="utf-8")


def test_its_python_runs_and_prints_what_it_says(capsys: pytest.CaptureFixture[str]) -> None:
    world: dict[str, object] = {"__name__": "document"}
    blocks = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
    for block in blocks:
        exec(compile(block, "actions.md", "exec", dont_inherit=True), world)
    printed = capsys.readouterr().out.splitlines()
    assert printed == [
        line.removeprefix("# ") for block in blocks for line in block.splitlines() if line.startswith("# ")
    ]


def test_its_table_of_states_is_that_of_the_code() -> None:
    table = TEXT.split("## States")[1].split("## ")[0]
    rows = {
        found[1]: set(re.findall(r"`(\w+)`", found[2]))
        for found in re.finditer(r"^\| `(\w+)` \|[^|]*\|([^|]*)\|$", table, re.MULTILINE)
    }
    assert rows == {state: {move.to for move in MOVES if state in move.sources} for state in STATES}


def test_its_events_are_those_of_the_audit() -> None:
    named = set(re.findall(r"`(outbox_\w+)`", TEXT))
    assert (
        named == {name for name in get_args(EventName) if name.startswith("outbox_")} == {f"outbox_{s}" for s in STATES}
    )
