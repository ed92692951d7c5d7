"""A proposal: what a program would have done to the world, for somebody outside to decide."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, ROUND_HALF_EVEN, Context, Decimal

from codeact import excerpts
from codeact.limits import DEEPEST
from codeact.renderings import digest_of_text, jsonable
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
    """The SHA-256 of an action's name and its arguments, hexadecimal; the same for arguments that are equal.

    Args:
        name: the action.
        arguments: plain values by the names of the parameters.
    """
    return digest_of_text(canonical(name, arguments))


def canonical(name: str, arguments: Mapping[str, object]) -> str:
    """An action's name and its arguments as one text, the same for arguments that are equal; see `digest_of`."""
    return encode([name, _canonical(dict(arguments))], DEEPEST + 2)


def _canonical(value: object) -> object:
    """The value as all that are equal to it: twenty is 20 and 20.0, and the order of a mapping's keys says nothing."""
    match value:
        case Decimal() if value.is_finite():
            return _number(value)
        case float() if value == 0:
            return 0.0  # which -0.0 equals
        case str() if not value.isascii():
            # Two halves of a character are that character once they were written down and read.
            return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
        case datetime() if value.tzinfo is not None:
            return value.astimezone(UTC)
        case dict():
            items = [(_canonical(key), _canonical(item)) for key, item in dict.items(value)]
            return dict(sorted(items, key=lambda item: _text(item[0])))
        case set() | frozenset():
            return (type(value).__name__, *sorted(map(_canonical, value), key=_text))
        case list():
            return list(map(_canonical, value))
        case tuple():
            return ("tuple", *map(_canonical, value))  # it is none of the sets above
        case _:
            return value


def _number(value: Decimal) -> Decimal:
    """The number without a thought of how it was written, and there is one zero.

    Neither may depend on the thread's own context, which rounds, and which a program on `restricted` may set.
    """
    exact = value.normalize(_EXACT)
    short = _SHORT.add(exact, 0)
    return short if short == exact else exact


_EXACT = Context(prec=MAX_PREC, Emax=MAX_EMAX, Emin=MIN_EMIN, clamp=0, traps=[])

_SHORT = Context(prec=28, rounding=ROUND_HALF_EVEN, Emax=999_999, Emin=-999_999, clamp=0, traps=[])
"""Of the form that most numbers have in digests: a whole number of so many digits is written out."""


def _text(value: object) -> str:
    return encode(value, DEEPEST)
