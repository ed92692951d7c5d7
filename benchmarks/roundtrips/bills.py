"""What a conversation costs: its tokens, their price with prompt caching, and the time that it takes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import astuple, dataclass

from benchmarks.roundtrips.conversation import Episode, Message
from benchmarks.roundtrips.tokens import Count

FRAME = 4
"""Tokens around every message and around every call in it, for roles, ids and separators."""


@dataclass(frozen=True, slots=True)
class Bill:
    """The tokens of a conversation, or of several.

    Attributes:
        turns: requests made to the model.
        input: tokens sent. The history is sent again with every request.
        new: those of them that no earlier request of the same conversation had sent.
        output: tokens that the model wrote.
        prompt: those of the instructions and declarations, counted once a conversation.
    """

    turns: int = 0
    input: int = 0
    new: int = 0
    output: int = 0
    prompt: int = 0

    def __add__(self, other: Bill) -> Bill:
        return Bill(*(mine + theirs for mine, theirs in zip(astuple(self), astuple(other), strict=True)))


def total(bills: Iterable[Bill]) -> Bill:
    """The sum of bills."""
    return sum(bills, Bill())


def bill(episode: Episode, count: Count) -> Bill:
    """Count a conversation."""
    prompt = count(episode.prompt.system) + count(episode.prompt.functions)
    history, sent, given, new, output = prompt, 0, 0, 0, 0
    for message in episode.messages:
        size = tokens(message, count)
        if message.role == "assistant":
            given += history
            new += history - sent
            sent = history
            output += size
        history += size
    return Bill(episode.turns, given, new, output, prompt)


def longest(episode: Episode, count: Count) -> int:
    """The tokens of the last request and its answer: what must fit into the model's window."""
    prompt = count(episode.prompt.system) + count(episode.prompt.functions)
    return prompt + sum(tokens(message, count) for message in episode.messages)


def tokens(message: Message, count: Count) -> int:
    """The tokens of one message."""
    asks = sum(FRAME + count(ask.name) + count(ask.text) for ask in message.asks)
    return FRAME + count(message.text) + asks


@dataclass(frozen=True, slots=True)
class Prices:
    """What a provider takes, as multiples of the price of one uncached input token.

    Attributes:
        name: what it is called in tables.
        read: an input token that an earlier request of the conversation has sent.
        write: an input token that is sent for the first time.
        prompt: a token of instructions and declarations in the first request.
        output: a token that the model writes.
    """

    name: str
    read: float
    write: float
    prompt: float
    output: float

    def cost(self, bill: Bill) -> float:
        """What a bill comes to, in uncached input tokens."""
        first = self.prompt * bill.prompt + self.write * (bill.new - bill.prompt)
        return first + self.read * (bill.input - bill.new) + self.output * bill.output


PRICES = (
    Prices("0.1x", read=0.1, write=1.25, prompt=1.25, output=5.0),
    Prices("0.1x, prompt warm", read=0.1, write=1.25, prompt=0.1, output=5.0),
    Prices("0.5x", read=0.5, write=1.0, prompt=1.0, output=4.0),
    Prices("no cache", read=1.0, write=1.0, prompt=1.0, output=4.0),
)
"""The first is what headlines use. In the second, earlier conversations have left the prompt in the cache."""


@dataclass(frozen=True, slots=True)
class Pace:
    """How fast a model and its tools are supposed to be.

    Attributes:
        first: seconds until the first token of a turn.
        speed: tokens written in a second after it.
        tool: seconds of a tool call; calls made together take as long as one.
    """

    first: float = 0.6
    speed: float = 80.0
    tool: float = 0.1

    def seconds(self, bill: Bill, waits: int, engine: float = 0.0) -> float:
        """How long a conversation takes.

        Args:
            bill: its tokens.
            waits: how many times tools are waited for, one after another.
            engine: seconds of the engine, measured.
        """
        return bill.turns * self.first + bill.output / self.speed + waits * self.tool + engine
