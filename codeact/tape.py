"""A tape holds all that came through the doors of one run, so that it can be run again without them.

The same program that meets the same answers, clock readings and randomness does the same.
"""

from __future__ import annotations

import time
from array import array
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

from codeact import excerpts
from codeact.engines import Answer, Doors, Fault, Refusal, Reply, Stop
from codeact.limits import Limits
from codeact.renderings import digest_of_text
from codeact.values import Uncrossable, encode
from wasm_runtime.guest.codec import decode, encode_call
from wasm_runtime.guest.names import shortened

LONGEST = 1_000_000
"""Entries that a tape takes; a program that reads the clock more often cannot be run again."""

LARGEST = 256 * 1024 * 1024
"""Characters that a tape takes of what was answered."""


class Answered(NamedTuple):  # a tuple, and not a frozen dataclass, because it is made for each call
    """What was answered.

    Attributes:
        kind: `Answer`, or the type of the exception that the program met.
        text: the encoded value, or the text of the exception.
    """

    kind: Literal["Answer", "ToolError", "TypeError", "AttributeError"]
    text: str

    @property
    def reply(self) -> Answer | Refusal:
        """The same, as a program is told it.

        Raises:
            ValueError: the text of an answer is no encoded value.
        """
        return Answer(decode(self.text)) if self.kind == "Answer" else Refusal(self.kind, self.text)


class Called(NamedTuple):  # as above
    """One call.

    Attributes:
        name: the tool.
        digest: of the arguments; empty where they could not be read.
        answer: what was answered at once; or its ticket, where that came later; None where the run ended first.
        arguments: the encoded arguments; None where they could not be read, or the tape has no room for them.
        line: the program's line that made it; 0 where the engine cannot know.
        began: when, nanoseconds by `time.monotonic_ns`.
    """

    name: str
    digest: str
    answer: Answered | int | None
    arguments: str | None = None
    line: int = 0
    began: int = 0


