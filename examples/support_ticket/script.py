"""A model without a network: it reads the conversation and answers from a script, as a real one would.

Which program comes next depends on what the last one gave. An error that the script has no answer to makes it
give up, so a demo that ends well has really been through the errors it shows.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from string import Template

from codeact.messages import Model, Observed, Reply, Request, Said
from codeact.testing.models import FunctionModel, Program

GIVES_UP = "I could not find this out; a colleague will look at it."


@dataclass(frozen=True, slots=True)
class _Step:
    when: str
    program: str
    pick: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class _Play:
    steps: tuple[_Step, ...]
    answer: str


def scripted() -> Model:
    """The model that plays `script.toml`. It holds no state: the same conversation gets the same reply."""
    rows = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))["play"]
    plays = {
        row["ticket"]: _Play(
            tuple(_Step(step["when"], step["program"].strip("\n"), step.get("pick", {})) for step in row["step"]),
            row["answer"],
        )
        for row in rows
    }

    def reply(request: Request) -> Program | str:
        ticket, *_ = (message.text for message in request.messages if isinstance(message, Said))
        return _next(plays[ticket.split(maxsplit=2)[1]], ticket, request)

    return FunctionModel(reply, name="script")


def _next(play: _Play, ticket: str, request: Request) -> Program | str:
    """The next program of a ticket's play, or its answer once nothing is left to do."""
    replies = [message for message in request.messages if isinstance(message, Reply)]
    written = {asked.code for reply in replies for asked in reply.programs}
    last = request.messages[-1]
    observed = last.text if isinstance(last, Observed) else ""
    for step in play.steps:
        picked = {name: _found(pattern, observed) for name, pattern in step.pick.items()}
        program = Template(step.program).safe_substitute(_facts(ticket) | picked)
        if program not in written and re.search(step.when, observed):
            return Program(program)
    return play.answer if observed.startswith("ok") else GIVES_UP


def _found(pattern: str, text: str) -> str:
    matches = (" ".join(match.groups() or [match[0]]) for match in re.finditer(pattern, text))
    return ", ".join(dict.fromkeys(matches)) or "(nothing)"


def _facts(ticket: str) -> dict[str, str]:
    """What the model takes from a ticket into its programs."""
    addresses = re.findall(r"\S+@\S+\.example\b", ticket)
    path = re.search(r"and of\s+(/\S+)", ticket)
    charge = re.search(r"\bch_\d+", ticket)
    return {
        "email": addresses[0],
        "emails": "[\n" + "".join(f"    {address!r},\n" for address in dict.fromkeys(addresses)) + "]",
        "file": path[1] if path else "",
        "charge": charge[0] if charge else "",
    }
