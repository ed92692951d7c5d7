"""Commands that the documents tell people to type: run where they can be, and else held against what there is."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from mkdocs.__main__ import cli as mkdocs

from benchmarks.__main__ import arguments
from codeact.cli import app
from tests.docs.blocks import TOP, Block

NOT_RUN = {
    "build": "it needs a package index",
    "demo": "tests/example plays it",
    "doctor": "it takes a second; tests/cli has it",
    "mcp": "it serves until it is ended; tests/integrations talks to it",
    "outbox": "the ids are others in each outbox; tests/cli has its own",
    "walls": "it takes ten seconds; tests/walls attacks them",
}
"""Commands of `codeact` that are only looked at: that they exist, and take these options."""

EXTRAS = tomllib.loads((TOP / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]


def typed(block: Block) -> Iterator[tuple[list[str], str]]:
    """The commands of a block as lists of words, each with the output that is shown of it."""
    waiting, shown = "", ""
    found: list[tuple[str, str]] = []
    for line in block.text.splitlines():
        if block.language == "console" and not waiting and not line.startswith("$ "):
            shown += f"{line}\n"
            continue
        waiting += line.removeprefix("$ ") + "\n"
        if _whole(waiting):
            if found:
                found[-1] = (found[-1][0], shown)
            found, waiting, shown = [*found, (waiting, "")], "", ""
    assert not waiting, f"{block}: a quote or a backslash at the end"
    if found:
        found[-1] = (found[-1][0], shown)
    for line, output in found:
        *first, last = _apart(line) or [[]]
        yield from ((words, "") for words in first)
        if last:
            yield last, output


def _whole(line: str) -> bool:
    try:
        shlex.split(line, comments=True)
    except ValueError:
        return False
    return not line.endswith("\\\n")


def _apart(line: str) -> list[list[str]]:
    lexer = shlex.shlex(line, posix=True, punctuation_chars="&|;<>")
    lexer.whitespace_split = True
    parts: list[list[str]] = [[]]
    for word in lexer:
        if set(word) <= set("&|;"):
            parts.append([])
        elif set(word) <= set("<>"):
            lexer.get_token()  # the file
        elif word != "\n" and not (not parts[-1] and re.match(r"\w+=", word)):
            parts[-1].append(word)
    return [[word for word in part if word] for part in parts if part]


def holds(words: list[str], config: pytest.Config) -> str | None:
    """Run a command, or see that there is such a one.

    Returns:
        What it printed; None where it was not run.
    """
    program, *rest = words
    checked = _PROGRAMS.get(Path(program).name)
    assert checked, f"{program}: say in tests/docs/commands.py how to check it"
    return checked(rest, config)


def _codeact(words: list[str], _config: pytest.Config) -> str | None:
    if words[0] in NOT_RUN:
        _helps(app, words)
        return None
    with contextlib.redirect_stdout(io.StringIO()) as said:
        code = app(words, prog_name="codeact", standalone_mode=False)
    assert not code, said.getvalue()
    return said.getvalue()


def _helps(command: Callable[..., object], words: list[str]) -> None:
    """See that a command takes these words: one that is asked for help has read all of them before it gives it."""
    with contextlib.redirect_stdout(io.StringIO()):
        command([*words, "--help"], standalone_mode=False)


def _python(words: list[str], config: pytest.Config) -> None:
    match words:
        case ["-m", "benchmarks", *rest]:
            arguments().parse_args(rest)
        case ["-m", "pip", *rest]:
            _pip(rest, config)
        case ["-m", module, *_]:
            assert find_spec(module), module
        case [script, *_]:
            assert (TOP / script).is_file(), script


def _pip(words: list[str], _config: pytest.Config) -> None:
    assert words[0] == "install"
    for extras in re.findall(r"(?:codeact|\.)\[([\w,-]+)\]", " ".join(words)):
        assert set(extras.split(",")) <= set(EXTRAS), extras


def _uv(words: list[str], config: pytest.Config) -> None:
    _pip(words[1:], config)


def _pytest(words: list[str], config: pytest.Config) -> None:
    for option in [word.partition("=")[0] for word in words if word.startswith("--")]:
        config.getoption(option)


def _mkdocs(words: list[str], _config: pytest.Config) -> None:
    _helps(mkdocs, words)
    assert (TOP / words[words.index("-f") + 1]).is_file()


def _release(words: list[str], _config: pytest.Config) -> None:
    subprocess.run([sys.executable, TOP / ".ci" / "release", *words, "--help"], capture_output=True, check=True)


_PROGRAMS: dict[str, Callable[[list[str], pytest.Config], str | None]] = {
    "codeact": _codeact,
    "mkdocs": _mkdocs,
    "pip": _pip,
    "pytest": _pytest,
    "python": _python,
    "python3": _python,
    "release": _release,
    "uv": _uv,
}
