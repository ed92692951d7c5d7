"""What a journal knows, as whoever reads it gets it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from codeact.engines import Answer, Face, Kind, Refusal
from codeact.limits import Limits
from codeact.result import Result, State
from codeact.tape import Tape


@dataclass(frozen=True, slots=True)
class Versions:
    """What a run ran on. Where any of it is another one, a program may be counted otherwise.

    Attributes:
        codeact: of this library.
        python: of the host's interpreter.
        wasmtime: of the machine; None where there is none.
        guest: the digest of the guest; None where there is none.
        hashing: the hash of a text, which is another one in another process, where programs share the host's; None where
            they do not.
    """

    codeact: str
    python: str
    wasmtime: str | None = None
    guest: str | None = None
    hashing: int | None = None


@dataclass(frozen=True, slots=True)
class CallRecord:
    """One call of a run, a proposal of an action included.

    Attributes:
        seq: its place in the run, from 1.
        name: the tool asked for; an action's begins with `actions.`.
        digest: the first 16 hexadecimal digits of the SHA-256 of the encoded arguments.
        args: the positional arguments, plain values; None where the arguments are not on record, because they could not
            even be read, or because the run had too many.
        kwargs: the keyword arguments, likewise.
        answer: what the program was told; None where it was told nothing.
        state: how it ended.
        line: the program's line that made it, from 1; None where the engine cannot know.
        began: seconds after the run's beginning.
        duration: seconds on the host.
    """

    seq: int
    name: str
    digest: str
    args: tuple[object, ...] | None
    kwargs: Mapping[str, object] | None
    answer: Answer | Refusal | None
    state: State
    line: int | None
    began: float
    duration: float


@dataclass(frozen=True, slots=True)
class RunHead:
    """What a list shows of a run.

    Attributes:
        id: the run's, as in `Result.run`.
        number: its place among all runs of the journal, by when they began, from 1; there may be gaps.
        task: what it was for, as the host calls it; None where it did not say.
        tenant: whose it was; None where nobody was named.
        session: the session's id; None for a run with a world of its own.
        engine: the engine's name.
        began: when, seconds since the epoch.
        wall: seconds that it took; None where it has not ended.
        ok: whether the program finished; None where the run was begun and has not ended: it is under way, or its process
            has died.
        kind: of its error; None where there is none.
        calls: how many it made; None where it has not ended.
    """

    id: str
    number: int
    task: str | None
    tenant: str | None
    session: str | None
    engine: str
    began: float
    wall: float | None
    ok: bool | None
    kind: Kind | None
    calls: int | None


@dataclass(frozen=True, slots=True)
class RunRecord:
    """A run, with all that is needed to run it again.

    Attributes:
        head: what a list shows of it.
        source: the program's text.
        earlier: the ids of the runs that made its world what it was, in order; none for a fresh one. An empty one is not
            on record.
        files: what was put into its workspace: contents by path.
        inputs: the sandbox's own files, which its programs could not change: contents by path.
        faces: the tools and actions that it saw.
        limits: what it could use.
        versions: what it ran on.
        ready: whether its world was made before it was asked for, where a program is counted a little otherwise.
        tape: what came through its doors; empty where it has not ended.
        calls: the same calls, to be read; none where it has not ended.
        result: what came of it; None where it has not ended.
    """

    head: RunHead
    source: str
    earlier: tuple[str, ...]
    files: Mapping[str, bytes] = field(repr=False)
    inputs: Mapping[str, bytes] = field(repr=False)
    faces: tuple[Face, ...] = field(repr=False)
    limits: Limits
    versions: Versions
    ready: bool
    tape: Tape = field(repr=False)
    calls: tuple[CallRecord, ...]
    result: Result | None

    @property
    def id(self) -> str:
        """The run's id."""
        return self.head.id

    @property
    def cut(self) -> str | None:
        """Who ended it at a place that may not be found again; None where that was the program, or a limit that is counted."""
        error = None if self.result is None else self.result.error
        if error is None:
            return None
        if error.kind == "memory" and self.versions.guest is None:
            return "the memory of the process"  # which others use too
        return {"timeout": "the clock", "host": f"the host ({error.type})"}.get(error.kind)


@dataclass(frozen=True, slots=True)
class TaskRecord:
    """A task that a journal knows something of.

    Attributes:
        task: as the host calls it.
        runs: how many runs were for it.
        entries: how many entries its conversation has.
        began: when the first of these was made, seconds since the epoch.
        last: when the last one was.
    """

    task: str
    runs: int
    entries: int
    began: float
    last: float


@dataclass(frozen=True, slots=True)
class ConversationEntry:
    """One entry of a task's conversation.

    Attributes:
        seq: its place, from 1.
        kind: what it is, in the words of whoever wrote it.
        data: what it says: what JSON can hold.
        time: when it was written, seconds since the epoch.
    """

    seq: int
    kind: str
    data: object
    time: float
