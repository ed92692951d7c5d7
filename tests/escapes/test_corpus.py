"""Hostile programs collected from publicly documented escapes, each in a process of its own.

Where the collection is not beside the checkout, these tests are skipped; what each class of them tries is in
`docs/security.md`, and the project's own programs of the same classes are in `own/`.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

CASES = Path(__file__).parents[3] / "shared" / "escapes" / "cases"
CHILD = Path(__file__).with_name("case.py")
SECONDS = 4.0
"""Several times the timeout of a case: a run that nothing stops takes longer."""
MEMORY = 1024 * 1024 * 1024
"""Bytes that the whole process may have had: the limit of the run, and room for the host."""


def heads() -> list[Any]:
    found = []
    for path in sorted(CASES.glob("*.py")):
        head = json.loads(path.read_text(errors="replace").partition("\n")[0].removeprefix("# "))
        engines = ["restricted", "wasm"] if head["engine"] == "both" else [head["engine"]]
        found += [pytest.param(path, engine, head, id=f"{path.stem}-{engine}") for engine in engines]
    return found


@pytest.mark.skipif(not CASES.is_dir(), reason="the collection of hostile programs is not beside this checkout")
@pytest.mark.parametrize(("path", "engine", "head"), heads() or [pytest.param(None, "", {}, id="none")])
def test_a_hostile_program_gets_nowhere(path: Path, engine: str, head: dict[str, Any]) -> None:
    done = subprocess.run(
        [sys.executable, str(CHILD), str(path), engine], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    seen = json.loads(done.stdout.splitlines()[-1])
    assert not seen["escaped"], seen
    assert not seen["leaked"], seen
    assert seen["changed"] == [], seen
    assert seen["late"] == 0, seen
    assert seen["honest"] == 1205, seen
    assert seen["seconds"] < SECONDS, seen
    assert seen["peak"] < MEMORY, seen
    if head.get(f"expect_{engine}", head["expect"]) == "denied":
        assert not seen["ok"], seen
