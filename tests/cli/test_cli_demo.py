from __future__ import annotations

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
