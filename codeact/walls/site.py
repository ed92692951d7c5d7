"""The site under test: sandboxes made by the policy, and the host's record of all that comes out of them."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from codeact.audit import Audit, Event
from codeact.policy import Policy
from codeact.result import Result
from codeact.sandbox import Sandbox
from codeact.tools import Granted, tool

Make = Callable[[Policy, Granted, Audit], Sandbox]
"""How a sandbox is made of a policy."""


def by_policy(policy: Policy, tools: Granted, audit: Audit) -> Sandbox:
    """As a deployment makes its sandboxes."""
    return Sandbox.from_policy(policy, tools, audit=audit)


@dataclass
class Record:
    """What the host has seen.

    Attributes:
        said: what programs have handed to the witness.
        results: what their runs gave.
        events: what the audit was told.
    """

    said: list[str] = field(default_factory=list)
    results: list[Result] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)

    def write(self, event: Event) -> None:
        """Take an event; the record is a sink."""
        self.events.append(event)

    def holds(self, canary: str) -> bool:
        """Whether a text has come out in any way."""
        shown = (json.dumps(result.to_dict(), default=repr) + result.observation() for result in self.results)
        files = ((file.data or b"").decode("utf-8", "replace") for result in self.results for file in result.files)
        return any(canary in text for text in (*self.said, *shown, *files))


class Site:
    """A deployed policy, and a record of what its sandboxes let out."""

    def __init__(self, policy: Policy, make: Make = by_policy) -> None:
        """Set a site up.

        Args:
            policy: what is deployed.
            make: how its sandboxes are made; tests of these tests break it on purpose.
        """
        self.policy = policy
        self.limits = policy.as_limits()
        self.record = Record()
        self._make = make

    def sandbox(self, extra: Iterable[Any] = (), policy: Policy | None = None) -> Sandbox:
        """A sandbox of the policy, with the witness as its one tool beside `extra`."""

        @tool
        def witness(text: str) -> None:
            """Take a text."""
            self.record.said.append(text)

        return self._make(policy or self.policy, [witness, *extra], Audit([self.record]))

    def attack(self, programs: Iterable[str], places: Mapping[str, object]) -> Record:
        """Run every program in a fresh world, and give the record of it."""
        sandbox = self.sandbox()
        for program in programs:
            self.record.results.append(sandbox.run(filled(program, places)))
        return self.record


def filled(program: str, places: Mapping[str, object]) -> str:
    """A program with its places filled in."""
    return program.format_map(places)


def canary(what: str) -> str:
    """A text that is nowhere else."""
    return f"codeact-canary-{what}-{secrets.token_hex(8)}"
