"""`codeact run`: one program and its result."""

from __future__ import annotations

import contextlib
import errno
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from codeact.cli.sandboxes import (
    ActionPlaces,
    Chosen,
    EngineName,
    GuestFile,
    JournalFile,
    PolicyFile,
    Seconds,
    ToolPlaces,
)
from codeact.cli.terminal import FAILED, console, printable, put, refuse
from wasm_runtime import progress

if TYPE_CHECKING:
    from codeact.result import Result

EXAMPLES = """Examples:

\b
  codeact run program.py
  codeact run -c "print('hello'); 6 * 7"
  echo "tools.add(1, 2)" | codeact run - --tools mytools:add
  codeact run program.py --tools mytools:TOOLS --engine restricted --timeout 2
  codeact run program.py --json | jq .value
  codeact run program.py --file orders.csv --file data/in.csv=./today.csv --save out/
  codeact run program.py --policy policy.toml
  codeact run program.py --tools shop:TOOLS --actions shop:ACTIONS --journal runs.sqlite

\b
What is printed:
  stdout  what the program printed, then its value (None only if nothing else is there to show)
  stderr  why it failed, what it proposed, and notes; also what your own tools print
  --json  on stdout the whole result as one JSON document, and nothing else

\b
Exit codes:
  0  the program finished      1  it failed      2  the command was misused      130  interrupted
"""


def run(  # noqa: PLR0913, PLR0917 - each is an option of the command
    file: Annotated[str | None, typer.Argument(metavar="FILE", help="The program's file; - is standard input.")] = None,
    code: Annotated[str | None, typer.Option("-c", "--code", metavar="CODE", help="The program itself.")] = None,
    tools: ToolPlaces = None,
    actions: ActionPlaces = None,
    engine: EngineName = None,
    timeout: Seconds = None,
    guest: GuestFile = None,
    policy: PolicyFile = None,
    files: Annotated[
        list[str] | None,
        typer.Option(
            "--file", metavar="[PATH=]FILE", help="Put a file into its workspace. May be given several times."
        ),
    ] = None,
    save: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write the files that it made or changed to this directory.")
    ] = None,
    journal: JournalFile = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as one JSON document.")] = False,
) -> None:
    """Run one program and show its result."""
    if as_json:
        progress.tell("never")
    source = _source(file, code)
    sandbox = Chosen(tools or [], actions or [], journal, policy, engine, timeout, guest).sandbox()
    put_in = _workspace(files or [])
    if save is not None:
        try:
            save.mkdir(parents=True, exist_ok=True)  # before the program takes its time
        except OSError as error:
            refuse(f"--save {save}: {error.strerror or error}")
    with contextlib.redirect_stdout(sys.stderr):  # what tools print is not the program's
        try:
            result = sandbox.run(source, files=put_in)
        except ValueError as error:
            refuse(f"--file: {error}")
    if save is not None:
        try:
            result.save(save)
        except OSError as error:
            refuse(f"--save {save}: {error.strerror or error}")
    if as_json:
        put(json.dumps(result.to_dict()) + "\n", sys.stdout)
    else:
        _show(result)
    raise typer.Exit(0 if result.ok else FAILED)


def _source(file: str | None, code: str | None) -> str:
    """The program's text."""
    if code is not None:
        if file is not None:
            refuse(f"-c: the program was given twice, as FILE {file} and as -c CODE; choose one")
        return code
    if file is None:
        refuse("FILE: no program; give a FILE, -c CODE, or - for standard input")
    try:
        raw = _standard_input() if file == "-" else Path(file).read_bytes()
    except OSError as error:
        refuse(f"FILE {file}: {error.strerror or error}")
    except ValueError as error:  # a NUL in the name, for one
        refuse(f"FILE {file!r}: {error}")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        where = "standard input" if file == "-" else f"FILE {file}"
        line = raw.count(b"\n", 0, error.start) + 1
        refuse(f"{where}: not UTF-8: byte 0x{raw[error.start]:02x} at offset {error.start:,}, line {line}")


def _standard_input() -> bytes:
    if sys.stdin is None:
        raise OSError(errno.EBADF, "standard input is closed")
    return sys.stdin.buffer.read()


def _workspace(places: list[str]) -> dict[str, bytes]:
    """The files that the options name: contents by their paths in the workspace."""
    found = {}
    for place in places:
        path, equals, source = place.partition("=")
        if not equals:
            path, source = Path(place).name, place
        if path in found:
            refuse(f"--file {place}: {path} was given twice")
        try:
            found[path] = Path(source).read_bytes()
        except OSError as error:
            refuse(f"--file {place}: {error.strerror or error}")
    return found


def _show(result: Result) -> None:
    """Show a result to a person: output and value on stdout, everything else on stderr."""
    nothing = not result.ok or (result.value is None and (result.stdout or result.note))
    shown = "" if nothing else _repr(result.value)
    text = result.stdout
    if text and not text.endswith("\n") and (shown or sys.stdout.isatty()):
        text += "\n"
    put(text + (f"{shown}\n" if shown else ""), sys.stdout)
    if not result.ok:
        head, _, rest = replace(result, stdout="").observation().partition("\n")
        terminal = console(stderr=True)
        terminal.print(printable(head, sys.stderr), style="bold red", markup=False, soft_wrap=True)
        terminal.print(printable(rest, sys.stderr), markup=False, soft_wrap=True)
        return
    for proposal in result.proposals:
        put(f"proposed: {proposal}\n", sys.stderr)
    if result.note:
        put(f"note: {result.note}\n", sys.stderr)
    for cut in result.truncated:
        put(f"cut: {cut.what}: {cut.left_out:,} characters left out after {cut.kept:,}\n", sys.stderr)


def _repr(value: object) -> str:
    try:
        return repr(value)
    except ValueError as error:  # an int of more digits than Python will write out
        return f"<{type(value).__name__} that cannot be shown: {error}>"
