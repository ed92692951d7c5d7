from __future__ import annotations

import json
from pathlib import Path

import pytest
from shelf import Command
from typer.testing import CliRunner

from codeact import Journal, Sandbox
from codeact.cli import app

SHOWN = [
    ("1 + 1", "2\n", ""),
    ("print('a')\n2", "a\n2\n", ""),
    ("print('a', end='')\n2", "a\n2\n", ""),
    ("print('a', end='')", "a", ""),
    ("None", "None\n", ""),
    ("'a\\nb'", "'a\\nb'\n", ""),
    ("'\\ud800'", "'\\ud800'\n", ""),
    ("x = 1", "", "note: the program ended without a value; it bound x"),
    ("```python\n1 + 1\n```", "2\n", "note: taken out of a markdown fence (line 2)\n"),
]


@pytest.mark.parametrize(("code", "stdout", "stderr"), SHOWN)
def test_output_and_value_are_on_stdout_and_notes_on_stderr(engine: str, code: str, stdout: str, stderr: str) -> None:
    done = CliRunner().invoke(app, ["run", "-c", code, "--engine", engine])
    assert (done.exit_code, done.stdout) == (0, stdout)
    assert done.stderr.startswith(stderr)
    assert bool(done.stderr) == bool(stderr)


def test_a_failure_is_told_on_stderr_as_the_model_would_read_it(engine: str) -> None:
    code = "def half(n):\n    return n / 0\nprint('so far')\nhalf(1)"
    done = CliRunner().invoke(app, ["run", "-c", code, "--engine", engine])
    assert (done.exit_code, done.stdout) == (1, "so far\n")
    told = Sandbox(engine=engine).run(code.replace("print('so far')", "")).observation()
    assert done.stderr == f"{told}\n"


def test_a_timeout_is_a_failure_of_the_program(engine: str) -> None:
    done = CliRunner().invoke(app, ["run", "-c", "while True: pass", "--timeout", "0.2", "--engine", engine])
    assert done.exit_code == 1
    assert done.stderr.startswith("failed: timeout\n")
    assert "0.2 s" in done.stderr


def test_json_is_one_document_and_nothing_else(engine: str, command: Command) -> None:
    done = command(
        *("run", "-c", "print('x')\ntools.add(1, 2)", "--tools", "mytools:add", "--engine", engine, "--json")
    )
    assert done.returncode == 0
    found = json.loads(done.stdout)
    assert found["ok"] is True
    assert (found["value"], found["stdout"], found["error"]) == (3, "x\n", None)
    assert [(call["name"], call["state"]) for call in found["calls"]] == [("add", "ok")]
    assert found.keys() == Sandbox(engine=engine).run("1").to_dict().keys()
    assert done.stderr == "imported\nadding\n"  # what tools print is not the program's output


def test_json_of_a_failure(engine: str) -> None:
    done = CliRunner().invoke(app, ["run", "-c", "1 / 0", "--json", "--engine", engine])
    assert done.exit_code == 1
    assert done.stderr == ""
    found = json.loads(done.stdout)
    assert (found["ok"], found["error"]["type"], found["error"]["line"]) == (False, "ZeroDivisionError", 1)


@pytest.mark.parametrize("status", ["0", "3", "'gone'"])
def test_the_exit_code_says_ok_or_not_whatever_the_program_gave_to_exit(status: str) -> None:
    done = CliRunner().invoke(app, ["run", "-c", f"import sys; sys.exit({status})", "--json"])
    assert done.exit_code == (0 if json.loads(done.stdout)["ok"] else 1)


GRANTS = [
    (["mytools:add"], "tools.add(2, 3)", "5\n"),
    (["mytools:times"], "tools.times(2, 3)", "6\n"),
    (["mytools:Shelf.tool"], "tools.add(2, 3)", "5\n"),
    (["mytools:LIST"], "tools.add(2, 3), tools.times(2, 3)", "(5, 6)\n"),
    (["mytools:MAPPING"], "tools.plus(2, 3), tools.by(2, 3)", "(5, 6)\n"),
    (["mytools:SET", "mytools:times"], "tools.add(2, 3), tools.times(2, 3)", "(5, 6)\n"),
]


