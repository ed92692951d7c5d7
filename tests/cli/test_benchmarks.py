from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.latency import CASES
from benchmarks.measure import Spread, spread, timed

ROOT = Path(__file__).parents[2]


def _benchmarks(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "benchmarks", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_a_spread_is_of_the_samples_in_any_order() -> None:
    assert spread([5, 1, 4, 2, 3, 11, 10, 9, 8, 7, 6]) == Spread(n=11, least=1, p10=2, median=6, p90=10)
    assert spread([7.5]) == Spread(n=1, least=7.5, p10=7.5, median=7.5, p90=7.5)
    with pytest.raises(ValueError, match="no samples"):
        spread([])


def test_rounds_of_the_warm_up_are_not_counted() -> None:
    rounds: list[int] = []
    samples = timed(lambda: rounds.append(1), rounds=4, warmup=3)
    assert (len(rounds), len(samples)) == (7, 4)
    assert min(samples) >= 0


def test_every_case_has_a_name_of_its_own() -> None:
    assert len({(case.name, case.engine) for case in CASES}) == len(CASES)


def test_a_suite_prints_a_table_and_writes_what_it_found(tmp_path: Path) -> None:
    done = _benchmarks("latency", "--quick", "--only", "among", "--json", str(tmp_path / "found.json"))
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads((tmp_path / "found.json").read_text())
    assert found["machine"]["cores"] >= 1
    assert [case["engine"] for case in found["cases"]] == ["wasm", "restricted"]
    for case in found["cases"]:
        assert (case["skipped"], case["failed"]) == (None, None)
        assert 0 < case["spread"]["least"] <= case["spread"]["median"] <= case["spread"]["p90"]
        assert f"| {case['name']} | {case['engine']} | **" in done.stdout


def test_no_case_of_that_name_is_an_error() -> None:
    done = _benchmarks("latency", "--only", "no such case")
    assert done.returncode == 2
    assert "no such case; there are: " in done.stderr


def test_lateness_is_told_of_runs_that_met_their_timeout(tmp_path: Path) -> None:
    done = _benchmarks("lateness", "--json", str(tmp_path / "found.json"))
    assert done.returncode == 0, done.stderr
    found = json.loads((tmp_path / "found.json").read_text())
    assert found["runs"] > 2 * len(found["seconds_late"]) > 100
    assert f"of {found['runs']} runs, {len(found['seconds_late'])} met their timeout" in done.stdout
    assert min(found["seconds_late"]) > -0.01
