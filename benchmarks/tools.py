"""The five tools of a support desk with records, as codeact's users write them; `benchmarks.arms.shop` has them plain."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from benchmarks.arms import shop
from codeact import Tool, tool


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


def _record(charge: dict[str, Any]) -> Charge:
    amount = Decimal(charge["amount"])
    return Charge(charge["id"], charge["invoice"], amount, EPOCH + timedelta(minutes=charge["created"]))


EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_CHARGES = [_record(charge) for charge in shop.get_charges("cus_1")]


@tool
def find_customer(email: str) -> Customer:
    """Find the customer with this e-mail address."""
    return Customer("cus_1", email)


@tool
def get_charges(customer_id: str) -> list[Charge]:
    """Get every charge of a customer, oldest first."""
    return _CHARGES if customer_id == "cus_1" else []


TOOLS: tuple[Tool[..., Any], ...] = (
    find_customer,
    get_charges,
    tool(shop.get_refunds),
    tool(shop.search),
    tool(shop.increment),
)

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
