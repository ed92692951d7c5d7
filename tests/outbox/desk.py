"""What the tests of the outbox are made of."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal

from codeact.actions import Action, action
from codeact.outbox import Entry, Outbox
from codeact.proposals import Proposal, digest_of

Open = Callable[..., Outbox]


def proposal(name: str = "refund", seq: int = 1, **arguments: object) -> Proposal:
    """A proposal; of a refund of 20 where nothing else is said."""
    given: Mapping[str, object] = arguments or {"charge_id": "c1", "amount": Decimal(20)}
    return Proposal(seq=seq, name=name, arguments=given, digest=digest_of(name, given), line=seq)


def refund_of(amount: object, seq: int = 1) -> Proposal:
    return proposal(seq=seq, charge_id="c1", amount=amount)


class Till:
    """Actions, and what they have done."""

    def __init__(self) -> None:
        self.effects: list[str] = []
        self.keys: list[str] = []
        self.raises: BaseException | None = None

    def refund(self, charge_id: str, amount: Decimal) -> str:
        self.effects.append(f"{charge_id} {amount}")
        if self.raises is not None:
            raise self.raises
        return f"refunded {amount}"

    def charge(self, charge_id: str, amount: Decimal, idempotency_key: str) -> str:
        self.keys.append(idempotency_key)
        return self.refund(charge_id, amount)

    async def send(self, to: str) -> str:
        return self.refund(to, Decimal(0))

    @property
    def actions(self) -> list[Action[..., object]]:
        return [action(self.refund), action(self.charge), action(self.send)]


def approved(outbox: Outbox, entry: Entry) -> Entry:
    """The entry, approved by a person."""
    return outbox.approve(entry.id, digest=entry.digest, by="ada")


class Clock:
    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now
