from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from shelf import Command
from typer.testing import CliRunner

from codeact.cli import app


def test_the_demo_plays_on_each_engine(engine: str) -> None:
    pytest.importorskip("bm25s")
    done = CliRunner().invoke(app, ["demo", "--engine", engine, "--seed", "7"])
    assert done.exit_code == 0, done.output
    assert done.stdout
    assert "\x1b" not in done.stdout


def test_without_its_extra_the_demo_names_it(command: Command, folder: Path) -> None:
    # `-m` looks in the folder first, so this stands in the way of the package, like an absent one would.
    (folder / "bm25s.py").write_text("raise ModuleNotFoundError(\"No module named 'bm25s'\", name='bm25s')")
    done = command("demo", "--engine", "wasm")
    assert done.returncode == 2
    assert "pip install 'codeact[demo]'" in done.stderr
    assert done.stderr.startswith("codeact: demo: ")
    assert done.stderr.count("\n") == 1


def test_the_demo_keeps_what_the_other_commands_read(tmp_path: Path) -> None:
    pytest.importorskip("bm25s")
    folder = tmp_path / "desk"
    done = CliRunner().invoke(app, ["demo", "--engine", "restricted", "--out", str(folder)])
    assert done.exit_code == 0, done.output
    shown = CliRunner().invoke(app, ["trace", "show", str(folder / "desk.sqlite"), "T-6"])
    assert shown.exit_code == 0, shown.output
    assert "collect@attacker.example" in shown.output
    ((command, database, entry),) = re.findall(r"codeact (outbox approve) (\S+) (\w+)", done.output)
    listed = CliRunner().invoke(app, ["outbox", "list", database, "--state", "proposed", "--json"])
    (waiting,) = json.loads(listed.stdout)
    given = [*command.split(), database, entry, "--digest", waiting["digest"], "--by", "ada"]
    assert CliRunner().invoke(app, given).exit_code == 0
    listed = CliRunner().invoke(app, ["outbox", "list", database, "--state", "approved", "--json"])
    assert [found["id"] for found in json.loads(listed.stdout)] == [waiting["id"]]
    again = CliRunner().invoke(app, ["demo", "--engine", "restricted", "--out", str(folder)])
    assert again.exit_code == 2
    assert "not empty" in again.output
    assert again.stdout == ""


def test_a_model_that_is_none_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("bm25s")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    for model, told in {"gpt": "expected anthropic:NAME or openai:NAME", "openai:gpt": "set OPENAI_API_KEY"}.items():
        done = CliRunner().invoke(app, ["demo", "--model", model])
        assert done.exit_code == 2
        assert f"--model {model}: {told}" in done.output
