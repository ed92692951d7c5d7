"""How a signature is written for a model: types as it would write them, without the modules they come from."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from enum import Enum
from typing import Any

from codeact.kinds import Choice, kind_of
from codeact.notation import Notation

_STARS: dict[object, str] = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}

CHOICES = 12
"""Members of an Enum that are written out where one is taken."""

DEFAULT = 40
"""Characters of a default that is shown."""


def signature_line(name: str, signature: inspect.Signature, *, is_async: bool, notation: Notation | None = None) -> str:
    """`get_charges(customer_id: str) -> list[Charge]`; `async def` is marked.

    Args:
        name: the name of the tool.
        signature: its signature.
        is_async: whether it is `async def`.
        notation: the names of the kinds in it; by default their own.
    """
    notation = notation or Notation()

    def taken(annotation: Any) -> str:
        return notation.write(annotation, taken=lambda inner: values_of(inner, notation))

    prefix = "async " if is_async else ""
    return f"{prefix}{name}({parameters_line(signature, taken)}) -> {notation.write(signature.return_annotation)}"


def values_of(annotation: Any, notation: Notation) -> str | None:
    """The values of an Enum, which is what may be given for it; None for anything else."""
    kind = kind_of(annotation)
    return notation.write(kind.literal) if isinstance(kind, Choice) and len(kind.values) <= CHOICES else None


def parameters_line(signature: inspect.Signature, written: Callable[[Any], str]) -> str:
    """What stands in the parentheses.

    Args:
        signature: the signature.
        written: writes an annotation.
    """
    parts: list[str] = []
    kinds = inspect.Parameter
    marked = False
    parameters = list(signature.parameters.values())
    for place, parameter in enumerate(parameters):
        if parameter.kind is kinds.KEYWORD_ONLY and not marked:
            parts.append("*")
            marked = True
        stars = _STARS.get(parameter.kind, "")
        marked = marked or stars == "*"
        default = "" if parameter.default is kinds.empty else f" = {_default(parameter.default)}"
        parts.append(f"{stars}{parameter.name}: {written(parameter.annotation)}{default}")
        last_positional = parameter.kind is kinds.POSITIONAL_ONLY and (
            place + 1 == len(parameters) or parameters[place + 1].kind is not kinds.POSITIONAL_ONLY
        )
        if last_positional:
            parts.append("/")
    return ", ".join(parts)


def _default(value: object) -> str:
    """A default as it is written; `...` for what is no constant, or long."""
    if isinstance(value, Enum):
        return _default(value.value)
    if type(value) is float and not math.isfinite(value):
        return f'float("{value}")'
    if not _is_constant(value):
        return "..."
    text = repr(value)
    return text if len(text) <= DEFAULT else "..."


def _is_constant(value: object) -> bool:
    if type(value) in {list, tuple, set, frozenset}:
        return bool(value or type(value) in {list, tuple}) and all(map(_is_constant, value))  # type: ignore[call-overload]
    if type(value) is dict:
        return all(map(_is_constant, [*value, *value.values()]))
    return value is None or type(value) in {str, int, float, bool, bytes}
