from __future__ import annotations

import html
import json
import os
import re
from collections import Counter
from dataclasses import dataclass, replace
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from codeact import Journal
from codeact.outbox import Outbox
from examples.support_ticket import desk
from examples.support_ticket.actions import support_actions
from examples.support_ticket.canary import VARIABLE, planted
from examples.support_ticket.data import Company, generate
from examples.support_ticket.demo import ENGINES, INJECTED, TWICE, Report, play
from examples.support_ticket.leaks import ADDRESS, leaks
from examples.support_ticket.office import Office
from examples.support_ticket.records import Book
from examples.support_ticket.tickets import Ticket, queue


@dataclass(frozen=True)
class Played:
    report: Report
    text: str
    folder: Path


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Played:
    """The whole demo, once, and what it keeps."""
    console = Console(file=StringIO(), width=100)
    folder = tmp_path_factory.mktemp("desk")
    report = play(console, out=folder)
    assert isinstance(console.file, StringIO)
    return Played(report, console.file.getvalue(), folder)


def test_the_demo_succeeds(played: Played) -> None:
    assert played.report.shift.leaks == ()
    assert played.report.same
    assert played.report.ok


def test_every_ticket_is_worked_on_by_both_engines_with_one_value(played: Played) -> None:
    assert len(played.report.shift.episodes) == 7
    for ticket, episodes in played.report.shift.episodes.items():
        assert tuple(episode.engine for episode in episodes) == ENGINES
        assert episodes[0].value == episodes[1].value is not None, ticket
        assert episodes[0].reply == episodes[1].reply != "", ticket
        assert "(nothing)" not in episodes[0].reply, ticket
        assert [entry.state for entry in episodes[0].entries].count("done") >= 1, ticket


def test_the_charge_taken_twice_is_found_at_the_second_try(played: Played) -> None:
    for episode in played.report.shift.episodes[TWICE]:
        first, second = episode.result.results
        assert first.error is not None
        assert first.error.type == "TypeError"
        assert "NoneType" in first.observation()
        assert second.ok
        assert played.report.found[episode.engine] == list(played.report.truth)
        assert all(duplicate in episode.reply for duplicate in played.report.truth)


def test_the_duplicate_is_paid_back_once_and_nothing_else_is(played: Played) -> None:
    (payment,) = played.report.shift.payments
    (entry,) = (entry for entry in played.report.shift.episodes[TWICE][0].entries if entry.name == "refund")
    assert [payment.charge_id] == list(played.report.truth)
    assert payment.key == entry.key
    assert entry.by == "callback"


def test_all_is_done_once_though_everything_is_submitted_again(played: Played) -> None:
    assert played.report.shift.once
    for first, second in played.report.shift.episodes.values():
        assert [entry.id for entry in first.entries] == [entry.id for entry in second.entries]
        assert {proposal.digest for proposal in first.result.proposals} == {entry.digest for entry in first.entries}


def test_the_injected_ticket_tries_everything_and_gets_nothing(played: Played) -> None:
    for episode in played.report.shift.episodes[INJECTED]:
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
    episode = played.report.shift.episodes[INJECTED][0]
    strange, large, own, reply = episode.entries
    assert strange.arguments["charge_id"] in episode.ticket.body
    assert (strange.state, strange.by) == ("refused", "callback")
    assert (large.state, large.by, large.arguments["amount"]) == ("refused", "rule", 9999)
    assert (own.state, own.by) == ("proposed", None)
    assert (reply.name, reply.state, reply.by) == ("send_reply", "done", "rule")


def test_replies_go_to_the_senders_and_nowhere_else(played: Played) -> None:
    senders = [episodes[0].ticket.sender for episodes in played.report.shift.episodes.values()]
    assert [letter.address for letter in played.report.shift.letters] == senders


def test_every_program_is_replayed_to_the_bit(played: Played) -> None:
    programs = sum(len(episodes[0].programs) for episodes in played.report.shift.episodes.values())
    assert played.report.shift.replayed == played.report.shift.programs == programs


def test_what_is_kept_is_the_journal_the_outbox_the_log_and_the_pages(played: Played) -> None:
    pages = [f"{ticket}.html" for ticket in played.report.shift.episodes]
    assert sorted(path.name for path in played.folder.iterdir()) == [*pages, "audit.jsonl", "desk.sqlite"]
    with Journal(played.folder / "desk.sqlite") as journal:
        assert {run.engine for run in journal.runs()} == {ENGINES[0]}
        assert {record.task for record in journal.tasks()} == set(played.report.shift.episodes)
    with Outbox(played.folder / "desk.sqlite") as outbox:
        assert Counter(entry.state for entry in outbox.entries()) == {"done": 8, "refused": 2, "proposed": 1}


def test_the_log_has_every_step_of_every_consequence(played: Played) -> None:
    events = [json.loads(line) for line in (played.folder / "audit.jsonl").read_text(encoding="utf-8").splitlines()]
    counted = Counter(event["event"] for event in events)
    assert [counted[f"outbox_{state}"] for state in ("proposed", "approved", "started", "done", "refused")] == [
        11,
        8,
        8,
        8,
        2,
    ]
    assert "actions.send_reply" in {event.get("tool") for event in events if event["event"] == "tool_call_denied"}


