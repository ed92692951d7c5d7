"""What is taken of somebody else's tools: which of them only read, by the names that a host chooses, and all others."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, NamedTuple

from codeact.actions import Action
from codeact.tools import Tool


class ForeignTools(NamedTuple):
    """What tools of a framework or a server are in a sandbox: `Sandbox(found.tools, actions=found.actions)`.

    Attributes:
        tools: those that only read.
        actions: all others.
    """

    tools: list[Tool[..., Any]]
    actions: list[Action[..., Any]]


def selected(argument: str, names: Iterable[str], *, among: Collection[str] | None = None) -> tuple[str, ...]:
    """The names of tools that a host has given, each once.

    Args:
        argument: what they were given as, for the error.
        names: given.
        among: those there are; None where they are told later.

    Raises:
        TypeError: it is one text in place of several.
        ValueError: there is no tool of such a name.
    """
    if isinstance(names, str):
        msg = f"{argument}={names!r}: expected a list of names, such as [{names!r}]"
        raise TypeError(msg)
    found = tuple(dict.fromkeys(names))
    unknown = [name for name in found if among is not None and name not in among]
    if unknown:
        there = ", ".join(sorted(among or ())) or "none"
        msg = f"{argument}: there is no tool {', '.join(map(repr, unknown))}; there are: {there:.1000}"
        raise ValueError(msg)
    return found
