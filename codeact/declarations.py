"""What the model is told about its tools, rendered from the tools themselves."""

from __future__ import annotations

import keyword
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any, Literal, get_args, get_origin

from codeact.actions import Actions
from codeact.engines import Face
from codeact.kinds import Alias, Choice, Field, Kind, kind_of, note_of
from codeact.notation import Notation, StrictNotation
from codeact.signatures import CHOICES, parameters_line, signature_line, values_of
from codeact.tools import Granted, Tool, Toolset
from wasm_runtime.guest.names import ACTIONS

_RECORD = '''\
class Record(dict[str, Any]):
    """What tools give: record.name and record["name"] are the same."""'''

_MEMBER = '''\
class Member:
    """A member of an Enum: it equals its value."""

    def __eq__(self, other: object) -> bool:
        return NotImplemented'''


def stubs(tools: Granted, actions: Granted = ()) -> str:
    """The tools as Python declarations, for a model's prompt and for a type checker.

    The text is a module: the records that tools give, the dicts that they take, and `tools` itself with each tool as
    a method and its documentation. Where there are actions, `actions` is there too. What a checker cannot know is
    `Any`, and a comment says what it stands for.

    Args:
        tools: what a `Sandbox` takes as tools, or a sandbox's own `tools`.
        actions: what it takes as actions, or its own `actions`.
    """
    toolset = tools if isinstance(tools, Toolset) else Toolset(tools)
    proposable = actions if isinstance(actions, Actions) else Actions(actions)
    notation = StrictNotation()
    offered = [("Tools", toolset), *([("Actions", proposable.inside)] if proposable else [])]
    declarations = Declarations([member for _, members in offered for member in members.values()], notation)
    kinds = list(filter(None, map(declarations.declaration, (*declarations.given, *declarations.taken))))
    interfaces = ["\n".join(_interface(name, members, declarations, notation)) for name, members in offered]
    seconds = "\n".join(f"{name}_ = {name}" for name in sorted(notation.second))
    bases = [_RECORD] * any(map(_is_record, declarations.given)) + [_MEMBER] * any(map(_is_choice, declarations.given))
    parts = [_imports(notation), *bases, *kinds, seconds, *interfaces]
    parts.append("\n".join(f"{name.lower()}: {name}" for name, _ in offered))
    return "\n\n".join(part.strip("\n") for part in parts if part) + "\n"


def faces(toolset: Toolset, actions: Actions) -> Iterator[Face]:
    """What a program may see of its tools and actions, one after the other."""
    tools, inside = toolset.values(), actions.inside.values()
    declarations = Declarations([*tools, *inside], Notation())
    yield from map(declarations.face, tools)
    yield from (replace(face, name=f"{ACTIONS}{face.name}") for face in map(declarations.face, inside))


def documentation(member: Tool[..., Any]) -> str:
    """What a tool says of itself, and what the annotations of its parameters say beside their types."""
    notes = ((name, note_of(parameter.annotation)) for name, parameter in member.signature.parameters.items())
    told = "\n".join(f"{name}: {note}" for name, note in notes if note)
    return "\n\n".join(filter(None, (member.doc, told)))


class Declarations:
    """The kinds that a set of tools gives and takes.

    Attributes:
        notation: how types are written.
        given: those that come from tools, by their annotation, in the order they are met.
        taken: those that only go to them.
    """

    def __init__(self, members: Iterable[Tool[..., Any]], notation: Notation) -> None:
        members = list(members)
        taken = _reached((parameter for member in members for parameter in _parameters(member)), _taken)
        self.notation = notation
        self.given = _reached((member.signature.return_annotation for member in members), _given)
        self.taken = {annotation: kind for annotation, kind in taken.items() if annotation not in self.given}
        for annotation in (*self.given, *self.taken):
            notation.name(annotation)

    def face(self, member: Tool[..., Any]) -> Face:
        """What a program may see of a tool."""
        kinds = _reached([member.signature.return_annotation], _given) | _reached(_parameters(member), _taken)
        records = tuple(filter(None, map(self.declaration, kinds)))
        line = signature_line(member.name, member.signature, is_async=member.is_async, notation=self.notation)
        return Face(member.name, line, documentation(member), member.is_async, records)

    def declaration(self, annotation: Any) -> str:
        """The declaration of a kind; empty where all there is to say of it is written where it is used."""
        name, kind = self.notation.name(annotation) or "", kind_of(annotation)
        given = annotation in self.given
        match kind:
            case Kind():
                return "\n".join(self._record(name, kind) if given else self._mapping(name, kind))
            case Choice() if given:
                return "\n".join(self._member(name, kind))
            case Choice() if len(kind.values) > CHOICES:
                return self._alias(name, kind.literal)
            case Alias():
                return self._alias(name, kind.value)
        return ""

    def _record(self, name: str, kind: Kind) -> Iterator[str]:
        yield f"class {name}(Record):"
        yield from _quoted(kind.doc)
        names = frozenset(field.name for field in kind.given)
        for field in kind.given:
            line = f"{field.name}: {self.notation.write(field.hint, avoid=names)}"
            note = field.note if field.needed else f"may be missing; {field.note}"
            if not _is_attribute(field.name):
                yield f"    # by item only: {line}{_noted(note)}"
            else:  # at run time a field wins over a method of dict, which no subclass of it can declare
                overriding = self.notation.overriding if field.name in _DICT_NAMES else ""
                yield f"    {line}{overriding}{_noted(note)}"
        yield from _nothing(kind.doc, kind.given)

    def _mapping(self, name: str, kind: Kind) -> Iterator[str]:
        base = self.notation.from_("typing", "TypedDict")
        if not all(_is_attribute(field.name) for field in kind.taken):
            fields = ", ".join(f"{field.name!r}: {self._needed(field)!r}" for field in kind.taken)
            yield f"{name} = {base}({name!r}, {{{fields}}})"
            return
        yield f"class {name}({base}):"
        yield from _quoted(kind.doc)
        names = frozenset(field.name for field in kind.taken)
        for field in kind.taken:
            yield f"    {field.name}: {self._needed(field, names)}{_noted(field.note)}"
        yield from _nothing(kind.doc, kind.taken)

    def _needed(self, field: Field, avoid: frozenset[str] = frozenset()) -> str:
        written = self.write_taken(field.hint, avoid)
        return written if field.needed else f"{self.notation.from_('typing', 'NotRequired', avoid)}[{written}]"

    def _member(self, name: str, choice: Choice) -> Iterator[str]:
        yield f"class {name}(Member):"
        yield f"    name: {self.notation.write(Literal[choice.names]) if choice.names else 'str'}"
        yield f"    value: {self.notation.write(choice.literal)}"

    def _alias(self, name: str, value: Any) -> str:
        return f"{name}: {self.notation.from_('typing', 'TypeAlias')} = {self.notation.write(value)!r}"

    def write_taken(self, annotation: Any, avoid: frozenset[str] = frozenset()) -> str:
        """The type of what a tool takes: of an Enum its values, of what tools give also a dict."""

        def taken(inner: Any) -> str | None:
            if inner in self.given and _is_record(inner):
                name = self.notation.write(inner, avoid=avoid)
                return f"{name} | {self.notation.write(dict[str, Any], avoid=avoid)}"
            return values_of(inner, self.notation)

        return self.notation.write(annotation, avoid=avoid, taken=taken)


