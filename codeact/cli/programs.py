"""`codeact run`: one program and its result."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from codeact.cli.terminal import FAILED, console, printable, put, refuse
from wasm_runtime import progress

if TYPE_CHECKING:
    from codeact.journal import Journal
    from codeact.result import Result
    from codeact.sandbox import Sandbox
    from codeact.tools import Toolset

_Members = TypeVar("_Members", bound=Mapping[str, Any])

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


def engine_choices() -> list[str]:
    """What a shell offers for --engine."""
    from codeact.engines import engine_names  # noqa: PLC0415 - see the package's docstring

    return list(engine_names())


def run(  # noqa: PLR0913, PLR0917 - each is an option of the command
    file: Annotated[str | None, typer.Argument(metavar="FILE", help="The program's file; - is standard input.")] = None,
    code: Annotated[str | None, typer.Option("-c", "--code", metavar="CODE", help="The program itself.")] = None,
    tools: Annotated[
        list[str] | None,
        typer.Option(
            metavar="MODULE:ATTR",
            help="Grant a tool, a typed function, or a list, mapping or Toolset of them. May be given several times.",
        ),
    ] = None,
    actions: Annotated[
        list[str] | None,
        typer.Option(
            metavar="MODULE:ATTR",
            help="Let it propose an action, or those of a list or mapping. Nothing of it happens. May be given several times.",
        ),
    ] = None,
    engine: Annotated[
        str | None,
        typer.Option(
            metavar="wasm|restricted",
            autocompletion=engine_choices,
            help="wasm, the default, is the boundary; restricted is fast and only stops accidents.",
        ),
    ] = None,
    timeout: Annotated[str | None, typer.Option(metavar="S", help="Seconds until it is stopped; 5 by default.")] = None,
    guest: Annotated[Path | None, typer.Option(help="A guest of your own for wasm; see codeact build.")] = None,
    policy: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Run it as this policy says, on record in its log; tools are granted by --tools."
        ),
    ] = None,
    files: Annotated[
        list[str] | None,
        typer.Option(
            "--file", metavar="[PATH=]FILE", help="Put a file into its workspace. May be given several times."
        ),
    ] = None,
    save: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write the files that it made or changed to this directory.")
    ] = None,
    journal: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Keep the run in this journal; see codeact trace.")
    ] = None,
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


@dataclass(frozen=True)
class Chosen:
    """The sandbox that the options of a command choose; None and nothing where they say nothing of it."""

    tools: list[str]
    actions: list[str]
    journal: Path | None
    policy: Path | None
    engine: str | None
    timeout: str | None
    guest: Path | None

    def sandbox(self) -> Sandbox:
        """Set it up, or say why that cannot be done."""
        if self.policy is None:
            return self._plain(self.engine or "wasm")
        for option, given in (("--engine", self.engine), ("--timeout", self.timeout)):
            if given is not None:
                refuse(f"{option} {given}: --policy {self.policy} says which; leave one of them out")
        return self._by_policy(self.policy)

    def _plain(self, engine: str) -> Sandbox:
        from codeact.limits import Limits  # noqa: PLC0415 - see the package's docstring
        from codeact.sandbox import Sandbox  # noqa: PLC0415 - see the package's docstring

        limits = Limits()
        if self.timeout is not None:
            try:
                limits = Limits(timeout=_seconds(self.timeout))
            except ValueError as error:
                refuse(f"--timeout {self.timeout}: {str(error).rpartition(': ')[2]}")
        given = self._granted()
        load_engine(engine, self.guest)
        return Sandbox(**given, engine=engine, limits=limits, guest=self.guest)

    def _by_policy(self, file: Path) -> Sandbox:
        from codeact.cli.policies import load  # noqa: PLC0415 - see the package's docstring
        from codeact.policy import PolicyError  # noqa: PLC0415 - as above
        from codeact.sandbox import Sandbox  # noqa: PLC0415 - as above

        policy = load(file, "--policy")
        given = self._granted()
        load_engine(policy.boundary.engine, self.guest)
        try:
            return Sandbox.from_policy(policy, **given, guest=self.guest)
        except (PolicyError, ValueError) as error:
            refuse(f"--policy {file}: {error}")

    def _granted(self) -> dict[str, Any]:
        """What is granted, by the words of the sandbox that takes it."""
        from codeact.actions import Actions  # noqa: PLC0415 - see the package's docstring

        return {
            "tools": _tools(self.tools),
            "actions": members(self.actions, Actions, "--actions"),
            "journal": None if self.journal is None else _journal(self.journal),
        }


def _journal(file: Path) -> Journal:
    from codeact.journal import Journal, JournalError  # noqa: PLC0415 - see the package's docstring

    try:
        return Journal(file)
    except (JournalError, ValueError) as error:
        refuse(f"--journal {file}: {error}")


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


def _seconds(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        msg = "expected a number of seconds"
        raise ValueError(msg) from None


def load_engine(name: str, guest: Path | None = None) -> None:
    """Set an engine up, or say why that cannot be done."""
    from codeact.engines import load  # noqa: PLC0415 - see the package's docstring

    try:
        load(name, guest)
    except Exception as error:  # noqa: BLE001 - engines of others may fail in any way
        told = str(error).removeprefix(f"engine={name!r}: ")
        refuse(f"--engine {name}: {told or type(error).__name__}")


def _tools(places: list[str]) -> Toolset:
    from codeact.tools import Toolset  # noqa: PLC0415 - see the package's docstring

    return members(places, Toolset, "--tools")


def members(places: list[str], collect: Callable[[Any], _Members], option: str) -> _Members:
    """What the values of an option name, as one collection.

    Args:
        places: MODULE:ATTR, each of a member, or of a list or mapping of them.
        collect: makes a collection.
        option: where they were named.
    """
    if places:
        sys.path.insert(0, os.getcwd())  # noqa: PTH109 - sys.path holds text; an installed script lacks what -m has
    found: list[Any] = []
    for place in places:
        named = _imported(place, option)
        # A list of names is no tool and a tool is callable: what is neither a mapping nor a collection stands alone.
        collection = isinstance(named, Mapping) or (not callable(named) and hasattr(named, "__iter__"))
        try:
            found.extend(collect(named if collection else [named]).values())
        except (TypeError, ValueError) as error:
            refuse(f"{option} {place}: {error}")
    try:
        return collect(found)
    except ValueError as error:
        refuse(f"{option}: {str(error).removeprefix(f'{option[2:]}: ')}")


TOOLS, ACTIONS = "shop.tools:get_charges", "shop.actions:ACTIONS"
"""Examples of what can be named."""


def _imported(place: str, option: str) -> Any:
    from importlib import import_module  # noqa: PLC0415 - see the package's docstring

    module, colon, attribute = place.partition(":")
    if not (module and colon and attribute):
        refuse(f"{option} {place}: expected MODULE:ATTR, like {ACTIONS if option == '--actions' else TOOLS}")
    try:
        with contextlib.redirect_stdout(sys.stderr):
            found: Any = import_module(module)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a module of the user's may fail in any way
        refuse(f"{option} {place}: {module} cannot be imported: {type(error).__name__}: {error}")
    for name in attribute.split("."):
        try:
            found = getattr(found, name)
        except AttributeError:
            refuse(f"{option} {place}: {module} has no {attribute}")
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
