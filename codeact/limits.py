"""What a run may use before it is stopped, what of it may leave, and how long a session lives."""

from __future__ import annotations

from dataclasses import dataclass, fields

_MIB = 1024 * 1024

MOST_SECONDS = 10_000_000
"""Seconds that a limit may be: what the operating system's waits can hold, and about four months."""

MOST_UNITS = 2**62
"""What any other limit may be: what a machine word can hold."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Limits. A run that meets one of its own is stopped, and its error names the limit.

    Attributes:
        timeout: seconds of wall clock from the start of the run to its result, tool calls included.
        fuel: units of work: wasm instructions on `wasm`, ticks of loops and calls on `restricted`.
            None takes the engine's own default (see `Engine.default_fuel`).
        memory: bytes of linear memory on `wasm`, where it is a wall; on `restricted` it bounds what one
            operation may allocate, and about how much the process may grow.
        stack: frames of Python recursion (`wasm`; `restricted` recurses as deep as the host lets it).
        output: characters that may be printed.
        source: bytes of program text, in UTF-8.
        calls: tool calls in one run.
        concurrency: calls of async tools under way at the same time; more of them wait inside until others have ended.
        call_timeout: seconds one tool call may take; None leaves it what is left of `timeout`.
        value_bytes: bytes of a value that crosses (arguments, a tool's result, the program's value), encoded; and of all
            that one program proposes.
        value_depth: levels of nesting in a value that crosses.
        workspace: bytes that the files of a world may hold together, temporary ones included. They count towards
            `memory` too, several times while they cross.
        files: files and directories that there may be in it.
        session_idle: seconds without a program after which a session is over and its world destroyed.
        session_lifetime: seconds after which it is over in any case; a run that is under way is stopped.
        shown: characters of the value, and of the output, that an observation shows.
        file_types: endings of the names of files that may leave, such as `.csv`, in lower case; None for all. Others
            are withheld from the result, and its note names them.

    Raises:
        ValueError: for a limit that is zero, negative, or not a finite number; for an ending that is none.
        TypeError: for a limit that is no number; for endings that are no tuple of str.
    """

    timeout: float = 5.0
    fuel: int | None = None
    memory: int = 256 * _MIB
    stack: int = 1000
    output: int = 100_000
    source: int = 256 * 1024
    calls: int = 10_000
    concurrency: int = 100
    call_timeout: float | None = None
    value_bytes: int = 10 * _MIB
    value_depth: int = 100
    workspace: int = 32 * _MIB
    files: int = 1000
    session_idle: float = 900.0
    session_lifetime: float = 4 * 3600.0
    shown: int = 4000
    file_types: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        for field in fields(self):
            if field.name == "file_types":
                _check_endings(self.file_types)
            else:
                _check(field.name, getattr(self, field.name))


FUEL = {"wasm": 100_000_000_000, "restricted": 50_000_000}
"""Units that a run gets by default on each engine."""

DEEPEST = 200
"""Levels of nesting that a value which crosses may have: what a host can decode, a level being up to two of JSON."""

_MOST = {
    "stack": 1_000_000,  # what CPython takes as a recursion limit, and more than its own stack holds
    "files": 100_000,
    "value_depth": DEEPEST,
}
_SECONDS = frozenset({"timeout", "call_timeout", "session_idle", "session_lifetime"})
_OPTIONAL = frozenset({"fuel", "call_timeout"})


def _check(name: str, value: object) -> None:
    if value is None and name in _OPTIONAL:
        return
    allowed = (int, float) if name in _SECONDS else (int,)
    if isinstance(value, bool) or not isinstance(value, allowed):
        wanted = "a number of seconds" if name in _SECONDS else "a whole number"
        msg = f"Limits({name}={value!r}): expected {wanted}, got {type(value).__name__}"
        raise TypeError(msg)
    most = MOST_SECONDS if name in _SECONDS else _MOST.get(name, MOST_UNITS)
    if not 0 < value <= most:  # false for NaN too
        shown = f"{value:.3g}" if isinstance(value, float) else f"{value}" if abs(value) < MOST_UNITS else "…"
        msg = f"Limits({name}={shown}): must be above zero and at most {most:,}; leave it out for the default"
        raise ValueError(msg)


def _check_endings(value: object) -> None:
    if value is None:
        return
    if not isinstance(value, tuple) or not all(isinstance(ending, str) for ending in value):
        msg = (
            f"Limits(file_types={value!r:.200}): expected a tuple of endings such as ('.csv', '.txt'), or None for all"
        )
        raise TypeError(msg)
    for ending in value:
        if not ending.startswith(".") or ending != ending.lower() or "/" in ending or len(ending) == 1:
            msg = f"Limits(file_types=…): {ending!r:.100} is no ending; write it with its dot, in lower case: '.csv'"
            raise ValueError(msg)
