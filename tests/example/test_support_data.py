from __future__ import annotations

import hashlib
import json
from collections import Counter
from datetime import timedelta
from itertools import combinations, pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from examples.support_ticket.data import Company, files, generate, main
from examples.support_ticket.records import WINDOW, Charge, repeats

DIGEST = "23c69f272db7cbe7a0f699997fd90b9195d37e8d12c07231006f90b70eea4de4"

companies = st.builds(generate, st.integers(0, 2**32), st.just(40))


def by_definition(company: Company, customer_id: str) -> tuple[str, ...]:
    """The duplicates of a customer, found by the words of the definition and nothing else."""
    refunded = {refund.charge_id for refund in company.book.refunds[customer_id]}
    alike: dict[tuple[object, ...], list[Charge]] = {}
    for charge in company.book.charges[customer_id]:
        same = charge.description, charge.invoice, charge.seat, charge.amount, charge.currency
        alike.setdefault(same, []).append(charge)
    found = {
        later.id
        for charges in alike.values()
        for earlier, later in combinations(charges, 2)
        if later.created - earlier.created <= WINDOW and refunded.isdisjoint({earlier.id, later.id})
    }
    return tuple(sorted(found))


def test_there_is_enough_of_everything(company: Company) -> None:
    charges = [charge for rows in company.book.charges.values() for charge in rows]
    assert len(company.book.customers) >= 500
    assert len(charges) >= 20_000
    assert max(c.created for c in charges) - min(c.created for c in charges) > timedelta(days=700)
    assert min(Counter(charge.kind for charge in charges).values()) > 1000
    assert len({customer.email for customer in company.book.customers.values()}) == len(company.book.customers)
    assert len(company.truth) > 80


def test_the_same_seed_gives_the_same_bytes(company: Company) -> None:
    assert hashlib.sha256("".join(files(company).values()).encode()).hexdigest() == DIGEST


def test_another_seed_gives_other_data() -> None:
    assert files(generate(1, 20)) != files(generate(2, 20))


def test_the_truth_is_the_definition_for_every_customer(company: Company) -> None:
    found = {id_: by_definition(company, id_) for id_ in company.book.customers}
    assert {id_: ids for id_, ids in found.items() if ids} == company.truth


def test_the_books_alone_tell_the_truth(company: Company) -> None:
    found = {}
    for id_, charges in company.book.charges.items():
        refunded = {refund.charge_id for refund in company.book.refunds[id_]}
        found[id_] = tuple(sorted(repeat.id for repeat in repeats(charges, refunded)))
    assert {id_: ids for id_, ids in found.items() if ids} == company.truth


@settings(max_examples=20, deadline=None)
@given(companies)
def test_the_truth_is_the_definition_for_every_seed(company: Company) -> None:
    found = {id_: by_definition(company, id_) for id_ in company.book.customers}
    assert {id_: ids for id_, ids in found.items() if ids} == company.truth


@settings(max_examples=20, deadline=None)
@given(companies)
def test_refunds_belong_to_earlier_charges_and_stay_within_them(company: Company) -> None:
    duplicates = {id_ for ids in company.truth.values() for id_ in ids}
    for customer_id, refunds in company.book.refunds.items():
        charges = {charge.id: charge for charge in company.book.charges[customer_id]}
        for refund in refunds:
            charge = charges[refund.charge_id]
            assert 0 < refund.amount <= charge.amount
            assert refund.currency == charge.currency
            assert refund.created > charge.created
            assert charge.id not in duplicates


@settings(max_examples=20, deadline=None)
@given(companies)
def test_charges_are_in_order_and_numbered_by_time(company: Company) -> None:
    charges = [charge for rows in company.book.charges.values() for charge in rows]
    for rows in company.book.charges.values():
        assert [row.created for row in rows] == sorted(row.created for row in rows)
    charges.sort(key=lambda charge: charge.id)
    assert [charge.created for charge in charges] == sorted(charge.created for charge in charges)
    assert len({charge.id for charge in charges}) == len(charges)


def test_every_kind_of_lookalike_is_there_and_none_is_in_the_truth(company: Company) -> None:
    seen: Counter[str] = Counter()
    refunded = {refund.charge_id for rows in company.book.refunds.values() for refund in rows}
    duplicates = {id_ for ids in company.truth.values() for id_ in ids}
    for rows in company.book.charges.values():
        for earlier, later in pairwise(rows):
            if (earlier.description, earlier.amount) != (later.description, later.amount) or later.id in duplicates:
                continue
            if later.seat != earlier.seat:
                seen["another seat, minutes apart"] += later.created - earlier.created < timedelta(minutes=15)
            elif later.invoice != earlier.invoice:
                seen["another invoice, minutes apart"] += later.created - earlier.created < timedelta(minutes=15)
            elif later.created - earlier.created > WINDOW:
                seen["the same top-up on another day"] += later.created - earlier.created < timedelta(hours=61)
            elif later.id in refunded:
                seen["refunded already"] += 1
            elif earlier.id in refunded:
                seen["the first one refunded"] += 1
    assert len(seen) == 5
    assert min(seen.values()) >= 5, seen


def test_a_smaller_book_holds_the_chosen_accounts_only(company: Company) -> None:
    book = company.book.only(["cus_0007", "cus_0003", "cus_0007"])
    assert list(book.customers) == list(book.charges) == list(book.refunds) == ["cus_0003", "cus_0007"]
    assert book.charges["cus_0003"] == company.book.charges["cus_0003"]


def test_nobody_can_write_to_the_book(company: Company) -> None:
    with pytest.raises(TypeError):
        company.book.customers["cus_9999"] = company.book.customers["cus_0001"]  # type: ignore[index]


def test_the_generator_writes_json_lines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["--seed", "3", "--customers", "30", "--out", str(tmp_path / "new")])
    rows = (tmp_path / "new" / "charges.jsonl").read_text(encoding="utf-8").splitlines()
    first = json.loads(rows[0])
    assert first["customer_id"] == "cus_0001"
    assert first["created"].endswith("+00:00")
    assert isinstance(first["amount"], str)
    assert f"charges.jsonl: {len(rows)} lines" in capsys.readouterr().out
