"""What a program may propose while it works on a ticket. All of it changes the world, and none of it happens inside."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Any

from pydantic import Field

from codeact import Action, action
from codeact.outbox import NothingHappened

from .office import Letter, Office, Payment
from .records import Book
from .tickets import Ticket

Amount = Annotated[Decimal, Field(gt=0, decimal_places=2)]
"""What does not fit is refused where it is proposed, with an error that the model can mend."""


def support_actions(ticket: Ticket, book: Book, office: Office) -> list[Action[..., Any]]:
    """The actions for one ticket. They reach its sender and the charges in the book, and nobody else.

    Args:
        ticket: whose sender gets the reply. The address is no parameter, so no program can choose another.
        book: the accounts whose charges may be given back.
        office: where it happens, once it is approved.
    """

    @action
    def send_reply(text: str) -> None:
        """Send the reply to whoever wrote the ticket: one letter that says all."""
        office.letters.append(Letter(ticket.sender, text))

    @action
    def refund(charge_id: str, amount: Amount, reason: str, *, idempotency_key: str) -> None:
        """Pay a charge back to the card that paid it, or a part of it; the amount is in the charge's currency."""
        # Whoever approved it may have been wrong, or have approved another of the same charge before either was performed.
        left = office.left(charge_id, book)
        if amount > left:
            msg = f"of {charge_id} there is {left} left to pay back on this ticket's accounts"
            raise NothingHappened(msg)
        office.payments.append(Payment(idempotency_key, charge_id, amount, reason))

    return [send_reply, refund]
