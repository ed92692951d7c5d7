"""What happens while an agent works, as it happens."""

from __future__ import annotations

from dataclasses import dataclass

from codeact.agent.outcome import AgentResult
from codeact.messages import Asked, ModelError, Observed
from codeact.result import Result


@dataclass(frozen=True, slots=True)
class Wrote:
    """The model has written a piece of its reply's text.

    Where a `Waiting` follows, the reply is begun anew, and the pieces of the one that broke off are void.

    Attributes:
        text: the piece.
    """

    text: str


@dataclass(frozen=True, slots=True)
class Waiting:
    """The model gave no reply, and is asked again after a pause.

    Attributes:
        error: why there was none; None where there was one, and the policy did not take it.
        attempt: which attempt that was, from 1.
        seconds: how long the pause is.
    """

    error: BaseException | None
    attempt: int
    seconds: float

    @property
    def retry_after(self) -> float | None:
        """Seconds that the provider asked to wait; None where it did not say."""
        return self.error.retry_after if isinstance(self.error, ModelError) else None


@dataclass(frozen=True, slots=True)
class Running:
    """A program is about to be run.

    Attributes:
        asked: the program.
    """

    asked: Asked


@dataclass(frozen=True, slots=True)
class Ran:
    """What the model asked to be run has come to its end.

    Attributes:
        asked: the program.
        observed: what the model is told of it.
        result: what it gave; None where it was not run.
    """

    asked: Asked
    observed: Observed
    result: Result | None


@dataclass(frozen=True, slots=True)
class Finished:
    """The task is over. This is the last event.

    Attributes:
        result: what came of it.
    """

    result: AgentResult


Event = Wrote | Waiting | Running | Ran | Finished
"""What `Agent.stream` gives."""
