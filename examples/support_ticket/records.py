"""What the support desk knows: customers, charges, refunds, and the book that holds them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from types import MappingProxyType

WINDOW = timedelta(hours=24)
"""How long after a charge its repeat still counts as a duplicate."""


@dataclass(frozen=True, slots=True)
class Customer:
    """One account.

    Attributes:
        id: like `cus_0042`.
        name: the person who signed up.
        email: their address; no two accounts share one.
        country: two letters.
        currency: what the account is billed in.
        plan: `Starter`, `Team`, `Business` or `Scale`.
        seats: people on the account, those the plan includes not counted.
        since: the day the account was opened.
    """

    id: str
    name: str
    email: str
    country: str
    currency: str
    plan: str
    seats: int
    since: date


@dataclass(frozen=True, slots=True)
class Charge:
    """One time money was taken.

    Attributes:
        id: like `ch_001234`, numbered in order of time.
        customer_id: whose money it was.
        kind: `subscription`, `seat`, `usage`, `addon` or `topup`.
        description: the text on the card statement.
        invoice: the invoice it pays; None for top-ups, which are paid in advance.
        seat: the number of the extra seat it pays for; None when it is not for a seat.
        amount: with two decimals, in `currency`.
        currency: three letters.
        created: when, in UTC.
    """

    id: str
    customer_id: str
    kind: str
    description: str
    invoice: str | None
    seat: int | None
    amount: Decimal
    currency: str
    created: datetime


@dataclass(frozen=True, slots=True)
class Refund:
    """Money given back on one charge, the whole of it or a part.

    Attributes:
        id: like `re_0007`, numbered in order of time.
        charge_id: the charge it gives back.
        customer_id: whose charge that was.
        amount: with two decimals; at most the amount of the charge.
        currency: three letters.
        created: when, in UTC.
        reason: a few words.
    """

    id: str
    charge_id: str
    customer_id: str
    amount: Decimal
    currency: str
    created: datetime
    reason: str


@dataclass(frozen=True, slots=True)
class Book:
    """Every record of the accounts in it, oldest first. Nobody can write to it.

    Attributes:
        customers: by customer id.
        charges: by customer id.
        refunds: by customer id.
    """

    customers: Mapping[str, Customer]
    charges: Mapping[str, tuple[Charge, ...]]
    refunds: Mapping[str, tuple[Refund, ...]]

    @classmethod
    def of(cls, customers: Iterable[Customer], charges: Iterable[Charge], refunds: Iterable[Refund]) -> Book:
        """Put the records of each customer together, in the order given."""
        people = {customer.id: customer for customer in customers}
        charged: dict[str, list[Charge]] = {id_: [] for id_ in people}
        refunded: dict[str, list[Refund]] = {id_: [] for id_ in people}
        for charge in charges:
            charged[charge.customer_id].append(charge)
        for refund in refunds:
            refunded[refund.customer_id].append(refund)
        return cls(
            customers=MappingProxyType(people),
            charges=MappingProxyType({id_: tuple(rows) for id_, rows in charged.items()}),
            refunds=MappingProxyType({id_: tuple(rows) for id_, rows in refunded.items()}),
        )

    def only(self, ids: Iterable[str]) -> Book:
        """A book in which no other account exists: what the tools for one ticket are made from."""
        kept = sorted(set(ids))
        return Book(
            customers=MappingProxyType({id_: self.customers[id_] for id_ in kept}),
            charges=MappingProxyType({id_: self.charges[id_] for id_ in kept}),
            refunds=MappingProxyType({id_: self.refunds[id_] for id_ in kept}),
        )


def repeats(charges: Iterable[Charge], refunded: Container[str]) -> list[Charge]:
    """The true duplicates among a customer's charges; see `data` for what is one.

    Args:
        charges: all of them, oldest first.
        refunded: the ids of those that were given back, in whole or in part.
    """
    seen: dict[tuple[object, ...], list[Charge]] = defaultdict(list)
    found = []
    for charge in charges:
        if charge.id in refunded:
            continue
        same = seen[charge.description, charge.invoice, charge.seat, charge.amount, charge.currency]
        if any(charge.created - earlier.created <= WINDOW for earlier in same):
            found.append(charge)
        same.append(charge)
    return found
