"""A tape holds all that came through the doors of one run, so that it can be run again without them.

The same program that meets the same answers, clock readings and randomness does the same.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Literal

from codeact.engines import Answer, Doors, Fault, Refusal, Reply, Stop
from codeact.limits import Limits
from codeact.values import digest_of, encode
from wasm_runtime.guest.codec import decode

LONGEST = 1_000_000
"""Entries that a tape takes; a program that reads the clock more often cannot be run again."""


@dataclass(frozen=True, slots=True)
class Spoken:
    """One call and what was answered.

    Attributes:
        name: the tool.
        digest: of the arguments.
        kind: `Answer`, or the type of the exception that the program met.
        text: the encoded value, or the text of the exception.
    """

    name: str
    digest: str
    kind: Literal["Answer", "ToolError", "TypeError", "AttributeError"]
    text: str


@dataclass(slots=True)
class Tape:
    """What came through the doors of one run, in order.

    Attributes:
        seed: the randomness of its world.
        calls: the calls that were answered.
        now: readings of the wall clock, nanoseconds since the epoch.
        monotonic: readings of the clock that never goes back, nanoseconds.
    """

    seed: bytes = b""
    calls: list[Spoken] = field(default_factory=list)
    now: array[int] = field(default_factory=lambda: array("q"))
    monotonic: array[int] = field(default_factory=lambda: array("q"))

    @property
    def whole(self) -> bool:
        """Whether all that passed is on it."""
        return len(self.calls) + len(self.now) + len(self.monotonic) < LONGEST


def recording(tape: Tape, limits: Limits) -> Callable[[Doors], Doors]:
    """A tap that leaves the doors as they are and puts on the tape what comes through them."""

    def tap(doors: Doors) -> Doors:
        def call(name: str, args: tuple[object, ...], kwargs: dict[str, object]) -> Reply:
            digest = digest_of(args, kwargs, limits.value_depth)  # before the tool has them
            reply = doors.call(name, args, kwargs)
            if tape.whole:
                match reply:
                    case Answer(value):
                        tape.calls.append(Spoken(name, digest, "Answer", encode(value, limits.value_depth + 1)))
                    case Refusal(kind, message):
                        tape.calls.append(Spoken(name, digest, kind, message))
            return reply

        def refuse(name: str, reason: str) -> Reply:
            reply = doors.refuse(name, reason)
            if tape.whole and isinstance(reply, Refusal):
                tape.calls.append(Spoken(name, "", reply.type, reply.message))
            return reply

        def reading(clock: Callable[[], int], track: array[int]) -> Callable[[], int]:
            def read() -> int:
                moment = clock()
                if tape.whole:
                    track.append(moment)
                return moment

            return read

        tape.seed = doors.seed
        return replace(
            doors,
            call=call,
            refuse=refuse,
            now=reading(doors.now, tape.now),
            monotonic=reading(doors.monotonic, tape.monotonic),
        )

    return tap


def replaying(tape: Tape, limits: Limits) -> Callable[[Doors], Doors]:
    """A tap that answers from the tape. No tool is called, and what is printed goes nowhere."""
    calls, now, monotonic = iter(tape.calls), iter(tape.now), iter(tape.monotonic)

    def tap(doors: Doors) -> Doors:
        def answer(name: str, digest: str) -> Reply:
            spoken = next(calls, None)
            if spoken is None or (spoken.name, spoken.digest) != (name, digest):
                recorded = "no more calls" if spoken is None else f"a call of {spoken.name}"
                return Stop(_diverged(f"it calls {name[:80]} where {recorded} was recorded"))
            if spoken.kind == "Answer":
                return Answer(decode(spoken.text))
            return Refusal(spoken.kind, spoken.text)

        def call(name: str, args: tuple[object, ...], kwargs: dict[str, object]) -> Reply:
            return answer(name, digest_of(args, kwargs, limits.value_depth))

        return replace(
            doors,
            call=call,
            refuse=lambda name, _reason: answer(name, ""),
            write=lambda _text: None,
            # A program that reads a clock more often than it did has diverged, which its calls or its end will show.
            now=lambda: next(now, tape.now[-1] if tape.now else 0),
            monotonic=lambda: next(monotonic, tape.monotonic[-1] if tape.monotonic else 0),
            seed=tape.seed,
        )

    return tap


def _diverged(how: str) -> Fault:
    return Fault("host", "ReplayError", f"the program does not do what it did: {how}")
