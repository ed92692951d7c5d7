"""The five tools of a support desk, over a thousand charges, as plain functions over plain values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from benchmarks.arms import CannotError, Tools

CHARGES = 1000
REPEATED = 10
"""Every so many charges, one is taken twice."""

Charge = dict[str, Any]


def _charge(number: int) -> Charge:
    repeats = number % REPEATED == REPEATED - 1
    invoice = number - 1 if repeats else number
    return {
        "id": f"ch_{number:04}",
        "invoice": f"in_{invoice:04}",
        "amount": (invoice % 90 + 10) / 4,
        "created": 28_928_160 + number,  # minutes
    }


_CHARGES = [_charge(number) for number in range(CHARGES)]

DUPLICATES = [charge["id"] for charge in _CHARGES[REPEATED - 1 :: REPEATED]]
"""What the program below must find."""


def find_customer(email: str) -> dict[str, str]:
    """Find the customer with this e-mail address."""
    return {"id": "cus_1", "email": email}


def get_charges(customer_id: str) -> list[dict[str, Any]]:
    """Get every charge of a customer, oldest first."""
    return _CHARGES if customer_id == "cus_1" else []


def get_refunds(customer_id: str, limit: int = 10) -> list[str]:
    """Get the ids of the charges of a customer that were refunded."""
    return [customer_id][:limit] if customer_id != "cus_1" else []


def search(query: str, limit: int = 3) -> list[str]:
    """Search the help articles."""
    return [query][:limit]


def increment(number: int) -> int:
    """Give the next number."""
    return number + 1


async def later(number: int) -> int:
    """Give the next number."""
    return number + 1


_GRANTS: Mapping[str, tuple[Callable[..., Any], ...]] = {
    "none": (),
    "five": (find_customer, get_charges, get_refunds, search, increment),
    "plain": (find_customer, get_charges, get_refunds, search, increment),
    "later": (later,),
}


def granted(tools: Tools) -> dict[str, Callable[..., Any]]:
    """The functions, by name.

    Raises:
        CannotError: they give records, which only codeact's tools do.
    """
    if tools not in _GRANTS:
        msg = "no records: only plain values cross"
        raise CannotError(msg)
    return {function.__name__: function for function in _GRANTS[tools]}


PLAIN_PROGRAM = """
customer = tools.find_customer("ann@example.com")
seen = {}
duplicates = []
for charge in tools.get_charges(customer["id"]):
    key = charge["invoice"], charge["amount"]
    if key in seen and charge["created"] - seen[key] <= 24 * 60:
        duplicates.append(charge["id"])
    seen[key] = charge["created"]
duplicates
"""
