"""From an engine's fault to the error that lets the model mend its program."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from unicodedata import combining, east_asian_width

from codeact.engines import Fault, Frame, Kind
from codeact.renderings import printable
from codeact.result import Error
from codeact.source import Line, Reading

_HINTS: dict[Kind, str] = {
    "fuel": "do less: look for a loop that does not end, or for work that can be done once",
    "timeout": "do less in one run, or call fewer or faster tools",
    "memory": "hold less at once: go through the data piece by piece",
    "stack": "recurse less deeply, or use a loop",
    "host": "this is no fault of the program; tell the operator",
}

_MET = re.compile(r"limit (\w+)[=)]")

_VALUES: dict[Kind, str] = {
    "value": "return less: a summary, a slice, or counts",
    "runtime": "pass less: a part of it at a time, and fewer levels",
    "tool": "ask the tool for less: one page, one period, or only what is needed",
}
_MENDING: dict[str, dict[Kind, str]] = {
    "call_timeout": {"tool": "ask the tool for less, or catch the ToolError and go on without it"},
    "concurrency": {
        "tool": "await some of the calls before more are begun",
        "runtime": "await some of the calls first",
    },
    "files": {"runtime": "write fewer files, or delete those that are no longer needed"},
    "source": {"syntax": "write a shorter program: read data from a tool or a file instead of writing it out"},
    "value_bytes": _VALUES,
    "value_depth": _VALUES,
    "workspace": {"runtime": "write less, or delete the files that are no longer needed"},
}
"""What to do about a limit that ends an operation and not the run; by the kind of the error that it ends in."""

SHOWN = 6
"""Frames of a traceback that are shown."""

WIDTH = 160
"""Characters of a line that are shown."""

_TAIL = 120
"""Of a longer line, the characters before the place of an error."""


def build(fault: Fault, reading: Reading, earlier: Sequence[Reading] | None = None) -> Error:
    """The error for a fault, with lines of the text the model wrote.

    Args:
        fault: what the engine saw.
        reading: the program.
        earlier: the programs that ran in the same world before, whose functions it may have called;
            None where the world was its own.
    """
    line = next((reading.line(frame.line) for frame in reversed(fault.frames) if not frame.program), None)
    hint = fault.hint or _hint(fault, session=earlier is not None)
    return Error(
        kind=fault.kind,
        type=fault.type,
        message=printable(fault.message),
        line=line and line.number,
        source_line=line and _cut(line.text),
        traceback=printable("\n".join(_traceback(fault, (reading, *(earlier or ()))))),
        hint=printable(hint) if hint else None,
        cause=printable(fault.cause) if fault.cause else None,
    )


def _hint(fault: Fault, *, session: bool) -> str | None:
    met = _MET.search(fault.message)
    mending = met and _MENDING.get(met[1], {}).get(fault.kind)
    if mending:
        return mending
    if fault.kind == "runtime" and fault.type == "NameError":
        return None if session else "define it in this program: a run starts without the names of earlier ones"
    return _HINTS.get(fault.kind)


def _line(frame: Frame, programs: Sequence[Reading], column: int = 1) -> Line:
    known = frame.program < len(programs)
    return programs[frame.program].line(frame.line, column) if known else Line(frame.line, "", column)


def _cut(text: str) -> str:
    return text if len(text) <= WIDTH else f"{text[:WIDTH]}… ({len(text) - WIDTH:,} more characters)"


def _traceback(fault: Fault, programs: Sequence[Reading]) -> Iterator[str]:
    frames = fault.frames
    if fault.kind == "syntax" and fault.offset and frames:
        yield from _pointed(frames[-1], fault.offset, programs)
        return
    more = fault.omitted
    if len(frames) > SHOWN:
        more += len(frames) - SHOWN
    half = SHOWN // 2
    for frame in frames[:half]:
        yield _frame(frame, programs)
    if more:
        yield f"  … {more:,} more frames"
    for frame in frames[max(half, len(frames) - half) :]:
        yield _frame(frame, programs)


def _frame(frame: Frame, programs: Sequence[Reading]) -> str:
    line = _line(frame, programs)
    text = line.text.strip()
    return f"{_where(frame, line)}: {_cut(text)}" if text else _where(frame, line)


def _where(frame: Frame, line: Line) -> str:
    where = f"  line {line.number}"
    if frame.program:
        where += f" of program {frame.program}"
    if frame.function != "<module>":
        where += f", in {frame.function}"
    return where


def _pointed(frame: Frame, offset: int, programs: Sequence[Reading]) -> Iterator[str]:
    """The line of a syntax error, and below it a mark at the column where Python gave up."""
    line = _line(frame, programs, offset)
    text = line.text.rstrip()
    start = len(text) - len(text.lstrip())
    column = min(line.column - 1, len(text))
    head = f"{_where(frame, line)}: "
    if len(text) - start > WIDTH and column - start > _TAIL:
        start = column - _TAIL
        head += "…"
    shown = text[start:].replace("\t", " ")
    yield f"{head}{_cut(shown)}"
    yield " " * (len(head) + _columns(shown[: max(0, column - start)])) + "^"


def _columns(text: str) -> int:
    """How wide a text is where letters have one width: those of East Asia have two, and marks on letters none."""
    return sum(0 if combining(letter) else 1 + (east_asian_width(letter) in "WF") for letter in text)
