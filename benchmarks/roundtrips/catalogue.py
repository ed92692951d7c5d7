"""The tools of the grid: five that its tasks use, over items of a chosen size, among as many others as are wanted."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, make_dataclass
from functools import cache
from itertools import islice, product
from random import Random
from typing import Any

from codeact import Tool, tool

ITEMS = 100
"""How many items there are."""


@dataclass(frozen=True, slots=True)
class Item:
    """An item of the stock.

    Attributes:
        id: its key, which nobody can guess.
        owner: the key of the person it belongs to.
        amount: in cents.
        open: whether it is still to be done.
        next: the key of the item that follows it.
        notes: what was written about it.
    """

    id: str
    owner: str
    amount: int
    open: bool
    next: str
    notes: str


@dataclass(frozen=True, slots=True)
class Person:
    """A person that items belong to."""

    id: str
    name: str
    mail: str


COMPLAINT = "Late."
"""What the notes of every fifth item begin with; short, for notes that have no room."""

_WORDS = (  # noqa: SIM905 - written as the text it is
    "the parcel was packed again after a customer had asked for another colour and the shelf in the north hall was "
    "counted twice because a label had come off so the clerk wrote down each box with its weight and price before it "
    "left on the second lorry to the depot where nobody had signed for it yet"
).split()


def _key(kind: str, number: int) -> str:
    return f"{kind}_{hashlib.sha256(f'{kind}{number}'.encode()).hexdigest()[:6]}"


IDS = tuple(_key("it", number) for number in range(ITEMS))
"""The keys of the items, in their order."""


@cache
def items(payload: int) -> dict[str, Item]:
    """All items by key.

    Args:
        payload: characters of each as compact JSON.
    """
    found = {}
    for number, key in enumerate(IDS):
        draw = Random(number)
        bare = Item(
            key, _key("pe", number % 40), draw.randrange(100, 9900), number % 4 == 0, IDS[(number * 7 + 1) % ITEMS], ""
        )
        room = payload - len(json.dumps(asdict(bare), separators=(",", ":")))
        said = COMPLAINT if number % 5 == 0 else ""
        notes = f"{said} {' '.join(draw.choices(_WORDS, k=room))}"[:room].strip().ljust(room, ".")
        found[key] = Item(bare.id, bare.owner, bare.amount, bare.open, bare.next, notes)
    return found


@cache
def people() -> dict[str, Person]:
    """All people by key."""
    names = ("Ann", "Ben", "Cem", "Dua", "Eve", "Fay", "Gus", "Ida")
    return {
        key: Person(key, f"{names[number % 8]} {_WORDS[number].title()}", f"{key}@example.com")
        for number in range(40)
        for key in [_key("pe", number)]
    }


@cache
def catalogue(size: int, payload: int) -> tuple[Tool[..., Any], ...]:
    """The five tools that are used, and others up to a number.

    Args:
        size: how many in all.
        payload: characters of an item.
    """
    store = items(payload)

    @tool
    async def get_item(item_id: str) -> Item:
        """Get an item by its id."""
        return store[item_id]

    @tool
    async def list_items(limit: int) -> list[Item]:
        """List the items, oldest first."""
        return list(store.values())[:limit]

    @tool
    async def get_person(person_id: str) -> Person:
        """Get the person that items belong to."""
        return people()[person_id]

    @tool
    async def get_record(record_id: str) -> dict[str, Any]:
        """Get a record of the archive by its id."""
        return {"rec": asdict(store[record_id])}

    @tool
    async def count_items(open_only: bool) -> int:
        """Count the items."""
        return sum(item.open or not open_only for item in store.values())

    return get_item, list_items, get_person, get_record, count_items, *islice(_others(), size - 5)


_NOUNS = (
    "invoice", "order", "shipment", "refund", "account", "address", "product", "warehouse", "supplier", "coupon",
    "ticket", "contract", "payment", "campaign", "branch", "vehicle", "employee", "shift", "audit", "forecast",
)  # fmt: skip
_VERBS = {
    "get": "Get one {noun} by its id.",
    "find": "Find the {noun} that matches a text best.",
    "check": "Check whether the {noun} with this id is complete.",
    "compare": "Compare the {noun} with this id to its last version.",
    "trace": "Trace where the {noun} with this id came from.",
}
_SIDES = ("", "_of_customer", "_of_region", "_in_archive", "_for_review")


def _others() -> Iterator[Tool[..., Any]]:
    """Five hundred tools that no task uses, each noun with a record of its own."""
    for noun in _NOUNS:
        record = make_dataclass(
            noun.title(),
            [("id", str), ("status", str), (f"{noun}_code", str), ("amount", int), ("created", str), ("note", str)],
            frozen=True,
            namespace={"__doc__": f"A {noun} as the back office keeps it."},
        )
        for (verb, said), side in product(_VERBS.items(), _SIDES):
            yield _other(f"{verb}_{noun}{side}", said.format(noun=noun + side.replace("_", " ")), record)


def _other(name: str, doc: str, record: type) -> Tool[..., Any]:
    async def unused(key: str, limit: int = 10) -> object:
        return key * limit

    unused.__annotations__ = {"key": str, "limit": int, "return": record}
    return tool(name=name, doc=doc)(unused)
