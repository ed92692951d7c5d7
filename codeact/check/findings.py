"""From the findings of a check to the fault that says so, in the words that a run would have used."""

from __future__ import annotations

import builtins
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from codeact.catalogue import Catalogue
from codeact.declarations import Declarations
from codeact.engines import Fault, Frame
from codeact.kinds import Kind, kind_of
from codeact.tools import Tool, Toolset
from wasm_runtime.guest.names import ACTIONS, meant, near, unknown, unknown_action, unknown_tool

SHOWN = 3
"""Findings that are shown."""

LONGEST = 200
"""Characters of a name or a type that are shown."""


def fault_of(
    findings: Sequence[dict[str, Any]],
    offered: Mapping[str, Toolset],
    declarations: Declarations,
    catalogue: Catalogue | None = None,
) -> Fault | None:
    """The fault for what was found; None when that is nothing.

    Args:
        findings: what was found.
        offered: what programs find, by the names of their types: tools, and actions.
        declarations: the kinds that they give and take.
        catalogue: finds tools, where there are many.

    Raises:
        LookupError: a finding is not what it should be; as TypeError and ValueError.
    """
    told = [_told(finding, offered, declarations, catalogue) for finding in findings]
    if not told:
        return None
    first, *rest = told
    lines = [first.text, *first.more, *(f"line {one.line}: {one.text}" for one in rest[: SHOWN - 1])]
    if len(told) > SHOWN:
        lines.append(f"… and {len(told) - SHOWN} more")
    hint = f"{first.hint} (nothing was run)" if first.hint else "nothing was run"
    kind = str(findings[0]["type"])[:LONGEST]
    return Fault("denied", kind, "\n".join(lines), (Frame(first.line, "<module>"),), hint=hint)


class _Told(NamedTuple):
    """A finding in words.

    Attributes:
        line: where it is.
        text: what is wrong.
        hint: the next step.
        more: what belongs to it, a line each.
    """

    line: int
    text: str
    hint: str | None = None
    more: tuple[str, ...] = ()


def _told(
    finding: dict[str, Any], offered: Mapping[str, Toolset], declarations: Declarations, catalogue: Catalogue | None
) -> _Told:
    line = int(finding["line"])
    match finding["what"]:
        case "attribute":
            home = {"Tools": "", "Actions": ACTIONS}.get(_text(finding["of"]))
            if catalogue is not None and home is not None:
                return _Told(line, catalogue.unknown(home + _text(finding["name"])))
            return _attribute(line, finding, offered, declarations)
        case "name":
            name = _text(finding["name"])
            homes = [(kind.lower(), members[name]) for kind, members in offered.items() if name in members]
            if homes:
                where, member = homes[0]
                hint = f"write {where}.{name}(…): {member.signature_line}"
            else:
                hint = meant(near(name, [*finding["near"], *dir(builtins)]))
            return _Told(line, f"name {name!r} is not defined", hint or None)
        case "unawaited":
            return _Told(line, "what an async call will give is used before it is there", "write await before the call")
    tool = offered[finding["of"]][finding["tool"]]
    return _Told(line, f"{tool.name}(): {_misfit(finding, tool)}", None, (f"signature: {tool.signature_line}",))


def _attribute(line: int, finding: dict[str, Any], offered: Mapping[str, Toolset], declarations: Declarations) -> _Told:
    kind, name, what = _text(finding["of"]), _text(finding["name"]), _text(finding["text"])
    tools, actions = offered["Tools"], offered.get("Actions", ())
    if kind == "Tools":
        return _Told(line, unknown_tool(name, tools, actions))
    if kind == "Actions":
        return _Told(line, unknown_action(name, actions, tools))
    fields = next((_fields(one) for one in declarations.given if declarations.notation.name(one) == kind), None)
    if fields is not None:
        return _Told(line, unknown("record has no field", name, fields, "its fields are"))
    text = f"{kind.partition('[')[0]!r} object has no attribute {name!r}"
    if kind.startswith(("list[", "tuple[")):
        return _Told(line, text, f"{what} is {kind}: take one of its items, or loop over it")
    return _Told(line, text)


def _fields(annotation: Any) -> list[str]:
    kind = kind_of(annotation)
    return [field.name for field in kind.given] if isinstance(kind, Kind) else ["name", "value"]


def _misfit(finding: dict[str, Any], tool: Tool[..., Any]) -> str:
    names = list(tool.signature.parameters)
    quoted = [part for part in str(finding["message"]).split("`")[1::2] if not part.startswith(("Tools.", "Actions."))]
    match finding["what"]:
        case "missing-argument":
            return f"{', '.join(name for name in quoted if name in names)} is missing"
        case "unknown-argument":
            question = meant(near(quoted[0], names))
            return f"there is no parameter {quoted[0]!r}{', ' * bool(question)}{question}"
        case "too-many-positional-arguments":
            return f"{finding['count']} positional arguments are too many"
        case "parameter-already-assigned":
            return f"{quoted[0]} is given twice, by its place and by its name"
    argument = finding["argument"]
    by_place = isinstance(argument, int)
    name = names[argument] if by_place and argument < len(names) else f"argument {argument}" if by_place else argument
    found = _text(finding["found"])
    return f"{name} cannot be {found.removeprefix('Literal[').removesuffix(']') if found.startswith('Literal[') else found}"


def _text(value: object) -> str:
    text = str(value)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
