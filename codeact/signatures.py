"""How a signature is written for a model: types as it would write them, without the modules they come from."""

from __future__ import annotations

import inspect
import types
from typing import Annotated, Any, Literal, Union, get_args, get_origin

_STARS: dict[object, str] = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}


def signature_line(name: str, signature: inspect.Signature, *, is_async: bool) -> str:
    """`get_charges(customer_id: str) -> list[Charge]`; `async def` is marked."""
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
        parts.append(f"{stars}{parameter.name}: {type_name(parameter.annotation)}{default}")
        last_positional = parameter.kind is kinds.POSITIONAL_ONLY and (
            place + 1 == len(parameters) or parameters[place + 1].kind is not kinds.POSITIONAL_ONLY
        )
        if last_positional:
            parts.append("/")
    prefix = "async " if is_async else ""
    return f"{prefix}{name}({', '.join(parts)}) -> {type_name(signature.return_annotation)}"


def _default(value: object) -> str:
    return repr(value) if isinstance(value, (str, int, float, bool, bytes, type(None))) else "..."


def type_name(annotation: Any) -> str:
    """A type as a model would write it, without the modules it comes from."""
    if annotation is None or annotation is type(None):
        return "None"
    if annotation is ...:
        return "..."
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return type_name(arguments[0])
    if origin in {Union, types.UnionType}:
        return " | ".join(type_name(argument) for argument in arguments)
    if origin is Literal:
        return f"Literal[{', '.join(map(repr, arguments))}]"
    if origin is not None and arguments:
        inner = ", ".join(
            f"[{', '.join(map(type_name, argument))}]" if isinstance(argument, list) else type_name(argument)
            for argument in arguments
        )
        return f"{type_name(origin)}[{inner}]"
    if isinstance(annotation, type) and issubclass(annotation, tuple) and hasattr(annotation, "_fields"):
        hints = getattr(annotation, "__annotations__", {})  # a namedtuple crosses as the tuple that it is
        return f"tuple[{', '.join(type_name(hints.get(name, Any)) for name in annotation._fields)}]"
    if isinstance(annotation, type):
        return annotation.__name__
    return str(getattr(annotation, "__name__", None) or annotation).removeprefix("typing.")
