"""The sandbox that the options of a command choose."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from codeact.cli.terminal import refuse

if TYPE_CHECKING:
    from codeact.journal import Journal
    from codeact.sandbox import Sandbox
    from codeact.tools import Toolset

_Members = TypeVar("_Members", bound=Mapping[str, Any])


def engine_choices() -> list[str]:
    """What a shell offers for --engine."""
    from codeact.engines import engine_names  # noqa: PLC0415 - see the package's docstring

    return list(engine_names())


ToolPlaces = Annotated[
    list[str] | None,
    typer.Option(
        metavar="MODULE:ATTR",
        help="Grant a tool, a typed function, or a list, mapping or Toolset of them. May be given several times.",
    ),
]
ActionPlaces = Annotated[
    list[str] | None,
    typer.Option(
        metavar="MODULE:ATTR",
        help="Let programs propose an action, or those of a list or mapping; nothing of it happens here. May be given several times.",
    ),
]
EngineName = Annotated[
    str | None,
    typer.Option(
        metavar="wasm|restricted",
        autocompletion=engine_choices,
        help="wasm, the default, is the boundary; restricted is fast and only stops accidents.",
    ),
]
Seconds = Annotated[str | None, typer.Option(metavar="S", help="Seconds until a program is stopped; 5 by default.")]
GuestFile = Annotated[Path | None, typer.Option(help="A guest of your own for wasm; see codeact build.")]
PolicyFile = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help="Run programs as this policy says, on record in its log; tools are granted by --tools."
    ),
]
JournalFile = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Keep what is run in this journal; see codeact trace.")
]


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
        refuse(f"{f'--engine {name}' if guest is None else '--guest'}: {told or type(error).__name__}")


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
