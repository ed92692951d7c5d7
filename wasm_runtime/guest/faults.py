"""From an exception to data: its type, its text, and the program's own frames."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from difflib import get_close_matches
from types import TracebackType
from typing import TypeGuard

from .program import FUNCTION, number_of

MESSAGE = 2000
"""Characters of an exception's text that are kept."""

FRAMES = 20
"""Frames that are kept: the outermost and the innermost ones."""

LARGEST = 10_000_000
"""Lines and columns are below this."""

NAME = 80
"""Characters of an unknown name that are repeated."""


class ToolError(Exception):
    """A tool failed on the host. The text is the host exception's type and message."""


def describe(error: BaseException) -> dict[str, object]:
    """What a host needs to know of an exception that ended a program.

    Returns:
        A mapping of `kind`, `type`, `message`, `frames` (line, function and number of the program,
        outermost first), `offset` and `omitted` (frames left out in the middle).
    """
    frames, omitted = _frames(error.__traceback__)
    offset = None
    number = number_of(error.filename) if isinstance(error, SyntaxError) and type(error.filename) is str else 0
    if isinstance(error, SyntaxError) and number:
        frames.append((error.lineno if _is_place(error.lineno) else 1, "<module>", number))
        offset = error.offset if _is_place(error.offset) else None
    return {
        "kind": _kind(error),
        "type": type(error).__name__,
        "message": _bounded(_message(error)),
        "frames": frames,
        "offset": offset,
        "omitted": omitted,
    }


def _is_place(number: object) -> TypeGuard[int]:
    """Whether it is a line or a column; a program can give its own SyntaxErrors anything."""
    return type(number) is int and 0 < number < LARGEST


def _kind(error: BaseException) -> str:
    if isinstance(error, ToolError):
        return "tool"
    if isinstance(error, MemoryError) or (type(error) is OverflowError and sys.maxsize < 1 << 32 and _too_large(error)):
        return "memory"
    if isinstance(error, RecursionError):
        return "stack"
    return "runtime"


def _too_large(error: OverflowError) -> bool:
    """Whether it is about a size that 32 bits cannot hold: where there are 64 it would be a MemoryError."""
    return "index-sized" in str(error) or "ssize_t" in str(error)


def _message(error: BaseException) -> str:
    try:
        if isinstance(error, SyntaxError):
            return str(error.msg)
        if isinstance(error, KeyError) and len(error.args) == 1:
            return repr(error.args[0])
        if isinstance(error, BaseExceptionGroup):
            return "; ".join([str(error), *(f"{type(one).__name__}: {one}" for one in error.exceptions[:3])])
        notes = getattr(error, "__notes__", ())
        return "\n".join([str(error), *map(str, notes[:3])]) if type(notes) is list else str(error)
    except BaseException:  # noqa: BLE001 - the program's own __str__ failed; its type must do
        return ""


def _bounded(text: str) -> str:
    if len(text) <= MESSAGE:
        return text
    return f"{text[:MESSAGE]}… ({len(text) - MESSAGE} more characters)"


def _frames(traceback: TracebackType | None) -> tuple[list[tuple[int, str, int]], int]:
    """The program's own frames, and how many of them were left out in the middle."""
    frames: list[tuple[int, str, int]] = []
    while traceback is not None:
        code = traceback.tb_frame.f_code
        number = number_of(code.co_filename)
        if number:
            name = "<module>" if code.co_name == FUNCTION else code.co_name
            frames.append((traceback.tb_lineno, name, number))
        traceback = traceback.tb_next
    omitted = max(0, len(frames) - FRAMES)
    if omitted:
        half = FRAMES // 2
        frames = frames[:half] + frames[-half:]
    return frames, omitted


def unknown_tool(name: str, granted: Iterable[str]) -> str:
    """What to say of a tool that was not granted: the near ones, and all there are."""
    names = list(granted)
    if len(name) > NAME:
        name = f"{name[:NAME]}…"
    near = get_close_matches(name, names, n=2)
    meant = f"did you mean {' or '.join(map(repr, near))}? " if near else ""
    return f"there is no tool {name!r}; {meant}the tools are: {', '.join(names) or 'none'}"
