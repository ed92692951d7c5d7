"""The programs of the script on each engine, for many customers, against what is known about these."""

from __future__ import annotations

import asyncio

from codeact import Sandbox
from codeact.messages import Asked, Message, Observed, Reply, Request, Said
from examples.support_ticket.data import Company
from examples.support_ticket.script import GIVES_UP, scripted
from examples.support_ticket.tickets import Ticket

TRACE = "failed after 3 tool calls: runtime\nTypeError: '<' not supported between 'NoneType' and 'str'"


def asked(id_: str, sender: str, body: str = "") -> Said:
    return Said(Ticket(id_, sender, "x", body, ()).text)


def observed(text: str) -> Observed:
    return Observed("1", text, text.startswith("ok"))


def replied(*messages: Message) -> Reply:
    return asyncio.run(scripted().complete(Request("", messages), lambda _text: None))


def written(*messages: Message) -> str:
    (program,) = replied(*messages).programs
    assert program.code is not None
    return program.code


def after_the_error(sender: str) -> str:
    """The corrected program for a customer who was charged twice."""
    ticket = asked("T-1", sender)
    return written(ticket, replied(ticket), observed(TRACE))


def some(company: Company) -> list[str]:
    """Fifty with true duplicates, and fifty who only have lookalikes or nothing."""
    others = [id_ for id_ in company.book.customers if id_ not in company.truth]
    return sorted([*list(company.truth)[:50], *others[:50]])


def test_the_corrected_program_finds_exactly_the_planted_duplicates(desk: Sandbox, company: Company) -> None:
    wrong = {}
    for id_ in some(company):
        customer = company.book.customers[id_]
        amounts = {charge.id: charge.amount for charge in company.book.charges[id_]}
        planted = company.truth.get(id_, ())
        owed = sum(amounts[duplicate] for duplicate in planted)
        result = desk.run(after_the_error(customer.email))
        if result.value != {"duplicates": list(planted), "owed": f"{owed} {customer.currency}"}:
            wrong[id_] = (result.value, result.error, planted)
        refunds = [proposal.arguments["charge_id"] for proposal in result.proposals if proposal.name == "refund"]
        assert sorted(map(str, refunds)) == list(planted)
    assert wrong == {}


def test_the_first_program_fails_on_the_data_and_nothing_else(desk: Sandbox, company: Company) -> None:
    prepaid = [id_ for id_, rows in company.book.charges.items() if any(row.invoice is None for row in rows)]
    for id_ in prepaid[:10]:
        result = desk.run(written(asked("T-1", company.book.customers[id_].email)))
        assert result.error is not None
        assert result.error.type == "TypeError"
        assert "'NoneType'" in result.error.message
        assert result.error.source_line is not None
        assert "charges.sort" in result.error.source_line


def test_what_a_year_cost_is_right_for_many_accounts(desk: Sandbox, company: Company) -> None:
    people = list(company.book.customers.values())[:30]
    program = written(asked("T-5", people[0].email, "\n".join(person.email for person in people)))
    result = desk.run(program)
    expected = {}
    for person in people:
        paid = sum(row.amount for row in company.book.charges[person.id] if row.created.year == 2024)
        back = sum(row.amount for row in company.book.refunds[person.id] if row.created.year == 2024)
        expected[person.email] = {"paid": paid, "refunded": back, "net": f"{paid - back} {person.currency}"}
    assert result.value == expected
    assert len(result.calls) == 3 * len(people) + 1


def test_the_second_program_needs_the_error(company: Company) -> None:
    ticket = asked("T-1", company.book.customers["cus_0001"].email)
    reply = replied(ticket, replied(ticket), observed("failed: runtime\nZeroDivisionError: division by zero"))
    assert (reply.text, reply.programs) == (GIVES_UP, ())


def test_the_letter_comes_from_the_observation(company: Company) -> None:
    ticket = asked("T-4", company.book.customers["cus_0001"].email)
    seen = "ok after 4 tool calls\nvalue: {'seats': 77, 'articles': {'': 'Business at 123.00 with; extra seat costs 4.50 a'}}"
    code = written(ticket, Reply("", (Asked("1", "…"),)), observed(seen))
    assert "Business is 123.00 a month" in code
    assert "Each of your 77 extra seats is 4.50" in code
