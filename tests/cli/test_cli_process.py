from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest
from shelf import Command, on_terminal


def _started(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "codeact", *arguments],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_help_teaches_by_examples(command: Command) -> None:
    done = command("run", "--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert "codeact run program.py --tools mytools:TOOLS" in done.stdout
    assert "Exit codes" in done.stdout


def test_no_command_shows_the_help(command: Command) -> None:
    done = command()
    assert (done.returncode, done.stdout) == (0, command("--help").stdout)


def test_help_needs_neither_wasmtime_nor_rich(command: Command, folder: Path) -> None:
    for heavy in ("wasmtime", "RestrictedPython", "rich"):
        (folder / f"{heavy}.py").write_text(f"raise RuntimeError('{heavy} was imported')")
    for arguments in ([], ["--version"], ["run", "--help"], ["doctor", "--help"], ["demo", "--help"]):
        done = command(*arguments)
        assert (done.returncode, done.stderr) == (0, "")


def test_version(command: Command) -> None:
    done = command("--version")
    assert done.returncode == 0
    assert done.stdout.startswith("codeact ")


def test_interrupted_while_a_program_runs(folder: Path, engine: str) -> None:
    code = "tools.ready()\nwhile True: pass"
    with _started(folder, "run", "-c", code, "--tools", "mytools:ready", "--timeout", "60", "--engine", engine) as run:
        assert run.stderr is not None
        while run.stderr.readline() != "ready\n":
            assert run.poll() is None
        run.send_signal(signal.SIGINT)
        stdout, stderr = run.communicate(timeout=30)
    assert (run.returncode, stdout) == (130, "")
    assert "Traceback" not in stderr


@pytest.mark.parametrize(
    "arguments", [["run", "-c", "print('x' * 90_000)"], ["run", "-c", "1", "--json"], ["--help"], ["doctor"]]
)
def test_a_reader_that_hangs_up_is_no_error(folder: Path, arguments: list[str]) -> None:
    with _started(folder, *arguments) as run:
        assert run.stdout is not None
        run.stdout.close()
        assert run.stderr is not None
        assert run.stderr.read() == ""
    assert run.returncode == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_one_line(folder: Path) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "codeact", "run", "-c", "1"],
            cwd=folder, stdout=full, stderr=subprocess.PIPE, text=True, check=False, timeout=120,
        )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr == "codeact: <stdout>: No space left on device\n"


def test_output_cannot_steer_a_terminal(folder: Path) -> None:
    code = "print('\\x1b]0;owned\\x07')\nprint('\\x9b31m')\nraise ValueError('\\x1b[2J')"
    ended, text = on_terminal(folder, ["-m", "codeact", "run", "-c", code], {"NO_COLOR": "1", "TERM": "dumb"})
    assert ended == 1
    assert "\\x1b]0;owned\\x07" in text
    assert not {"\x1b", "\x07", "\x9b"} & set(text)
