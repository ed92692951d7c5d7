"""What to say of arguments that do not fit a tool's signature: which, why, and what the signature is."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from codeact.excerpts import excerpt
from wasm_runtime.guest.names import meant, near, shortened

if TYPE_CHECKING:
    import inspect

    from pydantic import ValidationError
    from pydantic_core import ErrorDetails

MANY = 1000
"""Misfits in one call that are looked at one by one; more are only counted."""

SHOWN = 3
"""Misfits that are shown."""


def explain(
    line: str,
    signature: inspect.Signature,
    error: ValidationError,
    args: Sequence[object],
    kwargs: Mapping[str, object],
) -> str:
    """One line on what does not fit, and one with the signature.

    Args:
        line: the signature as it is shown.
        signature: the signature.
        error: what pydantic found.
        args: positional arguments, plain values.
        kwargs: keyword arguments, plain values.
    """
    if error.error_count() > MANY:
        return f"{error.error_count():,} values do not fit\nsignature: {line}"
    call = _Call(signature, args, kwargs)
    misfits: dict[str, list[str]] = {}
    for problem in error.errors(include_url=False, include_context=False):
        place, reason = call.misfit(problem)
        reasons = misfits.setdefault(place, [])
        if reason not in reasons:
            reasons.append(reason)
    lines = [place + _joined(reasons) for place, reasons in misfits.items()]
    more = [f"and {len(lines) - SHOWN:,} more"] if len(lines) > SHOWN else []
    return f"{'; '.join([*lines[:SHOWN], *more])}\nsignature: {line}"


def _joined(reasons: list[str]) -> str:
    """The reasons at one place; the members of a union each have their own."""
    first, *rest = reasons
    got = first.rpartition(", got ")
    if not rest or not got[1]:
        return first + "".join(f"; {reason.strip()}" for reason in rest)
    others = [reason.removesuffix(f"{got[1]}{got[2]}").removeprefix(" should be ") for reason in rest[:SHOWN]]
    return f"{' or '.join([got[0], *others])}{got[1]}{got[2]}"


class _Call:
    """The arguments of one call, in which problems have a place."""

    def __init__(self, signature: inspect.Signature, args: Sequence[object], kwargs: Mapping[str, object]) -> None:
        self._signature = signature
        self._names = list(signature.parameters)
        self._args = args
        self._kwargs = kwargs

    def misfit(self, problem: ErrorDetails) -> tuple[str, str]:
        """Where a problem is, and what it is."""
        place, *inner = problem["loc"] or ("arguments",)
        name = self._names[place] if isinstance(place, int) and place < len(self._names) else str(place)
        match problem["type"]:
            case "missing_argument" | "missing_keyword_only_argument" | "missing_positional_only_argument":
                return name, " is missing"
            case "unexpected_keyword_argument":
                free = [known for known in self._names if known not in self._kwargs]
                question = meant(near(name, free))
                return f"there is no parameter {shortened(name)!r}", f", {question}" if question else ""
            case "unexpected_positional_argument":
                return f"{len(self._args)} positional arguments are too many", ""
            case "multiple_argument_values":
                return name, " is given twice, by its place and by its name"
        path = self._path(place, inner)
        if problem["type"] == "missing":
            return f"{name}{path}[{inner[-1]!r}]" if inner else name, " is missing"
        if problem["type"] == "extra_forbidden":
            return f"{name}{path}", " is no field of it"
        return f"{name}{path}", f" {_reason(problem['msg'])}, got {excerpt(problem['input'])}"

    def _path(self, place: int | str, steps: list[int | str]) -> str:
        """The steps into an argument. Those that name a type, not an item, are pydantic's way through a union."""
        value: Any = self._kwargs.get(place) if isinstance(place, str) else self._args[place]
        path = ""
        for step in steps:
            if isinstance(value, (dict, list, tuple)):
                with suppress(LookupError, TypeError):
                    value = value[step]  # type: ignore[index]  # a name does not fit a list, which says so
                    path += f"[{step!r}]"
        return path


_PARSING = re.compile(r", unable to parse string as an? \w+$")
"""What says nothing that the value does not show."""


def _reason(message: str) -> str:
    """A message of pydantic's as the rest of a sentence that begins with the argument."""
    for prefix in ("Input ", "Value error, ", "Assertion failed, "):
        if message.startswith(prefix):
            return _PARSING.sub("", message.removeprefix(prefix))
    return f"does not fit: {message[:1].lower()}{message[1:]}"
