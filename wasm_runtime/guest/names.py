"""What to say of a name that does not exist: the near ones, and those that do."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher, get_close_matches
from itertools import islice

SHOWN = 80
"""Characters of an unknown name that are repeated."""

LISTED = 16
"""Names that a list shows."""

_LOOKED_AT = 2000
"""Names among which a near one is looked for."""


class MissingKey(KeyError):
    """A KeyError whose text is a sentence: it reads as it stands, where others show a key."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


MissingKey.__name__ = MissingKey.__qualname__ = "KeyError"
MissingKey.__module__ = "builtins"


def near(name: str, names: Iterable[str], most: int = 2) -> list[str]:
    """The names that are most like this one, the likeliest first."""
    known = [known for known in islice(names, _LOOKED_AT) if len(known) <= SHOWN and known != name]
    if len(name) > SHOWN:
        return []
    bare = _bare(name)
    same = [one for one in known if _bare(one) == bare]
    found = same[:most] or get_close_matches(name, known, n=most, cutoff=0.65)
    least = _likeness(name, found[0]) - 0.1 if found else 0.0
    return [one for one in found if _likeness(name, one) >= least]


def _likeness(one: str, other: str) -> float:
    return SequenceMatcher(None, one, other).ratio()


def _bare(name: str) -> str:
    """A name without what people write in several ways: `customerId`, `customer_id`, `customer-id`."""
    return "".join(filter(str.isalnum, name)).lower()


def meant(names: Sequence[str]) -> str:
    """The question for the near ones; empty where there are none."""
    return f"did you mean {' or '.join(map(repr, names))}?" if names else ""


def listed(names: Sequence[str]) -> str:
    """Names as a list, and how many more there are."""
    more = f" and {len(names) - LISTED:,} more" if len(names) > LISTED else ""
    return f"{', '.join(map(shortened, names[:LISTED]))}{more}" or "none"


def shortened(name: str) -> str:
    """A name short enough to be repeated."""
    return name if len(name) <= SHOWN else f"{name[:SHOWN]}…"


def explained(tools: Iterable[tuple[str, str, Sequence[str]]]) -> str:
    """What there is to say of tools: the signature and documentation of each, then the records of all of them."""
    records: dict[str, None] = {}
    parts = []
    for signature, doc, declared in tools:
        parts.append("\n".join([signature, *(f"    {line}".rstrip() for line in doc.splitlines())]))
        records.update(dict.fromkeys(declared))
    if records:
        parts.append("# a Record is a dict whose items are attributes too; a Member equals its value")
    return "\n\n".join([*parts, *records]) or "no tools were granted"


ACTIONS = "actions."
"""How the name of an action begins, where tools are named too."""


def may_be(name: str) -> bool:
    """Whether a tool could have that name."""
    return name.isidentifier() and not name.startswith("_")


def written(name: str) -> str:
    """How a program writes the name that a tool or an action has at the door."""
    return name if name.startswith(ACTIONS) else f"tools.{name}"


def unknown_tool(name: str, granted: Iterable[str], actions: Iterable[str] = ()) -> str:
    """What to say of a tool that was not granted.

    Args:
        name: its name.
        granted: the names of those that were.
        actions: the names of what can be proposed.
    """
    if name in actions:
        return f"there is no tool {shortened(name)!r}, it is an action: write actions.{name}(…)"
    return unknown("there is no tool", name, list(granted), "the tools are")


def unknown_action(name: str, granted: Iterable[str], tools: Iterable[str] = ()) -> str:
    """What to say of an action that was not granted; see `unknown_tool`."""
    if name in tools:
        return f"there is no action {shortened(name)!r}, it is a tool: write tools.{name}(…)"
    return unknown("there is no action", name, list(granted), "the actions are")


def unknown(what: str, name: str, names: Sequence[str], these: str) -> str:
    """What to say of a name that is not among those there are.

    Args:
        what: what it is not: `there is no tool`.
        name: the name.
        names: those there are.
        these: what they are: `the tools are`.
    """
    question = meant(near(name, names))
    there = f"{these}: {listed(names)}"
    return f"{what} {shortened(name)!r}; {question} {there}" if question else f"{what} {shortened(name)!r}; {there}"
