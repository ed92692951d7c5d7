"""A whole trace: what was said and what was run, put in order."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from codeact.journal import ConversationEntry, Journal, JournalError
from codeact.outbox import Entry, Step
from codeact.trace.cuts import RUNS, Bounds, bounds_of, cut
from codeact.trace.reading import Fates, run_node
from codeact.trace.tree import NotRun, RunNode, Speaker, Spoken, Tone, Trace

T = TypeVar("T")

_SPEAKERS: Mapping[str, Speaker] = {
    "task": "host",
    "said": "host",
    "reply": "model",
    "observed": "observation",
    "end": "end",
}
"""Who says what, in the words of an agent's conversation."""

SAID = 500
"""Things that were said that a trace shows: the first and the last ones."""


Knows = Callable[[str], Iterable[Entry]]
"""What an outbox knows of a task, as `codeact.Outbox.entries(task=…)` gives it."""


History = Callable[[str], Sequence[Step]]
"""What has happened to an entry, by its id, as `codeact.Outbox.history` gives it."""


def trace_of(
    journal: Journal, wanted: str, knows: Knows = lambda _task: (), history: History = lambda _entry: ()
) -> Trace:
    """The trace of a task or a run.

    Args:
        journal: where it is on record.
        wanted: a task, or the id of a run; or as much of its beginning as no other task or run has.
        knows: gives what an outbox knows of a task; without it, nothing is known of what became of proposals.
        history: gives all that has happened to an entry; without it, only how it is now is known.

    Raises:
        LookupError: there is no such task or run, or more than one.
        JournalError: it cannot be read.
    """
    tasks = [record.task for record in journal.tasks()]
    if wanted in tasks:
        return _task_trace(journal, wanted, _fates(knows(wanted), history))
    found = [task for task in tasks if task.startswith(wanted)]
    found += [head.id for head in journal.runs(begins=wanted)]
    if not wanted or len(found) != 1:
        raise _not_found(wanted, found)
    if found[0] in tasks:
        return _task_trace(journal, found[0], _fates(knows(found[0]), history))
    record = journal.run(found[0])
    run = run_node(record, 1, bounds_of(1), _fates(knows(record.head.task or record.id), history))
    return Trace(f"Run {run.id}", run.ended, run.tone, None, None, (run,))


_NAMED = 3
"""Tasks and runs that an error names."""


def _not_found(wanted: str, found: Sequence[str]) -> LookupError:
    shown = f"{wanted[:100]!r}"
    if not wanted or not found:
        return LookupError(f"{shown}: there is no task or run of that name, and none that begins so")
    some = ", ".join(found[:_NAMED]) + (f" and {len(found) - _NAMED:,} more" if len(found) > _NAMED else "")
    return LookupError(f"{shown}: several begin so: {some}; give more of it")


def _task_trace(journal: Journal, task: str, fates: Fates) -> Trace:
    """The trace of a task: its runs, in the order in which they began, and its conversation."""
    heads, said = journal.runs(task=task)[::-1], journal.conversation(task).entries()
    chosen = _ends(heads, RUNS)
    left_out = len(heads) - len(chosen)
    bounds = bounds_of(len(chosen))
    nodes, damaged = [], []
    sources: dict[str, int] = {}
    for number, head in enumerate(chosen, 1):
        try:
            record = journal.run(head.id)  # one after the other: they may be large
        except JournalError as error:
            damaged.append(Spoken("other", "a run that cannot be read", cut(str(error), bounds.value), head.began))
            continue
        first = sources.setdefault(record.source.strip(), number)
        nodes.append(replace(run_node(record, number, bounds, fates), same_as=None if first == number else first))
    complete = not left_out and not damaged
    spoken = [_spoken(entry, bounds, sources, complete=complete) for entry in _ends(said, SAID)]
    steps: list[Spoken | RunNode] = [*spoken, *damaged, *nodes]
    steps.sort(key=lambda step: step.time if isinstance(step, Spoken) else step.began)
    end = said[-1].data if said and said[-1].kind == "end" else None
    replies = [step for step in spoken if step.speaker != "end"]
    answer = replies[-1] if replies and replies[-1].speaker == "model" and not replies[-1].asks else None
    ended, tone = _ended(nodes, end, answer, talked=bool(said))
    return Trace(
        title=f"Task {task}",
        ended=ended,
        tone=tone,
        asked=next((step for step in spoken if step.speaker == "host"), None),
        answer=answer if tone == "good" else None,
        steps=tuple(steps),
        runs_left_out=left_out,
        said_left_out=len(said) - len(spoken),
    )


def _ends(items: Sequence[T], most: int) -> list[T]:
    """The first and the last ones, where there are too many."""
    return [*items] if len(items) <= most else [*items[: most // 2], *items[-(most // 2) :]]


def _fates(entries: Iterable[Entry], history: History) -> Fates:
    return Fates({(entry.name, entry.digest): entry for entry in entries}, history)


def _ended(runs: Sequence[RunNode], end: object, answer: Spoken | None, *, talked: bool) -> tuple[str, Tone]:
    if isinstance(end, dict):
        stop, why = str(end.get("stop", "ended"))[:_WORDS], str(end.get("why", ""))[:_WORDS]
        return ("answered", "good") if stop == "answered" else (f"{stop}: {why}", "bad")
    if answer is not None:
        return "answered", "good"
    if talked:
        return "not ended; it goes on when it is run again under the same id", "wary"
    if not runs:
        return "nothing was run", "faint"
    return runs[-1].ended + " (the last of its runs)" * (len(runs) > 1), runs[-1].tone


_WORDS = 500
"""Characters of why a task ended."""


def _spoken(entry: ConversationEntry, bounds: Bounds, sources: Collection[str], *, complete: bool) -> Spoken:
    """What was said, in whatever words the journal has it: whoever wrote it may have been of another version."""
    data = entry.data if isinstance(entry.data, dict) else {}
    speaker = _SPEAKERS.get(entry.kind, "other")
    told = data.get("why" if speaker == "end" else "text")
    if not isinstance(told, str):
        speaker, told = "other", json.dumps(entry.data, ensure_ascii=False, indent=1)
    asks = data.get("programs")
    return Spoken(
        speaker=speaker,
        kind=entry.kind,
        text=cut(told, bounds.value),
        time=entry.time,
        asks=len(asks) if speaker == "model" and isinstance(asks, list) else 0,
        notes=tuple(_notes(data)) if speaker == "model" else (),
        not_run=tuple(_not_run(data, bounds, sources)) if speaker == "model" and complete else (),
    )


def _notes(data: Mapping[str, Any]) -> Iterator[str]:
    if data.get("ending") not in {None, "done"}:
        yield f"ended: {str(data['ending'])[:_NAME]}"
    match data.get("tokens"):
        case {"read": int(read), "written": int(wrote)} if read or wrote:
            yield f"{read:,} tokens read, {wrote:,} written"


_NAME = 40
"""Characters of a word of the model's provider."""


def _not_run(data: Mapping[str, Any], bounds: Bounds, sources: Collection[str]) -> Iterator[NotRun]:
    programs = data.get("programs")
    for asked in programs if isinstance(programs, list) else ():
        if not isinstance(asked, dict):
            continue
        code, unreadable = asked.get("code"), asked.get("unreadable")
        if not isinstance(code, str):
            yield NotRun("a program that could not be read", cut(str(unreadable), bounds.value))
        elif code.strip() not in sources:
            yield NotRun("a program that is not among the runs", cut(code, bounds.value))
