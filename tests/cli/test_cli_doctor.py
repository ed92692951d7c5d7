from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
from shelf import Command
from typer.testing import CliRunner

from codeact import engine_names
from codeact.cli import app
from codeact.engines import load


def test_every_engine_works_here(command: Command) -> None:
    done = command("doctor", "--json")
    found = json.loads(done.stdout)
    assert [(trial["engine"], trial["ok"], trial["problem"]) for trial in found["engines"]] == [
        (name, True, None) for name in engine_names()
    ]
    assert all(trial["setup"] > 0 and trial["run"] > 0 for trial in found["engines"])
    assert found["ok"] is True
    assert (done.returncode, done.stderr) == (0, "")


def test_the_guest_and_its_cache(command: Command) -> None:
    found = json.loads(command("doctor", "--json").stdout)
    guest, cache = found["guest"], found["cache"]
    assert guest["digest"] == hashlib.sha256(Path(guest["path"]).read_bytes()).hexdigest()
    assert guest["size"] == Path(guest["path"]).stat().st_size
    assert guest["imports"] == guest["doors"]
    assert guest["problem"] is None
    assert cache["problem"] is None
    assert cache["directory"]["mode"] == "0700"
    assert cache["entry"]["size"] == Path(cache["entry"]["path"]).stat().st_size > 0
    assert {"codeact", "python", "wasmtime", "restrictedpython", "pydantic", "platform"} <= found["versions"].keys()


def test_the_report_for_a_person_says_the_same(command: Command) -> None:
    report = command("doctor")
    document = json.loads(command("doctor", "--json").stdout)
    for said in (document["guest"]["digest"], document["versions"]["wasmtime"], document["cache"]["path"]):
        assert said in report.stdout
    assert "exactly the doors" in report.stdout
    assert "\x1b" not in report.stdout


def test_a_cache_of_no_use_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    load("wasm")  # from the good cache: the machine stays, only the directory is looked at again
    (tmp_path / "file").touch()
    monkeypatch.setenv("CODEACT_CACHE_DIR", str(tmp_path / "file"))
    done = CliRunner().invoke(app, ["doctor", "--json"])
    assert "File exists" in json.loads(done.stdout)["cache"]["problem"]
    assert "not usable" in CliRunner().invoke(app, ["doctor"]).stdout


def registered(folder: Path, engine: str, made_by: str) -> None:
    """A package that is installed there and has an engine, all of one name."""
    about = folder / f"{engine}-1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {engine}\nVersion: 1\n")
    (about / "entry_points.txt").write_text(f"[codeact.engines]\n{engine} = {engine}:{made_by}\n")


def test_an_engine_that_does_not_work(command: Command, folder: Path) -> None:
    (folder / "broken.py").write_text("def make():\n    raise RuntimeError('no such\\nprocessor')\n")
    registered(folder, "broken", "make")
    told = "the package broken cannot set it up: RuntimeError: no such processor"
    done = command("doctor", "--json")
    trials = {trial["engine"]: trial for trial in json.loads(done.stdout)["engines"]}
    assert trials["wasm"]["ok"] is True
    assert (trials["broken"]["ok"], trials["broken"]["problem"]) == (False, told)
    assert (done.returncode, done.stderr) == (1, "")
    shown = command("doctor")
    assert f"broken           does not work: {told}\n" in shown.stdout
    assert shown.returncode == 1
    assert command("run", "-c", "1", "--engine", "broken").stderr == f"codeact: --engine broken: {told}\n"


RAISES = """
from codeact.engines import load

class Raising:
    name = "raising"

    def open(self, faces, limits):
        self.inner = load("restricted").open(faces, limits)
        return self

    alive = True

    def run(self, program, doors):
        raise RuntimeError("no such\\nprocessor")

    def close(self):
        self.inner.close()
"""


def test_an_engine_that_fails_with_a_program(command: Command, folder: Path) -> None:
    (folder / "raising.py").write_text(RAISES)
    registered(folder, "raising", "Raising")
    done = command("doctor", "--json")
    (trial,) = (trial for trial in json.loads(done.stdout)["engines"] if trial["engine"] == "raising")
    assert trial["problem"].startswith("failed: host; ")
    assert trial["problem"].endswith("; RuntimeError: no such processor")
    assert (done.returncode, done.stderr) == (1, "")
