"""Tables and numbers in the documents are those of the code."""

from __future__ import annotations

import re
from typing import get_args

import pytest

from codeact import Budget, Limits
from codeact.agent import Stop
from codeact.audit import EventName
from codeact.outbox.entries import MOVES, STATES
from tests.docs.blocks import DOCS, TOP

README, ACTIONS, AGENT, POLICY = (
    path.read_text(encoding="utf-8")
    for path in (TOP / "README.md", DOCS / "actions.md", DOCS / "agent.md", DOCS / "policy.md")
)


def test_the_limits_table_is_the_limits() -> None:
    rows = re.findall(r"^\| `(\w+)` \| ([^|]+) \|", README, re.MULTILINE)
    named = dict(rows)
    limits = Limits()
    assert set(named) == set(Limits.__dataclass_fields__)
    assert float(named["timeout"].split()[0]) == limits.timeout
    assert int(named["memory"].split()[0]) * 2**20 == limits.memory
    assert int(named["source"].split()[0]) * 2**10 == limits.source
    assert int(named["value_bytes"].split()[0]) * 2**20 == limits.value_bytes
    assert int(named["workspace"].split()[0]) * 2**20 == limits.workspace
    for name in ("stack", "output", "calls", "value_depth", "files", "shown", "session_idle", "session_lifetime"):
        assert int(named[name].removesuffix(" s").replace(",", "")) == getattr(limits, name)
    assert limits.fuel is None
    assert limits.call_timeout is None
    assert limits.file_types is None


def test_the_events_of_the_audit_are_those_that_there_are() -> None:
    rows = re.findall(r"^\| `(\w+)`(?:, `(\w+)`)? \| ", POLICY.split("## The audit")[1], re.MULTILINE)
    told = {name for row in rows for name in row if name} | {*re.findall(r"`(outbox_\w+)`", ACTIONS)}
    assert told == {*get_args(EventName)}


def test_the_states_of_an_entry_are_those_of_the_outbox() -> None:
    table = ACTIONS.split("## States")[1].split("## ")[0]
    rows = {
        found[1]: set(re.findall(r"`(\w+)`", found[2]))
        for found in re.finditer(r"^\| `(\w+)` \|[^|]*\|([^|]*)\|$", table, re.MULTILINE)
    }
    assert rows == {state: {move.to for move in MOVES if state in move.sources} for state in STATES}


def test_the_reasons_to_stop_are_those_of_the_agent() -> None:
    rows = re.findall(r"^\| `(\w+)` \| ", AGENT, re.MULTILINE)
    assert {*rows} - {"stop"} == {*get_args(Stop)}


def test_the_agents_limits_are_the_budgets() -> None:
    for name, value in re.findall(r"Budget\((\w+)=([\d_]+)\)", AGENT):
        assert getattr(Budget(), name) == int(value)


@pytest.mark.parametrize("page", ["README.md", "docs/integrations/index.md"])
def test_every_framework_is_in_the_table(page: str) -> None:
    fits = {path.stem for path in (DOCS / "integrations").glob("*.md")} - {"index"}
    assert fits <= {
        *re.findall(r"^\| \[[^]]+\]\((?:[\w/]*/)?(\w+)\.md\)", (TOP / page).read_text("utf-8"), re.MULTILINE)
    }
