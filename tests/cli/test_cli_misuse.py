from __future__ import annotations

from pathlib import Path

import pytest
from shelf import Command
from typer.testing import CliRunner

from codeact.cli import app

MISUSES = [
    (["run"], "codeact: FILE: no program"),
    (["run", "nofile.py"], "codeact: FILE nofile.py: No such file or directory"),
    (["run", "."], "codeact: FILE .: Is a directory"),
    (["run", "a\0b"], "codeact: FILE 'a\\x00b': "),
    (["run", "latin.py"], "codeact: FILE latin.py: not UTF-8: byte 0xe9 at offset 9, line 2"),
    (["run", "-c", "1", "file.py"], "codeact: -c: the program was given twice"),
    (["run", "-c", "1", "--engine", "wsm"], "codeact: --engine wsm: no such engine; choose one of "),
    (["run", "-c", "1", "--timeout", "soon"], "codeact: --timeout soon: expected a number of seconds"),
    (["run", "-c", "1", "--timeout", "0"], "codeact: --timeout 0: must be above zero"),
    (["run", "-c", "1", "--timeout", "-1"], "codeact: --timeout -1: must be above zero"),
    (["run", "-c", "1", "--timeout", "nan"], "codeact: --timeout nan: must be above zero"),
    (["run", "-c", "1", "--timeout", "inf"], "codeact: --timeout inf: must be above zero"),
    (["run", "-c", "1", "--timeout", "1e300"], "codeact: --timeout 1e300: must be above zero and at most 10,000,000"),
    (["run", "-c", "1", "--tools", "mytools"], "codeact: --tools mytools: expected MODULE:ATTR"),
    (["run", "-c", "1", "--tools", ":add"], "codeact: --tools :add: expected MODULE:ATTR"),
    (["run", "-c", "1", "--tools", "no.such:x"], "codeact: --tools no.such:x: no.such cannot be imported: "),
    (["run", "-c", "1", "--file", "none.csv"], "codeact: --file none.csv: No such file or directory"),
    (["run", "-c", "1", "--file", "../up=latin.py"], "codeact: --file: files['../up']: it leads upwards"),
    (["run", "-c", "1", "--policy", "none.toml"], "codeact: --policy none.toml: No such file or directory"),
    (
        ["run", "-c", "1", "--policy", "p.toml", "--engine", "wasm"],
        "codeact: --engine wasm: --policy p.toml says which",
    ),
    (["run", "-c", "1", "--policy", "p.toml", "--timeout", "1"], "codeact: --timeout 1: --policy p.toml says which"),
    (
        ["run", "-c", "1", "--file", "a=latin.py", "--file", "a=latin.py"],
        "codeact: --file a=latin.py: a was given twice",
    ),
    (["run", "-c", "open('a', 'w').close()", "--save", "latin.py"], "codeact: --save latin.py: File exists"),
    (["demo", "--engine", "wsm"], "codeact: --engine wsm: no such engine"),
    (["demo", "--engine", "wasm", "--seed", "x"], "codeact: --seed x: expected a whole number"),
]


@pytest.mark.parametrize(
    ("arguments", "told"), MISUSES, ids=lambda given: " ".join(given) if isinstance(given, list) else ""
)
def test_misuse_is_one_line_on_stderr(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], told: str
) -> None:
    (tmp_path / "latin.py").write_bytes(b"x = 1\ny='\xe9'\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)  # what --tools adds to sys.path is gone after the test
    done = CliRunner().invoke(app, arguments)
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith(told)
    assert done.stderr.count("\n") == 1


BAD_TOOLS = [
    (["mytools:nothing"], "--tools mytools:nothing: mytools has no nothing"),
    (["mytools:NUMBER"], "--tools mytools:NUMBER: expected a function, got 3"),
    (["mytools:untyped"], "--tools mytools:untyped: function 'untyped': parameter 'a' has no annotation"),
    (["mytools:SET", "mytools:LIST"], "--tools: two tools are named 'add'"),
    (["exits:x"], "--tools exits:x: exits cannot be imported: SystemExit: bye"),
    (["broken:x"], "--tools broken:x: broken cannot be imported: ZeroDivisionError: division by zero"),
]


@pytest.mark.parametrize(
    ("places", "told"), BAD_TOOLS, ids=lambda given: " ".join(given) if isinstance(given, list) else ""
)
def test_tools_that_cannot_be_had(command: Command, folder: Path, places: list[str], told: str) -> None:
    (folder / "exits.py").write_text("raise SystemExit('bye')")
    (folder / "broken.py").write_text("1 / 0")
    done = command("run", "-c", "1", *(part for place in places for part in ("--tools", place)))
    assert (done.returncode, done.stdout) == (2, "")
    lines = [line for line in done.stderr.splitlines() if line != "imported"]
    assert len(lines) == 1
    assert lines[0].startswith(f"codeact: {told}")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["runn"], "codeact: No such command 'runn'"),
        (["run", "--bad"], "codeact: No such option: --bad"),
        (["run", "a.py", "b.py"], "codeact: Got unexpected extra argument"),
        (["run", "--timeout"], "codeact: Option '--timeout' requires an argument"),
    ],
    ids=lambda given: " ".join(given) if isinstance(given, list) else "",
)
def test_what_the_parser_refuses_is_one_line_too(command: Command, arguments: list[str], told: str) -> None:
    done = command(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(told)
    assert done.stderr.count("\n") == 1


def test_standard_input_that_is_not_utf8() -> None:
    done = CliRunner().invoke(app, ["run", "-"], input=b"'\xff'")
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr == "codeact: standard input: not UTF-8: byte 0xff at offset 1, line 1\n"
