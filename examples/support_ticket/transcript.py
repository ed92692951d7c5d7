"""A conversation, printed so that somebody who has never seen one can follow it."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap

from rich.console import Console
from rich.rule import Rule
from rich.syntax import Syntax
from rich.text import Text

from codeact import Call, Result

from .conversation import Episode
from .data import Company
from .script import Program

_SHOWN = 1000
"""Characters of an observation that are printed; the model reads all of it."""

_RECEIPTS = 6
"""Receipts printed for one program."""


def opening(console: Console, company: Company, seed: int, engines: Sequence[str]) -> None:
    """Say what is about to happen."""
    charges = sum(len(rows) for rows in company.book.charges.values())
    _say(
        console,
        f"A support desk with {len(company.book.customers):,} customers and {charges:,} charges (seed {seed}). For each "
        "ticket a model writes Python programs instead of tool calls. They run in a sandbox that holds read-only tools "
        f"for the sender's accounts and nothing else. Engines: {', '.join(engines)}. The model is a script, "
        "so nothing here needs a network; the sandbox, the tools and every error are real.",
    )


def show(console: Console, episode: Episode) -> None:
    """Print one ticket, the programs written for it, what the model read, and the answer."""
    ticket = episode.ticket
    console.print()
    console.print(Rule(Text(f"{ticket.id}  {ticket.subject}", "bold"), align="left"))
    _say(console, f"from {ticket.sender}", "dim")
    _say(console, ticket.body, "italic")
    programs = [turn for turn in episode.turns if turn.result is not None]
    for number, turn in enumerate(programs, start=1):
        if turn.result is not None and isinstance(turn.reply, Program):
            _heading(console, f"The model writes program {number} of {len(programs)}")
            code = Syntax(
                turn.reply.code,
                "python",
                line_numbers=True,
                word_wrap=True,
                background_color="default",
                theme="ansi_dark",
            )
            console.print(code)
            _observed(console, turn.result)
    _heading(console, "The host sends the answer; no program could")
    _say(console, episode.answer, "bold")


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
    for line in text.splitlines():
        indent = " " * (len(line) - len(line.lstrip()) + 2)
        wrapped = wrap(line.strip(), console.width, initial_indent=indent, subsequent_indent=indent) or [""]
        console.print(Text("\n".join(wrapped), style), soft_wrap=True)
