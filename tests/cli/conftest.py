"""A folder with tools of its own, and the command run in it as a process."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

TOOLS = '''
import sys

from codeact import Toolset, tool

print("imported")


@tool
def add(a: int, b: int) -> int:
    """Add two numbers."""
    print("adding")
    return a + b


def times(a: int, b: int) -> int:
    """Multiply two numbers."""
    return a * b


@tool
def ready() -> None:
    """Say that the program runs."""
    sys.stderr.write("ready\\n")
    sys.stderr.flush()


LIST = [add, times]
MAPPING = {"plus": add, "by": times}
SET = Toolset([add])
NUMBER = 3


class Shelf:
    tool = add


def untyped(a):
    return a
'''

Command = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder that holds the module `mytools`."""
    (tmp_path / "mytools.py").write_text(TOOLS, encoding="utf-8")
    return tmp_path


@pytest.fixture
def command(folder: Path) -> Command:
    """Runs `codeact` in the folder; `given` is its standard input, `env` is added to the environment."""

    def command(
        *arguments: str, given: str = "", env: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "codeact", *arguments],
            cwd=folder,
            env={**os.environ, **(env or {})},
            input=given,
            text=True,
            encoding="utf-8",
            capture_output=True,
            timeout=120,
            check=False,
        )

    return command
