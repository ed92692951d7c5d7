"""The module of tools that the command is given, and the type of the command."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

TOOLS = '''
import sys

from codeact import Toolset, action, tool

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


@action
def pay(amount: int) -> None:
    """Pay."""
    print("paid")


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


def on_terminal(folder: Path, arguments: list[str], env: Mapping[str, str]) -> tuple[int, str]:
    """The exit code of a Python on a terminal of its own, and all that the terminal was sent."""
    seen = bytearray()
    terminal, end = pty.openpty()
    python = subprocess.Popen(
        [sys.executable, *arguments],
        cwd=folder,
        env={**os.environ, **env},
        stdin=end,
        stdout=end,
        stderr=end,
        start_new_session=True,
    )
    os.close(end)
    while True:
        try:
            part = os.read(terminal, 4096)
        except OSError:  # Linux's word for the end of a terminal
            break
        if not part:
            break
        seen += part
    os.close(terminal)
    return python.wait(), seen.decode()
