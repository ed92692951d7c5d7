"""The tools that programs of the suite are granted: every kind of function and of result, always the same answers."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from enum import Enum
from typing import NotRequired

from pydantic import BaseModel
from typing_extensions import TypedDict

from codeact.tools import Toolset, tool


class Status(Enum):
    """What became of a charge."""

    PAID = "paid"
    REFUNDED = "refunded"


@dataclass(frozen=True)
class Charge:
    """What a customer paid."""

    id: str
    amount: Decimal
    day: date
    status: Status


class Article(BaseModel):
    """A page of the knowledge base."""

    title: str
    score: float
    tags: list[str] = []


class Customer(TypedDict):
    """Who pays."""

    id: str
    name: str
    vip: NotRequired[bool]


@dataclass(frozen=True)
class Line:
    """One line of an order."""

    sku: str
    count: int
    price: Decimal


@dataclass(frozen=True)
class Order:
    """What was ordered, and when it left."""

    number: int
    lines: list[Line]
    shipped: datetime | None


_CHARGES = [
    Charge("ch_1", Decimal("10.00"), date(2026, 1, 1), Status.PAID),
    Charge("ch_2", Decimal("12.50"), date(2026, 1, 2), Status.REFUNDED),
    Charge("ch_3", Decimal("12.50"), date(2026, 1, 2), Status.PAID),
    Charge("ch_4", Decimal("7.25"), date(2026, 2, 14), Status.PAID),
]

_ORDERS = {
    1: Order(
        1, [Line("apple", 3, Decimal("0.50")), Line("pear", 1, Decimal("0.80"))], datetime(2026, 3, 1, 8, tzinfo=UTC)
    ),
    2: Order(2, [Line("apple", 10, Decimal("0.45"))], None),
}

_DOCUMENTS = {
    "access.log": (
        '10.0.0.1 - [12/Mar/2026:10:00:01] "GET /index.html" 200 512\n'
        '10.0.0.2 - [12/Mar/2026:10:00:02] "POST /login" 302 0\n'
        '10.0.0.1 - [12/Mar/2026:10:00:05] "GET /missing" 404 128\n'
        '10.0.0.3 - [12/Mar/2026:10:01:00] "GET /index.html" 200 512\n'
        '10.0.0.1 - [12/Mar/2026:10:02:11] "GET /report.pdf" 500 0\n'
    ),
    "orders.csv": (
        "order,customer,region,amount,day\n"
        "1,Ada,north,120.50,2026-01-03\n"
        "2,Bo,south,80.00,2026-01-09\n"
        '3,"Cy, Jr.",north,15.25,2026-02-01\n'
        "4,Ada,west,60.00,2026-02-11\n"
        "5,Bo,south,,2026-02-20\n"
    ),
    "config.json": '{"name": "demo", "limits": {"cpu": 2, "memory": "4G"}, "hosts": ["a.example", "b.example"], "debug": false}',
    "notes.txt": "The quick brown fox\njumps over the lazy dog.\nThe dog sleeps; the fox runs.\n",
}


@tool
def get_charges(customer_id: str, limit: int = 10) -> list[Charge]:
    """The charges of a customer, oldest first."""
    if customer_id == "missing":
        msg = f"no customer {customer_id!r}"
        raise LookupError(msg)
    return _CHARGES[:limit]


@tool
def get_order(number: int) -> Order:
    """One order, its lines included."""
    return _ORDERS[number]


@tool
def get_customers() -> dict[str, Customer]:
    """All customers by id."""
    return {"c1": {"id": "c1", "name": "Ada", "vip": True}, "c2": {"id": "c2", "name": "Bo"}}


@tool
def search(query: str, *, top: int = 3) -> list[Article]:
    """Find articles, the best first."""
    return [
        Article(title=f"{query} {place}", score=1 / place, tags=[query] * (place - 1)) for place in range(1, top + 1)
    ]


@tool
def read_document(name: str) -> str:
    """The text of a document: access.log, orders.csv, config.json or notes.txt."""
    return _DOCUMENTS[name]


@tool
def convert(amount: Decimal, currency: str = "EUR") -> Decimal:
    """An amount in another currency, rounded to cents."""
    rates = {"EUR": Decimal("0.90"), "GBP": Decimal("0.80")}
    return (amount * rates[currency]).quantize(Decimal("0.01"))


@tool
def echo(value: object) -> object:
    """What it is given."""
    return value


@tool
def flaky(attempt: int) -> str:
    """Fails at the first two attempts."""
    if attempt <= 2:  # noqa: PLR2004 - the docstring says it
        msg = f"attempt {attempt} was in vain"
        raise ConnectionError(msg)
    return f"done at attempt {attempt}"


@tool
async def fetch(number: int) -> int:
    """Twice a number, from afar."""
    await asyncio.sleep(0)
    return number * 2


@tool
async def fetch_price(symbol: str) -> float:
    """The price of a share; unknown symbols fail."""
    await asyncio.sleep(0)
    return {"AAA": 10.5, "BBB": 20.25, "CCC": 30.0}[symbol]


@tool
async def nap(seconds: float) -> str:
    """Answers after so many seconds."""
    await asyncio.sleep(seconds)
    return f"slept {seconds:g}"


TOOLS = Toolset(
    [get_charges, get_order, get_customers, search, read_document, convert, echo, flaky, fetch, fetch_price, nap]
)
"""All of them by name; a case says which it needs."""
