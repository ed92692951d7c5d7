"""What a trace knows: a task, what was said for it, the runs of its programs, and in each its calls and proposals.

It is made of records, bounded, and shown as text or as a page; both show the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from codeact.engines import Kind
from codeact.result import State
from codeact.trace.cuts import Text

Tone = Literal["good", "wary", "bad", "faint"]
"""How something that ended is to be seen."""


@dataclass(frozen=True, slots=True)
class CallNode:
    """A call.

    Attributes:
        seq: its place in the run, from 1.
        name: what was called.
        brief: the call as it is written, short.
        arguments: the same whole; None where they are not on record.
        answer: what the program was told; None where it was told nothing.
        answered: whether that was a value and no refusal.
        state: how it ended; None where the run has not.
        line: of the program; None where that is not known.
        began: seconds after the run's beginning.
        duration: seconds; None where it has not ended.
    """

    seq: int
    name: str
    brief: str
    arguments: Text | None
    answer: Text | None
    answered: bool
    state: State | None
    line: int | None
    began: float
    duration: float | None

    @property
    def tone(self) -> Tone:
        """How it is to be seen."""
        return "good" if self.state == "ok" else "wary" if self.state in {None, "unfinished"} else "bad"


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a program.

    Attributes:
        number: from 1.
        text: what it says.
        calls: the calls that it made and that are shown.
        more: how many more it made.
        not_granted: tools and actions that it names and that were not granted. A call of one is no call: there is nothing
            that would be called.
    """

    number: int
    text: Text
    calls: tuple[CallNode, ...] = ()
    more: int = 0
    not_granted: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Fate:
    """What became of a proposal. Times are seconds since the epoch.

    Attributes:
        entry: the id of its entry in the outbox.
        state: how far it has come; see `codeact.outbox.State`.
        by: who decided; None where nobody has.
        reason: why; None where nobody said.
        decided: when; None where nobody has.
        ended: when it had been performed; None where it was not.
        came: what performing it gave, or why it failed; None where there is nothing to tell.
        steps: all that has happened to it, a line each; none where only the entry is known.
    """

    entry: str
    state: str
    by: str | None
    reason: str | None
    decided: float | None
    ended: float | None
    came: Text | None
    steps: tuple[Text, ...] = ()

    @property
    def tone(self) -> Tone:
        """How it is to be seen."""
        tones: dict[str, Tone] = {"done": "good", "refused": "bad", "failed": "bad", "unknown": "bad"}
        return tones.get(self.state, "wary")


