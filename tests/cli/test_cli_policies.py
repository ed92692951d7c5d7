"""`codeact policy show` and `codeact walls`, and the walls in pytest."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest
from typer.testing import CliRunner

from codeact.cli import app
from codeact.walls import WALLS

POLICY = """
[policy]
name = "support <agent>"
owner = "the platform team"
review = 2999-01-01

[limits]
timeout = 2.0
"""


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "policy.toml"
    path.write_text(POLICY)
    return str(path)


def test_a_policy_is_shown(file: str) -> None:
    done = CliRunner().invoke(app, ["policy", "show", file])
    assert done.exit_code == 0
    assert done.stdout.startswith("policy      support <agent>\nowner       the platform team\n")
    assert done.stderr == ""


def test_what_is_weak_is_warned_of_and_shown(file: str) -> None:
    Path(file).write_text(POLICY.replace("2.0", "60.0"))
    done = CliRunner().invoke(app, ["policy", "show", file])
    assert done.exit_code == 0
    assert done.stderr == ""
    assert CliRunner().invoke(app, ["policy", "show", file, "--strict"]).exit_code == 1
    assert "look twice  limits.timeout=60.0: more than" in done.stdout


@pytest.mark.parametrize("command", [["policy", "show"], ["walls"]])
def test_a_policy_that_cannot_be_used_is_two_words_and_exit_code_2(command: list[str], tmp_path: Path) -> None:
    path = tmp_path / "policy.toml"
    done = CliRunner().invoke(app, [*command, str(path)])
    assert done.exit_code == 2
    assert done.stderr == f"codeact: FILE {path}: No such file or directory\n"
    path.write_text(POLICY + "fuels = 1\n[lifecycle]\nidle = 0\n")
    done = CliRunner().invoke(app, [*command, str(path)])
    assert done.exit_code == 2
    assert len(done.stderr.splitlines()) == 2
    assert "fuels: there is no such limit here" in done.stderr
    assert "lifecycle.idle: " in done.stderr


def test_all_walls_hold(file: str, tmp_path: Path) -> None:
    page = tmp_path / "walls.html"
    done = CliRunner().invoke(app, ["walls", file, "--html", str(page)])
    assert done.exit_code == 0, done.stdout
    assert "14 holds, 2 n/a" in done.stdout
    for wall in WALLS:
        assert f"{wall.number:>2}  " in done.stdout
        assert wall.name in done.stdout
    text = page.read_text()
    HTMLParser().feed(text)
    assert "support &lt;agent&gt;" in text
    assert "support <agent>" not in text
    assert text.count("<tr>") == len(WALLS) + 1
    assert "http" not in text.partition("<body")[0].replace("http-equiv", "")


def test_some_walls_as_json(file: str) -> None:
    done = CliRunner().invoke(app, ["walls", file, "--only", "14", "--only", "5", "--json"])
    found = json.loads(done.stdout)
    assert found["holds"] is True
    assert found["policy"]["policy"]["name"] == "support <agent>"
    assert [(wall["number"], wall["outcome"]) for wall in found["walls"]] == [(5, "not applicable"), (14, "holds")]
    assert done.exit_code == 0


def test_a_broken_wall_is_exit_code_1(file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("codeact.walls.processes.NEEDED", {"wasm": "this_package_is_not_needed"})
    done = CliRunner().invoke(app, ["walls", file, "--only", "16"])
    assert done.exit_code == 1
    assert "16  BROKEN" in done.stdout
    assert "1 BROKEN" in done.stdout


def test_a_wall_that_there_is_not(file: str) -> None:
    done = CliRunner().invoke(app, ["walls", file, "--only", "17"])
    assert done.exit_code == 2
    assert done.stderr == "codeact: --only 17: there are walls 1 to 16\n"


def pytest_in(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "codeact.testing.walls", "-q", *arguments],
        cwd=folder, env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},  # loading those of others takes seconds
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip


def only(folder: Path, number: int, more: str = "") -> None:
    """Let pytest find one of the walls there: all of them are attacked elsewhere."""
    (folder / "conftest.py").write_text(
        f"from codeact import walls\nwalls.WALLS = walls.WALLS[{number - 1} : {number}]\n{more}"
    )


def test_the_walls_are_tests_in_pytest(file: str, tmp_path: Path) -> None:
    (tmp_path / "test_own.py").write_text("def test_own(): pass\n")
    done = pytest_in(tmp_path, "--codeact-policy", file, "-rs")
    assert done.returncode == 0, done.stdout
    assert "15 passed, 2 skipped" in done.stdout
    assert "the policy names no destinations" in done.stdout
    assert "1 passed" in pytest_in(tmp_path).stdout


def test_a_broken_wall_fails_in_pytest(file: str, tmp_path: Path) -> None:
    only(tmp_path, 16, "walls.processes.NEEDED['wasm'] = 'this_package_is_not_needed'\n")
    done = pytest_in(tmp_path, "--codeact-policy", file, "-k", "nothing")
    assert done.returncode == 1, done.stdout
    assert "without this_package_is_not_needed a sandbox started" in done.stdout
    assert "Traceback" not in done.stdout


def test_a_policy_that_cannot_be_used_is_told_by_pytest(file: str, tmp_path: Path) -> None:
    Path(file).write_text(POLICY + "fuels = 1\n")
    done = pytest_in(tmp_path, "--codeact-policy", file)
    assert done.returncode == 4
    assert "fuels: there is no such limit here" in done.stdout + done.stderr


def test_a_policy_that_is_warned_of_is_told_by_pytest_where_warnings_are_errors(file: str, tmp_path: Path) -> None:
    Path(file).write_text(POLICY.replace("timeout = 2.0", "timeout = 1.0\ncalls = 10_001"))
    only(tmp_path, 14)
    done = pytest_in(tmp_path, "--codeact-policy", file, "-W", "error")
    assert done.returncode == 0
    assert "look twice: limits.calls=10,001: more than the default" in done.stdout
    assert "INTERNALERROR" not in done.stdout
