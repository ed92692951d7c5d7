"""From an exception to data: its type, its text, and the program's own frames."""

from __future__ import annotations

import re
import sys
from types import TracebackType
from typing import Any, TypeGuard

from .hints import hint
from .names import MissingKey
from .program import FUNCTION, number_of
from .scene import Scene

MESSAGE = 1500
"""Characters of an exception's text that are kept."""

FRAMES = 20
"""Frames that are kept: the outermost and the innermost ones."""

MEMBERS = 3
"""Members of a group that are named."""

BRIEF = 200
"""Characters of the text of a cause, or of a member of a group."""

LARGEST = 10_000_000
"""Lines and columns are below this."""


class ToolError(Exception):
    """A tool failed on the host. The text is the host exception's type and message."""


def describe(error: BaseException, scene: Scene | None = None) -> dict[str, Any]:
    """What a host needs to know of an exception that ended a program.

    Args:
        error: the exception.
        scene: what is known of the program's world; without it no hint is given.

    Returns:
        A mapping of `kind`, `type`, `message`, `frames` (line, function and number of the program, outermost
        first), `omitted` (frames left out in the middle), `offset`, `cause` and `hint`.
    """
    frames, omitted = _frames(error.__traceback__)
    offset = None
    number = number_of(error.filename) if isinstance(error, SyntaxError) and type(error.filename) is str else 0
    if isinstance(error, SyntaxError) and number:
        frames.append((error.lineno if _is_place(error.lineno) else 1, "<module>", number))
        offset = error.offset if _is_place(error.offset) and not _is_elsewhere(error) else None
    return {
        "kind": _kind(error),
        "type": type(error).__name__,
        "message": _bounded(_message(error)),
        "frames": frames,
        "omitted": omitted,
        "offset": offset,
        "cause": _cause(error),
        "hint": None if scene is None else hint(error, scene),
    }


def _is_elsewhere(error: SyntaxError) -> bool:
    """Whether its column is not one of the line: older parsers count within the braces of an f-string."""
    return sys.version_info < (3, 12) and type(error.msg) is str and error.msg.startswith("f-string: ")


def _is_place(number: object) -> TypeGuard[int]:
    """Whether it is a line or a column; a program can give its own SyntaxErrors anything."""
    return type(number) is int and 0 < number < LARGEST


def _kind(error: BaseException) -> str:
    if isinstance(error, ToolError):
        return "tool"
    if isinstance(error, MemoryError) or (type(error) is OverflowError and _NARROW and _too_large(error)):
        return "memory"
    if isinstance(error, RecursionError):
        return "stack"
    return "runtime"


_NARROW = sys.maxsize < 1 << 32


def _too_large(error: OverflowError) -> bool:
    """Whether it is about a size that 32 bits cannot hold: where there are 64 it would be a MemoryError."""
    return "index-sized" in str(error) or "ssize_t" in str(error)


def _message(error: BaseException) -> str:
    try:
        if isinstance(error, SyntaxError):
            return str(error.msg)
        if isinstance(error, SystemExit):
            return _exit(error)
        if isinstance(error, KeyError) and not isinstance(error, MissingKey) and len(_args(error)) == 1:
            return repr(_args(error)[0])
        if isinstance(error, BaseExceptionGroup):
            return _group(error)
        notes = getattr(error, "__notes__", ())
        text = "\n".join([str(error), *map(str, notes[:3])]) if type(notes) is list else str(error)
        return _INSIDE.sub("", text)
    except BaseException:  # noqa: BLE001 - the program's own __str__ failed; its type must do
        return ""


_INSIDE = re.compile(
    r"\b(?:wasm_runtime\.)?guest\.(?:codec|names|records|tools)\.|\bcodeact\.engines\.restricted\.[a-z_.]+\."
    r"| \((?:unknown location|/python/[^)]*)\)$| from '/python/[^']*'"  # places of modules
)
"""What texts say of where things are that is of no use to a program."""


def _exit(error: SystemExit) -> str:
    args = _args(error)
    code = args[0] if len(args) == 1 else None
    if type(code) is str:
        return code
    told = repr(code) if type(code) is int or type(code) is bool else f"<{type(code).__name__}>"
    return f"the program ended with exit code {told}"


def _group(error: BaseExceptionGroup[BaseException]) -> str:
    """The text of a group, and what is in it."""
    members = [brief(member) for member in error.exceptions[:MEMBERS]]
    more = len(error.exceptions) - len(members)
    return "; ".join([str(error), *members, *([f"and {more:,} more"] if more else [])])


def brief(error: BaseException) -> str:
    """An exception in a few words, without asking it for them: its type, its text, its line."""
    frames, _ = _frames(error.__traceback__)
    line = f" (line {frames[-1][0]})" if frames else ""
    args = _args(error)
    text = ""
    if len(args) == 1 and type(args[0]) in {str, int, bool}:
        written = args[0][:BRIEF] if type(args[0]) is str else args[0]
        text = f": {written!r}" if type(error) is KeyError else f": {written}"
        if type(args[0]) is str and len(args[0]) > BRIEF:
            text += f"… ({len(args[0]) - BRIEF:,} more characters)"
    elif len(args) == 2 and isinstance(error, (OSError, BaseExceptionGroup)):  # noqa: PLR2004 - number and text, text and members
        text = f": {args[isinstance(error, OSError)]}"[:BRIEF]
    return f"{type(error).__name__}{text}{line}"


def _cause(error: BaseException) -> str | None:
    """What the exception was raised from, or while handling; None where there is nothing of the program's."""
    cause = _field(error, "__cause__")
    if cause is not None:
        return f"caused by {brief(cause)}"
    context = _field(error, "__context__")
    if context is None or _field(error, "__suppress_context__") or not _frames(context.__traceback__)[0]:
        return None
    return f"while handling {brief(context)}"


def _field(error: BaseException, name: str) -> Any:
    """A field of an exception that no class of the program can have put something else in front of."""
    return vars(BaseException)[name].__get__(error)


def _args(error: BaseException) -> tuple[Any, ...]:
    return _field(error, "args")  # type: ignore[no-any-return]


def _bounded(text: str) -> str:
    if len(text) <= MESSAGE:
        return text
    return f"{text[:MESSAGE]}… ({len(text) - MESSAGE:,} more characters)"


_INLINED = frozenset({"<listcomp>", "<setcomp>", "<dictcomp>"})
"""What has a frame of its own until 3.11 only."""


def _frames(traceback: TracebackType | None) -> tuple[list[tuple[int, str, int]], int]:
    """The program's own frames, and how many of them were left out in the middle."""
    frames: list[tuple[int, str, int]] = []
    while traceback is not None:
        code = traceback.tb_frame.f_code
        number = number_of(code.co_filename)
        if number:
            name = "<module>" if code.co_name == FUNCTION else code.co_name
            if name in _INLINED and frames:
                name = frames.pop()[1]
            frames.append((traceback.tb_lineno, name, number))
        traceback = traceback.tb_next
    omitted = max(0, len(frames) - FRAMES)
    if omitted:
        half = FRAMES // 2
        frames = frames[:half] + frames[-half:]
    return frames, omitted
