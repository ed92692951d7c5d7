"""What it costs to keep records: of runs, to run them again, and of consequences, to perform them once.

These are codeact's alone, and measured in the benchmark's own process. Files are in a directory for temporary ones.
"""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from benchmarks.contest import Measure, Trial
from benchmarks.contestant import Contestant
from benchmarks.measure import timed
from codeact import Agent, Allow, Journal, Limits, Outbox, Sandbox, action, tool
from codeact.proposals import Proposal, digest_of
from codeact.testing.models import Program, ScriptedModel
from codeact.trace import page_of, trace_of

CALLS = 1_000
LIMITS = Limits(timeout=60.0)
MANY_CALLS = f"for n in range({CALLS}):\n    tools.next_to(n)"
TEN_THOUSAND_CALLS = "for n in range(10_000):\n    tools.next_to(n)"
MANY_PROPOSALS = f"for n in range({CALLS}):\n    actions.book(n)"


@tool
def next_to(number: int) -> int:
    """The number after this one."""
    return number + 1


@action
def book(number: int, *, idempotency_key: str) -> str:
    """Book a number."""
    return f"{number} {idempotency_key}"


@contextmanager
def _folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="codeact-benchmark-") as name:
        yield Path(name)


def _sandbox(who: Contestant, journal: Journal | None = None) -> Sandbox:
    return Sandbox([next_to], actions=[book], engine=who.name, limits=LIMITS, journal=journal)


def _run(sandbox: Sandbox, program: str) -> None:
    assert sandbox.run(program).ok, program


def _kept(who: Contestant, _reference: Contestant, rounds: int, *, program: str, parts: int) -> list[float]:
    """What a journal adds to a program, for each of its parts; runs with and without one take turns."""
    with _folder() as folder, Journal(folder / "runs.sqlite") as journal:
        kept, plain = _sandbox(who, journal), _sandbox(who)
        _run(kept, program)
        _run(plain, program)
        with_one, without = partial(_run, kept, program), partial(_run, plain, program)
        pairs = [(_timed(with_one), _timed(without)) for _ in range(rounds)]
    return [(more - less) / parts for more, less in pairs]


def _replayed(who: Contestant, _reference: Contestant, rounds: int, *, program: str) -> list[float]:
    with _folder() as folder, Journal(folder / "runs.sqlite") as journal:
        sandbox = _sandbox(who, journal)
        result = sandbox.run(program)

        def replay() -> None:
            assert sandbox.replay(result.run).same

        return timed(replay, rounds=rounds, warmup=2)


def _paged(who: Contestant, _reference: Contestant, rounds: int, *, size: bool) -> list[float]:
    """Seconds that a page of a run of many calls takes, from the journal to its text; or its bytes."""
    with _folder() as folder, Journal(folder / "runs.sqlite") as journal:
        result = _sandbox(who, journal).run(TEN_THOUSAND_CALLS)
        assert result.ok, result.error

        def page() -> str:
            return page_of(trace_of(journal, result.run))

        return [float(len(page().encode()))] * rounds if size else timed(page, rounds=rounds, warmup=1)


def _proposed(who: Contestant, _reference: Contestant, rounds: int) -> list[float]:
    sandbox = _sandbox(who)
    return [took / CALLS for took in timed(partial(_run, sandbox, MANY_PROPOSALS), rounds=rounds, warmup=1)]


def _performed(_who: Contestant, _reference: Contestant, rounds: int, *, on_disk: bool) -> list[float]:
    with _folder() as folder:
        path: str | Path = folder / "outbox.sqlite" if on_disk else ":memory:"
        with Outbox(path, actions=[book], rules=[Allow("book")]) as outbox:
            numbers = itertools.count()

            def perform() -> None:
                arguments = {"number": next(numbers)}
                outbox.submit([Proposal(1, "book", arguments, digest_of("book", arguments))], task="benchmark")
                (entry,) = outbox.perform()
                assert entry.state == "done", entry

            return timed(perform, rounds=rounds, warmup=3)


def _turn(who: Contestant, _reference: Contestant, rounds: int) -> list[float]:
    """A task of one program and an answer, less the same program in a session."""
    sandbox = _sandbox(who)

    def task() -> None:
        assert Agent(ScriptedModel([Program("1+1"), "2"]), sandbox).run("?").answer == "2"

    def session() -> None:
        with sandbox.session() as one:
            assert one.run("1+1").value == 2

    pairs = [(_timed(task), _timed(session)) for _ in range(rounds + 3)][3:]
    return [more - less for more, less in pairs]


def _timed(function: Callable[[], None]) -> float:
    (seconds,) = timed(function, rounds=1, warmup=0)
    return seconds


def _cases() -> Iterator[Trial]:
    ours = ("wasm", "restricted")
    added: Measure = partial(_kept, program="1+1", parts=1)
    yield Trial(
        "a run in a journal", "ms", "1+1 with a journal in a file, less without, in turns", 200, added, only=ours
    )
    added = partial(_kept, program=MANY_CALLS, parts=CALLS)
    yield Trial("a call in a journal", "µs", "the same of 1,000 calls, divided by them", 10, added, only=ours)
    yield Trial(
        "a run replayed", "ms", "1+1 from the journal, compared", 100, partial(_replayed, program="1+1"), only=ours
    )
    note = "1,000 calls from the journal, compared"
    yield Trial("1,000 calls replayed", "ms", note, 10, partial(_replayed, program=MANY_CALLS), only=ours)
    note = "the page of a run of 10,000 calls, made from the journal"
    yield Trial("a trace page", "s", note, 5, partial(_paged, size=False), only=("restricted",))
    yield Trial("a trace page's size", "MB", note, 1, partial(_paged, size=True), only=("restricted",))
    note = "a run of 1,000 proposals that differ, divided by them"
    yield Trial("one proposal", "µs", note, 10, _proposed, only=ours)
    note = "submitted, approved by a rule, performed; each step on the disk before the next"
    yield Trial("one consequence, in a file", "ms", note, 50, partial(_performed, on_disk=True), only=("python",))
    note = "the same in memory"
    yield Trial("one consequence, in memory", "ms", note, 200, partial(_performed, on_disk=False), only=("python",))
    note = "a task of one program and an answer, less the program in a session, in turns"
    yield Trial("a task of an agent", "ms", note, 100, _turn, only=ours)


CASES = tuple(_cases())
