"""A conversation of a scripted model with a host: the smallest loop that is honest about what is sent and when."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Generator, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from pydantic_core import to_json

from codeact import Result, Sandbox, Tool, Toolset

Role = Literal["user", "assistant", "tool"]


@dataclass(frozen=True, slots=True)
class Ask:
    """A call that the model asks for.

    Attributes:
        name: the function.
        arguments: its arguments by name.
    """

    name: str
    arguments: Mapping[str, object]

    @property
    def text(self) -> str:
        """The arguments as the model writes them: JSON, and no space in it that is not needed."""
        return json.dumps(self.arguments, ensure_ascii=False, separators=(",", ":"))


Asks = tuple[Ask, ...]

Script = Generator[Asks, list[str], str]
"""A model that is played: it yields the calls of a turn, is sent what each gave, and returns its last words."""


@dataclass(frozen=True, slots=True)
class Message:
    """One message of the history.

    Attributes:
        role: whose it is; `tool` is what a call gave.
        text: what it says.
        asks: the calls that an assistant's message asks for.
    """

    role: Role
    text: str = ""
    asks: Asks = ()


@dataclass(frozen=True, slots=True)
class Prompt:
    """What stands before every history, and is sent with each of its turns.

    Attributes:
        system: the instructions, with the stubs where programs are written.
        functions: the declarations of the functions that the model may call.
    """

    system: str
    functions: str


@dataclass(frozen=True, slots=True)
class Episode:
    """A conversation that has come to its end.

    Attributes:
        prompt: what was sent before it.
        messages: all messages, the model's last words included.
    """

    prompt: Prompt
    messages: tuple[Message, ...]

    @property
    def answer(self) -> str:
        """The model's last words."""
        return self.messages[-1].text

    @property
    def turns(self) -> int:
        """How often the model was asked."""
        return sum(message.role == "assistant" for message in self.messages)


class Host(Protocol):
    """Who carries calls out."""

    def perform(self, asks: Asks) -> list[str]:
        """The texts that the calls of one turn give."""
        ...


def converse(prompt: Prompt, question: str, script: Script, host: Host) -> Episode:
    """Let a scripted model work on a question until it has an answer."""
    messages = [Message("user", question)]
    try:
        asks = next(script)
        while True:
            texts = host.perform(asks)
            messages += [Message("assistant", asks=asks), *(Message("tool", text) for text in texts)]
            asks = script.send(texts)
    except StopIteration as end:
        messages.append(Message("assistant", str(end.value)))
    return Episode(prompt, tuple(messages))


class Calls:
    """Carries out function calls as an agent's loop does: validated, those of one turn together, results as JSON."""

    def __init__(self, tools: Iterable[Tool[..., Any]]) -> None:
        self._tools = Toolset(tools)

    def perform(self, asks: Asks) -> list[str]:
        """The results, each as compact JSON."""
        return asyncio.run(self._together(asks))

    async def _together(self, asks: Asks) -> list[str]:
        return list(await asyncio.gather(*map(self._one, asks)))

    async def _one(self, ask: Ask) -> str:
        tool = self._tools[ask.name]
        args, kwargs = tool.bind((), ask.arguments)
        given = tool(*args, **kwargs)
        return to_json(await given if tool.is_async else given).decode()


class Programs:
    """Runs programs in a sandbox; every other call is a function call.

    Attributes:
        results: what each program gave, in order.
    """

    def __init__(self, sandbox: Sandbox, outside: Iterable[Tool[..., Any]] = ()) -> None:
        self.results: list[Result] = []
        self._sandbox = sandbox
        self._calls = Calls(outside)

    def perform(self, asks: Asks) -> list[str]:
        """What the model reads: observations of programs, results of other calls."""
        return [text for ask in asks for text in self._one(ask)]

    def _one(self, ask: Ask) -> list[str]:
        if ask.name != RUN:
            return self._calls.perform((ask,))
        self.results.append(self._sandbox.run(str(ask.arguments["code"])))
        return [self.results[-1].observation()]


RUN = "run_program"
"""The one function of a model that writes programs."""


def program(code: str) -> Asks:
    """The turn of a model that writes a program."""
    return (Ask(RUN, {"code": code.strip("\n")}),)
