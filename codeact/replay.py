"""Replay: a run that is on record, run again from its tape, and compared with what it was."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Self

from codeact.actions import Actions
from codeact.audit import SILENT
from codeact.completion import complete, complete_async, refuse_in_a_loop
from codeact.engines import Engine
from codeact.errand import Errand
from codeact.excerpts import excerpt
from codeact.execution import Ended
from codeact.grant import Grant, Place
from codeact.journal import NoHistory, RunRecord
from codeact.journal.recording import is_ready, versions_of
from codeact.lifecycle import Life
from codeact.limits import DEEPEST, MOST_SECONDS, Limits
from codeact.result import Result
from codeact.tape import Answered, Player
from codeact.tools import Toolset
from codeact.values import encode
from codeact.world import PastRun, World
from wasm_runtime.guest.codec import decode
from wasm_runtime.guest.names import ACTIONS

PATIENCE = 60.0
"""Seconds that a run gets which was not stopped by the clock: this machine may be slower."""

SPARE = 10_000
"""Units of fuel that a run which was stopped by the clock gets beyond those that it had used."""


class ReplayError(RuntimeError):
    """A run cannot be run again; the message says why, and what would help."""


@dataclass(frozen=True, slots=True)
class Replayed:
    """What came of running a program again.

    Attributes:
        recorded: the run as it was.
        result: what it gave this time. Its calls are those on record, as far as the program made them again: no tool was
            called.
        diverged: the first thing that it did otherwise, and at which call; None where it did the same.
        unfinished: why not all of it could be compared, where it was not the program that ended it; otherwise None.
    """

    recorded: RunRecord
    result: Result
    diverged: str | None = None
    unfinished: str | None = None

    @property
    def same(self) -> bool:
        """Whether all of it is what is on record, to the bit: value, error, output, files, calls and units of fuel."""
        return self.diverged is None and self.unfinished is None


def replay(grant: Grant, run: str) -> Replayed:
    """Run a program again; see `Sandbox.replay`."""
    refuse_in_a_loop()
    with _Rerun(grant, run).under_way() as rerun:
        for past in rerun.earlier:
            rerun.settle(past, complete(rerun.grant, *rerun.world.again(past)))
        return rerun.compared(complete(rerun.grant, *rerun.last()))


async def replay_async(grant: Grant, run: str) -> Replayed:
    """Run a program again; see `Sandbox.replay_async`."""
    with _Rerun(grant, run).under_way() as rerun:
        for past in rerun.earlier:
            rerun.settle(past, await complete_async(rerun.grant, *rerun.world.again(past)))
        return rerun.compared(await complete_async(rerun.grant, *rerun.last()))


class _Rerun:
    """A run that is run again: the programs that lead to it, and the world that they get."""

    def __init__(self, grant: Grant, run: str) -> None:
        if grant.recording is None:
            msg = "this sandbox has no journal that a run could be replayed from: Sandbox(…, journal=Journal(path))"
            raise ValueError(msg)
        journal = grant.recording.journal
        self.record = record = journal.run(run)
        try:
            *self.earlier, self._past = journal.history(record.id)
        except NoHistory as error:
            raise ReplayError(str(error)) from error
        engine = _engine(grant.engine, record)
        self.here = versions_of(engine)
        self.grant = Grant(engine, Toolset(()), Actions(), record.faces, _limits(record), inputs=record.inputs)
        self._life = Life(SILENT, self.grant.limits)
        self.world = World(self.grant, self._life)
        self._player = Player(self._past.tape, self.grant.limits)

    @contextmanager
    def under_way(self) -> Iterator[Self]:
        """In the end its world is destroyed."""
        try:
            yield self
        finally:
            self.world.forget()

    def settle(self, past: PastRun, ended: Ended) -> None:
        """Take note of what an earlier program has left behind.

        Raises:
            ReplayError: it did not do what it had done.
        """
        number = self.world.number
        why = self.world.settle_again(past, ended)
        if why is not None:
            msg = f"program {number} of its session, run {past.run}, did otherwise: {why}{self._else()}"
            raise ReplayError(msg)

    def last(self) -> tuple[Errand, Place]:
        """What is to be run in the end, and where."""
        return Errand(self._past.source, self._past.files), self.world.place(self._player)

    def compared(self, ended: Ended) -> Replayed:
        """What came of the last program, and whether that is what is on record."""
        self._life.instance = ended.instance  # for `under_way` to destroy
        record, player, was = self.record, self._player, _result(self.record)
        calls = was.calls[: player.made]
        usage = replace(ended.result.usage, calls=len(calls))
        proposals = was.proposals[: _proposed(player)]
        result = replace(ended.result, run=record.id, calls=calls, proposals=proposals, usage=usage)
        diverged = _divergence(was, result, player)
        if diverged is None:
            return Replayed(record, result)
        if record.cut is not None and _came_as_far(was, result, player):
            why = f"{record.cut} ended it, and not the program; as far as both came it did the same"
            return Replayed(record, result, unfinished=why)
        return Replayed(record, result, f"{diverged}{self._else()}")

    def _else(self) -> str:
        """What else is not as it was, and may be the cause."""
        then, here = self.record.versions, self.here
        found = [
            f"{name} was {_short(getattr(then, name))} and is {_short(getattr(here, name))}"
            for name in ("codeact", "guest", "wasmtime", "python")
            if getattr(then, name) != getattr(here, name)
        ]
        if then.hashing != here.hashing:
            found.append("this process hashes texts otherwise (PYTHONHASHSEED), which gives sets another order")
        return f" ({'; '.join(found)})" if found else ""


def _engine(engine: Engine, record: RunRecord) -> Engine:
    """An engine whose worlds are as the run's was."""
    name = record.head.engine
    if engine.name != name:
        msg = f"run {record.id} ran on engine={name!r}, and this sandbox has engine={engine.name!r}"
        raise ReplayError(msg)
    if not record.ready:
        return engine.local if is_ready(engine) else engine  # type: ignore[attr-defined]  # those that are ready have one
    from codeact.engines.ready import ReadyEngine  # noqa: PLC0415 - only where it is asked for
    from codeact.engines.wasm import WasmEngine  # noqa: PLC0415 - as above

    local = getattr(engine, "local", engine)
    if not isinstance(local, WasmEngine) or (local is not engine and not is_ready(engine)):
        msg = f"run {record.id} had a world that was made ready, which there is not with workers: replay it without"
        raise ReplayError(msg)
    return ReadyEngine(local, 0, record.limits)


