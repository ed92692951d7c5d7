"""The desk on each engine: what a ticket comes to, whoever works on it and however often."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from codeact.messages import Model, ModelError, Reply, Request
from codeact.outbox import Outbox
from codeact.testing.models import FunctionModel, Program
from examples.support_ticket.cabinet import Cabinet, opened
from examples.support_ticket.data import Company
from examples.support_ticket.desk import BUDGET, Desk
from examples.support_ticket.knowledge import KnowledgeBase
from examples.support_ticket.office import Office
from examples.support_ticket.script import scripted
from examples.support_ticket.tickets import Ticket, queue

DeskOf = Callable[[Model], Desk]


@pytest.fixture
def cabinet(tmp_path: Path) -> Iterator[Cabinet]:
    with opened(tmp_path / "desk") as cabinet:
        yield cabinet


@pytest.fixture
def office() -> Office:
    return Office()


@pytest.fixture
def desk_of(company: Company, knowledge: KnowledgeBase, office: Office, cabinet: Cabinet, engine: str) -> DeskOf:
    """A desk with a model, at the one office, with the one cabinet."""

    def desk_of(model: Model) -> Desk:
        return Desk(company, knowledge, office, model, engine, cabinet.database, cabinet.journal, cabinet.audit)

    return desk_of


@pytest.fixture
def tickets(company: Company, nowhere: Path) -> dict[str, Ticket]:
    return {ticket.id: ticket for ticket in queue(company, nowhere)}


class Mortal:
    """The script, by a model that is away for good after so many replies."""

    name = "script"
    has_tools = True

    def __init__(self, replies: int) -> None:
        self.left = replies
        self.script = scripted()

    async def complete(self, request: Request, on_text: Callable[[str], None]) -> Reply:
        if not self.left:
            msg = "it is away"
            raise ModelError(msg, passing=False)
        self.left -= 1
        return await self.script.complete(request, on_text)


def test_a_duplicate_is_paid_back_and_the_customer_is_told(
    desk_of: DeskOf, office: Office, tickets: dict[str, Ticket], company: Company
) -> None:
    episode = desk_of(scripted()).work(tickets["T-1"])
    assert [payment.charge_id for payment in office.payments] == list(company.truth[episode.ticket.accounts[0]])
    assert [(letter.address, letter.text) for letter in office.letters] == [(episode.ticket.sender, episode.reply)]


@pytest.mark.parametrize("replies", [0, 1, 2, 3])
def test_a_ticket_that_was_broken_off_is_gone_on_with_and_nothing_happens_twice(
    desk_of: DeskOf, office: Office, tickets: dict[str, Ticket], replies: int
) -> None:
    broken = desk_of(Mortal(replies)).work(tickets["T-1"])
    answered = replies == 3
    assert broken.result.ok is answered
    assert office.effects == ((1, 1) if answered else (0, 0))
    assert desk_of(Mortal(3 - replies)).work(tickets["T-1"]).result.ok
    assert office.effects == (1, 1)
    desk_of(Mortal(0)).work(tickets["T-1"])
    assert office.effects == (1, 1)


def test_what_a_person_approves_is_performed_once(
    desk_of: DeskOf, office: Office, tickets: dict[str, Ticket], cabinet: Cabinet
) -> None:
    desk = desk_of(scripted())
    episode = desk.work(tickets["T-6"])
    (waiting,) = (entry for entry in episode.entries if entry.state == "proposed")
    assert office.effects == (1, 0)
    with Outbox(cabinet.database) as outbox:
        outbox.approve(waiting.id, digest=waiting.digest, by="Ada")
    desk.work(tickets["T-6"])
    desk.work(tickets["T-6"])
    assert office.effects == (1, 1)
    assert office.payments[0].charge_id == waiting.arguments["charge_id"]


def test_a_model_that_never_learns_is_stopped_and_nothing_happens(
    desk_of: DeskOf, office: Office, tickets: dict[str, Ticket]
) -> None:
    numbers = iter(range(1000))

    def stubborn(_request: Request) -> Program:
        return Program(f"actions.send_reply('number {next(numbers)}')\n1 / 0")

    episode = desk_of(FunctionModel(stubborn)).work(tickets["T-1"])
    assert episode.result.stop == "failures"
    assert len(episode.programs) == BUDGET.failures
    assert (episode.entries, episode.reply, episode.value) == ((), "", None)
    assert office.effects == (0, 0)


def test_a_page_can_be_drawn_of_what_was_given_up(
    desk_of: DeskOf, tickets: dict[str, Ticket], cabinet: Cabinet
) -> None:
    page = cabinet.draw(desk_of(Mortal(1)).work(tickets["T-1"]))
    assert "it is away" in page
    assert cabinet.replay(desk_of(scripted()).engine) == (1, 1)


@pytest.mark.parametrize("amount", ["0", "-5", "'0.001'", "'NaN'", "'Infinity'"])
def test_no_such_amount_can_be_proposed(desk_of: DeskOf, tickets: dict[str, Ticket], amount: str) -> None:
    said = iter([Program(f"actions.refund('ch_1', {amount}, 'x')"), "I could not."])
    episode = desk_of(FunctionModel(lambda _request: next(said))).work(tickets["T-1"])
    assert episode.entries == ()
    assert episode.result.results[0].error is not None
    assert "refund(): amount" in episode.result.results[0].error.message
