"""What the command is to those who type it: help with examples, completion, progress, and colours where they belong."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer
from shelf import Command, on_terminal
from typer.testing import CliRunner

from codeact.cli import app

COMPONENT = b"\x00asm\x0d\x00\x01\x00"
"""An empty one: it is compiled at once, and is no guest."""

TICKING = """
from wasm_runtime import progress
progress.tell({manner!r})
with progress.announced("compiling", "5 to 20 s"):
    pass
progress.waiting("waiting")
"""


def _commands(command: typer.core.TyperCommand, words: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], str]]:
    """Every command, by the words that one types, and what stands below its help."""
    yield words, command.epilog or ""
    for name, one in getattr(command, "commands", {}).items():
        if not one.hidden:
            yield from _commands(one, (*words, name))


ALIASES = {("outbox", "reject"): ("outbox", "refuse")}
"""Commands whose help shows the other name."""

COMMANDS = dict(_commands(typer.main.get_command(app)))


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: " ".join(["codeact", *words]))
def test_help_teaches_by_examples_that_can_be_typed(words: tuple[str, ...]) -> None:
    (block,) = re.findall(r"Examples:\n(?:\n\x08\n)?((?:  .*\n?)+)", COMMANDS[words])
    lines = block.splitlines()
    assert lines
    examples = [example for line in lines for example in _typed(line)]
    shown = ALIASES.get(words, words)
    assert any(example[: len(shown)] == [*shown] for example in examples)
    for example in examples:
        with contextlib.redirect_stdout(io.StringIO()):
            app([*example, "--help"], standalone_mode=False)  # all of it is read before help is given


def _typed(line: str) -> Iterator[list[str]]:
    """The words behind each `codeact` of a line of a shell."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars="|&>")
    lexer.whitespace_split = True
    found: list[str] | None = None
    for word in lexer:
        if word == "codeact":
            found = []
        elif set(word) <= {"|", "&", ">"}:
            if found is not None:
                yield found
            found = None
        elif found is not None:
            found.append(word)
    if found is not None:
        yield found


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_is_told_how_to_complete(command: Command, shell: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION", "1")
    done = CliRunner().invoke(app, ["--show-completion", shell], prog_name="codeact")
    assert done.exit_code == 0
    assert f"_CODEACT_COMPLETE=complete_{shell}" in done.stdout
    line = {"_TYPER_COMPLETE_ARGS": "codeact outbox se", "_TYPER_COMPLETE_FISH_ACTION": "get-args"}
    line |= {"COMP_WORDS": "codeact outbox se", "COMP_CWORD": "2"}
    asked = command(env={"_CODEACT_COMPLETE": f"complete_{shell}", **line})
    assert (asked.returncode, asked.stderr) == (0, "")
    assert "settle" in asked.stdout
    assert "approve" not in asked.stdout


def test_engines_are_completed(command: Command) -> None:
    line = {"COMP_WORDS": "codeact run --engine ", "COMP_CWORD": "3"}
    assert command(env={"_CODEACT_COMPLETE": "complete_bash", **line}).stdout.split() == ["restricted", "wasm"]


def test_what_takes_long_is_told_in_a_line_where_there_is_no_terminal(command: Command, folder: Path) -> None:
    (folder / "guest.wasm").write_bytes(COMPONENT)
    arguments = ["run", "-c", "1", "--guest", "guest.wasm"]
    told = "codeact: compiling the wasm guest, once on this machine … (5 to 20 s on two cores)\n"
    cold = {"CODEACT_CACHE_DIR": str(folder / "cache")}
    done = command(*arguments, env=cold)
    assert done.stderr.startswith(told)
    assert done.returncode == 2
    assert "compiling" not in command(*arguments, env=cold).stderr  # what is compiled is kept
    done = command(*arguments, "--json", env={"CODEACT_CACHE_DIR": str(folder / "other")})
    assert done.stderr.count("\n") == 1
    assert "compiling" not in done.stderr


def test_a_terminal_sees_the_seconds_go_by(tmp_path: Path) -> None:
    for manner in ("terminal", "lines"):
        _, text = on_terminal(tmp_path, ["-c", TICKING.format(manner=manner)], {})
        assert re.fullmatch(r"\rcodeact: compiling … +\d\.\d s \(5 to 20 s\)\r\ncodeact: waiting\r\n", text), text
    assert on_terminal(tmp_path, ["-c", TICKING.format(manner="never")], {}) == (0, "")


def test_colours_are_for_terminals_that_want_them(command: Command, folder: Path) -> None:
    arguments = ["run", "-c", "1 / 0", "--engine", "restricted"]
    wanted = {"TERM": "xterm-256color", "NO_COLOR": ""}
    coloured = re.compile(r"\x1b\[[\d;]*3\d")
    assert coloured.search(on_terminal(folder, ["-m", "codeact", *arguments], wanted)[1])
    assert not coloured.search(on_terminal(folder, ["-m", "codeact", *arguments], {**wanted, "NO_COLOR": "1"})[1])
    assert "\x1b" not in command(*arguments, env=wanted).stderr
