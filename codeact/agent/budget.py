"""What a task may use before its agent gives up, and what it has used."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Literal, NamedTuple

from codeact.limits import MOST_SECONDS, MOST_UNITS
from codeact.messages import Tokens

Stop = Literal["answered", "refused", "programs", "failures", "repeats", "replies", "tokens", "seconds", "model"]
"""Why a task is over: the model `answered`, or `refused` to; the `model` gave no reply; or a limit of the `Budget`,
by its name, was met."""


class End(NamedTuple):
    """The end of a task.

    Attributes:
        stop: why, by its name.
        why: the same in words, with the numbers.
    """

    stop: Stop
    why: str


@dataclass(frozen=True, slots=True)
class Spent:
    """What a task has used so far.

    Attributes:
        replies: that the model has given.
        programs: that the model has asked for, those that could not be read included.
        failures: turns in a row, up to now, that have failed.
        tokens: that the model has read and written.
        seconds: since the task began.
    """

    replies: int = 0
    programs: int = 0
    failures: int = 0
    tokens: Tokens = field(default_factory=Tokens)
    seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """What one task may use. An agent that meets one of these limits stops, and `AgentResult.stop` names the limit.

    Attributes:
        replies: that the model may give.
        programs: that the model may ask for, those that cannot be read included. One beyond them is not run, and ends the
            task.
        failures: turns in a row that may fail: a program failed or could not be read, or the reply was empty or cut off.
        repeats: times that the same program may fail in the same way. The model is told the second time.
        attempts: to get one reply out of the model, where its provider is overloaded or cannot be reached.
        tokens: that the model may read and write in all. The reply that goes beyond them still counts.
        seconds: of wall clock, pauses included. What is under way then is cancelled.

    Raises:
        ValueError: for a limit that is zero, negative or not a finite number.
        TypeError: for a limit that is no number.
    """

    replies: int = 40
    programs: int = 30
    failures: int = 6
    repeats: int = 3
    attempts: int = 6
    tokens: int = 500_000
    seconds: float = 600.0

    def __post_init__(self) -> None:
        for limit in fields(self):
            _check(limit.name, getattr(self, limit.name))

    def met(self, spent: Spent) -> End | None:
        """The limit that keeps the model from being asked again; None where none does."""
        if spent.seconds >= self.seconds:
            return self.out_of_time()
        if spent.tokens.total >= self.tokens:
            return End("tokens", f"{spent.tokens.total:,} tokens are used up (limit tokens={self.tokens:,})")
        if spent.replies >= self.replies:
            return End(
                "replies",
                f"{_many(spent.replies, 'reply', 'replies')} brought no answer (limit replies={self.replies})",
            )
        return None

    def out_of_failures(self, spent: Spent) -> End:
        """The end of a task whose turns fail, when the policy for programs has had enough."""
        limit = f" (limit failures={self.failures})" * (spent.failures >= self.failures)
        return End("failures", f"{_many(spent.failures, 'turn', 'turns')} in a row failed{limit}")

    def out_of_repeats(self, times: int) -> End:
        """The end of a task whose model does not learn."""
        why = f"the same program failed in the same way {_many(times, 'time', 'times')} (limit repeats={self.repeats})"
        return End("repeats", why)

    def out_of_programs(self) -> End:
        """The end of a task whose model asks for one program too many."""
        were = _many(self.programs, "program was", "programs were")
        return End("programs", f"{were} asked for, and none is left (limit programs={self.programs})")

    def out_of_time(self) -> End:
        """The end of a task that takes too long."""
        return End("seconds", f"{self.seconds:g} s were over before the task was done (limit seconds={self.seconds:g})")

    def last_words(self, spent: Spent) -> str | None:
        """What the model must be told before its last chance; None where it has more of them."""
        if spent.replies == self.replies - 1:
            return f"your next message is the last one of this task (limit replies={self.replies}): answer now"
        if spent.programs == self.programs:
            return f"that was the last program of this task (limit programs={self.programs}): answer now"
        return None


def _many(number: int, one: str, many: str) -> str:
    return f"{number:,} {one if number == 1 else many}"


def _check(name: str, value: object) -> None:
    seconds = name == "seconds"
    if isinstance(value, bool) or not isinstance(value, (int, float) if seconds else int):
        wanted = "a number of seconds" if seconds else "a whole number"
        msg = f"Budget({name}={value!r:.100}): expected {wanted}, got {type(value).__name__}"
        raise TypeError(msg)
    most = MOST_SECONDS if seconds else MOST_UNITS
    if not 0 < value <= most:  # false for NaN too
        shown = f"{value:.3g}" if isinstance(value, float) else f"{value}" if abs(value) < MOST_UNITS else "…"
        msg = f"Budget({name}={shown}): must be above zero and at most {most:,}; leave it out for the default"
        raise ValueError(msg)
