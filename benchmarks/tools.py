"""Five tools such as a support desk would grant, over a thousand charges."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from codeact import Tool, tool

CHARGES = 1000
REPEATED = 10
"""Every so many charges, one is taken twice."""


@dataclass(frozen=True, slots=True)
class Customer:
    """A customer."""

    id: str
    email: str


@dataclass(frozen=True, slots=True)
class Charge:
    """A charge of a customer."""

    id: str
    invoice: str
    amount: Decimal
    created: datetime


def _charge(number: int) -> Charge:
    repeats = number % REPEATED == REPEATED - 1
    invoice = number - 1 if repeats else number
    return Charge(
        id=f"ch_{number:04}",
        invoice=f"in_{invoice:04}",
        amount=Decimal(invoice % 90 + 10) / 4,
        created=datetime(2025, 1, 1, tzinfo=UTC) + timedelta(minutes=number),
    )


_CHARGES = [_charge(number) for number in range(CHARGES)]

DUPLICATES = [charge.id for charge in _CHARGES[REPEATED - 1 :: REPEATED]]
"""What the program below must find."""


@tool
def find_customer(email: str) -> Customer:
    """Find the customer with this e-mail address."""
    return Customer("cus_1", email)


@tool
def get_charges(customer_id: str) -> list[Charge]:
    """Get every charge of a customer, oldest first."""
    return _CHARGES if customer_id == "cus_1" else []


@tool
def get_refunds(customer_id: str, limit: int = 10) -> list[str]:
    """Get the ids of the charges of a customer that were refunded."""
    return [customer_id][:limit] if customer_id != "cus_1" else []


@tool
def search(query: str, limit: int = 3) -> list[str]:
    """Search the help articles."""
    return [query][:limit]


@tool
def increment(number: int) -> int:
    """Give the next number."""
    return number + 1


TOOLS: tuple[Tool[..., Any], ...] = (find_customer, get_charges, get_refunds, search, increment)

DUPLICATE_PROGRAM = """
from datetime import timedelta

customer = tools.find_customer("ann@example.com")
seen = {}
duplicates = []
for charge in tools.get_charges(customer.id):
    key = charge.invoice, charge.amount
    if key in seen and charge.created - seen[key] <= timedelta(hours=24):
        duplicates.append(charge.id)
    seen[key] = charge.created
duplicates
"""
