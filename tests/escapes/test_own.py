"""Hostile programs of the project's own, of every class that is known to break sandboxes; see `docs/security.md`.

Those of one table run in one process, one after the other: what the first leaves behind, the next would show.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ENGINES
from tests.escapes.test_corpus import CHILD, MEMORY, SECONDS

TABLES = sorted(Path(__file__).with_name("own").glob("*.toml"))
TIMEOUT = "0.3"
"""Seconds of each run."""


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("table", TABLES, ids=lambda path: path.stem)
def test_hostile_programs_get_nowhere(table: Path, engine: str) -> None:
    cases = {
        name: case
        for name, case in tomllib.loads(table.read_text(encoding="utf-8")).items()
        if case.get("engine", engine) == engine
    }
    done = subprocess.run(
        [sys.executable, str(CHILD), str(table), engine],
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
        env={**os.environ, "CODEACT_CASE_TIMEOUT": TIMEOUT},
    )
    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0, (told[-1:], done.stderr[-2000:])
    seen = {line["name"]: line for line in told if "name" in line}
    assert seen.keys() == cases.keys()
    assert not done.stderr, "nothing of a program's is on the host's own output"
    wrong = {name: faults for name, case in cases.items() if (faults := judge(case, engine, seen[name]))}
    assert not wrong


def judge(case: dict[str, Any], engine: str, seen: dict[str, Any]) -> list[str]:
    """What a program has done that it must not."""
    expected = case.get(engine, case["expect"])
    return [
        f"{fault}: {seen}"
        for fault, found in {
            "escaped": seen["escaped"],
            "leaked": seen["leaked"],
            "changed the host": seen["changed"],
            "called after its end": seen["late"],
            "spoilt the next run": seen["honest"] != 1205,
            "came late": seen["seconds"] > SECONDS,
            "took memory": seen["peak"] > MEMORY,
            "was not refused": expected == "denied" and seen["ok"],
        }.items()
        if found
    ]
