"""A proposal: what a program would have done to the world, for somebody outside to decide."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

from codeact import excerpts
from codeact.limits import DEEPEST
from codeact.renderings import jsonable
from codeact.values import encode


@dataclass(frozen=True, slots=True)
class Proposal:
    """One action that a program has proposed. Nothing of it has happened.

    The same action with the same arguments, proposed again in one run, is the same proposal.

    Attributes:
        seq: its place among the proposals of its run, from 1.
        name: the action.
        arguments: by the names of the parameters, as plain values: validated, converted, and with the defaults of
            those that were left out.
        digest: the SHA-256 of the name and the arguments, hexadecimal; see `digest_of`. An approval is of a digest.
        line: the program's line that proposed it first, from 1; None where the engine cannot know.
    """

    seq: int
    name: str
    arguments: Mapping[str, object]
    digest: str
    line: int | None = None

    def __str__(self) -> str:
        """The call as it is written, short: `refund(charge_id='ch_1', amount=20)`."""
        return excerpts.call(self.name, (), self.arguments)

    def to_dict(self) -> dict[str, object]:
        """The proposal as JSON-ready data; see `codeact.renderings.jsonable`."""
        return {
            "seq": self.seq,
            "name": self.name,
            "arguments": jsonable(dict(self.arguments)),
            "digest": self.digest,
            "line": self.line,
        }


def digest_of(name: str, arguments: Mapping[str, object]) -> str:
    """The SHA-256 of an action's name and its arguments as they are encoded, hexadecimal.

    Args:
        name: the action.
        arguments: plain values by the names of the parameters, in the order of the signature.
    """
    return hashlib.sha256(encode([name, dict(arguments)], DEEPEST).encode()).hexdigest()
