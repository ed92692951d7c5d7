"""`python -m benchmarks roundtrips` as it is called."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.roundtrips.command import DATA, METHOD, page
from benchmarks.roundtrips.recorded import load as load_recorded
from benchmarks.roundtrips.retail_tools import load as load_retail
from benchmarks.roundtrips.tokens import tokenizers
from codeact.extras import MissingExtra

ROOT = Path(__file__).parents[2]


def _roundtrips(*arguments: str) -> subprocess.CompletedProcess[str]:
    try:
        tokenizers()
    except MissingExtra as missing:
        pytest.skip(str(missing))
    return subprocess.run(
        [sys.executable, "-m", "benchmarks", "roundtrips", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_without_data_there_is_the_grid(tmp_path: Path) -> None:
    done = _roundtrips(
        *("--part", "grid", "--only", "look", "--data", str(tmp_path / "none"), "--json", str(tmp_path / "found.json"))
    )
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads((tmp_path / "found.json").read_text())
    assert set(found) == {"machine", "pace", "prices", "grid"}
    (look_up,) = found["grid"]
    assert set(look_up["tokens"]) == {"o200k", "deepseek"}
    assert look_up["tokens"]["o200k"]["at 0.1x"]["break_even"] is None
    assert "| look-up | 1 | 2 → 2 |" in done.stdout
    assert "**never**" in done.stdout


def test_data_that_are_asked_for_must_be_there(tmp_path: Path) -> None:
    done = _roundtrips("--data", str(tmp_path / "none"))
    assert done.returncode == 2
    for part in ("recorded", "retail"):
        assert f"does not exist, so there is no part '{part}'; --data DIR says where it is" in done.stderr


def test_the_page_is_whole() -> None:
    done = _roundtrips("--page", "--part", "grid")
    assert done.returncode == 2
    assert "--page has all parts and all tasks" in done.stderr


def test_no_task_of_that_name_is_an_error() -> None:
    done = _roundtrips("--only", "nothing")
    assert done.returncode == 2
    assert "no such task; there are: look-up, fan-out" in done.stderr


def test_the_page_is_made_of_the_method() -> None:
    """What the benchmark says of itself is what the document says."""
    told = (ROOT / "docs" / "roundtrips.md").read_text(encoding="utf-8")
    prose, marks = re.split(r"<!-- .* -->", METHOD.read_text(encoding="utf-8")), "<!--"
    assert [part for part in prose if part not in told] == []
    assert marks not in told


def test_the_readme_says_what_the_page_says() -> None:
    section = (ROOT / "README.md").read_text(encoding="utf-8").split("## What it saves, and what it does not")[1]
    rows = re.findall(r"^\| ([a-z].*) \|$", section.split("\n## ")[0], re.MULTILINE)
    page = (ROOT / "docs" / "roundtrips.md").read_text(encoding="utf-8")
    cells = [row.split(" | ") for row in re.findall(r"^\| (.*) \|$", page, re.MULTILINE)]
    assert len(rows) > 10
    for row in rows[1:]:
        task, turns, sent, cost, failing, even = row.split(" | ")
        size = "".join(re.findall(r"\d+", task)) or "1"
        (found,) = (
            cell for cell in cells if len(cell) == 12 and task.startswith(cell[0]) and cell[1:4] == [size, turns, sent]
        )
        assert [found[6], found[8], found[10]] == [cost, failing, even]


def test_marks_are_replaced_by_tables() -> None:
    names = re.findall(r"<!-- (.*) -->", METHOD.read_text(encoding="utf-8"))
    made = page({name: f"table of {name}" for name in names})
    assert "<!--" not in made
    assert all(f"\n\ntable of {name}\n" in made for name in names)


@pytest.mark.skipif(not DATA.is_dir(), reason="the recorded data are beside some checkouts only")
def test_the_data_are_what_the_page_says() -> None:
    assert len(load_recorded(DATA)) == 200
    shop, tasks = load_retail(DATA)
    assert [*map(len, (shop.orders, shop.users, shop.products, tasks))] == [1000, 500, 50, 115]
