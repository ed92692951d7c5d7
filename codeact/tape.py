"""A tape holds all that came through the doors of one run, so that it can be run again without them.

The same program that meets the same answers, clock readings and randomness does the same.
"""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Literal

from codeact.engines import Answer, Doors, Fault, Refusal, Reply, Stop
from codeact.limits import Limits
from codeact.renderings import digest_of
from codeact.values import encode
from wasm_runtime.guest.codec import decode

LONGEST = 1_000_000
"""Entries that a tape takes; a program that reads the clock more often cannot be run again."""


@dataclass(frozen=True, slots=True)
class Said:
    """What was answered.

    Attributes:
        kind: `Answer`, or the type of the exception that the program met.
        text: the encoded value, or the text of the exception.
    """

    kind: Literal["Answer", "ToolError", "TypeError", "AttributeError"]
    text: str


@dataclass(frozen=True, slots=True)
class Spoken:
    """One call.

    Attributes:
        name: the tool.
        digest: of the arguments.
        answer: what was answered at once; or its ticket, where that came later.
    """

    name: str
    digest: str
    answer: Said | int


@dataclass(frozen=True, slots=True)
class Heard:
    """What had come when the program waited.

    Attributes:
        wait: its place among the times that the program waited, from 0.
        answers: tickets and what was answered.
    """

    wait: int
    answers: tuple[tuple[int, Said], ...]


@dataclass(slots=True)
class Tape:
    """What came through the doors of one run, in order.

    Attributes:
        seed: the randomness of its world.
        calls: the calls that were made.
        heard: what came later; waiting that gave nothing is left out, and what gave no answers ended the run.
        end: why the host ended the run at a door; None where it did not.
        now: readings of the wall clock, nanoseconds since the epoch.
        monotonic: readings of the clock that never goes back, nanoseconds.
    """

    seed: bytes = b""
    calls: list[Spoken] = field(default_factory=list)
    heard: list[Heard] = field(default_factory=list)
    end: Fault | None = None
    now: array[int] = field(default_factory=lambda: array("q"))
    monotonic: array[int] = field(default_factory=lambda: array("q"))

    @property
    def whole(self) -> bool:
        """Whether all that passed is on it."""
        return len(self.calls) + len(self.heard) + len(self.now) + len(self.monotonic) < LONGEST


def recording(tape: Tape, limits: Limits) -> Callable[[Doors], Doors]:
    """A tap that leaves the doors as they are and puts on the tape what comes through them."""

    def tap(doors: Doors) -> Doors:
        tape.seed = doors.seed
        recorder = _Recorder(tape, limits, doors)
        return replace(
            doors,
            call=recorder.call,
            submit=recorder.submit,
            wait=recorder.wait,
            refuse=recorder.refuse,
            now=recorder.reading(doors.now, tape.now),
            monotonic=recorder.reading(doors.monotonic, tape.monotonic),
        )

    return tap


def replaying(tape: Tape, limits: Limits) -> Callable[[Doors], Doors]:
    """A tap that answers from the tape. No tool is called, nobody waits, and what is printed goes nowhere."""

    def tap(doors: Doors) -> Doors:
        player = _Player(tape, limits)
        now, monotonic = iter(tape.now), iter(tape.monotonic)
        return replace(
            doors,
            call=player.call,
            submit=player.submit,
            wait=player.wait,
            cancel=lambda _ticket: None,
            refuse=player.refuse,
            write=lambda _text: None,
            # A program that reads a clock more often than it did has diverged, which its calls or its end will show.
            now=lambda: next(now, tape.now[-1] if tape.now else 0),
            monotonic=lambda: next(monotonic, tape.monotonic[-1] if tape.monotonic else 0),
            seed=tape.seed,
        )

    return tap


