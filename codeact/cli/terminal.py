"""What the command says, and how it refuses."""

from __future__ import annotations

import contextlib
import os
import re
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, NoReturn, TextIO

import typer

if TYPE_CHECKING:
    from rich.console import Console

FAILED = 1
MISUSED = 2
INTERRUPTED = 130

_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def console(*, stderr: bool = False) -> Console:
    """A console: plain text where there is no terminal, no colours where NO_COLOR is set. Text such as `:x:` stays text."""
    from rich.console import Console  # noqa: PLC0415 - see the package's docstring

    with contextlib.suppress(AttributeError):  # a stream of a test's own
        (sys.stderr if stderr else sys.stdout).reconfigure(errors="backslashreplace")  # type: ignore[union-attr]  # as above
    return Console(stderr=stderr, highlight=False, emoji=False)


def put(text: str, stream: TextIO) -> None:
    """Write text, whatever characters the stream can hold."""
    encoding = stream.encoding or "utf-8"
    try:
        stream.write(printable(text, stream).encode(encoding, "backslashreplace").decode(encoding))
        stream.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        hung_up()
        refuse(f"{stream.name}: {error.strerror or error}")


@contextlib.contextmanager
def printing() -> Iterator[Console]:
    """A console, and what cannot be written to it is told in one line."""
    try:
        yield console()
    except BrokenPipeError:
        raise
    except OSError as error:
        hung_up()
        refuse(f"{sys.stdout.name}: {error.strerror or error}")


def printable(text: str, stream: TextIO) -> str:
    """On a terminal, text with its control characters shown: a program's output must not steer the terminal."""
    if not stream.isatty():
        return text
    return _CONTROLS.sub(lambda found: f"\\x{ord(found.group()):02x}", text)


def say(message: str) -> None:
    """Say something on stderr, in one line."""
    line = " ".join(message.split())
    put(f"codeact: {line}\n", sys.stderr)


def refuse(message: str) -> NoReturn:
    """Say what was wrong with the command, in one line, and end it."""
    say(message)
    raise typer.Exit(MISUSED)


def hung_up() -> int:
    """Nobody reads on: send what is still buffered nowhere, so that the interpreter's last flush is quiet."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return FAILED
