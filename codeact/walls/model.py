"""What a wall is, and what is said of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from codeact.walls.site import Site

Outcome = Literal["holds", "broken", "not applicable"]
"""`not applicable` is only for what the policy itself says there is none of."""


class Broken(Exception):
    """A wall did not hold; the message is the host's evidence."""


class Absent(Exception):
    """The policy says that there is nothing for this wall to keep; the message quotes it."""


@dataclass(frozen=True, slots=True)
class Wall:
    """One wall.

    Attributes:
        number: from 1.
        name: what must hold, in a few words.
        check: attacks it and gives the evidence that it held.

            It raises `Broken` where it did not, and `Absent` where the policy says there is none.
    """

    number: int
    name: str
    check: Callable[[Site], str]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of one wall.

    Attributes:
        number: the wall's.
        name: the wall's.
        outcome: see `Outcome`.
        evidence: what the host has seen, in a sentence.
        seconds: how long the attack took.
    """

    number: int
    name: str
    outcome: Outcome
    evidence: str
    seconds: float
