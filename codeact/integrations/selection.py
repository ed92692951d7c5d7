"""Names of a framework's tools that a host chooses, such as of those that only read."""

from __future__ import annotations

from collections.abc import Collection, Iterable


def selected(argument: str, names: Iterable[str], *, among: Collection[str] | None = None) -> tuple[str, ...]:
    """The names, each once.

    Args:
        argument: what the host gave them as, for the error.
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