@dataclass(frozen=True, slots=True)
class ProposalNode:
    """A proposal.

    Attributes:
        seq: its place in the run, from 1.
        brief: the call as it is written, short.
        arguments: by their names, each whole.
        digest: what an approval is of.
        line: of the program; None where that is not known.
        dropped: whether nothing takes it further, because its program failed.
        fate: what the outbox knows of it; None where it knows nothing.
    """

    seq: int
    brief: str
    arguments: tuple[tuple[str, Text], ...]
    digest: str
    line: int | None
    dropped: bool
    fate: Fate | None

    @property
    def ended(self) -> str:
        """Its state, in a word or two."""
        return self.fate.state if self.fate else "dropped" if self.dropped else "proposed"

    @property
    def tone(self) -> Tone:
        """How it is to be seen."""
        return self.fate.tone if self.fate else "faint" if self.dropped else "wary"


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a program failed.

    Attributes:
        kind: the class of fault.
        message: its type and its text.
        line: the failing line; None where there is none.
        where: the frames that it went through, or else the failing line's text; None where there is none.
        rest: what else the model was told: the cause and a hint.
    """

    kind: Kind
    message: Text
    line: int | None
    where: Text | None
    rest: tuple[Text, ...]


@dataclass(frozen=True, slots=True)
class RunNode:
    """The run of a program.

    Attributes:
        number: its place in the trace, from 1.
        id: the run's.
        began: when, seconds since the epoch.
        wall: seconds that it took; None where it has not ended.
        ok: whether the program finished; None where the run has not ended.
        about: what else there is to know of it: names and what they stand for.
        program: its lines.
        lines_left_out: how many of them are not shown.
        calls: the calls that are shown, in order.
        calls_made: how many there were, with how many ended in which state.
        proposals: those that are shown, in order.
        proposals_left_out: how many are not.
        output: what it printed.
        value: what it returned; None where it failed or has not ended.
        failure: why it failed; None where it did not.
        notes: what the model was told beside that, files and cuts included.
        costs: what it used, and what it could use at most.
        same_as: the number of the first program of the trace that has the same text; None where it is this one.
    """

    number: int
    id: str
    began: float
    wall: float | None
    ok: bool | None
    about: tuple[tuple[str, str], ...]
    program: tuple[Line, ...] = field(repr=False)
    lines_left_out: int
    calls: tuple[CallNode, ...] = field(repr=False)
    calls_made: tuple[tuple[State | None, int], ...]
    proposals: tuple[ProposalNode, ...]
    proposals_left_out: int
    output: Text = field(repr=False)
    value: Text | None
    failure: Failure | None
    notes: tuple[Text, ...]
    costs: tuple[tuple[str, str], ...]
    same_as: int | None = None

    @property
    def is_unrecorded(self) -> bool:
        """Whether its calls are not on record: they are put there with its end."""
        return self.ok is None and not self.calls_made

    @property
    def calls_left_out(self) -> int:
        """How many calls are not shown."""
        return self.calls_total - len(self.calls)

    @property
    def calls_total(self) -> int:
        """How many calls there were."""
        return sum(count for _, count in self.calls_made)

    @property
    def span(self) -> float:
        """Seconds that all its calls lie within."""
        ends = (call.began + (call.duration or 0.0) for call in self.calls)
        return max(self.wall or 0.0, max(ends, default=0.0))

    @property
    def ended(self) -> str:
        """How it ended, in a word or two."""
        if self.ok is None:
            return "not ended"
        if self.failure is None:
            return "ok" if self.ok else "failed"
        kind = self.failure.kind
        return "failed" if kind in {*_MISTAKES, "host"} else "denied" if kind == "denied" else f"stopped: {kind}"

    @property
    def tone(self) -> Tone:
        """How it is to be seen."""
        return "good" if self.ok else "wary" if self.ok is None else "bad"


Speaker = Literal["host", "model", "observation", "end", "other"]


@dataclass(frozen=True, slots=True)
class NotRun:
    """A program that a model asked for and that was not run.

    Attributes:
        why: that, in a few words.
        text: the program, or why it could not be read.
    """

    why: str
    text: Text


@dataclass(frozen=True, slots=True)
class Spoken:
    """Something that was said for a task.

    Attributes:
        speaker: who said it: the host, the model, what told the model of a run, or the end; `other` is none
            of these.
        kind: what it is called in the journal.
        text: what was said.
        time: when, seconds since the epoch.
        asks: how many programs it asks for.
        notes: what else there is to know of it.
        not_run: programs that it asks for and that were not run.
    """

    speaker: Speaker
    kind: str
    text: Text
    time: float
    asks: int = 0
    notes: tuple[str, ...] = ()
    not_run: tuple[NotRun, ...] = ()


Tried = Failure | Line | CallNode | ProposalNode
"""What was tried and did not come to pass."""


@dataclass(frozen=True, slots=True)
class Trace:
    """A task or a run, as it is shown.

    Attributes:
        title: what it is.
        ended: how it ended, in a few words.
        tone: how that is to be seen.
        asked: what was asked for; None where that is not known.
        answer: the last that the model said, where it asked for nothing more; None where it did not.
        steps: what was said and what was run, in the order of time.
        runs_left_out: how many runs are not shown.
        said_left_out: how many things that were said are not shown.
    """

    title: str
    ended: str
    tone: Tone
    asked: Spoken | None
    answer: Spoken | None
    steps: tuple[Spoken | RunNode, ...]
    runs_left_out: int = 0
    said_left_out: int = 0

    @property
    def runs(self) -> tuple[RunNode, ...]:
        """The runs that are shown."""
        return tuple(step for step in self.steps if isinstance(step, RunNode))

    def refused(self) -> Iterator[tuple[RunNode, Tried]]:
        """All that was tried and did not come to pass, and that a reviewer should see first, with its run.

        Returns:
            Failures of runs that were denied or stopped, lines that name what was not granted, and calls and proposals
            that were refused.
        """
        for run in self.runs:
            if run.failure is not None and run.failure.kind not in _MISTAKES:
                yield run, run.failure
            yield from ((run, line) for line in run.program if line.not_granted)
            yield from ((run, call) for call in run.calls if call.state == "refused")
            yield from ((run, one) for one in run.proposals if one.fate is not None and one.fate.tone == "bad")


_MISTAKES = frozenset({"syntax", "runtime", "tool", "value"})
"""Kinds of failures that any program may have."""
