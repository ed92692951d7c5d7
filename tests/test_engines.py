"""Engines of other packages: found by name, put to the test, and told of where they do not work."""

from __future__ import annotations

import importlib
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from codeact import EngineUnavailable, Sandbox, engine_names, engines
from codeact.engines import Doors, Face, Outcome, Program, load
from codeact.limits import Limits
from codeact.testing import command, conformance
from codeact.testing.reference import UnsafeCPython, UnsafeInstance

TALLY = '''
from codeact.engines import load

class Tally:
    """Counts what the engine restricted runs."""

    name = "tally"
    opened = 0

    def open(self, faces, limits):
        type(self).opened += 1
        return load("restricted").open(faces, limits)
'''

BROKEN = {
    "unimportable": (
        "import no_such_package\ndef make(): pass\n",
        "ModuleNotFoundError: No module named 'no_such_package'",
    ),
    "raising": ("def make():\n    raise OSError('no such processor')\n", "OSError: no such processor"),
    "misnamed": (
        "class make:\n    name = 'other'\n    def open(self, faces, limits): ...\n",
        "it calls itself 'other'",
    ),
    "shapeless": ("def make():\n    return 3\n", "int, has no name or no open"),
    "nowhere": ("", "has no attribute 'make'"),
}


def install(folder: Path, engine: str, text: str, made_by: str = "make", package: str = "") -> None:
    """A distribution with an engine, as pip leaves one."""
    package = package or engine
    (folder / f"{package}.py").write_text(text)
    about = folder / f"{package}-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(f"[codeact.engines]\n{engine} = {package}:{made_by}\n")


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory of packages that can be imported, with the engine tally; nothing of it is known afterwards."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(engines, "_loaded", dict(engines._loaded))
    install(tmp_path, "tally", TALLY, "Tally")
    importlib.invalidate_caches()
    yield tmp_path
    sys.modules.pop("tally", None)


def test_an_engine_is_found_by_its_name(installed: Path) -> None:
    assert engine_names() == ("restricted", "tally", "wasm")
    sandbox = Sandbox(engine="tally")
    assert (sandbox.engine, sandbox.run("6 * 7").value) == ("tally", 42)
    assert load("tally").opened == 1  # type: ignore[attr-defined] # the package's own
    assert load("tally") is load("tally")


def test_an_engine_of_others_from_a_shell(installed: Path) -> None:
    for module, arguments, told in (
        ("codeact", ["run", "-c", "6 * 7", "--engine", "tally"], "42\n"),
        ("codeact.testing.conformance", ["tally", "--only", "sessions/", "--like", "restricted"], "in all "),
    ):
        run = [sys.executable, "-m", module, *arguments]
        done = subprocess.run(run, cwd=installed, capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, done.stderr
        assert told in done.stdout
        assert "fail" not in done.stdout


def test_the_names_of_codeacts_own_engines_cannot_be_taken(installed: Path) -> None:
    install(installed, "restricted", TALLY, "Tally", package="usurper")
    importlib.invalidate_caches()
    engines._loaded.clear()
    assert type(load("restricted")).__module__ == "codeact.engines.restricted.engine"
    assert engine_names().count("restricted") == 1


def test_two_packages_with_one_name_are_refused(installed: Path) -> None:
    install(installed, "tally", TALLY, "Tally", package="other_tally")
    importlib.invalidate_caches()
    with pytest.raises(EngineUnavailable, match=r"several packages register one of that name \(other_tally, tally\)"):
        Sandbox(engine="tally")


@pytest.mark.parametrize("case", BROKEN)
def test_an_engine_that_cannot_be_set_up_says_why(installed: Path, case: str) -> None:
    text, told = BROKEN[case]
    install(installed, case, text)
    importlib.invalidate_caches()
    with pytest.raises(EngineUnavailable) as met:
        Sandbox(engine=case)
    assert told in str(met.value)
    assert f"engine={case!r}: " in str(met.value)
    assert f"the package {case}" in str(met.value)


class Deaf(UnsafeCPython):
    """An engine that does something wrong."""

    name = "deaf"

    def __init__(self, wrong: str) -> None:
        self._wrong = wrong

    def open(self, faces: tuple[Face, ...], limits: Limits) -> UnsafeInstance:
        if self._wrong == "open":
            raise RuntimeError
        return DeafInstance(faces, limits, self._wrong)


class DeafInstance(UnsafeInstance):
    def __init__(self, faces: tuple[Face, ...], limits: Limits, wrong: str) -> None:
        super().__init__(faces, limits)
        self._wrong = wrong

    def run(self, program: Program, doors: Doors) -> Outcome:
        if self._wrong == "run" and "version_info" not in program.source:
            raise RuntimeError
        if self._wrong == "nothing":
            return None  # type: ignore[return-value] # that is what is wrong
        return super().run(program, doors)


@pytest.mark.parametrize("wrong", ["open", "run", "nothing"])
def test_a_broken_engine_is_told_of(wrong: str) -> None:
    verdicts = [*conformance.check_all(Deaf(wrong), "sessions/")]
    assert len(verdicts) == len(conformance.cases("sessions/"))
    assert not any(verdict.ok for verdict in verdicts)
    assert all("the engine deaf failed" in str(verdict) for verdict in verdicts)


def test_an_engine_that_does_not_stop_is_told_of(monkeypatch: pytest.MonkeyPatch) -> None:
    held = threading.Event()

    class Stuck(DeafInstance):
        def run(self, program: Program, doors: Doors) -> Outcome:
            if "version_info" not in program.source:
                held.wait()
            return super().run(program, doors)

    monkeypatch.setattr(Deaf, "open", lambda self, faces, limits: Stuck(faces, limits, ""))
    try:
        (verdict,) = conformance.check_all(Deaf(""), "sessions/", patience=0.5)
    finally:
        held.set()
    assert str(verdict).endswith("it has not ended after 0.5 s: does the engine ask doors.interrupted?")


def test_the_command_says_what_fails_and_why(installed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    install(
        installed,
        "lame",
        TALLY.replace("tally", "lame").replace('return load("restricted")', "return None and load"),
        "Tally",
    )
    importlib.invalidate_caches()
    assert command.main(["lame", "--only", "source/"]) == 1
    told = capsys.readouterr().out
    assert "FAILS source/" in told
    assert "it cannot say which Python it runs" in told
    assert told.splitlines()[-1] == f"in all          {len(conformance.cases('source/'))} fail"
    assert command.main(["nope"]) == 2
    assert "engine='nope': no such engine; choose one of lame, restricted, tally, wasm" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        command.main(["wasm", "--only", "nothing"])
    assert "no case begins so" in capsys.readouterr().err
