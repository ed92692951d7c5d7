"""An entry of the outbox: one consequence, how far it has come, and what may happen to it next."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args
from uuid import UUID

from codeact import excerpts
from codeact.renderings import jsonable

State = Literal["proposed", "approved", "refused", "started", "done", "failed", "unknown"]
"""How far a consequence has come.

`proposed` awaits a decision; `approved` may be performed, once; `started` is being performed; `unknown` was started, and
nobody knows whether it happened. `done` happened, `failed` did not, `refused` never will.
"""

STATES: tuple[State, ...] = get_args(State)


class OutboxError(RuntimeError):
    """The outbox cannot do what it was asked for; the text says what can be done."""


@dataclass(frozen=True, slots=True)
class Move:
    """A step from one state to another.

    Attributes:
        verb: what happens to an entry, as in "it cannot be approved".
        sources: the states that it starts from.
        to: the state that it leads to.
        by_person: whether it is offered to a person.
    """

    verb: str
    sources: tuple[State, ...]
    to: State
    by_person: bool = False


APPROVE = Move("approved", ("proposed", "failed"), "approved", by_person=True)
REFUSE = Move("refused", ("proposed", "approved", "failed"), "refused", by_person=True)
EXPIRE = Move("set back", ("approved",), "proposed")
START = Move("started", ("approved",), "started")
# Whoever performs an entry may find it taken for unknown, where its lock was out of sight: it knows better.
FINISH = Move("finished", ("started", "unknown"), "done")
FAIL = Move("failed", ("started", "unknown"), "failed")
LOSE = Move("given up", ("started",), "unknown")
SETTLE_DONE = Move("settled as done", ("unknown",), "done", by_person=True)
SETTLE_FAILED = Move("settled as failed", ("unknown",), "failed", by_person=True)
SETTLE_AGAIN = Move("settled as again", ("unknown",), "approved", by_person=True)

MOVES = (APPROVE, REFUSE, EXPIRE, START, FINISH, FAIL, LOSE, SETTLE_DONE, SETTLE_FAILED, SETTLE_AGAIN)
"""All that can ever happen to an entry."""

LEAVE = Move("left to a person", ("proposed",), "proposed")
"""The entry stays where it is, with a reason."""


@dataclass(frozen=True, slots=True)
class Step:
    """A step that an entry has taken: into which state, when, and why.

    Attributes:
        state: the state that it came into; of an entry that was left to a person, the one that it stayed in.
        time: seconds since the epoch.
        by: who decided: a rule, the callback, or the name that a person gave; None where nobody had to.
        reason: why, as whoever decided said; or what was found out.
        error: what the function raised, or why nobody knows what it did.
    """

    state: State
    time: float
    by: str | None = None
    reason: str | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a callback says, and why, which is put on record with the entry.

    Attributes:
        approved: True approves, False refuses, None leaves it to a person.
        reason: why; None for no reason given.
    """

    approved: bool | None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Entry:
    """A consequence in the outbox, as it was when it was read. Times are seconds since the epoch.

    Attributes:
        id: 32 hexadecimal digits, made of the task, the name and the digest: the same consequence has the same id.
        task: what it is for, by the host's name.
        run: the run that proposed it first; None where it is not known.
        seq: its place among the proposals of that run, from 1.
        name: the action.
        arguments: plain values by the names of the parameters.
        digest: of the name and the arguments; see `codeact.proposals.digest_of`.
        line: the line of the program that proposed it; None where it is not known.
        state: how far it has come.
        created: when it was proposed first.
        decided: when somebody decided last; None before.
        by: who that was: a rule, the callback, or the name that a person gave.
        expires: until when the approval holds; None for ever.
        reason: why it was decided so, or why it is back where it was.
        started: when it was begun last; None before.
        ended: when that ended, or was found to have ended.
        value: what the function returned, as plain values.
        error: what the function raised, or why nobody knows what it did.
        keyed: whether the function that was begun takes the key; None before.
        owner: who performs it, or did when it was lost.
    """

    id: str
    task: str
    run: str | None
    seq: int
    name: str
    arguments: Mapping[str, object]
    digest: str
    line: int | None
    state: State
    created: float
    decided: float | None = None
    by: str | None = None
    expires: float | None = None
    reason: str | None = None
    started: float | None = None
    ended: float | None = None
    value: object = None
    error: str | None = None
    keyed: bool | None = None
    owner: str | None = None

    def __str__(self) -> str:
        """The call as it is written, short: `refund(charge_id='ch_1', amount=20)`."""
        return excerpts.call(self.name, (), self.arguments)

    @property
    def key(self) -> str:
        """The idempotency key: a UUID, the same each time that this consequence is performed."""
        return str(UUID(self.id))

    def to_dict(self) -> dict[str, object]:
        """The entry as JSON-ready data; see `codeact.renderings.jsonable`."""
        own = {name: getattr(self, name) for name in self.__slots__ if name != "owner"}
        return {**own, "arguments": jsonable(dict(self.arguments)), "value": jsonable(self.value), "key": self.key}


def impossible(entry: Entry, move: Move) -> OutboxError:
    """That an entry cannot take a step, and what it can."""
    offered = [move.verb for move in MOVES if move.by_person and entry.state in move.sources]
    match entry.state:
        case "started":
            rest = "it is being performed; wait until that has ended"
        case "done" | "refused":
            rest = "that is final"
        case _:
            rest = f"it can be {' or '.join(offered)}"
    told = f"is {entry.state} already" if entry.state == move.verb else f"is {entry.state}: it cannot be {move.verb}"
    return OutboxError(f"entry {entry.id[:8]}, {entry}, {told}; {rest}")
