"""What an agent and a model say to each other, and what a model is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, Protocol

__all__ = ["Asked", "Ending", "Message", "Model", "ModelError", "Observed", "Reply", "Request", "Said", "Tokens"]

Ending = Literal["done", "length", "refused", "other"]
"""Why a model stopped: `done` said what it had to say; `length` was cut off at its limit of tokens; `refused` would not
answer; `other` is anything else that its provider names."""


@dataclass(frozen=True, slots=True)
class Tokens:
    """What one reply cost.

    Attributes:
        read: tokens of the request.
        written: tokens of the reply.
    """

    read: int = 0
    written: int = 0

    def __add__(self, other: Tokens) -> Tokens:
        return Tokens(self.read + other.read, self.written + other.written)

    @property
    def total(self) -> int:
        """Both together."""
        return self.read + self.written


@dataclass(frozen=True, slots=True)
class Asked:
    """The model asks for a program to be run.

    Attributes:
        id: tells it from the others of the conversation; the observation that answers it carries the same.
        code: the program; None where what the model sent cannot be read.
        unreadable: why it cannot, for the model to mend; None where it can.
    """

    id: str
    code: str | None
    unreadable: str | None = None


@dataclass(frozen=True, slots=True)
class Said:
    """What the host says to the model: the task, or that something is amiss."""

    text: str


@dataclass(frozen=True, slots=True)
class Reply:
    """One message of the model.

    Attributes:
        text: what it said beside programs; empty where it said nothing.
        programs: what it asks to be run, in order; none where the text is all.
        ending: why it stopped.
        tokens: what it cost; zeros where the provider does not tell.
        kept: what the provider wants to have back with it in later requests, such as signed thinking; a text that only
            the client which wrote it reads. A conversation without it is still valid.
    """

    text: str
    programs: tuple[Asked, ...] = ()
    ending: Ending = "done"
    tokens: Tokens = field(default_factory=Tokens)
    kept: str = ""


@dataclass(frozen=True, slots=True)
class Observed:
    """What came of a program, in words for the model.

    Attributes:
        id: of the `Asked` that it answers.
        text: the observation.
        ok: whether the program finished.
    """

    id: str
    text: str
    ok: bool


Message = Said | Reply | Observed
"""A part of a conversation."""


@dataclass(frozen=True, slots=True)
class Request:
    """A conversation that awaits the model's next reply.

    Attributes:
        system: the system prompt.
        messages: everything said so far, oldest first; the last is the host's.
    """

    system: str
    messages: tuple[Message, ...]


class Model(Protocol):
    """What decides what to do next. A client of one provider's, behind one method."""

    @property
    def name(self) -> str:
        """What it is called, for records."""
        ...

    @property
    def has_tools(self) -> bool:
        """Whether it asks for programs by calling `run_python`. One that has no tools writes them as fenced text."""
        ...

    async def complete(self, request: Request, on_text: Callable[[str], None]) -> Reply:
        """The next reply.

        Args:
            request: the conversation.
            on_text: is given each piece of the reply's text as it arrives; a model that does not stream need not call it.

        Raises:
            ModelError: there is none, and why.
        """
        ...


class ModelError(RuntimeError):
    """A model gave no reply.

    Attributes:
        passing: whether the same request may well succeed later: a rate limit, an overload, a broken connection.
        retry_after: seconds that the provider asks to wait; None where it does not say.
        status: the HTTP status; None where there was none.
    """

    def __init__(
        self, message: str, *, passing: bool, retry_after: float | None = None, status: int | None = None
    ) -> None:
        super().__init__(message)
        self.passing = passing
        self.retry_after = retry_after
        self.status = status
