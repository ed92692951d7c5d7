"""A trace as lines of text, for a terminal or a pipe."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from codeact.renderings import visible
from codeact.trace.cuts import Text
from codeact.trace.tree import CallNode, Failure, Line, ProposalNode, RunNode, Spoken, Tone, Trace, Tried
from codeact.trace.wording import day_of, ended_in, many, span_of


@dataclass(frozen=True, slots=True)
class Row:
    """One line.

    Attributes:
        text: what it says; nothing in it steers a terminal.
        tone: how it is to be seen; None for what is neither.
    """

    text: str
    tone: Tone | None = None


def rows_of(trace: Trace) -> Iterator[Row]:
    """The lines of a trace. What is in a program or an answer never begins a line of its own at the margin."""
    yield from _block(0, trace.title)
    yield Row(f"ended: {visible(trace.ended)}", trace.tone)
    for run, what in trace.refused():
        yield from _block(0, f"! program {run.number}, {_tried(what)}", "bad")
    if trace.runs_left_out:
        yield Row(f"… {many(trace.runs_left_out, 'run')} between the first and the last ones left out …", "wary")
    if trace.said_left_out:
        yield Row(f"… {trace.said_left_out:,} of what was said between the first and the last left out …", "wary")
    known: set[tuple[str, str]] = set()
    for step in trace.steps:
        yield Row("")
        if isinstance(step, RunNode):
            yield from _run(step, known)
            known = set(step.about)
        else:
            yield from _said(step)


def _tried(what: Tried) -> str:
    match what:
        case Failure():
            return f"{what.kind}: {what.message.first}"
        case Line():
            return f"line {what.number} names what was not granted: {', '.join(what.not_granted)}"
        case CallNode():
            return f"call {what.seq} refused: {what.brief}"
        case ProposalNode():
            return f"proposal {what.seq} {what.ended}: {what.brief}"


_TITLES = {"host": "the host said", "model": "the model replied", "observation": "the model was told", "end": "the end"}


def _said(step: Spoken) -> Iterator[Row]:
    asks = f", asked for {many(step.asks, 'program')}" if step.asks else ""
    about = asks + "".join(f", {note}" for note in step.notes)
    yield from _block(0, f"{_TITLES.get(step.speaker, step.kind[:100])} ({day_of(step.time)}{about})", "faint")
    yield from _text(1, step.text)
    for program in step.not_run:
        yield Row(f"  it asked for {program.why}:", "wary")
        yield from _text(2, program.text)


def _run(run: RunNode, known: AbstractSet[tuple[str, str]]) -> Iterator[Row]:
    """A run; what is known of it from the one before is not told again."""
    took = "" if run.wall is None else f", {span_of(run.wall)}"
    again = "" if run.same_as is None else f", the same text as program {run.same_as}"
    yield Row(f"program {run.number}: {run.ended} ({day_of(run.began)}{took}{again})", run.tone)
    for name, text in run.about:
        if (name, text) not in known:
            yield from _block(1, f"{name}: {text}", "faint")
    yield from _program(run)
    if run.is_unrecorded:
        yield Row("  calls: not on record, because it has not ended", "wary")
    if run.calls_made:
        yield Row(f"  calls: {ended_in(run.calls_made)}")
        for call in run.calls:
            yield from _call(call)
        if run.calls_left_out:
            yield Row(f"    … {many(run.calls_left_out, 'more call')} left out …", "wary")
    for one in run.proposals:
        yield from _proposal(one)
    if run.proposals_left_out:
        yield Row(f"  … {many(run.proposals_left_out, 'more proposal')} left out …", "wary")
    yield from _ending(run)


def _program(run: RunNode) -> Iterator[Row]:
    width = len(str(len(run.program)))
    for line in run.program:
        gap = f" {line.text.gap}" if line.text.left_out else ""
        yield from _block(1, f"{line.number:>{width}} | {line.text.head}{gap}")
        if line.not_granted:
            yield from _block(1, f"{'':>{width}} ↑ not granted: {', '.join(line.not_granted)}", "bad")
        for call in line.calls:
            yield from _block(1, f"{'':>{width}} ↳ call {call.seq} {call.name} {call.state or 'not ended'}", call.tone)
        if line.more:
            yield Row(f"  {'':>{width}} ↳ {many(line.more, 'more call')}", "faint")
    if run.lines_left_out:
        yield Row(f"  … {many(run.lines_left_out, 'more line')} …", "wary")


def _call(call: CallNode) -> Iterator[Row]:
    where = "" if call.line is None else f", line {call.line}"
    times = f"after {span_of(call.began)}, {span_of(call.duration)}{where}"
    yield from _block(2, f"{call.seq} {call.brief} {call.state or 'not ended'} ({times})", call.tone)
    if call.answer is not None:
        yield from _text(3, call.answer, None if call.answered else "bad")


def _proposal(one: ProposalNode) -> Iterator[Row]:
    where = "" if one.line is None else f" (line {one.line})"
    yield from _block(1, f"proposal {one.seq}: {one.ended}: {one.brief}{where}", one.tone)
    for name, text in one.arguments:
        yield from _block(2, f"{name}: {text.whole}")
    fate = one.fate
    if fate is None:
        if not one.dropped:
            yield Row(
                "    what became of it is not known: no outbox here has it; --outbox FILE says where it is", "wary"
            )
        return
    yield from _block(2, f"entry {fate.entry}", "faint")
    for step in fate.steps:
        yield from _block(2, step.whole)
    if not fate.steps and (fate.decided is not None or fate.reason):
        when = "" if fate.decided is None else f", {day_of(fate.decided)}"
        yield from _block(2, f"decided by {fate.by or 'nobody named'}{when}{f': {fate.reason}' if fate.reason else ''}")
    if fate.came is not None:
        yield from _block(2, f"came of it: {fate.came.whole}")


def _ending(run: RunNode) -> Iterator[Row]:
    if run.output:
        yield Row("  output:")
        yield from _text(2, run.output)
    if run.value is not None:
        yield from _block(1, f"value: {run.value.whole}", "good")
    if run.failure is not None:
        where = "" if run.failure.line is None else f" in line {run.failure.line}"
        yield from _block(1, f"{run.failure.kind}{where}: {run.failure.message.whole}", "bad")
        for text in (run.failure.where, *run.failure.rest):
            yield from _text(2, text) if text else ()
    for note in run.notes:
        yield from _block(1, f"note: {note.whole}")
    used = [f"{name} {text}" for name, text in run.costs if " of " in text]
    if used:
        yield from _block(1, f"used: {', '.join(used)}", "faint")


def _text(depth: int, text: Text, tone: Tone | None = None) -> Iterator[Row]:
    """A text of some lines, all equally far in."""
    for part, shade in ((text.head, tone), (text.gap, "wary"), (text.tail, tone)):
        for line in visible(part).removesuffix("\n").split("\n") if part else ():
            yield Row(f"{'  ' * depth}{line}", shade)


def _block(depth: int, text: str, tone: Tone | None = None) -> Iterator[Row]:
    """A text that begins with what it is; where it has more lines, they stand further in."""
    for number, line in enumerate(visible(text).split("\n")):
        yield Row(f"{'  ' * (depth + (number > 0))}{line}", tone)
