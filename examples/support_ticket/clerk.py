"""Who decides about what programs have proposed: rules, then a look into the books, then a person."""

from __future__ import annotations

from decimal import Decimal

from annotated_types import Gt, MaxLen

from codeact.outbox import Allow, Entry, Refuse, Verdict

from .office import Office
from .records import Book, repeats

RULES = (
    Allow("send_reply", where={"text": MaxLen(4000)}, count=1),
    Refuse("refund", where={"amount": Gt(500)}, reason="nobody here pays back more than 500"),
)
"""What needs no look: one reply a ticket, and what is never done. A refund is not allowed by its amount alone: the first
rule that speaks decides, and nobody would hold it against the books."""

UNASKED = Decimal(50)
"""What may be paid back without a person."""


class Clerk:
    """Holds refunds against the books. What the model says of them, its reasons included, counts for nothing here."""

    def __init__(self, book: Book, office: Office) -> None:
        """Look after the accounts of one ticket.

        Args:
            book: these accounts, and no others.
            office: which knows what was paid back since.
        """
        self._book = book
        self._office = office
        self._charges = {charge.id: charge for rows in book.charges.values() for charge in rows}
        refunded = {refund.charge_id for rows in book.refunds.values() for refund in rows}
        self._repeats = {repeat.id for rows in book.charges.values() for repeat in repeats(rows, refunded)}

    def decide(self, entry: Entry) -> Verdict:
        """Approve, refuse, or leave it to a person, and say why."""
        match entry.arguments:
            case {"charge_id": str(charge_id), "amount": Decimal() as amount}:
                return self._judged_refund(charge_id, amount)
        return Verdict(None, "no rule is about it")

    def _judged_refund(self, charge_id: str, amount: Decimal) -> Verdict:
        charge = self._charges.get(charge_id)
        if charge is None:
            return Verdict(False, f"{charge_id} is no charge of the sender's")
        left = self._office.left(charge_id, self._book)
        if not 0 < amount <= left:
            return Verdict(False, f"of {charge_id} there is {left} {charge.currency} left to pay back")
        if charge_id not in self._repeats:
            return Verdict(None, f"{charge_id} was not taken twice")
        if amount > UNASKED:
            return Verdict(None, f"it is more than {UNASKED}")
        return Verdict(True, f"{charge_id} was taken twice, and not paid back yet")
