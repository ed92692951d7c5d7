"""One run, from the program's text to its result."""

from __future__ import annotations

import atexit
import contextvars
import hashlib
import itertools
import logging
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from codeact.calls import Door
from codeact.engines import Doors, Engine, Face, Fault, Frame, Outcome
from codeact.errors import build
from codeact.limits import Limits
from codeact.output import Output
from codeact.portal import Portal
from codeact.result import Result, Usage
from codeact.tools import Toolset
from codeact.workers import workers
from wasm_runtime.guest.program import lines_of

log = logging.getLogger("codeact")

AT_EXIT = 0.5
"""Seconds that guests get to stop when the process exits: a thread must not be inside wasm when it is ended."""

NAMED = 20
"""Names that a note lists."""


@dataclass(frozen=True, slots=True)
class Grant:
    """What every run of a sandbox shares."""

    engine: Engine
    tools: Toolset
    faces: tuple[Face, ...]
    limits: Limits


class Execution:
    """One run. It happens on a worker, while the caller waits as long as it likes and then takes the result."""

    def __init__(self, grant: Grant, source: str, portal: Portal) -> None:
        self._grant = grant
        self._source = source
        self._started = time.monotonic()
        self._deadline = self._started + grant.limits.timeout
        self.door = Door(grant.tools, grant.limits, self._deadline, portal)
        self._output = Output(grant.limits.output)
        self._outcome: Outcome | None = None

    def start(self, finished: Callable[[], None]) -> Execution:
        """Start it; `finished` is called on the worker when it has come to its end."""
        fault = _unfit(self._source, self._grant.limits)
        if fault is not None:
            self._outcome = Outcome(fault=fault)
            self.door.close()
            finished()
            return self
        context = contextvars.copy_context()
        _live.add(self)

        def job() -> None:
            try:
                context.run(self._execute, finished)
            finally:
                _live.discard(self)

        try:
            workers.submit(job)
        except RuntimeError as error:  # the process can have no more threads
            _live.discard(self)
            self._outcome = Outcome(fault=Fault("host", "RuntimeError", f"no thread to run on: {error}"))
            self.door.close()
            finished()
        return self

    def left(self) -> float:
        """Seconds until the deadline, at least zero."""
        return max(0.0, self._deadline - time.monotonic())

    def result(self) -> Result:
        """The result, or what is known of it when the run is abandoned at its deadline. It ends the run."""
        stop = self.door.stop
        self.door.close()
        outcome = self._outcome or Outcome(fault=stop or Fault("host", "RuntimeError", "the run gave no outcome"))
        calls = self.door.calls
        wall = time.monotonic() - self._started
        error = None if outcome.fault is None else build(outcome.fault, self._source)
        return Result(
            ok=error is None,
            value=outcome.value if error is None else None,
            error=error,
            stdout=self._output.text,
            note=_note(outcome) if error is None else None,
            calls=calls,
            usage=Usage(
                wall=wall,
                guest=max(0.0, wall - sum(call.duration for call in calls)),
                fuel=outcome.fuel,
                memory=outcome.memory,
                calls=len(calls),
            ),
            truncated=self._output.truncations,
            exit_code=outcome.exit_code,
        )

    def _execute(self, finished: Callable[[], None]) -> None:
        doors = Doors(
            faces=self._grant.faces,
            call=self.door.call,
            refuse=self.door.refuse,
            write=self._write,
            interrupted=self.door.interrupted,
            now=time.time_ns,
            monotonic=time.monotonic_ns,
            seed=_seed(),
        )
        instance = None
        try:
            instance = self._grant.engine.open(doors, self._grant.limits)
            outcome = instance.run(self._source)
            stop = self.door.stop
        except BaseException as error:  # noqa: BLE001 - an engine that fails is data too
            outcome, stop = Outcome(fault=_engine_failed(self._grant.engine, error)), None
        # The door is shut before anybody is told, and the world torn down after: what still runs then finds
        # no door, and nobody waits for it.
        self.door.close()
        self._outcome = outcome if stop is None else _stopped(outcome, stop)
        finished()
        if instance is not None:
            instance.close()

    def _write(self, text: str) -> Fault | None:
        if self.door.stop is not None:
            return self.door.stop
        fault = self._output.write(text)
        return None if fault is None else self.door.end(fault).fault


def _stopped(outcome: Outcome, stop: Fault) -> Outcome:
    """The outcome of a run that the host stopped: whatever the program reports, the host's reason stands."""
    frames = stop.frames or (outcome.fault.frames if outcome.fault else ())
    fault = replace(stop, frames=frames, omitted=outcome.fault.omitted if outcome.fault and not stop.frames else 0)
    return Outcome(fault=fault, bound=outcome.bound, fuel=outcome.fuel, memory=outcome.memory)


def _unfit(source: str, limits: Limits) -> Fault | None:
    """Why a text is not even parsed."""
    size = len(source.encode("utf-8", "surrogatepass"))
    if size > limits.source:
        return Fault("syntax", "ValueError", f"code: {size:,} bytes are more than the limit source={limits.source:,}")
    if "\0" in source:
        line = len(lines_of(source[: source.index("\0")]))
        return Fault("syntax", "SyntaxError", "code: source text cannot hold NUL bytes", (Frame(line, "<module>"),))
    return None


def _engine_failed(engine: Engine, error: BaseException) -> Fault:
    # Its text is for the operator: it may hold paths of the host.
    log.error("the engine %s failed", engine.name, exc_info=error)
    return Fault("host", type(error).__name__, f"the engine {engine.name} failed; the host's log says why")


def _note(outcome: Outcome) -> str | None:
    if outcome.finished:
        return None
    names = outcome.bound
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    bound = f"; it bound {', '.join(names[:NAMED])}{more}" if names else ""
    return f"the program ended without a value{bound}. End with an expression, or return, to give one"


_entropy = os.urandom(32)
_runs = itertools.count()


def _seed() -> bytes:
    """32 bytes that nobody can foretell and no other run gets, in a forked child neither.

    They are drawn from the kernel's randomness once a process: to ask it for every run costs more than a tenth of
    a small one.
    """
    return hashlib.blake2b(b"%d %d" % (os.getpid(), next(_runs)), key=_entropy, digest_size=32).digest()


_live: set[Execution] = set()


def _stop_all() -> None:
    until = time.monotonic() + AT_EXIT
    for run in _live.copy():
        run.door.close()
    while _live and time.monotonic() < until:
        time.sleep(0.005)


atexit.register(_stop_all)
os.register_at_fork(after_in_child=_live.clear)
