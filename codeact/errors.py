"""From an engine's fault to the error that lets the model mend its program."""

from __future__ import annotations

from collections.abc import Sequence

from codeact.engines import Fault, Frame, Kind
from codeact.result import Error
from codeact.values import printable
from wasm_runtime.guest.program import lines_of

_HINTS: dict[Kind, str] = {
    "fuel": "do less: look for a loop that does not end, or for work that can be done once",
    "timeout": "do less in one run, or call fewer or faster tools",
    "memory": "hold less at once: go through the data piece by piece",
    "stack": "recurse less deeply, or use a loop",
    "host": "this is no fault of the program; tell the operator",
}

SHOWN = 8
"""Frames of a traceback that are shown."""


def build(fault: Fault, source: str, earlier: Sequence[str] = ()) -> Error:
    """The error for a fault, with lines of the text the model wrote.

    Args:
        fault: what the engine saw.
        source: the text of the program.
        earlier: the texts of the programs that ran in the same world before, whose functions it may have called.
    """
    lines = lines_of(source)
    line = next((frame.line for frame in reversed(fault.frames) if not frame.program), None)
    return Error(
        kind=fault.kind,
        type=fault.type,
        message=printable(fault.message),
        line=line,
        source_line=_line(lines, line) if line else None,
        traceback=_traceback(fault, [lines, *map(lines_of, earlier)]),
        hint=fault.hint or _hint(fault),
    )


def _hint(fault: Fault) -> str | None:
    if fault.kind == "value" and "limit value_" in fault.message:
        return "return less: a summary, a slice, or counts"
    return _HINTS.get(fault.kind)


def _line(lines: list[str], number: int) -> str:
    return printable(lines[number - 1][:200]) if 0 < number <= len(lines) else ""


def _traceback(fault: Fault, texts: list[list[str]]) -> str:
    frames = list(fault.frames)
    if not frames:
        return ""
    shown = [_frame(frame, texts) for frame in frames[: SHOWN // 2]]
    rest = frames[SHOWN // 2 :]
    if len(frames) > SHOWN or fault.omitted:
        rest = rest[-SHOWN // 2 :]
        shown.append(f"  … {len(frames) - len(shown) - len(rest) + fault.omitted:,} more frames")
    shown.extend(_frame(frame, texts) for frame in rest)
    if fault.kind == "syntax" and fault.offset:
        text = _line(texts[0], frames[-1].line)
        column = min(fault.offset - 1, len(text)) - (len(text) - len(text.lstrip()))
        shown.append(f"    {' ' * max(column, 0)}^")
    return "\n".join(["traceback:", *shown])


def _frame(frame: Frame, texts: list[list[str]]) -> str:
    where = f"  line {frame.line}"
    if frame.program:
        where += f" of program {frame.program}"
    if frame.function != "<module>":
        where += f", in {frame.function}"
    text = _line(texts[frame.program], frame.line) if frame.program < len(texts) else ""
    return f"{where}\n    {text.strip()}"
