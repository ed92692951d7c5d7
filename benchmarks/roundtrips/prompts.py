"""What stands before a conversation: declarations of functions, and the rules of a room with the stubs of its tools."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from pydantic import TypeAdapter

from benchmarks.roundtrips.conversation import RUN, Prompt
from benchmarks.roundtrips.tokens import Count
from codeact import Tool, stubs, tool

Tools = Sequence[Tool[..., Any]]


@tool(name=RUN)
def _run_program(code: str) -> str:  # noqa: ARG001 - declared to the model, carried out by the host
    """Run a Python program with the tools; gives its value, what it printed, or its error."""
    return ""


ROOM = f"""
To look something up, call {RUN} with a Python program. It runs in an empty world: no network, no packages beside the
standard library, and nothing of an earlier program. It has the tools declared below, as methods of `tools`; async ones
are awaited at the top level, many at once with asyncio.gather. End the program in an expression: its value is what you
get back, so let it be no more than you need. After an error, write the program again.

"""
"""The rules that a model needs in order to write programs. Only those pay for them who write programs."""


def calling(system: str, tools: Tools) -> Prompt:
    """The prompt of a model that calls functions."""
    return Prompt(system, compact(tools))


def programming(system: str, tools: Tools, outside: Tools = ()) -> Prompt:
    """The prompt of a model that writes programs.

    Args:
        system: its instructions.
        tools: what its programs may call: it reads their stubs.
        outside: what it calls without a program.
    """
    return Prompt(system + ROOM + stubs(tools), compact((_run_program, *outside)))


def schemas(tools: Tools) -> str:
    """Declarations as the JSON schemas that providers take."""
    told = [{"name": tool.name, "description": tool.doc, "parameters": _untitled(_parameters(tool))} for tool in tools]
    return "\n".join(json.dumps(one, ensure_ascii=False, separators=(",", ":")) for one in told)


def compact(tools: Tools) -> str:
    """Declarations in the shortest form that providers are known to make of the schemas before the model reads them."""
    return "\n".join(f"// {tool.doc}\ntype {tool.name} = ({_taken(_parameters(tool))}) => any;" for tool in tools)


@dataclass(frozen=True, slots=True)
class Declared:
    """What it takes to declare some tools, in tokens.

    Attributes:
        compact: to a model that calls them, in the shortest form.
        schemas: the same as JSON schemas.
        room: to a model that writes programs: the rules, the stubs, and the one function that it calls.
    """

    compact: int
    schemas: int
    room: int


def declared(tools: Tools, count: Count) -> Declared:
    """What it takes to declare tools."""
    room = programming("", tools)
    return Declared(count(compact(tools)), count(schemas(tools)), count(room.system) + count(room.functions))


def _parameters(member: Tool[..., Any]) -> dict[str, Any]:
    # The schema is made from the signature, where the annotations are resolved already.
    def bare() -> None: ...

    twin = cast("Any", bare)
    twin.__signature__ = member.signature
    twin.__annotations__ = {name: found.annotation for name, found in member.signature.parameters.items()}
    return TypeAdapter(twin).json_schema()


def _untitled(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_untitled(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {key: part for key, part in schema.items() if not (key == "title" and isinstance(part, str))}
    return {key: _untitled(part) for key, part in kept.items()}


def _taken(schema: Mapping[str, Any]) -> str:
    known = schema.get("$defs", {})
    if not schema.get("properties"):
        return ""
    return f"_: {_written(schema, known)}"


def _written(schema: Mapping[str, Any], known: Mapping[str, Any]) -> str:
    if "$ref" in schema:
        return _written(known[schema["$ref"].rpartition("/")[2]], known)
    if "enum" in schema:
        return " | ".join(json.dumps(value) for value in schema["enum"])
    if "anyOf" in schema:
        return " | ".join(_written(choice, known) for choice in schema["anyOf"])
    if schema.get("type") == "array":
        return f"{_written(schema.get('items', {}), known)}[]"
    if "properties" in schema:
        required = schema.get("required", ())
        return (
            "{"
            + ", ".join(
                f"{name}{'' if name in required else '?'}: {_written(part, known)}"
                for name, part in schema["properties"].items()
            )
            + "}"
        )
    kind: str = schema.get("type", "any")
    return "number" if kind == "integer" else kind
