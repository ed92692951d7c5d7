"""An episode, printed so that somebody who has never seen one can follow it."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from textwrap import wrap

from rich.console import Console
from rich.rule import Rule
from rich.syntax import Syntax
from rich.text import Text

from codeact import Call, Result
from codeact.outbox import Entry
from codeact.renderings import visible

from .cabinet import DATABASE
from .data import Company
from .desk import Episode
from .shift import Shift

_SHOWN = 1000
"""Characters of an observation that are printed; the model reads all of it."""

_RECEIPTS = 6
"""Receipts printed for one program."""


def opening(console: Console, company: Company, seed: int, engines: Sequence[str], model: str) -> None:
    """Say what is about to happen."""
    charges = sum(len(rows) for rows in company.book.charges.values())
    _say(
        console,
        f"A support desk with {len(company.book.customers):,} customers and {charges:,} charges (seed {seed}). For each "
        "ticket a model writes Python programs instead of tool calls. They run in a sandbox that holds read-only tools "
        "for the sender's accounts and nothing else. What would change the world, a reply or a refund, a program can "
        "only propose: rules, a look into the books or a person decide, and an outbox performs it once. "
        f"Engines: {', '.join(engines)}. The model: {model}. The sandbox, the tools and every error are real.",
    )


def show(console: Console, episode: Episode, folder: Path | None) -> None:
    """Print one ticket, the programs written for it, what the model read, and what became of what they proposed.

    Args:
        console: where to print.
        episode: what is printed.
        folder: where the desk keeps its records; None where it keeps none.
    """
    ticket = episode.ticket
    console.print()
    console.print(Rule(Text(f"{ticket.id}  {ticket.subject}", "bold"), align="left"))
    _say(console, f"from {ticket.sender}", "dim")
    _say(console, ticket.body, "italic")
    if episode.is_unreached and not episode.programs:
        _heading(console, "Nothing happens")
        _say(console, episode.result.why, "red")
        return
    for number, (program, result) in enumerate(episode.programs, start=1):
        _heading(console, f"The model writes program {number} of {len(episode.programs)}")
        code = Syntax(
            visible(program), "python", line_numbers=True, word_wrap=True, background_color="default", theme="ansi_dark"
        )
        console.print(code)
        _observed(console, result)
    _heading(console, "The model is done, and tells its colleagues")
    _say(console, episode.result.answer or f"nothing: {episode.result.why}")
    _heading(console, "What was proposed, and what became of it" if episode.entries else "Nothing goes to the outbox")
    for entry in episode.entries:
        _say(console, _became(entry), _STYLES.get(entry.state, ""))
        if entry.state == "proposed":
            console.print(Text(f"    {_approval(entry, folder)}", "dim"), soft_wrap=True)  # to be copied
            _say(console, "Once approved, it is performed when the desk is given the ticket again (Desk.work).", "dim")
    if episode.reply:
        _heading(console, f"The letter that left, to {ticket.sender}")
        _say(console, episode.reply, "bold")


def waiting(console: Console, why: str) -> None:
    """Say that the model gave no reply yet."""
    _say(console, f"No reply yet: {why}. It is asked again after a pause, a few times at the most.", "dim")


def given_up(console: Console) -> None:
    """Say that the model cannot be had."""
    console.print()
    console.print("The model gave no reply, so it is given none of the tickets that are left.", style="red")


def closing(console: Console, shift: Shift) -> None:
    """Say what has happened, and how often."""
    letters, payments = len(shift.letters), len(shift.payments)
    told = "nothing happened a second time" if shift.once else "SOME OF IT HAPPENED AGAIN"
    console.print()
    console.print(
        f"{letters} letter{'s' * (letters != 1)} left, and {payments} refund{'s' * (payments != 1)} went out. Then every "
        "ticket was given to the desk once more, as after a crash. Programs and answers came from the journal, the same "
        f"proposals went to the outbox, and {told}: the office counts {shift.again[0]} and {shift.again[1]}.",
        highlight=False,
    )
    console.print(
        f"{shift.programs} programs are in the journal. Replayed without a tool, {shift.replayed} of them did the same to "
        "the bit.",
        highlight=False,
    )


def kept(console: Console, folder: Path | None) -> None:
    """Say where the records are.

    Args:
        console: where to print.
        folder: where they are; None where they were taken away.
    """
    if folder is None:
        told = "Nothing of this is kept. --out DIR keeps the journal, the outbox, the audit log and a page for each ticket."
    else:
        told = f"The journal and the outbox, the audit log and a page for each ticket are in {folder}."
    console.print()
    console.print(told, highlight=False, markup=False)


def _approval(entry: Entry, folder: Path | None) -> str:
    """What a person types to approve an entry."""
    database = Path("DIR" if folder is None else folder) / DATABASE
    command = f"codeact outbox approve {shlex.quote(str(database))} {entry.id[:8]}"
    return command if folder is not None else f"with --out DIR: {command}"


_STYLES = {"done": "green", "refused": "red", "proposed": "yellow"}


def _became(entry: Entry) -> str:
    why = entry.error or (None if entry.by == "rule" and entry.state != "refused" else entry.reason)
    by = {"rule": "a rule", "callback": "the books"}.get(entry.by or "", entry.by)
    match entry.state:
        case "done":
            told = f"done; {by} allowed it"
        case "refused":
            told = f"refused; {by} forbade it"
        case "proposed":
            told = "waits for a person"
        case state:
            told = state
    return f"{entry}\n  {told}{f': {why}' if why else ''}"


def _observed(console: Console, result: Result) -> None:
    _heading(console, "The model reads")
    text = result.observation()
    rest = len(text) - _SHOWN
    _say(console, text if rest <= 0 else f"{text[:_SHOWN]}… ({rest:,} more)", "green" if result.ok else "red")
    if result.calls:
        more = len(result.calls) - _RECEIPTS
        _heading(console, "The host's receipts")
        for call in result.calls[:_RECEIPTS]:
            _say(console, _receipt(call), "dim")
        if more > 0:
            _say(console, f"… and {more} more", "dim")


def _receipt(call: Call) -> str:
    return f"{call.seq:>2} {call.name:<22} {call.digest}  {call.state:<10} {call.duration * 1000:.2f} ms"


def _heading(console: Console, text: str) -> None:
    console.print()
    console.print(Text(text, "cyan"))


def _say(console: Console, text: str, style: str = "") -> None:
    for line in visible(text).splitlines():
        indent = " " * (len(line) - len(line.lstrip()) + 2)
        wrapped = wrap(line.strip(), console.width, initial_indent=indent, subsequent_indent=indent) or [""]
        console.print(Text("\n".join(wrapped), style), soft_wrap=True)