def _limits(record: RunRecord) -> Limits:
    """The limits that it had; its time, which is not the program's doing, where they have stopped it by that."""
    limits = replace(record.limits, session_idle=MOST_SECONDS, session_lifetime=MOST_SECONDS)
    was = _result(record)
    if was.error is None or was.error.kind != "timeout":
        return replace(limits, timeout=max(limits.timeout, PATIENCE))
    if record.tape.end is None and was.usage.fuel and not record.earlier:
        return replace(limits, fuel=was.usage.fuel + SPARE)  # it need not wait for the clock once more
    return limits


def _result(record: RunRecord) -> Result:
    if record.result is None:
        msg = f"run {record.id} has not ended"
        raise ReplayError(msg)
    return record.result


def _divergence(was: Result, now: Result, player: Player) -> str | None:
    """The first thing that a program did otherwise."""
    if player.diverged is not None:
        return player.diverged
    calls = player.tape.calls
    if player.made < len(calls):
        missed = calls[player.made]
        return f"at call {player.made + 1} it ends where a call of {missed.name} was recorded{_line(missed.line)}: it {_ended(now)}"
    if was.error != now.error:
        return f"it {_ended(now)}, and had {_ended(was)}"
    if encode(was.value, DEEPEST) != encode(now.value, DEEPEST):
        return f"its value is {excerpt(now.value)}, and was {excerpt(was.value)}"
    if was.stdout != now.stdout:
        return f"its output differs from line {_first_other_line(was.stdout, now.stdout)} on"
    if was.files != now.files:
        return f"the file {_first_other_file(was, now)} is another one"
    if (was.exit_code, was.truncated) != (now.exit_code, now.truncated):
        return "its exit code or the cuts of its output are others"
    if was.usage.fuel != now.usage.fuel:
        return f"all it did is the same, in {now.usage.fuel:,} units of fuel, and had taken {was.usage.fuel:,}"
    return None


def _proposed(player: Player) -> int:
    """How many proposals a program made again."""
    calls = player.tape.calls[: player.made]
    answers = [call.answer for call in calls if call.name.startswith(ACTIONS) and isinstance(call.answer, Answered)]
    found = [decode(answer.text) for answer in answers if answer.kind == "Answer"]
    return max((each["proposal"] for each in found if isinstance(each, dict)), default=0)


def _came_as_far(was: Result, now: Result, player: Player) -> bool:
    """Whether a run that was ended from outside did the same now, up to where either was ended."""
    if player.diverged is not None:
        same = player.beyond
    else:  # it may have come less far than it did then only where it was ended from outside again
        stopped = now.error is not None and now.error.kind in {"timeout", "fuel", "memory"}
        same = stopped or player.made == len(player.tape.calls)
    return same and (was.stdout.startswith(now.stdout) or now.stdout.startswith(was.stdout))


def _ended(result: Result) -> str:
    error = result.error
    if error is None:
        return "finished"
    return f"failed{_line(error.line or 0)} with {error.type}: {excerpt(error.message, 200)}"


def _line(line: int) -> str:
    return f" at line {line}" if line else ""


def _first_other_line(was: str, now: str) -> int:
    one, other = was.split("\n"), now.split("\n")
    same = zip(one, other, strict=False)
    return next(
        (number for number, (left, right) in enumerate(same, 1) if left != right), min(len(one), len(other)) + 1
    )


def _first_other_file(was: Result, now: Result) -> str:
    one, other = ({file.path: file for file in result.files} for result in (was, now))
    return min(path for path in one | other if one.get(path) != other.get(path))


def _short(version: object) -> str:
    return str(version)[:12]
