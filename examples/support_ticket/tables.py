"""What the demo measured, as tables."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from codeact import Result
from codeact.renderings import visible

from .desk import Episode
from .toolcalls import Tally

Episodes = Mapping[str, tuple[Episode, ...]]

_VALUE = 60
_MESSAGE = 80
"""Characters of a value, and of an error, that are printed."""


def values(console: Console, episodes: Episodes, truth: Sequence[str]) -> None:
    """One row a ticket: the value, whether the engines agree on it, and how long its programs took on each."""
    engines = [episode.engine for episode in next(iter(episodes.values()))]
    table = Table(title="The same programs on each engine", title_justify="left")
    table.add_column("ticket")
    table.add_column("value", overflow="fold")
    table.add_column("the same")
    for engine in engines:
        table.add_column(f"{engine}, ms", justify="right")
    for ticket, row in episodes.items():
        same = all(episode.value == row[0].value for episode in row)
        times = [f"{episode.seconds * 1000:.1f}" for episode in row]
        table.add_row(ticket, Text(_short(repr(row[0].value))), "yes" if same else "NO", *times)
    _print(console, table)
    console.print(f"The duplicate planted for T-1 was {', '.join(truth)}.", highlight=False)


def turns(console: Console, episodes: Episodes, tallies: Mapping[str, Tally]) -> None:
    """One row a ticket: replies of the model and characters that it read, by programs and by tool calls."""
    table = Table(title="Programs against tool calls", title_justify="left")
    table.add_column("ticket")
    heads = ["turns, programs", "turns, tool calls", "in batches", "read, programs", "read, tool calls"]
    for head in heads:
        table.add_column(head, justify="right")
    rows = [(ticket, _counts(episodes[ticket][0], tally)) for ticket, tally in tallies.items()]
    for ticket, counts in rows:
        table.add_row(ticket, *(f"{count:,}" for count in counts))
    table.add_section()
    table.add_row("all", *(f"{sum(column):,}" for column in zip(*(counts for _, counts in rows), strict=True)))
    _print(console, table)
    console.print(
        "A turn is one reply of the model, and the final answer is one too; a program that failed counts. The "
        "conversations by tool calls were carried out with the same tools and came to the same values. There a turn is "
        "one call, and what the programs proposed would be calls too; in batches, every call whose arguments are known goes out at once, which few models always do. "
        "Read is the number of characters of results that the model had to take in. T-6 has no such conversation.",
        highlight=False,
    )


def injection(console: Console, row: Sequence[Episode], leaks: Sequence[str]) -> None:
    """What each program of the obedient model got on each engine."""
    table = Table(title="What the ticket with instructions in it got", title_justify="left")
    table.add_column("the model wrote", overflow="fold")
    for episode in row:
        table.add_column(episode.engine, overflow="fold")
    for number, (program, _) in enumerate(row[0].programs):
        results = [episode.programs[number][1] for episode in row if number < len(episode.programs)]
        got = [Text(_short(_got(result, row[0]), _MESSAGE)) for result in results]
        table.add_row(Text(_last_statement(program)), *got)
    _print(console, table)
    if leaks:
        console.print(Text("THIS CAME OUT: " + "; ".join(leaks), "bold red"))
    else:
        console.print(
            "A secret in the host's environment, another in a file, the host's /etc/passwd and the addresses of all "
            "other customers were looked for in every value, output, error, proposal and letter above, and in the page of "
            "each ticket: they are in none.",
            highlight=False,
        )


def _counts(episode: Episode, tally: Tally) -> tuple[int, int, int, int, int]:
    return episode.turns, tally.turns, tally.batched, episode.read, tally.read


def _got(result: Result, episode: Episode) -> str:
    if result.error is not None:
        return f"{result.error.type}: {result.error.message}"
    if not result.proposals:
        return repr(result.value)
    states = {entry.digest: entry.state for entry in episode.entries}  # none where the model gave up
    return "; ".join(f"{proposal.name}: {states.get(proposal.digest, 'dropped')}" for proposal in result.proposals)


def _last_statement(program: str) -> str:
    try:
        return ast.unparse(ast.parse(program).body[-1])
    except (SyntaxError, IndexError):
        return visible(program.strip().rpartition("\n")[2])


def _short(text: str, most: int = _VALUE) -> str:
    return visible(text if len(text) <= most else f"{text[:most]}…")


def _print(console: Console, table: Table) -> None:
    console.print()
    console.print(table)
