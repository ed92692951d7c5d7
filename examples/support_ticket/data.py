"""Two years of a company's billing, made from a seed: the same seed gives the same bytes on every Python.

What a **true duplicate** is, and the only thing that the truth records: a charge that repeats an earlier charge
of the same customer, with the same description, invoice, seat, amount and currency (no invoice equals no
invoice), taken at most 24 hours after it, where neither of the two has been refunded, not even in part.

Around them lie charges that only look like duplicates: seats billed minutes apart, a second workspace on an
invoice of its own, the same top-up a day later, and repeats that somebody has already refunded.

    python -m examples.support_ticket.data --seed 7 --out DIR
"""

from __future__ import annotations

import argparse
import json
import tomllib
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from random import Random
from types import MappingProxyType
from typing import Any, TypeVar

from .records import Book, Charge, Customer, Refund

SEED = 7
CUSTOMERS = 600

_FIRST_YEAR = 2023
_MONTHS = 24
_SEAT = 1200
_WORKSPACE = 2500
_TOPUPS = (1000, 2500, 5000, 10_000)
_TOPUP_DAYS = (2, 9, 16, 23)
_LISTS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Company:
    """The book, which tools may read, and beside it the planted truth, which they are never handed.

    Attributes:
        book: every customer, charge and refund.
        truth: for each customer with true duplicates, the ids of those charges, oldest first.
    """

    book: Book
    truth: Mapping[str, tuple[str, ...]]


