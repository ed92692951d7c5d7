"""The example played from beginning to end: a shift at the desk, and what is to be learned from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from codeact import Sandbox
from codeact.messages import Model

from . import tables, transcript
from .cabinet import refuse_full
from .data import SEED, Company, generate
from .desk import LIMITS, Episode
from .knowledge import KnowledgeBase, load
from .models import Heard
from .script import scripted
from .shift import Shift, work
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
        shift: what came of every ticket.
        tallies: for each ticket that can be worked on by tool calls, what that took.
        truth: the duplicates planted for the customer who was charged twice.
        found: what the program found there, by engine.
    """

    shift: Shift
    tallies: Mapping[str, Tally]
    truth: tuple[str, ...]
    found: Mapping[str, object]

    @property
    def same(self) -> bool:
        """Whether every engine, and the conversation by tool calls, came to the same values."""
        return all(
            episode.value == episodes[0].value
            and (ticket not in self.tallies or self.tallies[ticket].value == episode.value)
            for ticket, episodes in self.shift.episodes.items()
            for episode in episodes
        )

    @property
    def ok(self) -> bool:
        """Whether everything went as it should: right, the same everywhere, once, and nothing came out."""
        right = all(found == list(self.truth) for found in self.found.values())
        return self.shift.ok and right and self.same


def play(console: Console, *, engines: Sequence[str] = ENGINES, seed: int = SEED, out: Path | None = None) -> Report:
    """Let the script work on the whole queue on each engine, printing as it goes.

    Args:
        console: where to print; plain text when it is no terminal.
        engines: where to run the programs. The transcript shows the first.
        seed: what the company's data is made from.
        out: a new or empty folder that keeps journal, outbox, audit log and a page for each ticket; without one, nothing
            is kept.

    Raises:
        EngineUnavailable: an engine cannot be set up here.
        ModuleNotFoundError: the package that searches the help articles is not installed.
        LookupError: this seed has no customer for one of the tickets.
        FileExistsError: the folder is not empty.
    """
    refuse_full(out)
    company, knowledge = generate(seed), load()
    transcript.opening(console, company, seed, engines, "a script, so nothing here needs a network")
    for engine in engines:
        Sandbox(engine=engine, limits=LIMITS).run("None")  # set-up, once a process, is not what is measured
    shift = work(company, knowledge, scripted(), engines, out, lambda episode: transcript.show(console, episode, out))
    twice = shift.episodes[TWICE]
    tallies = {ticket: _tally(company, knowledge, row[0]) for ticket, row in shift.episodes.items()}
    report = Report(
        shift=shift,
        tallies={ticket: tally for ticket, tally in tallies.items() if tally is not None},
        truth=company.truth[twice[0].ticket.accounts[0]],
        found={episode.engine: _duplicates(episode) for episode in twice},
    )
    tables.values(console, shift.episodes, report.truth)
    tables.turns(console, shift.episodes, report.tallies)
    _conclude(console, shift, out)
    return report


def serve(
    console: Console, model: Model, *, engine: str = ENGINES[0], seed: int = SEED, out: Path | None = None
) -> Shift:
    """Let another model work on the whole queue, printing as it goes. What it finds is compared with nothing.

    Args:
        console: see `play`, also for the others and for errors.
        model: who writes the programs.
        engine: where to run them.
        seed: what the company's data is made from.
        out: a new or empty folder for what is kept.
    """
    refuse_full(out)
    company, knowledge = generate(seed), load()
    transcript.opening(console, company, seed, [engine], model.name)
    heard = Heard(model, lambda why: transcript.waiting(console, why))
    shift = work(company, knowledge, heard, [engine], out, lambda episode: transcript.show(console, episode, out))
    if any(row[0].is_unreached for row in shift.episodes.values()):
        transcript.given_up(console)
    if any(row[0].result.ok for row in shift.episodes.values()):
        _conclude(console, shift, out)
    else:
        transcript.kept(console, out)
    return shift


def _conclude(console: Console, shift: Shift, out: Path | None) -> None:
    if INJECTED in shift.episodes:
        tables.injection(console, shift.episodes[INJECTED], shift.leaks)
    transcript.closing(console, shift)
    transcript.kept(console, out)


def _tally(company: Company, knowledge: KnowledgeBase, episode: Episode) -> Tally | None:
    tools = support_tools(company.book.only(episode.ticket.accounts), knowledge)
    return converse(episode.ticket, tools, len(episode.result.proposals))


def _duplicates(episode: Episode) -> object:
    return episode.value.get("duplicates") if isinstance(episode.value, dict) else None
