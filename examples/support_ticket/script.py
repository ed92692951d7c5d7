"""A model without a network: it reads the conversation and answers from a script, as a real one would.

Which program comes next depends on what the last one gave. An error that the script has no answer to makes it
give up, so a demo that ends well has really been through the errors it shows.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import Template
from typing import Literal, Protocol

GIVES_UP = "I could not find this out; a colleague will look at it."


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation: the host speaks as `system` and `user`, the model as `assistant`."""

    role: Literal["system", "user", "assistant"]
    text: str


@dataclass(frozen=True, slots=True)
class Program:
    """The model wants this program run."""

    code: str


@dataclass(frozen=True, slots=True)
class Answer:
    """The model is done: this is what the customer should read."""

    text: str


class Model(Protocol):
    """What decides what to do next. Put your provider's client behind this one method."""

    def reply(self, messages: Sequence[Message]) -> Program | Answer:
        """The next program, or the final answer."""
        ...


@dataclass(frozen=True, slots=True)
class _Play:
    steps: tuple[tuple[str, str], ...]
    pick: Mapping[str, str]
    answer: str


class ScriptedModel:
    """Plays `script.toml`. It holds no state: the same messages get the same reply."""

    def __init__(self) -> None:
        rows = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))["play"]
        self._plays = {
            row["ticket"]: _Play(
                steps=tuple((step["when"], step["program"].strip("\n")) for step in row["step"]),
                pick=row["pick"],
                answer=row["answer"],
            )
            for row in rows
        }

    def reply(self, messages: Sequence[Message]) -> Program | Answer:
        """The next program of the ticket's play, or its answer once a program has finished."""
        ticket = next(message.text for message in messages if message.role == "user")
        written = {message.text for message in messages if message.role == "assistant"}
        observed = messages[-1].text if written else ""
        play = self._plays[ticket.split(maxsplit=2)[1]]
        if observed.startswith("ok"):
            picked = {name: _found(pattern, observed) for name, pattern in play.pick.items()}
            return Answer(Template(play.answer).substitute(picked))
        for when, text in play.steps:
            program = Template(text).safe_substitute(_facts(ticket))
            if program not in written and re.search(when, observed):
                return Program(program)
        return Answer(GIVES_UP)


def _found(pattern: str, text: str) -> str:
    matches = (" ".join(match.groups() or [match[0]]) for match in re.finditer(pattern, text))
    return ", ".join(dict.fromkeys(matches)) or "(nothing)"


def _facts(ticket: str) -> dict[str, str]:
    """What the model takes from a ticket into its programs."""
    addresses = re.findall(r"\S+@\S+\.example\b", ticket)
    path = re.search(r"and of\s+(/\S+)", ticket)
    return {
        "email": addresses[0],
        "emails": "[\n" + "".join(f"    {address!r},\n" for address in dict.fromkeys(addresses)) + "]",
        "file": path[1] if path else "",
    }