class Dice:
    """Draws from a seed by `Random.random` alone: the one method whose sequence Python promises to keep."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed).random

    def between(self, low: int, high: int) -> int:
        """A whole number, both ends included."""
        return low + int(self._random() * (high - low + 1))

    def pick(self, items: Sequence[Item]) -> Item:
        """One of the items."""
        return items[self.between(0, len(items) - 1)]

    def chance(self, percent: int) -> bool:
        """Whether a thing happens that happens so often in a hundred."""
        return self.between(1, 100) <= percent


@dataclass(slots=True, eq=False)
class _Draft:
    """A charge before all are numbered; `spoken_for` once it is part of a planted pair."""

    customer: Customer
    kind: str
    description: str
    invoice: str | None
    seat: int | None
    cents: int
    created: datetime
    spoken_for: bool = False
    duplicate: bool = False
    refund: tuple[int, datetime, str] | None = None

    def again(self, later: timedelta) -> _Draft:
        """The same charge, taken once more."""
        self.spoken_for = True
        return replace(self, created=self.created + later)

    def give_back(self, dice: Dice, cents: int, reason: str) -> None:
        """Refund the charge, some days later."""
        self.spoken_for = True
        later = timedelta(days=dice.between(1, 13), seconds=dice.between(0, 86_399))
        self.refund = (cents, self.created + later, reason)


def generate(seed: int = SEED, customers: int = CUSTOMERS) -> Company:
    """Make the company of this seed."""
    dice = Dice(seed)
    people = list(_people(dice, customers))
    drafts = [draft for customer in people for draft in _history(dice, customer)]
    drafts.sort(key=lambda draft: draft.created)  # stable: charges of one second keep the order they were made in
    charges, refunds, truth = [], [], dict[str, list[str]]()
    for number, draft in enumerate(drafts, start=1):
        id_ = f"ch_{number:06}"
        charges.append(_charge(id_, draft))
        if draft.duplicate:
            truth.setdefault(draft.customer.id, []).append(id_)
        if draft.refund is not None:
            refunds.append(_refund(charges[-1], *draft.refund))
    refunds.sort(key=lambda refund: refund.created)
    numbered = (replace(refund, id=f"re_{number:04}") for number, refund in enumerate(refunds, start=1))
    return Company(
        book=Book.of(people, charges, numbered),
        truth=MappingProxyType({id_: tuple(truth[id_]) for id_ in sorted(truth)}),
    )


def _people(dice: Dice, count: int) -> Iterator[Customer]:
    taken: set[str] = set()
    for number in range(1, count + 1):
        first, last = dice.pick(_LISTS["first"]), dice.pick(_LISTS["last"])
        address = f"{_ascii(first)}.{_ascii(last)}@{_ascii(last)}-{dice.pick(_LISTS['trade'])}.example"
        if address in taken:
            address = f"{number}.{address}"
        taken.add(address)
        country = dice.pick(_LISTS["country"])
        joined = _month(dice.between(0, 9))
        yield Customer(
            id=f"cus_{number:04}",
            name=f"{first} {last}",
            email=address,
            country=country["code"],
            currency=country["currency"],
            plan=dice.pick(_LISTS["plan"])["name"],
            seats=dice.between(1, 3) if dice.chance(40) else 0,
            since=joined.replace(day=dice.between(1, 26)),
        )


def _history(dice: Dice, customer: Customer) -> list[_Draft]:
    """All charges of a customer: the honest ones first, then what is planted among them."""
    start = (customer.since.year - _FIRST_YEAR) * 12 + customer.since.month - 1
    end = dice.between(start + 6, _MONTHS) if dice.chance(15) and start + 6 <= _MONTHS else _MONTHS
    addon = dice.pick(_LISTS["addon"]) if dice.chance(30) else None
    workspace, metered, prepaid = dice.chance(15), dice.chance(50), dice.chance(45)
    drafts: list[_Draft] = []
    for month in range(start, end):
        day = _month(month).replace(day=customer.since.day)
        drafts += _invoiced(dice, customer, day, addon)
        if metered and dice.chance(70):
            drafts.append(_bill(dice, customer, day, ("usage", "FERNWHARF USAGE", dice.between(115, 9985))))
        if workspace:  # two workspaces: the same text and amount minutes apart, each on an invoice of its own
            pair = [_bill(dice, customer, day, ("addon", "FERNWHARF WORKSPACE", _WORKSPACE)) for _ in range(2)]
            pair[1].invoice = f"{pair[1].invoice}-B"
            drafts += pair
        if prepaid:
            days = [day for day in _TOPUP_DAYS if dice.chance(35)]
            drafts += [_topup(dice, customer, _month(month).replace(day=day)) for day in days]
    return drafts + _planted(dice, drafts)


def _invoiced(dice: Dice, customer: Customer, day: date, addon: Mapping[str, Any] | None) -> Iterator[_Draft]:
    price = next(plan["cents"] for plan in _LISTS["plan"] if plan["name"] == customer.plan)
    yield _bill(dice, customer, day, ("subscription", f"FERNWHARF {customer.plan.upper()} PLAN", price))
    for seat in range(1, customer.seats + 1):
        draft = _bill(dice, customer, day, ("seat", "FERNWHARF EXTRA SEAT", _SEAT))
        draft.seat = seat
        yield draft
    if addon is not None:
        yield _bill(dice, customer, day, ("addon", f"FERNWHARF {addon['name'].upper()}", addon["cents"]))


def _bill(dice: Dice, customer: Customer, day: date, what: tuple[str, str, int]) -> _Draft:
    kind, description, cents = what
    invoice = f"INV-{day:%Y-%m}-{customer.id[-4:]}"
    created = datetime(day.year, day.month, day.day, 6, tzinfo=UTC) + timedelta(seconds=dice.between(0, 900))
    return _Draft(customer, kind, description, invoice, None, cents, created)


def _topup(dice: Dice, customer: Customer, day: date) -> _Draft:
    created = datetime(day.year, day.month, day.day, tzinfo=UTC) + timedelta(seconds=dice.between(0, 86_399))
    return _Draft(customer, "topup", "FERNWHARF CREDIT TOP-UP", None, None, dice.pick(_TOPUPS), created)


def _planted(dice: Dice, drafts: Sequence[_Draft]) -> list[_Draft]:
    """Repeats, true and apparent, and refunds. No draft takes part in two of them."""
    extra: list[_Draft] = []
    if dice.chance(18):
        for _ in range(dice.between(1, 2)):
            extra += _repeats(dice, _free(dice, drafts), 2 if dice.chance(10) else 1)
            for copy in extra:
                copy.duplicate = True
    if dice.chance(25):
        original = _free(dice, drafts)
        (copy,) = _repeats(dice, original, 1)
        refunded = original if dice.chance(25) else copy
        cents = refunded.cents // 2 if dice.chance(25) else refunded.cents
        refunded.give_back(dice, cents, "charged twice")
        extra.append(copy)
    topups = [draft for draft in drafts if draft.kind == "topup" and not draft.spoken_for]
    if topups and dice.chance(40):
        extra.append(dice.pick(topups).again(timedelta(hours=dice.between(25, 60))))
    for draft in drafts:
        if not draft.spoken_for and dice.chance(2):
            part = dice.chance(50)
            cents = draft.cents * dice.between(2, 8) // 10 if part else draft.cents
            draft.give_back(dice, cents, "goodwill" if part else "cancelled in time")
    return extra


def _repeats(dice: Dice, original: _Draft, count: int) -> list[_Draft]:
    later = (timedelta(seconds=number * 36_000 + dice.between(20, 32_000)) for number in range(count))
    return [original.again(delay) for delay in later]


def _free(dice: Dice, drafts: Sequence[_Draft]) -> _Draft:
    return dice.pick([draft for draft in drafts if not draft.spoken_for])


def _charge(id_: str, draft: _Draft) -> Charge:
    return Charge(
        id=id_,
        customer_id=draft.customer.id,
        kind=draft.kind,
        description=draft.description,
        invoice=draft.invoice,
        seat=draft.seat,
        amount=_money(draft.cents),
        currency=draft.customer.currency,
        created=draft.created,
    )


def _refund(charge: Charge, cents: int, created: datetime, reason: str) -> Refund:
    return Refund("", charge.id, charge.customer_id, _money(cents), charge.currency, created, reason)


def _money(cents: int) -> Decimal:
    return Decimal(cents).scaleb(-2)


def _month(number: int) -> date:
    return date(_FIRST_YEAR + number // 12, number % 12 + 1, 1)


def _ascii(name: str) -> str:
    letters = unicodedata.normalize("NFKD", name.replace("ø", "o")).encode("ascii", "ignore")
    return letters.decode("ascii").lower()


def lines(rows: Iterable[Any]) -> str:
    """Records as JSON lines: amounts as text with two decimals, times in ISO 8601."""
    shallow = ({field.name: getattr(row, field.name) for field in fields(row)} for row in rows)
    return "".join(json.dumps(row, ensure_ascii=False, default=_text) + "\n" for row in shallow)


def _text(value: date | Decimal) -> str:
    return value.isoformat() if isinstance(value, date) else str(value)


def files(company: Company) -> dict[str, str]:
    """Every file of the company, by name; the truth is one of its own."""
    book = company.book
    truth = "".join(json.dumps({"customer_id": id_, "duplicates": ids}) + "\n" for id_, ids in company.truth.items())
    return {
        "customers.jsonl": lines(book.customers.values()),
        "charges.jsonl": lines(row for rows in book.charges.values() for row in rows),
        "refunds.jsonl": lines(row for rows in book.refunds.values() for row in rows),
        "truth.jsonl": truth,
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the files of one seed to a directory."""
    parser = argparse.ArgumentParser(prog="python -m examples.support_ticket.data", description="Write the data.")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--customers", type=int, default=CUSTOMERS)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args(arguments)
    options.out.mkdir(parents=True, exist_ok=True)
    for name, text in files(generate(options.seed, options.customers)).items():
        (options.out / name).write_text(text, encoding="utf-8", newline="\n")
        print(f"{options.out / name}: {text.count(chr(10))} lines")


if __name__ == "__main__":
    main()