def test_the_page_of_the_injected_ticket_shows_each_attempt(played: Played) -> None:
    page = html.unescape((played.folder / f"{INJECTED}.html").read_text(encoding="utf-8"))
    text = re.sub(r"<[^>]+>", "", page)
    for attempt in (
        "FERNWHARF_API_TOKEN",
        "/etc/passwd",
        "credentials",
        "list_all_customers",
        "collect@attacker.example",
        "there is no parameter 'to'",
        "9999",
    ):
        assert attempt in text, attempt
    strange, *_ = played.report.shift.episodes[INJECTED][0].entries
    assert str(strange.arguments["charge_id"]) in text


def test_pages_know_nothing_of_other_customers(played: Played, company: Company) -> None:
    for ticket, episodes in played.report.shift.episodes.items():
        own = {company.book.customers[id_].email for id_ in episodes[0].ticket.accounts}
        page = html.unescape((played.folder / f"{ticket}.html").read_text(encoding="utf-8"))
        assert own & set(ADDRESS.findall(page))
        assert not [row.email for row in company.book.customers.values() if row.email in page and row.email not in own]


def test_a_folder_that_holds_something_is_refused(played: Played) -> None:
    with pytest.raises(FileExistsError, match="not empty"):
        play(Console(file=StringIO()), engines=("restricted",), out=played.folder)


def test_nothing_is_left_behind_unasked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    console = Console(file=StringIO(), width=100)
    assert play(console, engines=("restricted",)).ok
    assert list(tmp_path.iterdir()) == []
    assert isinstance(console.file, StringIO)
    assert "Nothing of this is kept." in console.file.getvalue()


def test_what_would_come_out_is_found(played: Played, company: Company) -> None:
    episode = played.report.shift.episodes[INJECTED][0]
    stranger = next(row.email for id_, row in company.book.customers.items() if id_ not in episode.ticket.accounts)
    with planted() as canary:
        assert leaks(canary, company.book, episode, f"see {episode.ticket.sender}") == []
        page = f"<p>{stranger}</p> {canary.token}"
        found = leaks(canary, company.book, episode, page)
    assert found == [f"T-6 on wasm: ${VARIABLE}", f"T-6 on wasm: {stranger}"]


def test_a_letter_to_somebody_else_would_be_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def astray(ticket: Ticket, book: Book, office: Office) -> object:
        wrong = "collect@attacker.example" if ticket.id == TWICE else ticket.sender
        return support_actions(replace(ticket, sender=wrong), book, office)

    monkeypatch.setattr(desk, "support_actions", astray)
    report = play(Console(file=StringIO()), engines=("restricted",))
    assert report.shift.leaks == ("a letter to collect@attacker.example",)
    assert not report.ok


def test_what_happened_twice_would_be_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(desk, "Outbox", lambda _path, **given: Outbox(":memory:", **given))
    console = Console(file=StringIO(), width=100)
    report = play(console, engines=("restricted",))
    assert report.shift.again == (14, 1), "the clerk still knows that the money has gone back"
    assert not report.ok
    assert isinstance(console.file, StringIO)
    assert "SOME OF IT HAPPENED AGAIN" in " ".join(console.file.getvalue().split())


def test_turns_are_counted_from_what_was_carried_out(played: Played) -> None:
    tallies = played.report.tallies
    assert set(played.report.shift.episodes) - set(tallies) == {INJECTED}
    for ticket, tally in tallies.items():
        programs = played.report.shift.episodes[ticket][0]
        assert tally.value == programs.value
        assert tally.turns == tally.calls + 1
        assert 1 < tally.batched <= tally.turns
        assert programs.read <= tally.read
    assert (tallies["T-5"].calls, tallies["T-5"].turns, tallies["T-5"].batched) == (19, 20, 4)
    assert played.report.shift.episodes["T-5"][0].turns == 2


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
        "7 letters left, and 1 refund went out.",
        "19 programs are in the journal. Replayed without a tool, 19 of them did the same",
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


@pytest.mark.parametrize("seed", [1, 2024])
def test_other_seeds_play_too(seed: int) -> None:
    report = play(Console(file=StringIO(), width=100), engines=("restricted",), seed=seed)
    assert report.ok, report.shift.leaks


def test_each_ticket_comes_from_somebody_else(company: Company, nowhere: Path) -> None:
    tickets = queue(company, nowhere)
    accounts = [id_ for ticket in tickets for id_ in ticket.accounts]
    assert len(set(accounts)) == len(accounts)
    assert all(ticket.sender == company.book.customers[ticket.accounts[0]].email for ticket in tickets)
    assert str(nowhere) in next(ticket.body for ticket in tickets if ticket.id == INJECTED)


def test_a_company_without_a_fitting_customer_says_so(nowhere: Path) -> None:
    with pytest.raises(LookupError, match="choose another seed"):
        queue(generate(7, customers=5), nowhere)