@dataclass(frozen=True, slots=True)
class Heard:
    """What had come when the program waited.

    Attributes:
        wait: its place among the times that the program waited, from 0.
        answers: tickets and what was answered.
    """

    wait: int
    answers: tuple[tuple[int, Answered], ...]


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
        verdicts: what the checker said of its text, one for each way to read it: why it is not run, why that could not
            be told, or None.
        size: characters of what was answered.
        room: characters of arguments that it still takes; they are for whoever reads it, and not needed to run it again.
    """

    seed: bytes = b""
    calls: list[Called] = field(default_factory=list)
    heard: list[Heard] = field(default_factory=list)
    end: Fault | None = None
    now: array[int] = field(default_factory=lambda: array("q"))
    monotonic: array[int] = field(default_factory=lambda: array("q"))
    verdicts: list[Fault | str | None] = field(default_factory=list)
    size: int = 0
    room: int = 0

    @property
    def whole(self) -> bool:
        """Whether all that passed is on it."""
        entries = len(self.calls) + len(self.heard) + len(self.now) + len(self.monotonic)
        return entries < LONGEST and self.size < LARGEST


def kept(tape: Tape, beside: int) -> Tape:
    """The tape for a history; in its place one that is not whole, where that has as much as one tape may have.

    Args:
        tape: of the latest run.
        beside: characters of what was answered on those before it.
    """
    return tape if beside + tape.size < LARGEST else Tape(size=LARGEST)


class Recorder:
    """Leaves the doors of a run as they are, and puts on a tape what comes through them."""

    def __init__(self, tape: Tape, limits: Limits) -> None:
        self.tape = tape
        self._depth = limits.value_depth
        self._waits = 0

    def tap(self, doors: Doors) -> Doors:
        """The doors with the tape behind them."""
        self.tape.seed = doors.seed
        self._doors = doors
        return replace(
            doors,
            call=self._call,
            submit=self._submit,
            wait=self._wait,
            refuse=self._refuse,
            now=self._reading(doors.now, self.tape.now),
            monotonic=self._reading(doors.monotonic, self.tape.monotonic),
        )

    def judged(self, judge: Callable[[], Fault | str | None]) -> Fault | str | None:
        """What a checker says of a text."""
        verdict = judge()
        self.tape.verdicts.append(verdict)
        return verdict

    def _call(self, name: str, args: tuple[object, ...], kwargs: dict[str, object], line: int = 0) -> Reply:
        place = self._begin(name, _written(args, kwargs, self._depth), line)  # before the tool has them
        reply = self._doors.call(name, args, kwargs, line)
        return self._answered(place, reply)

    def _submit(self, name: str, args: tuple[object, ...], kwargs: dict[str, object], line: int = 0) -> int | Reply:
        place = self._begin(name, _written(args, kwargs, self._depth), line)
        reply = self._doors.submit(name, args, kwargs, line)
        if isinstance(reply, int):
            self._note(place, reply)
            return reply
        return self._answered(place, reply)

    def _refuse(self, name: str, reason: str, line: int = 0) -> Reply:
        place = self._begin(name, None, line)
        return self._answered(place, self._doors.refuse(name, reason, line))

    def _wait(self, seconds: float | None) -> tuple[tuple[int, Reply], ...] | Stop:
        came = self._doors.wait(seconds)
        if isinstance(came, Stop):
            self.tape.end = came.fault
            self.tape.heard.append(Heard(self._waits, ()))
        elif came and self.tape.whole:
            told = [(ticket, *self._said(reply)) for ticket, reply in came if not isinstance(reply, Stop)]
            self.tape.heard.append(Heard(self._waits, tuple((ticket, answered) for ticket, answered, _ in told)))
            came = tuple((ticket, reply) for ticket, _, reply in told)
        self._waits += 1
        return came

    def _reading(self, clock: Callable[[], int], track: array[int]) -> Callable[[], int]:
        """The clock, with its readings put on a track."""

        def read() -> int:
            moment = clock()
            if self.tape.whole:
                track.append(moment)
            return moment

        return read

    def _begin(self, name: str, arguments: str | None, line: int) -> int | None:
        """Put a call on the tape that has no answer yet. Gives its place; None where the tape is full."""
        tape = self.tape
        if not tape.whole:
            return None
        digest = "" if arguments is None else digest_of_text(arguments)
        if arguments is not None:
            tape.room -= len(arguments)
        kept = arguments if tape.room >= 0 else None
        tape.calls.append(Called(shortened(name), digest, None, kept, line, time.monotonic_ns()))
        return len(tape.calls) - 1

    def _answered(self, place: int | None, reply: Reply) -> Reply:
        if isinstance(reply, Stop):
            self.tape.end = reply.fault
            return reply
        answered, reply = self._said(reply)
        self._note(place, answered)
        return reply

    def _note(self, place: int | None, answer: Answered | int) -> None:
        if place is not None:
            made = self.tape.calls[place]
            self.tape.calls[place] = Called(made.name, made.digest, answer, made.arguments, made.line, made.began)

    def _said(self, reply: Answer | Refusal) -> tuple[Answered, Answer | Refusal]:
        """What goes on the tape, and what the program gets, which is what it will get from the tape."""
        if isinstance(reply, Answer):
            try:
                text = encode(reply.value, self._depth + 1)
            except Uncrossable as error:
                reply = Refusal("ToolError", f"the tool gave what cannot cross into the sandbox: {error}")
            else:
                self.tape.size += len(text)
                # A set that is made anew may have another order.
                return Answered("Answer", text), Answer(decode(text)) if _SET in text else reply
        self.tape.size += len(reply.message)
        return Answered(reply.type, reply.message), reply


_SET = 'set","v":'
"""What stands in the text of a value that holds a set."""


class Player:
    """Answers a run from a tape. No tool is called and nobody waits.

    Attributes:
        made: calls that it has answered.
        diverged: what the program did that it had not done; None while it does the same.
        beyond: whether that is only that it went on where the tape ends.
    """

    def __init__(self, tape: Tape, limits: Limits) -> None:
        self.tape = tape
        self.made = 0
        self.diverged: str | None = None
        self.beyond = False
        self._depth = limits.value_depth
        self._heard = deque(tape.heard)
        self._verdicts = iter(tape.verdicts)
        self._waits = 0
        self._line = 0

    def tap(self, doors: Doors) -> Doors:
        """Doors that lead to the tape."""
        now, monotonic = iter(self.tape.now), iter(self.tape.monotonic)
        last_now = self.tape.now[-1] if self.tape.now else 0
        last_monotonic = self.tape.monotonic[-1] if self.tape.monotonic else 0
        return replace(
            doors,
            call=self._call,
            submit=self._submit,
            wait=self._wait,
            cancel=lambda _ticket: None,
            refuse=self._refuse,
            # A program that reads a clock more often than it did has diverged, which its calls or its end will show.
            now=lambda: next(now, last_now),
            monotonic=lambda: next(monotonic, last_monotonic),
            seed=self.tape.seed,
        )

    def judged(self, _judge: Callable[[], Fault | str | None]) -> Fault | str | None:
        """What the checker said."""
        return next(self._verdicts, None)

    def _call(self, name: str, args: tuple[object, ...], kwargs: dict[str, object], line: int = 0) -> Reply:
        return self._at_once(self._submit(name, args, kwargs, line))

    def _submit(self, name: str, args: tuple[object, ...], kwargs: dict[str, object], line: int = 0) -> int | Reply:
        self._line = line
        return self._answer(name, _written(args, kwargs, self._depth), lambda: excerpts.call(name, args, kwargs))

    def _refuse(self, name: str, _reason: str, line: int = 0) -> Reply:
        self._line = line
        return self._at_once(self._answer(name, None, lambda: f"{shortened(name)} with what cannot be read"))

    def _wait(self, seconds: float | None) -> tuple[tuple[int, Reply], ...] | Stop:
        number = self._waits
        self._waits += 1
        if self._heard and self._heard[0].wait == number:
            answers = self._heard.popleft().answers
            return (
                tuple((ticket, answered.reply) for ticket, answered in answers)
                if answers
                else self._ended("it waits on")
            )
        if seconds is not None:
            return ()
        self.beyond = self.diverged is None and not self._heard and self.made == len(self.tape.calls)
        return self._ended("it waits where an answer had come")

    def _answer(self, name: str, arguments: str | None, written: Callable[[], str]) -> int | Reply:
        if self.made == len(self.tape.calls):
            self.beyond = self.diverged is None and not self._heard
            return self._ended(f"it calls {shortened(name)} where no more calls were recorded")
        called = self.tape.calls[self.made]
        digest = "" if arguments is None else digest_of_text(arguments)
        if called.name != shortened(name):
            return self._stop(f"it calls {shortened(name)} where a call of {called.name} was recorded")
        if called.digest != digest:
            return self._stop(f"it calls {written()} where {_told(called)} was recorded")
        self.made += 1
        if called.answer is None:
            return self._ended(f"it goes on after a call of {called.name} that was not answered")
        return called.answer if isinstance(called.answer, int) else called.answer.reply

    def _at_once(self, reply: int | Reply) -> Reply:
        if not isinstance(reply, int):
            return reply
        self.made -= 1
        return self._stop("it stands still for a call beside which it went on")

    def _ended(self, otherwise: str) -> Stop:
        """The end of the tape, which the run met before its own."""
        return self._stop(otherwise) if self.tape.end is None else Stop(self.tape.end)

    def _stop(self, how: str) -> Stop:
        place = f"call {self.made + 1}" + f" (line {self._line})" * (self._line > 0)
        self.diverged = self.diverged or f"at {place} {how}"
        return Stop(Fault("host", "ReplayError", f"the program does not do what it did: {how}"))


def _written(args: tuple[object, ...], kwargs: dict[str, object], depth: int) -> str | None:
    """A call's arguments as text; None where there is none."""
    try:
        return encode_call(args, kwargs, depth + 1)
    except Uncrossable:
        return None


def _told(called: Called) -> str:
    """A call as it was written, short."""
    if called.arguments is None:
        return f"{called.name} with other arguments"
    args, kwargs = arguments_of(called.arguments)
    return excerpts.call(called.name, args, kwargs)


def arguments_of(text: str) -> tuple[tuple[object, ...], dict[str, object]]:
    """The arguments in their encoding.

    Raises:
        ValueError: it is none.
    """
    decoded = decode(text)
    if isinstance(decoded, list) and len(decoded) == 2:  # noqa: PLR2004 - both
        args, kwargs = decoded
        if isinstance(args, list) and isinstance(kwargs, dict):
            return tuple(args), kwargs
    msg = "the arguments of a call are a list and a dict"
    raise ValueError(msg)
