"""`codeact outbox`: what waits to be decided, and what became of the rest."""

from __future__ import annotations

import getpass
import json
import math
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from codeact.cli.databases import holds
from codeact.cli.sandboxes import ACTIONS, members
from codeact.cli.terminal import FAILED, printing, put, refuse, say

if TYPE_CHECKING:
    from codeact.actions import Actions
    from codeact.audit import Audit
    from codeact.outbox import Entry, Outbox, Step

_LIST = """Examples:

\b
  codeact outbox list outbox.db
  codeact outbox list outbox.db --state proposed
  codeact outbox list outbox.db --task T-100 --json | jq -r '.[].id'

\b
States:
  proposed  waits for a decision              approved  may be performed, once
  started   is being performed                done      has happened
  failed    has not; may be approved again    refused   never will
  unknown   was begun, and nobody knows whether it happened: look, then `codeact outbox settle`
"""

_SHOW = """Examples:

\b
  codeact outbox show outbox.db 3f9a
  codeact outbox show outbox.db 3f9a --json | jq .arguments

\b
An id may be shortened as far as it is the only one.
"""

_APPROVE = """Examples:

\b
  codeact outbox approve outbox.db 3f9a
  codeact outbox approve outbox.db 3f9a --digest 8c1d22ab90ef --by ada --expires 3600

\b
It shows the call, and asks. Where nobody can be asked, --digest says which call was looked at (`show` tells it, and its first
12 digits are enough): what is approved is that call and no other. An approval is used once.
"""

_REJECT = """Examples:

\b
  codeact outbox refuse outbox.db 3f9a --reason "refunded by hand already"

\b
That is final: the same action with the same arguments is never performed in that task.
"""

_SETTLE = """Examples:

\b
  codeact outbox settle outbox.db 3f9a done --note "the provider has it as re_123"
  codeact outbox settle outbox.db 3f9a failed --note "not in the provider's log"
  codeact outbox settle outbox.db 3f9a again

\b
Outcomes, of an entry that is unknown:
  done    it has happened          failed  it has not; it may be approved again
  again   it is performed again with the same idempotency key, where its function takes one
"""

_PERFORM = """Examples:

\b
  codeact outbox perform outbox.db --actions shop.actions:ACTIONS --audit audit.jsonl

\b
Exit codes: 0 all that is approved is done, 1 something of it is not, 2 the command was misused.
"""

_ALL = """Examples:

\b
  codeact outbox list outbox.db --state proposed
  codeact outbox approve outbox.db 3f9a
  codeact outbox perform outbox.db --actions shop.actions:ACTIONS
"""

