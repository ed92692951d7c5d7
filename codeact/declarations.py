"""What the model is told about its tools, rendered from the tools themselves."""

from __future__ import annotations

import inspect
import types
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints, is_typeddict

from pydantic import BaseModel

from codeact.engines import Face
from codeact.shapes import typeddict_fields
from codeact.tools import Tool, Toolset


def stubs(tools: Toolset) -> str:
    """The tools as Python declarations: the records they give, then each signature with its docstring."""
    shapes: dict[str, str] = {}
    for member in tools.values():
        shapes.update(_shapes_of(member))
    return "\n\n".join([*shapes.values(), *(_declaration(member) for member in tools.values())]) + "\n"


def face(member: Tool[..., Any]) -> Face:
    """What a program may see of a tool."""
    doc = "\n\n".join(part for part in (member.doc, *_shapes_of(member).values()) if part)
    return Face(member.name, signature_line(member), doc, member.is_async)


_STARS: dict[object, str] = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}


def signature_line(member: Tool[..., Any]) -> str:
    """`get_charges(customer_id: str) -> list[Charge]`; `async def` is marked."""
    parts: list[str] = []
    kinds = inspect.Parameter
    marked = False
    parameters = list(member.signature.parameters.values())
    for place, parameter in enumerate(parameters):
        if parameter.kind is kinds.KEYWORD_ONLY and not marked:
            parts.append("*")
            marked = True
        stars = _STARS.get(parameter.kind, "")
        marked = marked or stars == "*"
        default = "" if parameter.default is kinds.empty else f" = {_default(parameter.default)}"
        parts.append(f"{stars}{parameter.name}: {_name(parameter.annotation)}{default}")
        last_positional = parameter.kind is kinds.POSITIONAL_ONLY and (
            place + 1 == len(parameters) or parameters[place + 1].kind is not kinds.POSITIONAL_ONLY
        )
        if last_positional:
            parts.append("/")
    prefix = "async " if member.is_async else ""
    return f"{prefix}{member.name}({', '.join(parts)}) -> {_name(member.signature.return_annotation)}"


def _declaration(member: Tool[..., Any]) -> str:
    head, _, rest = signature_line(member).rpartition(f"{member.name}(")
    lines = [f"{head}def {member.name}({rest}:"]
    if member.doc:
        lines.extend(_indented(f'"""{member.doc}"""'))
    lines.append("    ...")
    return "\n".join(lines)


def _indented(text: str) -> Iterator[str]:
    for line in text.splitlines():
        yield f"    {line}".rstrip()


def _default(value: object) -> str:
    return repr(value) if isinstance(value, (str, int, float, bool, bytes, type(None))) else "..."


def _name(annotation: Any) -> str:
    """A type as a model would write it, without the modules it comes from."""
    if annotation is None or annotation is type(None):
        return "None"
    if annotation is ...:
        return "..."
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _name(arguments[0])
    if origin in {Union, types.UnionType}:
        return " | ".join(_name(argument) for argument in arguments)
    if origin is Literal:
        return f"Literal[{', '.join(map(repr, arguments))}]"
    if origin is not None and arguments:
        inner = ", ".join(
            f"[{', '.join(map(_name, argument))}]" if isinstance(argument, list) else _name(argument)
            for argument in arguments
        )
        return f"{_name(origin)}[{inner}]"
    if isinstance(annotation, type):
        return annotation.__name__
    return str(getattr(annotation, "__name__", None) or annotation).removeprefix("typing.")


def _shapes_of(member: Tool[..., Any]) -> dict[str, str]:
    """The records in a tool's signature, by name, as class declarations."""
    found: dict[str, str] = {}
    pending = [member.signature.return_annotation, *(p.annotation for p in member.signature.parameters.values())]
    while pending:
        annotation = pending.pop(0)
        origin = get_origin(annotation)
        if get_args(annotation) and origin is not Literal:
            pending.extend(get_args(annotation))
        described = _fields_of(origin or annotation)
        if described is None or described[0] in found:
            continue
        name, lines, inner = described
        found[name] = "\n".join([f"class {name}:", *(f"    {line}" for line in lines or ["..."])])
        pending.extend(inner)
    return found


def _fields_of(kind: Any) -> tuple[str, list[str], list[object]] | None:
    if not isinstance(kind, type):
        return None
    if issubclass(kind, Enum):
        return kind.__name__, [f"{name} = {member.value!r}" for name, member in kind.__members__.items()], []
    if issubclass(kind, BaseModel):
        hints = {name: field.annotation for name, field in kind.model_fields.items()}
        hints |= {name: field.return_type for name, field in kind.model_computed_fields.items()}

    elif is_dataclass(kind):
        known = get_type_hints(kind, include_extras=True)
        hints = {field.name: known[field.name] for field in fields(kind)}

    elif is_typeddict(kind):
        known = typeddict_fields(kind)
        lines = [
            f"{name}: {_name(hint)}{'' if needed else '  # may be missing'}" for name, (hint, needed) in known.items()
        ]
        return kind.__name__, lines, [hint for hint, _ in known.values()]
    else:
        return None
    return kind.__name__, [f"{name}: {_name(hint)}" for name, hint in hints.items()], list(hints.values())
