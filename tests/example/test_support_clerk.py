"""What the clerk decides, by the books and whatever the model says."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from decimal import Decimal
from typing import Self

import pytest

from codeact import Actions, Proposal
from codeact.outbox import Entry, NothingHappened, Outbox
from codeact.proposals import digest_of
from examples.support_ticket.actions import support_actions
from examples.support_ticket.clerk import RULES, Clerk
from examples.support_ticket.data import Company
from examples.support_ticket.office import Office, Payment
from examples.support_ticket.tickets import Ticket


class Counter:
    """The outbox of one customer's ticket, and what happens behind it."""

    def __init__(self, company: Company, customer: str) -> None:
        self.office = Office()
        book = company.book.only([customer])
        self.ticket = Ticket("T-1", "a@b.example", "", "", (customer,))
        self.actions = Actions(support_actions(self.ticket, book, self.office))
        self.clerk = Clerk(book, self.office)
        self.outbox = Outbox(":memory:", actions=self.actions, rules=RULES, approve=self.clerk.decide)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.outbox.close()

    def ask(self, name: str, **arguments: object) -> Entry:
        made = Proposal(1, name, arguments, digest_of(name, arguments))
        (entry,) = self.outbox.submit([made], "T-1")
        self.outbox.perform()
        return self.outbox.get(entry.id)

    def refund(self, charge_id: str, amount: str) -> Entry:
        return self.ask("refund", charge_id=charge_id, amount=Decimal(amount), reason="because I say so")


CounterOf = Callable[[str], Counter]


@pytest.fixture
def counter_of(company: Company) -> Iterator[CounterOf]:
    with ExitStack() as stack:
        yield lambda customer: stack.enter_context(Counter(company, customer))


def small(company: Company) -> tuple[str, str, str]:
    """A customer with a true duplicate that may be paid back without a person, the duplicate, and its amount."""
    for customer, duplicates in company.truth.items():
        for charge in company.book.charges[customer]:
            if charge.id in duplicates and charge.amount <= 50:
                return customer, charge.id, str(charge.amount)
    raise AssertionError


def test_a_true_duplicate_is_paid_back(company: Company, counter_of: CounterOf) -> None:
    customer, charge, amount = small(company)
    counter = counter_of(customer)
    entry = counter.refund(charge, amount)
    assert (entry.state, entry.by) == ("done", "callback")
    assert counter.office.payments == [Payment(entry.key, charge, Decimal(amount), "because I say so")]


def test_it_is_not_paid_back_twice_in_other_words(company: Company, counter_of: CounterOf) -> None:
    customer, charge, amount = small(company)
    counter = counter_of(customer)
    counter.refund(charge, amount)
    again = counter.ask("refund", charge_id=charge, amount=Decimal(amount), reason="once more")
    assert again.state == "refused"
    assert "0.00" in str(again.reason)
    assert counter.office.effects == (0, 1)


def test_it_is_not_paid_back_twice_when_both_are_approved_first(company: Company, counter_of: CounterOf) -> None:
    customer, charge, amount = small(company)
    counter = counter_of(customer)
    given = [{"charge_id": charge, "amount": Decimal(amount), "reason": reason} for reason in ("one", "another")]
    made = [Proposal(seq, "refund", each, digest_of("refund", each)) for seq, each in enumerate(given, 1)]
    assert [entry.state for entry in counter.outbox.submit(made, "T-1")] == ["approved", "approved"]
    assert [entry.state for entry in counter.outbox.perform()] == ["done", "failed"]
    assert counter.office.paid_back(charge) == Decimal(amount)


@pytest.mark.parametrize("amount", ["0", "-5", "50.01", "500"])
def test_more_than_was_paid_or_nothing_is_refused(company: Company, counter_of: CounterOf, amount: str) -> None:
    customer, charge, _ = small(company)
    counter = counter_of(customer)
    assert counter.refund(charge, amount).state == "refused"
    assert counter.office.effects == (0, 0)


def test_a_charge_of_somebody_else_is_refused(company: Company, counter_of: CounterOf) -> None:
    customer, charge, amount = small(company)
    other = next(id_ for id_ in company.book.customers if id_ != customer)
    counter = counter_of(other)
    entry = counter.refund(charge, amount)
    assert entry.state == "refused"
    assert "no charge of the sender's" in str(entry.reason)


def test_an_approval_does_not_reach_beyond_the_accounts_either(company: Company, counter_of: CounterOf) -> None:
    customer, charge, _ = small(company)
    other = next(id_ for id_ in company.book.customers if id_ != customer)
    counter = counter_of(other)
    with pytest.raises(NothingHappened):
        counter.actions["refund"](charge, Decimal(1), "a person was wrong", idempotency_key="k")
    assert counter.office.effects == (0, 0)


def test_what_was_not_taken_twice_waits_for_a_person(company: Company, counter_of: CounterOf) -> None:
    customer, charge, _ = small(company)
    counter = counter_of(customer)
    refunded = {refund.charge_id for refund in company.book.refunds[customer]}
    single = next(row for row in company.book.charges[customer] if row.id not in {charge, *refunded})
    entry = counter.refund(single.id, str(min(single.amount, Decimal(5))))
    assert entry.state == "proposed"
    counter.outbox.approve(entry.id, digest=entry.digest, by="Ada")
    counter.outbox.perform()
    assert counter.office.effects == (0, 1)


def test_above_what_needs_no_person_waits_for_one(company: Company, counter_of: CounterOf) -> None:
    large = (
        (customer, charge)
        for customer, duplicates in company.truth.items()
        for charge in company.book.charges[customer]
        if charge.id in duplicates and 50 < charge.amount <= 500
    )
    customer, charge = next(large)
    assert counter_of(customer).refund(charge.id, str(charge.amount)).state == "proposed"


def test_nobody_pays_back_more_than_500(company: Company, counter_of: CounterOf) -> None:
    customer, charge, _ = small(company)
    entry = counter_of(customer).refund(charge, "500.01")
    assert (entry.state, entry.by) == ("refused", "rule")


def test_one_reply_a_ticket_goes_out_unasked_and_it_is_no_book(company: Company, counter_of: CounterOf) -> None:
    counter = counter_of("cus_0001")
    assert counter.ask("send_reply", text="x" * 4001).state == "proposed"
    assert counter.ask("send_reply", text="one").state == "done"
    assert counter.ask("send_reply", text="two").state == "proposed"
    assert [letter.text for letter in counter.office.letters] == ["one"]