outbox = typer.Typer(
    help="Decide what programs have proposed, and see what became of it.",
    epilog=_ALL,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

_File = Annotated[Path, typer.Argument(metavar="FILE", help="The file of the outbox.", show_default=False)]
_Id = Annotated[str, typer.Argument(metavar="ID", help="The entry's id, or its beginning.", show_default=False)]
_By = Annotated[str | None, typer.Option(metavar="NAME", help="Who decides, for the record; you by default.")]
_Json = Annotated[bool, typer.Option("--json", help="Print it as one JSON document.")]
_Audit = Annotated[
    Path | None, typer.Option("--audit", metavar="FILE", help="A log of JSON lines, to which each step is appended.")
]
_Task = Annotated[str | None, typer.Option(metavar="TASK", help="Only what is for one task.")]

LEAST = 12
"""Digits of a digest that say which call was looked at."""

_STYLES = {"proposed": "bold yellow", "unknown": "bold red", "failed": "red", "done": "green"}


@outbox.callback()
def outboxes() -> None:
    """Decide what programs have proposed, and see what became of it."""


@outbox.command("list", epilog=_LIST, short_help="List entries, the oldest first.")
def list_(
    file: _File,
    state: Annotated[str | None, typer.Option(metavar="STATE", help="Only what is in one state.")] = None,
    task: _Task = None,
    as_json: _Json = False,
) -> None:
    """List the entries of an outbox, the oldest first."""
    with _opened(file) as opened:
        try:
            found = opened.entries(state, task)  # type: ignore[arg-type]  # what is no state it says itself
        except ValueError as error:
            refuse(f"--state {state}: {str(error).partition(': ')[2]}")
    _print(found, as_json)
    if not found:
        say("there is no such entry" if state or task else "there is no entry")


@outbox.command(epilog=_SHOW, short_help="Show an entry.")
def show(file: _File, entry_id: _Id, as_json: _Json = False) -> None:
    """Show an entry: what it would do or has done, who decided, and what came of it."""
    with _opened(file) as opened:
        _show(opened, opened.get(entry_id), as_json)


@outbox.command(epilog=_APPROVE, short_help="Approve an entry.")
def approve(  # noqa: PLR0913, PLR0917 - each is an option of the command
    file: _File,
    entry_id: _Id,
    digest: Annotated[
        str | None, typer.Option(metavar="DIGEST", help="The digest of the call that was looked at; it is not asked.")
    ] = None,
    by: _By = None,
    expires: Annotated[
        str | None, typer.Option(metavar="S", help="Seconds that the approval holds; for ever by default.")
    ] = None,
    audit: _Audit = None,
    as_json: _Json = False,
) -> None:
    """Approve an entry that is proposed or has failed: it may be performed, once."""
    seconds = None if expires is None else _seconds(expires)
    with _opened(file, audit=audit) as opened:
        entry = opened.get(entry_id)
        if digest is not None:
            if len(digest) < LEAST:
                refuse(f"--digest {digest}: give at least {LEAST} digits of it")
            seen = entry.digest if entry.digest.startswith(digest) else digest
        else:
            if not sys.stdin.isatty():
                refuse(f"--digest: nobody can be asked; look with `codeact outbox show {file} {entry_id}`, and give it")
            with redirect_stdout(sys.stderr):
                _show(opened, entry, as_json=False)
                agreed = typer.confirm("approve this call?")
            if not agreed:
                say("not approved; `codeact outbox refuse` refuses it for good")
                raise typer.Exit(FAILED)
            seen = entry.digest
        _show(opened, opened.approve(entry.id, digest=seen, by=_who(by), expires=seconds), as_json)


@outbox.command(epilog=_REJECT, short_help="The same as refuse.")
@outbox.command("refuse", epilog=_REJECT, short_help="Refuse an entry, for good.")
def reject(  # noqa: PLR0913, PLR0917 - each is an option of the command
    file: _File,
    entry_id: _Id,
    by: _By = None,
    reason: Annotated[str | None, typer.Option(metavar="TEXT", help="Why, for the record.")] = None,
    audit: _Audit = None,
    as_json: _Json = False,
) -> None:
    """Refuse an entry that is proposed, approved and not begun, or has failed."""
    with _opened(file, audit=audit) as opened:
        _show(opened, opened.refuse(entry_id, by=_who(by), reason=reason), as_json)


@outbox.command(epilog=_SETTLE, short_help="Say what became of an entry that is unknown.")
def settle(  # noqa: PLR0913, PLR0917 - each is an option of the command
    file: _File,
    entry_id: _Id,
    outcome: Annotated[str, typer.Argument(metavar="done|failed|again", show_default=False)],
    by: _By = None,
    note: Annotated[str | None, typer.Option(metavar="TEXT", help="How that is known, for the record.")] = None,
    audit: _Audit = None,
    as_json: _Json = False,
) -> None:
    """Say what became of an entry that was begun, and of which nobody knows whether it happened."""
    with _opened(file, audit=audit) as opened:
        try:
            settled = opened.settle(entry_id, outcome, by=_who(by), note=note)  # type: ignore[arg-type]  # as above
        except ValueError as error:
            refuse(str(error))
        _show(opened, settled, as_json)


@outbox.command(epilog=_PERFORM, short_help="Perform what is approved.")
def perform(
    file: _File,
    actions: Annotated[
        list[str],
        typer.Option(
            metavar="MODULE:ATTR",
            help="What performs it: an action, or a list or mapping of them. May be given several times.",
        ),
    ] = [],  # noqa: B006 - nobody changes it; without it typer would not say what to give
    task: _Task = None,
    audit: _Audit = None,
    as_json: _Json = False,
) -> None:
    """Perform what is approved, each entry once."""
    if not actions:
        refuse(f"--actions: give what performs it, as MODULE:ATTR, like {ACTIONS}")
    granted = _actions(actions)
    with (
        _opened(file, granted, audit) as opened,
        redirect_stdout(sys.stderr),
    ):  # what actions print is not the command's
        ended = opened.perform(task)
    _print(ended, as_json)
    if not ended:
        say("nothing is approved; `codeact outbox list` shows what there is")
    for entry in ended:
        if entry.state == "approved" and entry.reason:
            put(f"codeact: {entry.id[:8]}: {entry.reason}\n", sys.stderr)
    raise typer.Exit(0 if all(entry.state == "done" for entry in ended) else FAILED)


@contextmanager
def _opened(file: Path, actions: Actions | None = None, audit: Path | None = None) -> Iterator[Outbox]:
    from codeact.audit import Unrecorded  # noqa: PLC0415 - see the package's docstring
    from codeact.outbox import Outbox, OutboxError  # noqa: PLC0415 - as above

    if not holds(file, "outbox_entry", "FILE"):  # opening one would make it
        refuse(f"FILE {file}: it holds no outbox; give the file that an `Outbox` was opened with")
    try:
        with Outbox(file, actions=actions or (), audit=None if audit is None else _log(audit)) as opened:
            yield opened
    except OutboxError as error:
        refuse(str(error))
    except Unrecorded as error:
        refuse(f"--audit {audit}: {error.__cause__ or error}")


def _log(path: Path) -> Audit:
    from codeact.audit import Audit  # noqa: PLC0415 - see the package's docstring
    from codeact.audit.files import JsonLines  # noqa: PLC0415 - as above

    try:
        return Audit([JsonLines(path)])
    except OSError as error:
        refuse(f"--audit {path}: {error.strerror or error}")


def _actions(places: list[str]) -> Actions:
    from codeact.actions import Actions  # noqa: PLC0415 - see the package's docstring

    return members(places, Actions, "--actions")


def _print(entries: list[Entry], as_json: bool) -> None:
    from codeact.renderings import visible  # noqa: PLC0415 - see the package's docstring
    from codeact.trace.wording import day_of  # noqa: PLC0415 - as above

    if as_json:
        put(json.dumps([entry.to_dict() for entry in entries], indent=2) + "\n", sys.stdout)
        return
    with printing() as terminal:
        for entry in entries:
            told = f"{entry.id[:8]}  {entry.state:<8}  {day_of(entry.created)}  {entry.task}  {entry}"
            style = _STYLES.get(entry.state, "")
            terminal.print(visible(told).replace("\n", "\\n"), style=style, markup=False, soft_wrap=True)


def _show(opened: Outbox, entry: Entry, as_json: bool) -> None:
    from codeact.renderings import visible  # noqa: PLC0415 - see the package's docstring

    steps = opened.history(entry.id)
    if as_json:
        whole = {**entry.to_dict(), "history": [asdict(step) for step in steps]}
        put(json.dumps(whole, indent=2) + "\n", sys.stdout)
        return
    for name, told in _rows(entry, steps):
        put(f"{name:<10}{visible(told)}\n", sys.stdout)


def _rows(entry: Entry, steps: Iterable[Step]) -> Iterator[tuple[str, str]]:
    from codeact.renderings import written  # noqa: PLC0415 - see the package's docstring
    from codeact.trace.wording import day_of, step_of  # noqa: PLC0415 - as above

    yield "entry", entry.id
    yield "state", entry.state
    yield "task", repr(entry.task)
    yield "run", f"{entry.run or 'unknown'}, proposal {entry.seq}" + (f", line {entry.line}" if entry.line else "")
    yield "action", entry.name
    for name, value in entry.arguments.items():
        yield "", f"{name} = {written(value)}"  # whole: who approves it must see all of it
    yield "digest", entry.digest
    yield "key", entry.key
    yield "proposed", day_of(entry.created)
    if entry.decided is not None:
        yield "decided", f"{day_of(entry.decided)} by {entry.by}"
    if entry.expires is not None:
        yield "expires", day_of(entry.expires)
    if entry.reason is not None:
        yield "reason", repr(entry.reason)
    if entry.started is not None:
        yield "started", day_of(entry.started)
    if entry.ended is not None:
        yield "ended", day_of(entry.ended)
    if entry.state == "done":
        yield "value", written(entry.value)
    if entry.error is not None:
        yield "error", repr(entry.error)
    for number, step in enumerate(steps):
        yield "" if number else "history", step_of(step).replace("\n", "\\n")


def _who(name: str | None) -> str:
    if name is not None:
        if not name.strip():
            refuse("--by: it is empty; give a name")
        return name
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # the user has no name here
        refuse("--by: it is not known who you are; give a name")


def _seconds(text: str) -> float:
    try:
        found = float(text)
    except ValueError:
        refuse(f"--expires {text}: expected a number of seconds")
    if not 0 < found < math.inf:
        refuse(f"--expires {text}: must be above zero")
    return found
