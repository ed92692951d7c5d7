"""What the model is told about its tools, rendered from the tools themselves."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel
from typing_extensions import is_typeddict

from codeact.engines import Face
from codeact.shapes import hints_of, typeddict_fields
from codeact.signatures import type_name
from codeact.tools import Granted, Tool, Toolset


def stubs(tools: Granted) -> str:
    """The tools as Python declarations: the records they give, then each signature with its docstring.

    This is what a model's prompt needs to say of them.

    Args:
        tools: what a `Sandbox` takes as tools, or a sandbox's own `tools`.
    """
    tools = tools if isinstance(tools, Toolset) else Toolset(tools)
    shapes: dict[str, str] = {}
    for member in tools.values():
        shapes.update(_shapes_of(member))
    return "\n\n".join([*shapes.values(), *(_declaration(member) for member in tools.values())]) + "\n"


def face(member: Tool[..., Any]) -> Face:
    """What a program may see of a tool."""
    doc = "\n\n".join(part for part in (member.doc, *_shapes_of(member).values()) if part)
    return Face(member.name, member.signature_line, doc, member.is_async)


def _declaration(member: Tool[..., Any]) -> str:
    head, _, rest = member.signature_line.rpartition(f"{member.name}(")
    lines = [f"{head}def {member.name}({rest}:"]
    if member.doc:
        lines.extend(_indented(f'"""{member.doc}"""'))
    lines.append("    ...")
    return "\n".join(lines)


def _indented(text: str) -> Iterator[str]:
    for line in text.splitlines():
        yield f"    {line}".rstrip()


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
        known = hints_of(kind)
        hints = {field.name: known[field.name] for field in fields(kind)}

    elif is_typeddict(kind):
        known = typeddict_fields(kind)
        lines = [
            f"{name}: {type_name(hint)}{'' if needed else '  # may be missing'}"
            for name, (hint, needed) in known.items()
        ]
        return kind.__name__, lines, [hint for hint, _ in known.values()]
    else:
        return None
    return kind.__name__, [f"{name}: {type_name(hint)}" for name, hint in hints.items()], list(hints.values())
