"""Tools that the tests grant: every kind of function and of result."""

from __future__ import annotations

import asyncio
import threading
import time
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from enum import Enum
from typing import NotRequired, TypedDict

from pydantic import BaseModel

from codeact import tool


class Status(Enum):
    PAID = "paid"
    REFUNDED = "refunded"


@dataclass(frozen=True)
class Charge:
    id: str
    amount: Decimal
    day: date
    status: Status


class Article(BaseModel):
    title: str
    score: float
    items: list[int] = []


class Customer(TypedDict):
    id: str
    name: str
    vip: NotRequired[bool]


@tool
def get_charges(customer_id: str, limit: int = 10) -> list[Charge]:
    """The charges of a customer, oldest first."""
    if customer_id == "missing":
        msg = f"no customer {customer_id!r}"
        raise LookupError(msg)
    rows = [
        Charge("ch_1", Decimal("10.00"), date(2026, 1, 1), Status.PAID),
        Charge("ch_2", Decimal("12.50"), date(2026, 1, 2), Status.REFUNDED),
        Charge("ch_3", Decimal("12.50"), date(2026, 1, 2), Status.PAID),
    ]
    return rows[:limit]


@tool
def search(query: str, *, top: int = 3) -> list[Article]:
    """Find articles."""
    return [Article(title=f"{query} {place}", score=1 / place, items=[place]) for place in range(1, top + 1)]


@tool
def get_customers() -> dict[str, Customer]:
    """All customers by id."""
    return {"c1": {"id": "c1", "name": "Ada", "vip": True}, "c2": {"id": "c2", "name": "Bo"}}


@tool
async def fetch(number: int) -> int:
    """Twice a number, from afar."""
    await asyncio.sleep(0)
    return number * 2


@tool
def echo(value: object) -> object:
    """What it is given."""
    return value


@tool
def broken() -> int:
    """Always fails."""
    msg = "the database is away"
    raise ConnectionError(msg)


@tool
def leaky() -> object:
    """Gives what cannot cross."""
    return {"rows": [threading.Lock()]}


released = threading.Event()
"""Set by a test to let `stuck` go."""


@tool
def stuck() -> int:
    """Answers only when the test lets it."""
    released.wait(30)
    return 1


@tool
async def stuck_async() -> int:
    """Never answers."""
    await asyncio.sleep(3600)
    return 1


@tool(timeout=0.1)
def impatient() -> int:
    """May take a tenth of a second, and takes longer."""
    time.sleep(1.5)
    return 1


ALL = [get_charges, search, get_customers, fetch, echo, broken, leaky]
