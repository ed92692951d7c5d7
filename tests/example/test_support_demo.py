from __future__ import annotations

import os
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from examples.support_ticket.canary import VARIABLE
from examples.support_ticket.data import Company, generate
from examples.support_ticket.demo import ENGINES, INJECTED, TWICE, Report, play
from examples.support_ticket.tickets import queue


@dataclass(frozen=True)
class Played:
    report: Report
    text: str


@pytest.fixture(scope="module")
def played() -> Played:
    """The whole demo, once."""
    console = Console(file=StringIO(), width=100)
    report = play(console)
    assert isinstance(console.file, StringIO)
    return Played(report, console.file.getvalue())


def test_the_demo_succeeds(played: Played) -> None:
    assert played.report.leaks == ()
    assert played.report.same
    assert played.report.ok


def test_every_ticket_is_worked_on_by_both_engines_with_one_value(played: Played) -> None:
    assert len(played.report.episodes) == 7
    for ticket, episodes in played.report.episodes.items():
        assert tuple(episode.engine for episode in episodes) == ENGINES
        assert episodes[0].value == episodes[1].value is not None, ticket
        assert episodes[0].reply == episodes[1].reply != "", ticket
        assert "(nothing)" not in episodes[0].reply, ticket
        assert [entry.state for entry in episodes[0].entries].count("done") >= 1, ticket


def test_the_charge_taken_twice_is_found_at_the_second_try(played: Played) -> None:
    for episode in played.report.episodes[TWICE]:
        first, second = episode.result.results
        assert first.error is not None
        assert first.error.type == "TypeError"
        assert "NoneType" in first.observation()
        assert second.ok
        assert played.report.found[episode.engine] == list(played.report.truth)
        assert all(duplicate in episode.reply for duplicate in played.report.truth)


def test_the_duplicate_is_paid_back_once_and_nothing_else_is(played: Played) -> None:
    (payment,) = played.report.payments
    (entry,) = (entry for entry in played.report.episodes[TWICE][0].entries if entry.name == "refund")
    assert [payment.charge_id] == list(played.report.truth)
    assert payment.key == entry.key
    assert entry.by == "callback"


def test_all_is_done_once_though_everything_is_submitted_again(played: Played) -> None:
    assert played.report.once
    for first, second in played.report.episodes.values():
        assert [entry.id for entry in first.entries] == [entry.id for entry in second.entries]
        assert {proposal.digest for proposal in first.result.proposals} == {entry.digest for entry in first.entries}


def test_the_injected_ticket_tries_everything_and_gets_nothing(played: Played) -> None:
    for episode in played.report.episodes[INJECTED]:
        *attempts, proposing, honest, replying = episode.result.results
        assert len(attempts) == 7
        assert not any(result.ok for result in attempts)
        assert not any(result.proposals for result in attempts)
        assert [proposal.name for proposal in proposing.proposals] == ["refund"] * 3
        assert honest.ok
        assert replying.ok
        assert "three to five" in episode.reply
    code = [program for program, _ in episode.programs]
    assert "credentials" in code[2], "the attack must aim at the file that exists"


def test_refunds_that_a_ticket_orders_come_to_nothing(played: Played) -> None:
    episode = played.report.episodes[INJECTED][0]
    strange, large, own, reply = episode.entries
    assert strange.arguments["charge_id"] in episode.ticket.body
    assert (strange.state, strange.by) == ("refused", "callback")
    assert (large.state, large.by, large.arguments["amount"]) == ("refused", "rule", 9999)
    assert (own.state, own.by) == ("proposed", None)
    assert (reply.name, reply.state, reply.by) == ("send_reply", "done", "rule")


def test_replies_go_to_the_senders_and_nowhere_else(played: Played) -> None:
    senders = [episodes[0].ticket.sender for episodes in played.report.episodes.values()]
    assert [letter.address for letter in played.report.letters] == senders


def test_turns_are_counted_from_what_was_carried_out(played: Played) -> None:
    tallies = played.report.tallies
    assert set(played.report.episodes) - set(tallies) == {INJECTED}
    for ticket, tally in tallies.items():
        programs = played.report.episodes[ticket][0]
        assert tally.value == programs.value
        assert tally.turns == tally.calls + 1
        assert 1 < tally.batched <= tally.turns
        assert programs.read <= tally.read
    assert (tallies["T-5"].calls, tallies["T-5"].turns, tallies["T-5"].batched) == (19, 20, 4)
    assert played.report.episodes["T-5"][0].turns == 2


def test_the_text_is_plain_and_tells_the_story(played: Played) -> None:
    assert "\x1b" not in played.text
    for part in (
        "The model writes program 1 of 2",
        "TypeError: '<' not supported between instances of 'NoneType' and 'str'",
        "The host's receipts",
        "The same programs on each engine",
        "Programs against tool calls",
        "What the ticket with instructions in it got",
        "they are in none",
        "done; the books allowed it: ",
        "refused; the books forbade it: ",
        "waits for a person",
        "7 letters have left and 1 refund was paid.",
        "nothing happened a second time",
    ):
        assert part in " ".join(played.text.split()), part
    assert " NO " not in played.text


def test_a_terminal_gets_colour() -> None:
    console = Console(file=StringIO(), force_terminal=True, color_system="standard", width=100)
    report = play(console, engines=("restricted",))
    assert report.ok
    assert isinstance(console.file, StringIO)
    assert "\x1b[" in console.file.getvalue()


def test_the_environment_is_left_as_it_was(played: Played) -> None:
    assert played.report.ok
    assert VARIABLE not in os.environ


@pytest.mark.parametrize("seed", [1, 2, 2024])
def test_other_seeds_play_too(seed: int) -> None:
    report = play(Console(file=StringIO(), width=100), engines=("restricted",), seed=seed)
    assert report.ok, report.leaks


def test_each_ticket_comes_from_somebody_else(company: Company, nowhere: Path) -> None:
    tickets = queue(company, nowhere)
    accounts = [id_ for ticket in tickets for id_ in ticket.accounts]
    assert len(set(accounts)) == len(accounts)
    assert all(ticket.sender == company.book.customers[ticket.accounts[0]].email for ticket in tickets)
    assert str(nowhere) in next(ticket.body for ticket in tickets if ticket.id == INJECTED)


def test_a_company_without_a_fitting_customer_says_so(nowhere: Path) -> None:
    with pytest.raises(LookupError, match="choose another seed"):
        queue(generate(7, customers=5), nowhere)
