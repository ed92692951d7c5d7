"""The README's Python runs as it stands, and prints what it says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from codeact import Limits

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
    for name in ("stack", "output", "calls", "value_depth", "files"):
        assert int(named[name].replace(",", "")) == getattr(limits, name)
    assert limits.fuel is None
    assert limits.call_timeout is None
