"""One run, from the program's text to its result."""

from __future__ import annotations

import atexit
import contextvars
import logging
import math
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from codeact.audit import Trail, Unrecorded, events, trail
from codeact.calls import Door
from codeact.engines import Doors, Engine, Fault, Instance, Outcome, Program
from codeact.entropy import fresh
from codeact.errand import Errand, Past
from codeact.errors import build
from codeact.files import File, compared, leaving
from codeact.grant import Deadline, Grant, Place
from codeact.notes import note_of, withheld
from codeact.offer import Offer
from codeact.output import Output
from codeact.portal import Portal
from codeact.proposals import Proposal
from codeact.result import Call, Result, Usage
from codeact.source import Reading, is_unread, readings, unfit
from codeact.tape import Player, Recorder
from codeact.threads import threads

if TYPE_CHECKING:
    from codeact.journal.recording import Recording

log = logging.getLogger("codeact")

Made = TypeVar("Made", Call, Proposal)
"""What a program has done at a line."""

AT_EXIT = 0.5
"""Seconds that guests get to stop when the process exits: a thread must not be inside wasm when it is ended."""


GRACE = 0.2
"""Seconds after the deadline that a guest gets to notice it, and coroutines to end, before the run is abandoned."""


@dataclass(frozen=True, slots=True)
class Ended:
    """A run that is over.

    Attributes:
        result: what it gave.
        reading: the program.
        outcome: what the engine said; None when the run was abandoned and may still use its world.
        instance: the world it ran in; None where it was not begun, or was abandoned.
        keep: puts what leaves of it in the journal, where there is one, and gives what may leave.
    """

    result: Result
    reading: Reading
    outcome: Outcome | None
    instance: Instance | None
    keep: Callable[[Result], Result]