@pytest.mark.parametrize(
    ("places", "code", "stdout"), GRANTS, ids=lambda given: str(given) if isinstance(given, list) else ""
)
def test_tools_are_imported_from_the_folder(command: Command, places: list[str], code: str, stdout: str) -> None:
    done = command("run", "-c", code, *(part for place in places for part in ("--tools", place)))
    assert (done.returncode, done.stdout) == (0, stdout), done.stderr


def test_the_program_comes_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text("x = 20\nx + 1", encoding="utf-8-sig")
    done = CliRunner().invoke(app, ["run", str(tmp_path / "program.py")])
    assert (done.exit_code, done.stdout) == (0, "21\n")


def test_the_program_comes_from_standard_input(command: Command) -> None:
    done = command("run", "-", given="print('é')\n40 + 2\n", env={"PYTHONUTF8": "1"})
    assert (done.returncode, done.stdout, done.stderr) == (0, "é\n42\n", "")


def test_what_the_stream_cannot_hold_is_escaped(command: Command) -> None:
    done = command("run", "-c", "print('\\u20ac')\n'\\xe9'", env={"PYTHONIOENCODING": "ascii"})
    assert (done.returncode, done.stdout) == (0, "\\u20ac\n'\\xe9'\n")


def test_a_value_with_an_endless_number_is_shown_all_the_same() -> None:
    done = CliRunner().invoke(app, ["run", "-c", "10 ** 5000"])
    assert done.exit_code == 0
    assert done.stdout.startswith("<int that cannot be shown: ")


def test_files_go_in_and_come_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engine: str) -> None:
    monkeypatch.chdir(tmp_path)
    Path("orders.csv").write_text("1\n2\n")
    code = "open('out/sum.txt', 'w').write(str(sum(map(int, open('orders.csv'))) + int(open('data/n').read())))"
    given = ["--file", "orders.csv", "--file", "data/n=orders.csv.n", "--save", "saved", "--engine", engine]
    Path("orders.csv.n").write_text("4")
    done = CliRunner().invoke(app, ["run", "-c", f"import os\nos.mkdir('out')\n{code}", *given])
    assert (done.exit_code, done.stderr) == (0, "")
    assert [path.relative_to("saved").as_posix() for path in Path("saved").rglob("*") if path.is_file()] == [
        "out/sum.txt"
    ]
    assert Path("saved/out/sum.txt").read_text() == "7"


def test_a_policy_says_how_it_is_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("policy.toml").write_text(
        '[policy]\nname = "a"\nowner = "b"\nreview = 2999-01-01\n[limits]\noutput = 5\n[audit]\nfile = "log"\n'
    )
    done = CliRunner().invoke(app, ["run", "-c", "print('too much')", "--policy", "policy.toml"])
    assert done.exit_code == 1
    assert "5 characters (limit output)" in done.stderr
    assert '"event":"sandbox_exit"' in Path("log").read_text()


def test_what_a_program_proposes_is_told_and_nothing_of_it_happens(engine: str, command: Command) -> None:
    code = "actions.pay(3)\nactions.pay(4)\ntools.add(1, 2)"
    granted = ("--tools", "mytools:add", "--actions", "mytools:pay", "--engine", engine)
    done = command("run", "-c", code, *granted)
    assert (done.returncode, done.stdout) == (0, "3\n")
    assert done.stderr == "imported\nadding\nproposed: pay(amount=3)\nproposed: pay(amount=4)\n"
    done = command("run", "-c", "actions.pay('x')", *granted)
    assert done.returncode == 1
    assert "pay(): amount" in done.stderr
    done = command("run", "-c", "1", "--actions", "mytools:add")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines()[-1].startswith("codeact: --actions mytools:add: ")


def test_a_run_is_kept_in_a_journal_and_found_there(engine: str, command: Command, folder: Path) -> None:
    kept = folder / "runs.sqlite"
    assert command("run", "-c", "print('hello')\n6 * 7", "--engine", engine, "--journal", str(kept)).returncode == 0
    with Journal(kept) as journal:
        (head,) = journal.runs()
        record = journal.run(head.id)
    assert record.source == "print('hello')\n6 * 7"
    assert record.result is not None
    assert record.result.value == 42
    assert "hello" in command("trace", "show", str(kept), head.id[:8]).stdout
    done = command("run", "-c", "1", "--journal", str(folder / "nowhere" / "runs.sqlite"))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("codeact: --journal ")
