"""`codeact trace`: what a journal has on record, for people to look at."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from codeact.cli.databases import holds
from codeact.cli.terminal import printing, put, refuse, say

if TYPE_CHECKING:
    from codeact.journal import Journal
    from codeact.outbox import Entry, Step
    from codeact.trace import Trace

_LIST = """Examples:

\b
  codeact trace list agent.db
  codeact trace list agent.db --task T-100
  codeact trace list agent.db --limit 5 --json | jq -r '.[].id'

\b
The last runs come first. What was begun and has not ended, or whose process has died, is "not ended".
"""

_SHOW = """Examples:

\b
  codeact trace show agent.db T-100
  codeact trace show agent.db 3f9a
  codeact trace show agent.db T-100 | less

\b
The name of a task or the id of a run may be shortened, as far as only one begins so. What a trace leaves out of large runs it says.
"""

_EXPORT = """Examples:

\b
  codeact trace export agent.db T-100 -o t100.html
  codeact trace export agent.db 3f9a -o - > run.html

\b
The page needs no network and runs nothing. It holds what the programs read and wrote: give it to nobody who may not see that.
"""

_ALL = """Examples:

\b
  codeact trace list agent.db
  codeact trace show agent.db T-100
  codeact trace export agent.db T-100 -o t100.html
"""

trace = typer.Typer(
    help="Look at what programs did, by a journal.",
    epilog=_ALL,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

_Journal = Annotated[Path, typer.Argument(metavar="JOURNAL", help="The file of the journal.", show_default=False)]
_Wanted = Annotated[
    str,
    typer.Argument(
        metavar="RUN_OR_TASK", help="A task or the id of a run, or the beginning of either.", show_default=False
    ),
]
_Outbox = Annotated[
    Path | None,
    typer.Option("--outbox", metavar="FILE", help="Where the outbox is; in the journal's own file by default."),
]


@trace.callback()
def traces() -> None:
    """Look at what programs did, by a journal."""


@trace.command("list", epilog=_LIST, short_help="List runs, the last ones first.")
def list_(
    journal: _Journal,
    task: Annotated[str | None, typer.Option(metavar="TASK", help="Only the runs of one task.")] = None,
    limit: Annotated[int, typer.Option(metavar="N", min=1, help="At most so many runs.")] = 20,
    as_json: Annotated[bool, typer.Option("--json", help="Print them as one JSON document.")] = False,
) -> None:
    """List the runs of a journal, the last ones first."""
    from codeact.renderings import visible  # noqa: PLC0415 - see the package's docstring
    from codeact.trace.wording import day_of, many, span_of  # noqa: PLC0415 - as above

    with _opened(journal) as kept:
        heads = kept.runs(task=task, limit=limit)
    if as_json:
        put(json.dumps([asdict(head) for head in heads], indent=2) + "\n", sys.stdout)
        return
    if not heads:
        say(f"no run is on record{'' if task is None else f' for the task {task!r:.200}'}")
    with printing() as terminal:
        for head in heads:
            ended = "not ended" if head.ok is None else "ok" if head.ok else head.kind or "failed"
            style = "green" if head.ok else "yellow" if head.ok is None else "bold red"
            took = "" if head.wall is None else span_of(head.wall)
            calls = "" if head.calls is None else many(head.calls, "call")
            told = f"{head.id[:12]}  {day_of(head.began)}  {ended:<9}  {took:>9}  {calls:<12}  {head.task or ''}"
            terminal.print(visible(told).replace("\n", "\\n").rstrip(), style=style, markup=False, soft_wrap=True)


@trace.command(epilog=_SHOW, short_help="Show a task or a run as text.")
def show(journal: _Journal, wanted: _Wanted, outbox: _Outbox = None) -> None:
    """Show a task or a run: what was asked, the programs with their calls, and what came of them."""
    from codeact.trace import rows_of  # noqa: PLC0415 - see the package's docstring

    found = _found(journal, wanted, outbox)
    styles = {"good": "green", "bad": "bold red", "wary": "yellow", "faint": "dim", None: ""}
    with printing() as terminal:
        for row in rows_of(found):
            terminal.print(row.text, style=styles[row.tone], markup=False, soft_wrap=True)


@trace.command(epilog=_EXPORT, short_help="Write a task or a run as one HTML page.")
def export(
    journal: _Journal,
    wanted: _Wanted,
    output: Annotated[Path, typer.Option("-o", "--output", metavar="FILE", help="The page; - for standard output.")],
    outbox: _Outbox = None,
) -> None:
    """Write a task or a run as one HTML page that needs no other file and no network."""
    from codeact.trace import page_of, write_page  # noqa: PLC0415 - see the package's docstring

    page = page_of(_found(journal, wanted, outbox))
    if str(output) == "-":
        put(page, sys.stdout)
        return
    try:
        write_page(output, page)
    except OSError as error:
        refuse(f"-o {output}: {error.strerror or error}")


def _found(path: Path, wanted: str, outbox: Path | None) -> Trace:
    from codeact.outbox import OutboxError  # noqa: PLC0415 - see the package's docstring
    from codeact.trace import trace_of  # noqa: PLC0415 - as above

    with _opened(path) as journal:
        try:
            with _outbox(path, outbox) as (knows, history):
                return trace_of(journal, wanted, knows, history)
        except LookupError as error:
            refuse(
                f"RUN_OR_TASK {error.args[0] if error.args else wanted}; `codeact trace list {path}` shows what there is"
            )
        except OutboxError as error:
            refuse(f"--outbox {outbox or path}: {error}")


@contextmanager
def _opened(path: Path) -> Iterator[Journal]:
    from codeact.journal import Journal, JournalError  # noqa: PLC0415 - see the package's docstring

    if not holds(path, "journal_runs", "JOURNAL"):  # opening one would make it
        refuse(f"JOURNAL {path}: it holds no journal; give the file that a `Journal` was opened with")
    try:
        with Journal(path) as journal:
            yield journal
    except JournalError as error:
        refuse(f"JOURNAL: {error}")


@contextmanager
def _outbox(
    journal: Path, given: Path | None
) -> Iterator[tuple[Callable[[str], Sequence[Entry]], Callable[[str], Sequence[Step]]]]:
    """What the outbox knows of a task. Nothing in it is changed, as it would be by looking for what has lapsed."""
    from codeact.outbox.store import Store  # noqa: PLC0415 - see the package's docstring

    path = given or journal
    if not holds(path, "outbox_entry", "--outbox"):
        if given is not None:
            refuse(f"--outbox {given}: it holds no outbox; give the file that an `Outbox` was opened with")
        yield (lambda _task: ()), (lambda _entry: ())
        return
    with closing(Store(path.resolve())) as store:
        yield (lambda task: store.read(task=task)), store.history