class Execution:
    """One run. It happens on a worker, while the caller waits as long as it likes and then takes the result."""

    def __init__(self, grant: Grant, errand: Errand, portal: Portal, place: Place | None) -> None:
        self._grant = grant
        self._reading = Reading(errand.source, errand.source)
        self._files = errand.files
        self._place = place
        self._errand = errand
        self._passage = _passage(grant, place)
        self._recording: Recording | None = None
        self._id = fresh(b"run", 16).hex()
        if place is None:
            self._trail = Trail(grant.audit, self._id, tenant=errand.tenant)
        else:
            self._trail = Trail(place.trail.audit, self._id, place.trail.session, place.trail.tenant)
        self._started = time.monotonic()
        self._deadline = Deadline(grant.limits, place.until if place else math.inf)
        offer = Offer(grant.tools, grant.actions, grant.limits, grant.catalogue)
        self.door = Door(offer, grant.limits, self._deadline, portal, self._trail)
        self._output = Output(grant.limits.output)
        self._lock = threading.Lock()
        self._outcome: Outcome | None = None
        self._instance: Instance | None = place.instance if place else None
        self._begun = False
        self._abandoned = False
        self._unchecked: str | None = None

    def start(self, finished: Callable[[], None]) -> Execution:
        """Start it; `finished` is called on the worker when it has come to its end."""
        fault = self._spawned() or self._recorded() or unfit(self._reading.written, self._grant.limits.source)
        if fault is not None:
            self._outcome = Outcome(fault=fault)
            self.door.close()
            finished()
            return self
        context = contextvars.copy_context()
        if self._trail.audit is not None:
            context.run(trail.set, self._trail)
        _live.add(self)

        def job() -> None:
            try:
                context.run(self._execute, finished)
            finally:
                _live.discard(self)

        try:
            threads.submit(job)
        except RuntimeError as error:  # the process can have no more threads
            _live.discard(self)
            self._outcome = Outcome(fault=Fault("host", "RuntimeError", f"no thread to run on: {error}"))
            self.door.close()
            finished()
        return self

    def left(self) -> float:
        """Seconds until the deadline, at least zero; where it was put off, until it must be looked at again."""
        return min(self._deadline.left(), self._grant.limits.timeout)

    def grace(self) -> float:
        """Seconds that what it has begun still gets to end; none of them is later than `GRACE` after the deadline."""
        return min(GRACE, max(0.0, self._deadline.at + GRACE - time.monotonic()))

    def abandon(self) -> None:
        """End it without waiting for its outcome; its world is destroyed when it has left it."""
        self.door.close()
        with self._lock:
            self._abandoned = self._abandoned or self._outcome is None

    def cancelled(self) -> None:
        """End it without a result: whoever wanted one has gone. A session's world goes with it."""
        self.abandon()
        if self._place is not None and self._instance is not None and not self._abandoned:
            self._instance.close()  # the run has left it, and nobody comes back
        fault = Fault("host", "CancelledError", "nobody waits for the result any more")
        result = self._result(Outcome(fault=fault))
        self._finished(result)
        self.keep(result)

    def ended(self) -> Ended:
        """The result, or what is known of it when the run was abandoned at its deadline."""
        outcome = self._outcome or Outcome(fault=self.door.stop)
        unrecorded = self.door.unrecorded
        result = self._result(outcome) if unrecorded is None else self._withheld(outcome, unrecorded)
        lost = self._finished(result)  # whoever takes it is told of the end, whatever else was not taken
        if lost is not None and unrecorded is None:
            result = self._withheld(outcome, lost)
        left = not self._abandoned
        instance = self._instance if left and self._begun else None
        return Ended(result, self._reading, self._outcome if left else None, instance, self.keep)

    def keep(self, result: Result) -> Result:
        """Put what leaves on record, where there is a journal.

        Returns:
            What may leave: no more than is on record.
        """
        if self._recording is None or not isinstance(self._passage, Recorder):
            return result
        tape = self._passage.tape
        if self._outcome is None:  # it was abandoned, and may still write to its tape
            tape = replace(tape, calls=[*tape.calls], heard=[*tape.heard], end=tape.end or self.door.stop)
        try:
            self._recording.end(self._id, result, tape)
        except Unrecorded as error:
            return self._withheld(self._outcome or Outcome(), events.unrecorded(error))
        return result

    def _withheld(self, outcome: Outcome, fault: Fault) -> Result:
        """The result of a run of which something is not on record: nothing of it leaves."""
        nothing = Outcome(fault=fault, fuel=outcome.fuel, memory=outcome.memory)
        return replace(self._result(nothing), stdout="", truncated=())

    def _spawned(self) -> Fault | None:
        """Put its beginning on record. Gives why that failed."""
        return events.recorded(
            events.spawn, self._trail, self._grant.engine.name, self._reading.written, len(self._files)
        )

    def _recorded(self) -> Fault | None:
        """Put in the journal that it is begun. Gives why that failed."""
        if self._grant.recording is None or not isinstance(self._passage, Recorder):
            return None
        past = Past() if self._place is None else self._place.past
        try:
            self._grant.recording.begin(self._id, self._errand, self._trail, past)
        except Unrecorded as error:
            return events.unrecorded(error)
        self._recording = self._grant.recording
        return None

    def _finished(self, result: Result) -> Fault | None:
        """Put its end on record. Gives why that failed."""
        return events.recorded(events.exit_of, self._trail, result)

    def _result(self, outcome: Outcome) -> Result:
        calls = tuple(map(self._placed, self.door.calls))
        wall = time.monotonic() - self._started
        error = (
            None
            if outcome.fault is None
            else build(outcome.fault, self._reading, self._place.earlier if self._place else None)
        )
        files: tuple[File, ...] = ()
        kept: tuple[File, ...] = ()
        if outcome.files:
            files = compared(outcome.files, {**self._inputs(), **self._files}, self._place.files if self._place else {})
            files, kept = leaving(files, self._grant.limits.file_types)
        notes = (note_of(outcome, self._reading), self._unchecked, withheld(kept, self._grant.limits.file_types))
        return Result(
            ok=error is None,
            value=outcome.value if error is None else None,
            error=error,
            stdout=self._output.text,
            note="; ".join(filter(None, notes)) or None,
            calls=calls,
            usage=Usage(
                wall=wall,
                guest=max(0.0, wall - self.door.busy),
                fuel=outcome.fuel,
                memory=outcome.memory,
                calls=len(calls),
            ),
            files=files,
            truncated=self._output.truncations,
            exit_code=_status(outcome.exit_code),
            run=self._id,
            proposals=tuple(map(self._placed, self.door.proposals)),
            shown=self._grant.limits.shown,
        )

    def _placed(self, made: Made) -> Made:
        """A call or a proposal with its line as it is in what the model wrote."""
        if made.line is None or self._reading.text is self._reading.written:
            return made
        return replace(made, line=self._reading.line(made.line).number)

    def _inputs(self) -> Mapping[str, bytes]:
        """What is put into a fresh world beside the run's own files."""
        return {} if self._place is not None and self._place.earlier else self._grant.inputs

    def _execute(self, finished: Callable[[], None]) -> None:
        doors = Doors(
            call=self.door.call,
            submit=self.door.submit,
            wait=self.door.wait,
            cancel=self.door.cancel,
            refuse=self.door.refuse,
            write=self._write,
            interrupted=self.door.interrupted,
            now=time.time_ns,
            monotonic=time.monotonic_ns,
            seed=fresh(b"seed", 32),
            waiting=self._turn,
        )
        try:
            if self._instance is None:
                self._instance = self._grant.engine.open(self._grant.faces, self._grant.limits)
            number = 1 if self._place is None else len(self._place.earlier) + 1
            outcome = self._run(self._instance, number, doors if self._passage is None else self._passage.tap(doors))
            stop = self.door.stop
        except BaseException as error:  # noqa: BLE001 - an engine that fails is data too
            outcome, stop = Outcome(fault=_engine_failed(self._grant.engine, error)), None
        # The door is shut before anybody is told, and the world torn down after: what still runs then finds
        # no door, and nobody waits for it.
        self.door.close()
        with self._lock:
            self._outcome = outcome if stop is None else _stopped(outcome, stop)
            ends = self._place is None or self._abandoned
        finished()
        if self._instance is not None and ends:
            self._instance.close()

    def _run(self, instance: Instance, number: int, doors: Doors) -> Outcome:
        """Run the text as it is or, if that is no Python, as the first other reading of it that is."""
        best: tuple[Reading, Outcome] | None = None
        fuel = 0
        inputs = self._inputs()
        files = {**inputs, **self._files} if inputs else self._files
        for reading in readings(self._reading.written):
            self._reading = reading
            outcome = self._refused(reading)
            if outcome is None:
                before, self._begun = self._begun, True
                cache = self._grant.code.of(self._trail.tenant)
                program = Program(reading.text, number, files, frozenset(inputs), self._place is None, cache)
                outcome = instance.run(program, doors)
                self._begun = before or outcome.begun
            fuel += outcome.fuel
            unread = is_unread(reading.text, outcome) and not self._has_acted()
            if best is None or not unread or (reading.keeps_lines and _is_further(outcome, best[1])):
                best = reading, outcome
            if not unread or not instance.alive or self.door.interrupted():
                break
        self._reading, outcome = best or (self._reading, Outcome())
        return outcome if outcome.fuel == fuel else replace(outcome, fuel=fuel)

    @contextmanager
    def _turn(self) -> Iterator[None]:
        """Wait for a turn, which is no time of the run's."""
        began = time.monotonic()
        try:
            with self._deadline.put_off():
                yield
        finally:
            self._started += time.monotonic() - began

    def _refused(self, reading: Reading) -> Outcome | None:
        """Why a program is not even begun, where programs are checked first."""
        judged = partial(self._judged, reading)
        verdict = judged() if self._passage is None else self._passage.judged(judged)
        if isinstance(verdict, str):
            self._unchecked = f"the types were not checked: {verdict}"
        return Outcome(fault=verdict) if isinstance(verdict, Fault) else None

    def _judged(self, reading: Reading) -> Fault | str | None:
        """What the checker says; as a text, why it says nothing."""
        if self._grant.checker is None:
            return None
        from codeact.check import Unchecked  # noqa: PLC0415 - an extra, and only where it is asked for

        earlier = [before.text for before in self._place.earlier] if self._place else []
        try:
            return self._grant.checker.check(reading.text, earlier, self.left() / 2)
        except Unchecked as reason:
            return str(reason)

    def _has_acted(self) -> bool:
        """Whether the program has done what cannot be done again."""
        return bool(self.door.calls or self._output.text)

    def _write(self, text: str) -> Fault | None:
        if self.door.stop is not None:
            return self.door.stop
        fault = self._output.write(text)
        return None if fault is None else self.door.end(fault).fault


