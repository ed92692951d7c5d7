"""The programs of the script on each engine, for many customers, against what is known about these."""

from __future__ import annotations

from codeact import Sandbox
from examples.support_ticket.conversation import PROGRAMS, work
from examples.support_ticket.data import Company
from examples.support_ticket.script import GIVES_UP, Answer, Message, Program, ScriptedModel
from examples.support_ticket.tickets import Ticket

TRACE = "failed after 3 tool calls: runtime\nTypeError: '<' not supported between 'NoneType' and 'str'"


def asked(id_: str, sender: str, body: str = "") -> Message:
    return Message("user", f"Ticket {id_}\nFrom: {sender}\nSubject: x\n\n{body}")


def written(*messages: Message) -> str:
    reply = ScriptedModel().reply([Message("system", ""), *messages])
    assert isinstance(reply, Program)
    return reply.code


def after_the_error(sender: str) -> str:
    """The corrected program for a customer who was charged twice."""
    ticket = asked("T-1", sender)
    return written(ticket, Message("assistant", written(ticket)), Message("user", TRACE))


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
    assert len(result.calls) == 3 * len(people)


def test_the_second_program_needs_the_error(company: Company) -> None:
    ticket = asked("T-1", company.book.customers["cus_0001"].email)
    first = Message("assistant", written(ticket))
    other = Message("user", "failed: runtime\nZeroDivisionError: division by zero")
    reply = ScriptedModel().reply([Message("system", ""), ticket, first, other])
    assert reply == Answer(GIVES_UP)


def test_the_answer_comes_from_the_observation(company: Company) -> None:
    ticket = asked("T-1", company.book.customers["cus_0001"].email)
    seen = Message("user", "ok after 3 tool calls\nvalue: {'duplicates': ['ch_123456'], 'owed': '5.00 EUR'}")
    reply = ScriptedModel().reply([Message("system", ""), ticket, Message("assistant", "…"), seen])
    assert isinstance(reply, Answer)
    assert "ch_123456" in reply.text
    assert "5.00 EUR" in reply.text


class Stubborn:
    """A model that never learns."""

    def reply(self, messages: object) -> Program:
        return Program("1 / 0")


def test_a_model_that_never_learns_is_stopped(desk: Sandbox) -> None:
    episode = work(Stubborn(), Ticket("T-1", "a@b.example", "x", "", ()), desk)
    assert len(episode.results) == PROGRAMS
    assert not any(result.ok for result in episode.results)
    assert episode.answer == ""
    assert episode.value is None
