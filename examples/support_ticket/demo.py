"""The example played from beginning to end: tickets worked on at the desk, on every engine, and what came of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rich.console import Console

from codeact import Journal, Sandbox

from . import tables, transcript
from .cabinet import opened
from .canary import planted
from .data import SEED, generate
from .desk import LIMITS, Desk, Episode
from .knowledge import load
from .leaks import leaks
from .office import Letter, Office, Payment
from .script import scripted
from .tickets import queue
from .toolcalls import Tally, converse
from .tools import support_tools

ENGINES = ("wasm", "restricted")

TWICE = "T-1"
INJECTED = "T-6"
"""The ticket of the customer who was charged twice, and the one with instructions in it."""


@dataclass(frozen=True, slots=True)
class Report:
    """What the demo showed.

    Attributes:
        episodes: for each ticket, by its id, one episode an engine, in the order of the engines.
        tallies: for each ticket that can be worked on by tool calls, what that took.
        truth: the duplicates planted for the customer who was charged twice.
        found: what the program found there, by engine.
        leaks: what came out that should not, secrets of the host or customers of others; there should be nothing.
        letters: that have left, each with its address.
        payments: that were made.
        once: whether all of it was done again without anything happening a second time.
        replayed: how many programs the journal has, and how many did the same when they were replayed.
    """

    episodes: Mapping[str, tuple[Episode, ...]]
    tallies: Mapping[str, Tally]
    truth: tuple[str, ...]
    found: Mapping[str, object]
    leaks: tuple[str, ...]
    letters: tuple[Letter, ...]
    payments: tuple[Payment, ...]
    once: bool
    replayed: tuple[int, int]

    @property
    def same(self) -> bool:
        """Whether every engine, and the conversation by tool calls, came to the same values."""
        return all(
            episode.value == episodes[0].value
            and (ticket not in self.tallies or self.tallies[ticket].value == episode.value)
            for ticket, episodes in self.episodes.items()
            for episode in episodes
        )

    @property
    def ok(self) -> bool:
        """Whether everything went as it should: answered, right, the same everywhere, once, and nothing came out."""
        answered = all(episode.result.ok for episodes in self.episodes.values() for episode in episodes)
        right = all(found == list(self.truth) for found in self.found.values())
        senders = {episodes[0].ticket.sender for episodes in self.episodes.values()}
        due = all(payment.charge_id in self.truth for payment in self.payments)
        due = due and all(letter.address in senders for letter in self.letters)
        replayed = len(set(self.replayed)) == 1
        return answered and right and due and self.same and self.once and replayed and not self.leaks


def play(console: Console, *, engines: Sequence[str] = ENGINES, seed: int = SEED, out: Path | None = None) -> Report:
    """Work on the whole queue on each engine, printing as it goes.

    Args:
        console: where to print; plain text when it is no terminal.
        engines: where to run the programs. The transcript shows the first; the others find the same consequences in the
            outbox, and perform none of them again.
        seed: what the company's data is made from.
        out: a new or empty folder that keeps journal, outbox, audit log and a page for each ticket; without one, nothing is kept.

    Raises:
        EngineUnavailable: an engine cannot be set up here.
        ModuleNotFoundError: the package that searches the help articles is not installed.
        LookupError: this seed has no customer for one of the tickets.
        FileExistsError: the folder is not empty.
    """
    company, knowledge, office = generate(seed), load(), Office()
    transcript.opening(console, company, seed, engines)
    for engine in engines:
        Sandbox(engine=engine, limits=LIMITS).run("None")  # set-up, once a process, is not what is measured
    episodes: dict[str, tuple[Episode, ...]] = {}
    tallies: dict[str, Tally] = {}
    leaked: list[str] = []
    with planted() as canary, opened(out) as cabinet:
        first = Desk(
            company, knowledge, office, scripted(), engines[0], cabinet.database, cabinet.journal, cabinet.audit
        )
        # The others keep a journal of their own: from the first one's they would take the answers.
        desks = [first, *(replace(first, engine=engine, journal=Journal()) for engine in engines[1:])]
        tickets = queue(company, canary.file)
        for ticket in tickets:
            row = episodes[ticket.id] = tuple(desk.work(ticket) for desk in desks)
            transcript.show(console, row[0])
            tools = support_tools(company.book.only(ticket.accounts), knowledge)
            tally = converse(ticket, tools, len(row[0].result.proposals))
            if tally is not None:
                tallies[ticket.id] = tally
            page = cabinet.draw(row[0])
            leaked += (leak for episode in row for leak in leaks(canary, company.book, episode, page))
        effects = office.effects
        for ticket in tickets:
            first.work(ticket)
        replayed = cabinet.replay(engines[0])
        leaked += (f"audit log: {what}" for what in canary.leaks(cabinet.log()))
    (twice,) = (ticket for ticket in tickets if ticket.id == TWICE)
    report = Report(
        episodes=episodes,
        tallies=tallies,
        truth=company.truth[twice.accounts[0]],
        found={episode.engine: _duplicates(episode) for episode in episodes[twice.id]},
        leaks=tuple(leaked),
        letters=tuple(office.letters),
        payments=tuple(office.payments),
        once=office.effects == effects,
        replayed=replayed,
    )
    tables.values(console, report.episodes, report.truth)
    tables.turns(console, report.episodes, report.tallies)
    tables.injection(console, report.episodes[INJECTED], report.leaks)
    transcript.closing(console, effects, again=office.effects, replayed=replayed)
    transcript.kept(console, out)
    return report


def _duplicates(episode: Episode) -> object:
    return episode.value.get("duplicates") if isinstance(episode.value, dict) else None
