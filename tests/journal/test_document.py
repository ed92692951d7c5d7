"""The document's Python runs as it stands."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

DOCUMENT = Path(__file__).parents[2] / "docs" / "replay.md"


def test_the_python_in_the_document_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", DOCUMENT.read_text(encoding="utf-8"), re.DOTALL)
    assert blocks
    world: dict[str, object] = {"__name__": "document"}
    for block in blocks:
        exec(compile(block, "replay.md", "exec", dont_inherit=True), world)
    assert (tmp_path / "runs.sqlite").stat().st_size > 0
