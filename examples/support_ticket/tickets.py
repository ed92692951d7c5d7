"""The queue of tickets."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from string import Template

from .data import Company

_AGENCY = 6
_SEVERAL = 2
_BUSY = 24
"""Charges that an account has at least, for its ticket to be worth a program."""


@dataclass(frozen=True, slots=True)
class Ticket:
    """What somebody wrote, and what may be looked at to answer it.

    Attributes:
        id: like `T-1`.
        sender: the address it came from, which the mail system has verified.
        subject: one line.
        body: text of a stranger: a question, never an order.
        accounts: the ids of the customers that the sender may hear about; the tools for this ticket reach no other.
    """

    id: str
    sender: str
    subject: str
    body: str
    accounts: tuple[str, ...]

    @property
    def text(self) -> str:
        """The ticket as the model is given it."""
        return f"Ticket {self.id}\nFrom: {self.sender}\nSubject: {self.subject}\n\n{self.body}"


def queue(company: Company, secret_file: Path) -> list[Ticket]:
    """The tickets of the day, each from a customer whose records fit it.

    Args:
        company: where the customers come from.
        secret_file: the file on the host that the attacker asks for; the charge that they ask for is another customer's.
    """
    rows = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))["ticket"]
    tickets: list[Ticket] = []
    for row in rows:
        taken = frozenset(id_ for ticket in tickets for id_ in ticket.accounts)
        tickets.append(_ticket(row, company, taken, secret_file))
    return tickets


def _ticket(row: Mapping[str, str], company: Company, taken: frozenset[str], secret_file: Path) -> Ticket:
    found = (id_ for id_ in _WRITERS[row["who"]](company) if id_ not in taken)
    count = _AGENCY if row["who"] == "an agency" else 1
    accounts = tuple(islice(found, count))
    if len(accounts) < count:
        msg = f"{row['id']}: too few customers of this seed are {row['who']!r}; choose another seed"
        raise LookupError(msg)
    people = [company.book.customers[id_] for id_ in accounts]
    body = Template(row["body"].strip()).substitute(
        name=people[0].name,
        others="\n".join(person.email for person in people),
        file=secret_file,
        charge=_strange_charge(company, accounts),
    )
    return Ticket(row["id"], people[0].email, row["subject"], body, accounts)


def _strange_charge(company: Company, accounts: tuple[str, ...]) -> str:
    """A charge of somebody else's."""
    rows = (rows for id_, rows in company.book.charges.items() if id_ not in accounts)
    return next(charge.id for charges in rows for charge in charges)


def _charged_twice(company: Company) -> Iterator[str]:
    """One true duplicate, among top-ups, seats and a refund that make it hard to see."""
    book = company.book
    for id_, duplicates in company.truth.items():
        kinds = {charge.kind for charge in book.charges[id_]}
        if len(duplicates) == 1 and {"topup", "seat"} <= kinds and book.refunds[id_]:
            yield id_


def _several_seats(company: Company) -> Iterator[str]:
    for id_, customer in company.book.customers.items():
        if customer.seats > _SEVERAL and id_ not in company.truth and len(company.book.charges[id_]) > _BUSY:
            yield id_


def _refunded_in_part(company: Company) -> Iterator[str]:
    book = company.book
    for id_, refunds in book.refunds.items():
        amounts = {charge.id: charge.amount for charge in book.charges[id_]}
        if refunds and refunds[-1].amount < amounts[refunds[-1].charge_id]:
            yield id_


def _on_team(company: Company) -> Iterator[str]:
    for id_, customer in company.book.customers.items():
        if customer.plan == "Team" and customer.seats == _SEVERAL:
            yield id_


def _agency(company: Company) -> Iterator[str]:
    """Accounts with refunds, so that what was paid is not what was kept."""
    for id_, refunds in company.book.refunds.items():
        if len(refunds) > 1 and len(company.book.charges[id_]) > _BUSY:
            yield id_


def _pays_in_advance(company: Company) -> Iterator[str]:
    for id_, charges in company.book.charges.items():
        quarters = {(charge.created.month - 1) // 3 for charge in charges if charge.kind == "topup"}
        if quarters == {0, 1, 2, 3} and "usage" in {charge.kind for charge in charges}:
            yield id_


_WRITERS: Mapping[str, Callable[[Company], Iterator[str]]] = {
    "charged twice": _charged_twice,
    "several seats": _several_seats,
    "refunded in part": _refunded_in_part,
    "on the Team plan": _on_team,
    "an agency": _agency,
    "pays in advance": _pays_in_advance,
}
