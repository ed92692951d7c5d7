"""Where consequences happen: the mail that leaves, and the money that is paid back. No program is granted any of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal

from .records import Book


@dataclass(frozen=True, slots=True)
class Letter:
    """A letter that has left.

    Attributes:
        address: to whom.
        text: what it says.
    """

    address: str
    text: str


@dataclass(frozen=True, slots=True)
class Payment:
    """Money that was paid back.

    Attributes:
        key: tells a payment from the same one asked for again; a bank would give its first answer then.
        charge_id: the charge that it gives back, or a part of.
        amount: in the charge's currency.
        reason: a few words.
    """

    key: str
    charge_id: str
    amount: Decimal
    reason: str


@dataclass(slots=True)
class Office:
    """Counts what has happened. It does not look for repeats: whatever arrives twice has happened twice.

    Attributes:
        letters: that have left, in order.
        payments: that were made, in order.
    """

    letters: list[Letter] = field(default_factory=list)
    payments: list[Payment] = field(default_factory=list)

    @property
    def effects(self) -> tuple[int, int]:
        """How many letters have left, and how many payments were made."""
        return len(self.letters), len(self.payments)

    def paid_back(self, charge_id: str) -> Decimal:
        """What was paid back on a charge."""
        return sum((payment.amount for payment in self.payments if payment.charge_id == charge_id), Decimal(0))

    def left(self, charge_id: str, book: Book) -> Decimal:
        """What may still be paid back on a charge; nothing where the book has no such charge."""
        paid = [charge.amount for rows in book.charges.values() for charge in rows if charge.id == charge_id]
        back = [refund.amount for rows in book.refunds.values() for refund in rows if refund.charge_id == charge_id]
        return sum(paid, Decimal(0)) - sum(back, Decimal(0)) - self.paid_back(charge_id)
