"""What a run gives back: always data."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from codeact.engines import Kind
from codeact.files import File, save
from codeact.proposals import Proposal
from codeact.renderings import jsonable, printable

State = Literal["ok", "failed", "refused", "unfinished"]
"""How a call ended: `ok` gave a value; `failed` raised on the host; `refused` never reached the tool;
`unfinished` was still running when its own time or the run ended, and what it gave later was thrown away."""


DIGITS = 16
"""Hexadecimal digits of a digest that a receipt shows."""


@dataclass(frozen=True, slots=True)
class Error:
    """Why a program failed, for the model to mend it.

    Attributes:
        kind: the class of fault, see `codeact.engines.Kind`.
        type: the name of the exception's type.
        message: its text.
        line: the failing line, from 1, in the text the model wrote; None where no line is at fault.
        source_line: that line's text.
        traceback: the program's own frames as text, a line for each, outermost first, and under the line of a
            syntax error a mark at the column; empty where there is none.
        hint: the next step; None where the message says it all.
        cause: the exception it was raised from, or while handling, in a few words; None where there is none.
    """

    kind: Kind
    type: str
    message: str
    line: int | None = None
    source_line: str | None = None
    traceback: str = ""
    hint: str | None = None
    cause: str | None = None


@dataclass(frozen=True, slots=True)
class Call:
    """The receipt of one tool call.

    Attributes:
        seq: its place in the run, from 1.
        name: the tool asked for, or `actions.` and the action.
        digest: the first 16 hexadecimal digits of the SHA-256 of the encoded arguments.
        state: how it ended.
        duration: seconds on the host.
        line: the program's line that made it, from 1; None where that is not known.
    """

    seq: int
    name: str
    digest: str
    state: State
    duration: float
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Usage:
    """What one run cost.

    Attributes:
        wall: seconds from `run` to the result, but for those that it waited for a worker.
        guest: seconds of it that no tool was running.
        fuel: units spent: wasm instructions or restricted ticks, repeatable for the same program and inputs.
            Of a run that was stopped it is a lower bound, and 0 when the run was abandoned at its deadline.
        memory: peak bytes of the guest's memory, its interpreter included; None where the engine cannot know: on
            `restricted`, and on `wasm` when the world was lost.
        calls: tool calls made.
    """

    wall: float
    guest: float
    fuel: int
    memory: int | None
    calls: int


@dataclass(frozen=True, slots=True)
class Truncation:
    """A cut, announced.

    Attributes:
        what: what was cut, `stdout` for one.
        kept: characters kept.
        left_out: characters left out, as far as they were seen.
    """

    what: str
    kept: int
    left_out: int


OBSERVED_LINES = 5
"""Lines of an error's message that it shows."""

OBSERVED_FILES = 20
"""Files that it names."""

OBSERVED_PROPOSALS = 10
"""Proposals that it shows."""


