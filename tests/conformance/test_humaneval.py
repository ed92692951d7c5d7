"""HumanEval: every canonical solution passes its own test, on both engines."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from codeact import Limits, Sandbox

DATA = Path(__file__).parents[3] / "shared/data/HumanEval.jsonl.gz"

PROBLEMS: list[dict[str, Any]] = (
    [json.loads(line) for line in gzip.decompress(DATA.read_bytes()).splitlines()] if DATA.exists() else []
)


@pytest.mark.skipif(not PROBLEMS, reason=f"{DATA} is not there")
def test_all_problems_are_there() -> None:
    assert len(PROBLEMS) == 164


@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda problem: problem["task_id"])
def test_solution_passes(engine: str, problem: dict[str, Any]) -> None:
    program = f"{problem['prompt']}{problem['canonical_solution']}\n{problem['test']}\ncheck({problem['entry_point']})\n'passed'"
    result = Sandbox(engine=engine, limits=Limits(timeout=30.0)).run(program)
    assert result.value == "passed", f"{program}\n{result.observation()}"
