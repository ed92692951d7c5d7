"""The README's Python runs as it stands, and prints what it says."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest

from codeact import Limits, Sandbox
from codeact.audit import EventName

README = Path(__file__).parent.parent / "README.md"


def test_the_python_in_the_readme_runs(capsys: pytest.CaptureFixture[str]) -> None:
    blocks = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    world: dict[str, object] = {"__name__": "readme"}
    for block in blocks:
        exec(compile(block, "README.md", "exec", dont_inherit=True), world)
    printed = capsys.readouterr().out
    assert "True [['ch_1', 'ch_3']]" in printed
    assert "AttributeError: there is no tool 'get_charge'; did you mean 'get_charges'?" in printed
    assert 'line 1: tools.get_charge("c1")' in printed
    assert "20 True" in printed
    assert "answered 43.00 in all. 4300" in printed
    assert str(["session_open", "sandbox_spawn", "tool_call_executed", "sandbox_exit", "session_close"]) in printed


def test_the_limits_table_is_the_limits() -> None:
    rows = re.findall(r"^\| `(\w+)` \| ([^|]+) \|", README.read_text(encoding="utf-8"), re.MULTILINE)
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


def test_the_documents_on_policies_are_true(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (README.parent / "docs" / "policy.md").read_text(encoding="utf-8")
    (policy,) = re.findall(r"```toml\n(.*?)```", text, re.DOTALL)
    monkeypatch.chdir(tmp_path)
    Path("policy.toml").write_text(policy)
    Path("terms.txt").write_text("be kind")

    def search_kb(query: str) -> list[str]:
        return [query]

    world: dict[str, object] = {
        "search_kb": search_kb,
        "credential_of": lambda _rule: {"authorization": "t"},
        "tokens": {"support": "t"},
    }
    for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
        exec(compile(block, "policy.md", "exec", dont_inherit=True), world)
    sandbox = world["sandbox"]
    assert isinstance(sandbox, Sandbox)
    assert sandbox.run("tools.search_kb('a')").value == ["a"]
    for event in re.findall(r"^\| `(\w+)`(?:, `(\w+)`)? \| ", text.split("## The audit")[1], re.MULTILINE):
        assert {*event} - {""} <= set(get_args(EventName))