@dataclass(frozen=True, slots=True)
class Result:
    """The result of one run. It is data whatever the program did.

    Attributes:
        ok: whether the program finished.
        value: what it returned, as plain values; None when it failed.
        error: why it failed; None when it finished.
        stdout: what it printed, in order.
        note: what the model should know beside the value, such as how its text was repaired, or the names bound
            by a program that ended without a value; None where there is nothing to say.
        calls: the receipts of its tool calls, in order.
        usage: what it cost.
        files: the files of the workspace that are new, changed or deleted since it began, in the order of their
            paths. A program that failed leaves them too, unless its world was lost with it.
        truncated: every cut that was made.
        exit_code: what the program gave to `sys.exit`; None when it did not call it.
        run: the id of the run, by which an audit tells it.
        proposals: what it proposed to do to the world, in order. None of it has happened; of a program that failed
            nothing is to be taken further.
        shown: characters of the value, and of the output, that an observation shows.
    """

    ok: bool
    value: object
    error: Error | None
    stdout: str
    note: str | None
    calls: tuple[Call, ...]
    usage: Usage
    files: tuple[File, ...] = ()
    truncated: tuple[Truncation, ...] = ()
    exit_code: int | None = None
    run: str = ""
    proposals: tuple[Proposal, ...] = ()
    shown: int = 4000

    def to_dict(self) -> dict[str, object]:
        """The result as JSON-ready data; see `codeact.renderings.jsonable` for what becomes of values.

        Of files it tells path, state, size and digest; their contents are in `files`.
        """
        return {
            "ok": self.ok,
            "value": jsonable(self.value),
            "error": None if self.error is None else asdict(self.error),
            "stdout": self.stdout,
            "note": self.note,
            "calls": [asdict(call) for call in self.calls],
            "usage": asdict(self.usage),
            "files": [_told(file) for file in self.files],
            "truncated": [asdict(cut) for cut in self.truncated],
            "exit_code": self.exit_code,
            "run": self.run,
            "proposals": [proposal.to_dict() for proposal in self.proposals],
        }

    def save(self, directory: str | os.PathLike[str]) -> tuple[Path, ...]:
        """Write the files that are new or changed below a directory of the host's; see `codeact.files.save`."""
        return save(self.files, directory)

    def observation(self) -> str:
        """The text for the model: always in the order status, value or error, output, proposals, files, notes, cuts."""
        return printable("\n".join([*self._outcome(), *self._beside()]))

    def remarks(self) -> str:
        """What the observation has beside the value or the error, for a loop that shows those itself."""
        return printable("\n".join(self._beside()))

    def _outcome(self) -> Iterator[str]:
        calls = f" after {len(self.calls)} tool call{'s' * (len(self.calls) != 1)}" if self.calls else ""
        if self.error is None:
            yield f"ok{calls}"
            yield f"value: {_cut(_shown(self.value), self.shown)}"
        else:
            yield f"failed{calls}: {self.error.kind}"
            yield from _described(self.error)

    def _beside(self) -> Iterator[str]:
        if self.stdout:
            yield "output:"
            yield _cut(self.stdout.rstrip("\n"), self.shown)
        if self.proposals:
            yield _proposed(self.proposals, self.ok)
        if self.files:
            yield f"files: {_listed(self.files)}"
        if self.note:
            yield f"note: {self.note}"
        for cut in self.truncated:
            yield f"cut: {cut.what} stopped after {cut.kept:,} characters; at least {cut.left_out:,} more left out"


def proposed(results: Iterable[Result]) -> tuple[Proposal, ...]:
    """What programs that finished have proposed, each action with its arguments once."""
    found: dict[str, Proposal] = {}
    for result in results:
        for proposal in result.proposals if result.ok else ():
            found.setdefault(proposal.digest, proposal)
    return tuple(found.values())


def _told(file: File) -> dict[str, object]:
    return {"path": file.path, "state": file.state, "size": file.size, "digest": file.digest}


def _proposed(proposals: tuple[Proposal, ...], ok: bool) -> str:
    shown = [f"{proposal.seq}. {proposal}" for proposal in proposals[:OBSERVED_PROPOSALS]]
    more = f"; and {len(proposals) - OBSERVED_PROPOSALS:,} more" if len(proposals) > OBSERVED_PROPOSALS else ""
    listed = "; ".join(shown) + more
    if ok:
        return f"proposed, to be decided outside: {listed}"
    return f"dropped, because the program failed (propose again what is still wanted): {listed}"


def _listed(files: tuple[File, ...]) -> str:
    shown = [
        f"{file.path} (deleted)" if file.data is None else f"{file.path} ({file.state}, {file.size:,} bytes)"
        for file in files[:OBSERVED_FILES]
    ]
    more = f" and {len(files) - OBSERVED_FILES} more" if len(files) > OBSERVED_FILES else ""
    return ", ".join(shown) + more


def _described(error: Error) -> Iterator[str]:
    first, *rest = error.message.splitlines() or [""]
    yield f"{error.type}: {first}" if first else error.type
    yield from rest[: OBSERVED_LINES - 1]
    if len(rest) >= OBSERVED_LINES:
        yield f"… ({len(rest) - OBSERVED_LINES + 1:,} more lines)"
    if error.cause:
        yield f"  {error.cause}"
    if error.traceback:
        yield error.traceback
    elif error.line is not None:
        yield f"  line {error.line}"
    if error.hint:
        yield f"hint: {error.hint}"


def _shown(value: object) -> str:
    try:
        return repr(value)
    except ValueError:  # an integer of more digits than the interpreter writes out
        return repr(jsonable(value))


def _cut(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    return f"{text[:limit]}… ({len(text) - limit:,} more characters; to see more, let a program print a part)"
