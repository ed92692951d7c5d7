"""From an exception to data: its type, its text, and the program's own frames."""

from __future__ import annotations

from types import TracebackType

from .program import FILENAME, FUNCTION

MESSAGE = 2000
"""Characters of an exception's text that are kept."""

FRAMES = 20
"""Frames that are kept: the outermost and the innermost ones."""


class ToolError(Exception):
    """A tool failed on the host. The text is the host exception's type and message."""


def describe(error: BaseException) -> dict[str, object]:
    """What a host needs to know of an exception that ended a program.

    Returns:
        A mapping of `kind`, `type`, `message`, `frames` (pairs of line and function, outermost first) and `offset`.
    """
    frames = _frames(error.__traceback__)
    offset = None
    if isinstance(error, SyntaxError) and error.filename == FILENAME:
        frames = [*frames, (error.lineno or 1, "<module>")]
        offset = error.offset
    return {
        "kind": _kind(error),
        "type": type(error).__name__,
        "message": _message(error),
        "frames": frames,
        "offset": offset,
    }


def _kind(error: BaseException) -> str:
    if isinstance(error, ToolError):
        return "tool"
    if isinstance(error, MemoryError):
        return "memory"
    if isinstance(error, RecursionError):
        return "stack"
    return "runtime"


def _message(error: BaseException) -> str:
    if isinstance(error, SyntaxError):
        return str(error.msg)
    if isinstance(error, KeyError) and len(error.args) == 1:
        return _bounded(repr(error.args[0]))
    try:
        return _bounded(str(error))
    except BaseException:  # noqa: BLE001 - the program's own __str__ failed; its type must do
        return ""


def _bounded(text: str) -> str:
    if len(text) <= MESSAGE:
        return text
    return f"{text[:MESSAGE]}… ({len(text) - MESSAGE} more characters)"


def _frames(traceback: TracebackType | None) -> list[tuple[int, str]]:
    frames: list[tuple[int, str]] = []
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if code.co_filename == FILENAME:
            name = "<module>" if code.co_name == FUNCTION else code.co_name
            frames.append((traceback.tb_lineno, name))
        traceback = traceback.tb_next
    if len(frames) > FRAMES:
        half = FRAMES // 2
        return frames[:half] + frames[-half:]
    return frames
