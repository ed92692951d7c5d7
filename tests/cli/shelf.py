"""The module of tools that the command is given, and the type of the command."""

from __future__ import annotations

import subprocess
from collections.abc import Callable

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
