"""How a trace is made of what a journal and an outbox have on record."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, fields, replace

from codeact import excerpts
from codeact.engines import Answer
from codeact.journal import CallRecord, RunRecord
from codeact.limits import FUEL
from codeact.outbox import Entry, Step
from codeact.proposals import Proposal
from codeact.renderings import written
from codeact.result import Error, Result
from codeact.trace.cuts import Bounds, Text, cut
from codeact.trace.tree import CallNode, Failure, Fate, Line, ProposalNode, RunNode
from codeact.trace.wording import many, span_of, step_of


@dataclass(frozen=True, slots=True)
class Fates:
    """What an outbox knows of a task.

    Attributes:
        entries: by their action and their digest.
        history: gives the steps that an entry has taken, by its id.
    """

    entries: Mapping[tuple[str, str], Entry]
    history: Callable[[str], Sequence[Step]]


AT_A_LINE = 3
"""Calls that are shown at the line that made them."""


def run_node(record: RunRecord, number: int, bounds: Bounds, fates: Fates) -> RunNode:
    """A run.

    Args:
        record: what the journal knows of it.
        number: its place in the trace.
        bounds: what is shown.
        fates: what the outbox knows of its proposals.
    """
    head, result = record.head, record.result
    calls = tuple(_call(call, bounds) for call in _chosen(record.calls, bounds.calls))
    lines, left_out = _lines(record, calls, bounds)
    proposals = result.proposals if result is not None else ()
    return RunNode(
        number=number,
        id=head.id,
        began=head.began,
        wall=head.wall,
        ok=head.ok,
        about=tuple(_about(record)),
        program=lines,
        lines_left_out=left_out,
        calls=calls,
        calls_made=tuple(Counter(call.state for call in record.calls).most_common()),
        proposals=tuple(_proposal(one, head.ok is False, bounds, fates) for one in proposals[: bounds.proposals]),
        proposals_left_out=max(len(proposals) - bounds.proposals, 0),
        output=cut(result.stdout, bounds.output) if result is not None else Text(""),
        value=cut(written(result.value), bounds.value) if result is not None and result.ok else None,
        failure=_failure(result.error, bounds) if result is not None and result.error is not None else None,
        notes=tuple(cut(note, bounds.value) for note in _notes(result)) if result is not None else (),
        costs=tuple(_costs(record)),
    )


def _chosen(calls: Sequence[CallRecord], most: int) -> list[CallRecord]:
    """The calls that are shown, where there are too many: half of the room is for what did not go well."""
    if len(calls) <= most:
        return list(calls)
    seen = {call.seq: call for call in [call for call in calls if call.state != "ok"][: most // 2]}
    for call in calls:
        if len(seen) == most:
            break
        seen.setdefault(call.seq, call)
    return [seen[seq] for seq in sorted(seen)]


def _call(call: CallRecord, bounds: Bounds) -> CallNode:
    arguments, brief = None, f"{call.name[:_NAME]}(…)"
    if call.args is not None:
        kwargs = call.kwargs or {}
        brief = excerpts.call(call.name[:_NAME], call.args, kwargs)
        each = [*map(written, call.args), *(f"{name}={written(value)}" for name, value in kwargs.items())]
        arguments = cut(", ".join(each), bounds.argument)
    answered = isinstance(call.answer, Answer)
    match call.answer:
        case None:
            answer = None
        case Answer(value):
            answer = cut(written(value), bounds.argument)
        case refusal:
            answer = cut(f"{refusal.type}: {refusal.message}", bounds.argument)
    return CallNode(
        seq=call.seq,
        name=call.name[:_NAME],
        brief=brief,
        arguments=arguments,
        answer=answer,
        answered=answered,
        state=call.state,
        line=call.line,
        began=call.began,
        duration=call.duration,
    )


_NAME = 200
"""Characters of a name that are shown: a program may ask for a tool of any."""


_NAMES = re.compile(r"""\b(tools|actions)\s*(?:\.\s*([^\W\d]\w*)|\[\s*(["'])(\w+)\3\s*\])""")

_OWN = frozenset(dir(Mapping))
"""What `tools` and `actions` have beside what was granted."""


def _lines(record: RunRecord, calls: Iterable[CallNode], bounds: Bounds) -> tuple[tuple[Line, ...], int]:
    made = Counter(call.line for call in record.calls)
    at: defaultdict[int | None, list[CallNode]] = defaultdict(list)
    for call in calls:
        if len(at[call.line]) < AT_A_LINE:
            at[call.line].append(call)
    granted = {face.name for face in record.faces}
    texts, room = record.source.removesuffix("\n").split("\n"), bounds.program
    lines = []
    for number, text in enumerate(texts, 1):
        if room <= 0:
            break
        bare = text.removesuffix("\r")
        shown = Text(bare[: bounds.line], max(len(bare) - bounds.line, 0))
        more = made[number] - len(at[number])
        lines.append(Line(number, shown, tuple(at[number]), more, tuple(_not_granted(shown.head, granted))))
        room -= len(shown.head) + _A_LINE
    return tuple(lines), len(texts) - len(lines)


def _not_granted(text: str, granted: AbstractSet[str]) -> Iterator[str]:
    for where, attribute, _, item in _NAMES.findall(text):
        name = attribute or item
        known = name if where == "tools" else f"actions.{name}"
        if known not in granted and name not in _OWN:
            yield f"{where}.{name[:_NAME]}"


_A_LINE = 64
"""Characters that a line of a program counts for, beside its own: it takes room on a page, however short it is."""


def _proposal(proposal: Proposal, dropped: bool, bounds: Bounds, fates: Fates) -> ProposalNode:
    entry = fates.entries.get((proposal.name, proposal.digest))
    return ProposalNode(
        seq=proposal.seq,
        brief=str(proposal),
        arguments=tuple(
            (name[:_NAME], cut(_to_read(value), bounds.argument)) for name, value in proposal.arguments.items()
        ),
        digest=proposal.digest,
        line=proposal.line,
        dropped=dropped,
        fate=None if entry is None else _fate(entry, fates.history(entry.id), bounds),
    )


def _to_read(value: object) -> str:
    """What somebody decides about: a text of several lines, such as a letter, as it will be read."""
    return value if isinstance(value, str) and "\n" in value else written(value)


STEPS = 20
"""Steps of an entry that are shown: the last ones."""


def _fate(entry: Entry, steps: Sequence[Step], bounds: Bounds) -> Fate:
    earlier = len(steps) - STEPS
    told = [f"… {many(earlier, 'earlier step')} left out …"] if earlier > 0 else []
    told += [step_of(step) for step in steps[-STEPS:]]
    came = None
    if entry.error is not None:
        came = cut(entry.error, bounds.argument)
    elif entry.state == "done":
        came = cut(written(entry.value), bounds.argument)
    return Fate(
        entry=entry.id,
        state=entry.state,
        by=entry.by,
        reason=entry.reason,
        decided=entry.decided,
        ended=entry.ended,
        came=came,
        steps=tuple(cut(text, bounds.argument) for text in told),
    )


def _failure(error: Error, bounds: Bounds) -> Failure:
    where = error.traceback or error.source_line
    rest = (error.cause, error.hint and f"hint: {error.hint}")
    return Failure(
        kind=error.kind,
        message=cut(f"{error.type}: {error.message}" if error.message else error.type, bounds.value),
        line=error.line,
        where=cut(where, bounds.value) if where else None,
        rest=tuple(cut(text, bounds.value) for text in rest if text),
    )


def _about(record: RunRecord) -> Iterator[tuple[str, str]]:
    head, versions = record.head, record.versions
    yield "run", head.id
    for name, value in (("task", head.task), ("tenant", head.tenant), ("session", head.session)):
        if value is not None:
            yield name, value
    if record.earlier:
        yield "after", _some([one or "runs that are not on record" for one in record.earlier])
    yield "engine", head.engine
    ran_on = [f"codeact {versions.codeact}", f"Python {versions.python}"]
    if versions.wasmtime is not None:
        ran_on.append(f"wasmtime {versions.wasmtime}")
    if versions.guest is not None:
        ran_on.append(f"guest {versions.guest[:16]}")
    yield "ran on", ", ".join(ran_on)
    if record.faces:
        yield "could see", _some([face.name for face in record.faces])
    for name, files in (("given files", record.files), ("inputs", record.inputs)):
        if files:
            yield name, _some([f"{path} ({len(data):,} bytes)" for path, data in files.items()])


_NAMED = 50
"""Tools or files that are named."""


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
    return ", ".join(name[:_NAME] for name in names[:_NAMED]) + more


def _notes(result: Result) -> Iterator[str]:
    if result.note:
        yield result.note
    if result.exit_code is not None:
        yield f"exit code {result.exit_code}"
    if result.files:
        told = [
            f"{file.path} ({file.state}{'' if file.data is None else f', {file.size:,} bytes'})"
            for file in result.files
        ]
        yield f"files: {_some(told)}"
    for one in result.truncated:
        yield f"cut: {one.what} stopped after {one.kept:,} characters; at least {one.left_out:,} more left out"


def _costs(record: RunRecord) -> Iterator[tuple[str, str]]:
    """What was used of each limit, and what there is of the others."""
    result, limits = record.result, record.limits
    if limits.fuel is None:
        limits = replace(limits, fuel=FUEL.get(record.head.engine))
    used: dict[str, float | None] = {}
    if result is not None:
        usage = result.usage
        yield "guest time", span_of(usage.guest)
        used = {"timeout": usage.wall, "fuel": usage.fuel, "memory": usage.memory, "calls": usage.calls}
        used["output"] = len(result.stdout)
    for each in fields(limits):
        most, spent = getattr(limits, each.name), used.get(each.name)
        told = _limit(float(most) if each.name == "timeout" and most is not None else most)
        yield each.name, told if spent is None else f"{_limit(spent)} of {told}"


def _limit(most: float | tuple[str, ...] | None) -> str:
    match most:
        case None:
            return "not set"
        case float():
            return span_of(most)
        case int():
            return f"{most:,}"
        case _:
            return ", ".join(most)