def _passage(grant: Grant, place: Place | None) -> Recorder | Player | None:
    """What stands between the program and its doors."""
    if place is not None:
        return place.passage
    return None if grant.recording is None else Recorder(grant.tape(), grant.limits)


def _status(code: int | None) -> int | None:
    """What a program gave to `sys.exit`; -1, as of a process, where no machine word holds it."""
    return code if code is None or -(2**63) <= code < 2**63 else -1


def _is_further(outcome: Outcome, other: Outcome) -> bool:
    """Whether both failed, and this one further down: what stood before its fault was understood."""
    lines = [tried.fault.frames[-1].line for tried in (outcome, other) if tried.fault and tried.fault.frames]
    return len(lines) == 2 and lines[0] > lines[1]  # noqa: PLR2004 - both


def _stopped(outcome: Outcome, stop: Fault) -> Outcome:
    """The outcome of a run that the host stopped: whatever the program reports, the host's reason stands."""
    frames = stop.frames or (outcome.fault.frames if outcome.fault else ())
    fault = replace(stop, frames=frames, omitted=outcome.fault.omitted if outcome.fault and not stop.frames else 0)
    return replace(outcome, value=None, fault=fault, finished=False, exit_code=None)


def _engine_failed(engine: Engine, error: BaseException) -> Fault:
    # Its text is for the operator: it may hold paths of the host.
    log.error("the engine %s failed", engine.name, exc_info=error)
    return Fault("host", type(error).__name__, f"the engine {engine.name} failed; the host's log says why")


_live: set[Execution] = set()


def _stop_all() -> None:
    until = time.monotonic() + AT_EXIT
    for run in _live.copy():
        run.door.close()
    while _live and time.monotonic() < until:
        time.sleep(0.005)


atexit.register(_stop_all)
os.register_at_fork(after_in_child=_live.clear)
