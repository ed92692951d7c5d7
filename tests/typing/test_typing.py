"""What type checkers say of the public API: nothing of its right uses, and something of each wrong one."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
WRONG = HERE / "wrong.py"
RIGHT = sorted({*HERE.glob("*.py")} - {WRONG, Path(__file__)})

CHECKERS: dict[str, list[str | Path]] = {
    # What is right mypy is told to read by pyproject.toml, and CI has it do so.
    "mypy": [sys.executable, "-m", "mypy", WRONG],
    "ty": [sys.executable, "-m", "ty", "check", "--python", sys.prefix, "--output-format", "concise", WRONG, *RIGHT],
}


@pytest.mark.parametrize("checker", CHECKERS)
def test_wrong_uses_are_errors_and_right_ones_are_none(checker: str) -> None:
    pytest.importorskip(checker)
    done = subprocess.run(CHECKERS[checker], cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    found = re.findall(r"^(\S+\.py):(\d+):(?:\d+:)? error", done.stdout, re.MULTILINE)
    told = {(Path(path).name, int(line)) for path, line in found}
    lines = WRONG.read_text("utf-8").splitlines()
    marked = re.compile(rf"# expect-error(: {checker})?$")
    wanted = {(WRONG.name, number) for number, line in enumerate(lines, 1) if marked.search(line)}
    assert told == wanted, done.stdout + done.stderr