class _Recorder:
    """The doors of a run, with what passes put on its tape."""

    def __init__(self, tape: Tape, limits: Limits, doors: Doors) -> None:
        self._tape = tape
        self._depth = limits.value_depth
        self._doors = doors
        self._waits = 0

    def call(self, name: str, args: tuple[object, ...], kwargs: dict[str, object], line: int = 0) -> Reply:
        digest = digest_of(args, kwargs, self._depth)  # before the tool has them
        reply = self._doors.call(name, args, kwargs, line)
        self._note(name, digest, reply)
        return reply

    def submit(self, name: str, args: tuple[object, ...], kwargs: dict[str, object], line: int = 0) -> int | Reply:
        digest = digest_of(args, kwargs, self._depth)
        reply = self._doors.submit(name, args, kwargs, line)
        self._note(name, digest, reply)
        return reply

    def refuse(self, name: str, reason: str, line: int = 0) -> Reply:
        reply = self._doors.refuse(name, reason, line)
        self._note(name, "", reply)
        return reply

    def wait(self, seconds: float | None) -> tuple[tuple[int, Reply], ...] | Stop:
        came = self._doors.wait(seconds)
        if isinstance(came, Stop):
            self._tape.end = came.fault
            self._tape.heard.append(Heard(self._waits, ()))
        elif came and self._tape.whole:
            answers = tuple((ticket, self._said(reply)) for ticket, reply in came if not isinstance(reply, Stop))
            self._tape.heard.append(Heard(self._waits, answers))
        self._waits += 1
        return came

    def reading(self, clock: Callable[[], int], track: array[int]) -> Callable[[], int]:
        """The clock, with its readings put on a track."""

        def read() -> int:
            moment = clock()
            if self._tape.whole:
                track.append(moment)
            return moment

        return read

    def _note(self, name: str, digest: str, reply: int | Reply) -> None:
        if isinstance(reply, Stop):
            self._tape.end = reply.fault
        elif self._tape.whole:
            self._tape.calls.append(Spoken(name, digest, reply if isinstance(reply, int) else self._said(reply)))

    def _said(self, reply: Answer | Refusal) -> Said:
        if isinstance(reply, Answer):
            return Said("Answer", encode(reply.value, self._depth + 1))
        return Said(reply.type, reply.message)


class _Player:
    """The doors of a run that is run again."""

    def __init__(self, tape: Tape, limits: Limits) -> None:
        self._depth = limits.value_depth
        self._calls = iter(tape.calls)
        self._heard = deque(tape.heard)
        self._end = tape.end
        self._waits = 0

    def call(self, name: str, args: tuple[object, ...], kwargs: dict[str, object], _line: int = 0) -> Reply:
        return self._at_once(self.submit(name, args, kwargs))

    def submit(self, name: str, args: tuple[object, ...], kwargs: dict[str, object], _line: int = 0) -> int | Reply:
        return self._answer(name, digest_of(args, kwargs, self._depth))

    def refuse(self, name: str, _reason: str, _line: int = 0) -> Reply:
        return self._at_once(self._answer(name, ""))

    def wait(self, seconds: float | None) -> tuple[tuple[int, Reply], ...] | Stop:
        number = self._waits
        self._waits += 1
        if self._heard and self._heard[0].wait == number:
            answers = self._heard.popleft().answers
            return tuple((ticket, _opened(said)) for ticket, said in answers) if answers else self._ended("it waits on")
        return self._ended("it waits where an answer had come") if seconds is None else ()

    def _answer(self, name: str, digest: str) -> int | Reply:
        spoken = next(self._calls, None)
        if spoken is None:
            return self._ended(f"it calls {name[:80]} where no more calls were recorded")
        if (spoken.name, spoken.digest) != (name, digest):
            return Stop(_diverged(f"it calls {name[:80]} where a call of {spoken.name} was recorded"))
        return spoken.answer if isinstance(spoken.answer, int) else _opened(spoken.answer)

    def _at_once(self, reply: int | Reply) -> Reply:
        return (
            Stop(_diverged("it stands still for a call beside which it went on")) if isinstance(reply, int) else reply
        )

    def _ended(self, otherwise: str) -> Stop:
        """The end of the tape, which the run met before its own."""
        return Stop(self._end or _diverged(otherwise))


def _opened(said: Said) -> Reply:
    return Answer(decode(said.text)) if said.kind == "Answer" else Refusal(said.kind, said.text)


def _diverged(how: str) -> Fault:
    return Fault("host", "ReplayError", f"the program does not do what it did: {how}")
