"""A conversation as the providers want it: host and model in turns, and every call answered.

An agent's conversation may hold several messages of the host's in a row, programs that nobody ran because a budget was
spent, and ids that its parts made up. Providers refuse all of that. What is made here alternates, begins and ends with
the host, and answers every call of a turn in the next one, in order and once.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from codeact.messages import Asked, Observed, Reply, Request, Said

NOTHING = "(nothing)"
"""Stands where there is no text: an empty one is refused."""

_NOT_RUN = "not run"


@dataclass(frozen=True, slots=True)
class Call:
    """A program that was asked for. `code` is None where what the model sent could not be read."""

    id: str
    code: str | None


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of a call."""

    id: str
    text: str
    ok: bool


@dataclass(slots=True)
class HostTurn:
    """What the host says: answers to all calls of the turn before, and then texts."""

    answers: list[Answer] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)


@dataclass(slots=True)
class ModelTurn:
    """What the model said; never without a text and calls both."""

    text: str
    calls: list[Call]
    kept: str


Turn = HostTurn | ModelTurn


class Ids:
    """Gives each call of a conversation an id of its own: the given one, where it will do."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken = set(taken)

    def unique(self, given: object) -> str:
        """An id that no other call has.

        Args:
            given: what the provider sent, if anything.
        """
        found = given if isinstance(given, str) else ""
        number = len(self._taken)
        while not found or found in self._taken:
            number += 1
            found = f"call_{number}"
        self._taken.add(found)
        return found


def asked_ids(request: Request) -> Iterator[str]:
    """The ids of all programs that a conversation asks for."""
    for message in request.messages:
        if isinstance(message, Reply):
            for asked in message.programs:
                yield asked.id


def turns(request: Request, ids_taken: re.Pattern[str]) -> list[Turn]:
    """A conversation in turns.

    Args:
        request: the conversation.
        ids_taken: the ids of calls that the provider takes; others are replaced.

    Raises:
        ValueError: it does not begin and end with what the host says.
    """
    messages = request.messages
    if not messages or not isinstance(messages[0], Said) or isinstance(messages[-1], Reply):
        msg = (
            "a request's messages must begin with Said and end with Said or Observed: the reply is the model's to give"
        )
        raise ValueError(msg)
    found: list[Turn] = []
    host = HostTurn()
    ids = Ids()
    open_calls: dict[str, list[str]] = {}
    for message in messages:
        match message:
            case Said(text):
                host.texts.append(text if text.strip() else NOTHING)
            case Observed(id, text, ok):
                text = text if text.strip() else NOTHING
                if open_calls.get(id):
                    host.answers.append(Answer(open_calls[id].pop(0), text, ok))
                else:  # nobody asked for it; it is still something that the model should know
                    host.texts.append(text)
            case Reply() if message.text.strip() or message.programs:
                found.append(_answered(host, found))
                calls = [_call(asked, ids, ids_taken) for asked in message.programs]
                found.append(ModelTurn(message.text, calls, message.kept))
                open_calls = {}
                for asked, call in zip(message.programs, calls, strict=True):
                    open_calls.setdefault(asked.id, []).append(call.id)
                host = HostTurn()
            case Reply():
                pass  # it said nothing: there is no turn to show, and what the host says goes on
    found.append(_answered(host, found))
    return found


def _call(asked: Asked, ids: Ids, ids_taken: re.Pattern[str]) -> Call:
    return Call(ids.unique(asked.id if ids_taken.fullmatch(asked.id) else None), asked.code)


def _answered(host: HostTurn, before: list[Turn]) -> HostTurn:
    """A turn of the host's that answers all calls of the turn before, in their order."""
    last = before[-1] if before else None
    given = {answer.id: answer for answer in host.answers}
    if isinstance(last, ModelTurn):
        host.answers = [given.get(call.id) or Answer(call.id, _NOT_RUN, ok=False) for call in last.calls]
    if not host.answers and not host.texts:
        host.texts.append(NOTHING)
    return host


def clean(value: object) -> object:
    """The same JSON, its texts without halves of characters, which cannot be written as UTF-8."""
    match value:
        case str():
            if value.isascii():
                return value
            return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        case dict():
            return {clean(name): clean(part) for name, part in value.items()}
        case list() | tuple():
            return [clean(part) for part in value]
    return value