def _is_record(annotation: Any) -> bool:
    return isinstance(kind_of(annotation), Kind)


def _is_choice(annotation: Any) -> bool:
    return isinstance(kind_of(annotation), Choice)


# --- what is reached -----------------------------------------------------------------------------------------


def _parameters(member: Tool[..., Any]) -> Iterator[Any]:
    return (parameter.annotation for parameter in member.signature.parameters.values())


def _given(kind: Kind) -> tuple[Field, ...]:
    return kind.given


def _taken(kind: Kind) -> tuple[Field, ...]:
    return kind.taken


def _reached(annotations: Iterable[Any], fields: Callable[[Kind], tuple[Field, ...]]) -> dict[Any, None]:
    """The kinds that annotations lead to, in the order they are met."""
    found: dict[Any, None] = {}
    pending = list(annotations)
    while pending:
        annotation = pending.pop(0)
        kind = kind_of(annotation)
        if kind is None:
            pending.extend(() if get_origin(annotation) is Literal else get_args(annotation))
        elif annotation not in found:
            found[annotation] = None
            match kind:
                case Kind():
                    pending.extend(field.hint for field in fields(kind))
                case Alias():
                    pending.append(kind.value)
    return found


# --- text ----------------------------------------------------------------------------------------------------


def _interface(name: str, toolset: Toolset, declarations: Declarations, notation: StrictNotation) -> Iterator[str]:
    """`tools` or `actions` as a protocol, whose methods need no bodies."""
    taken_names = frozenset(toolset)
    yield f"class {name}({notation.from_('typing', 'Protocol')}):"
    for member in toolset.values():
        signature = member.signature
        before = len(notation.unknown)
        own = "self" if "self" not in signature.parameters else "self_"
        line = parameters_line(signature, lambda annotation: declarations.write_taken(annotation, taken_names))
        returned = notation.write(signature.return_annotation, avoid=taken_names)
        unknown = notation.unknown[before:]
        stands = f"  # Any stands for {', '.join(unknown)}" if unknown else ""
        head = "async def" if member.is_async else "def"
        doc = list(_quoted(documentation(member)))
        body = "" if doc else " ..."
        yield f"    {head} {member.name}({', '.join(filter(None, (own, line)))}) -> {returned}:{body}{stands}"
        yield from (f"    {told}".rstrip() for told in doc)
        yield ""
    anything = f"{notation.from_('collections.abc', 'Callable')}[..., {notation.write(Any)}]"
    yield f"    def __getitem__(self, name: str) -> {anything}: ..."


def _imports(notation: Notation) -> str:
    notation.from_("typing", "Any")
    lines = [f"from {module} import {', '.join(sorted(names))}" for module, names in sorted(notation.imports.items())]
    return "\n".join(["from __future__ import annotations", "", *lines])


def _quoted(doc: str) -> Iterator[str]:
    if not doc:
        return
    text = doc.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    closing = ' """' if text.endswith('"') else '"""'
    for line in f'"""{text}{closing}'.splitlines():
        yield f"    {line}".rstrip()


def _noted(note: str) -> str:
    text = " ".join(note.split()).rstrip(";")
    return f"  # {text}" if text else ""


def _nothing(doc: str, fields: tuple[Field, ...]) -> Iterator[str]:
    if not doc and not any(_is_attribute(field.name) for field in fields):
        yield "    ..."


def _is_attribute(name: str) -> bool:
    return name.isidentifier() and not keyword.iskeyword(name) and not name.startswith("__")


_DICT_NAMES = frozenset(dir(dict))
