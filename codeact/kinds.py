"""The kinds of values that tools declare themselves: records, Enums and named types, as what is to be said of them."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import MISSING, dataclass, fields, is_dataclass, replace
from enum import Enum
from typing import Any, Literal, NotRequired, Required, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from typing_extensions import ReadOnly, TypeAliasType, is_typeddict

from codeact.shapes import hints_of, typeddict_fields

Parameters = dict[Any, Any]
"""What stands for the type parameters of a generic kind."""


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a record.

    Attributes:
        name: its name inside.
        hint: its annotation.
        needed: whether it is always there, or must be given.
        note: what its annotation says beside the type; empty where it says nothing.
    """

    name: str
    hint: Any
    needed: bool
    note: str


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of record.

    Attributes:
        name: the name of its class.
        doc: the first line of what is said of it; empty where nothing is.
        given: the fields that it has when a tool gives one.
        taken: the fields that it may have when a tool takes one.
    """

    name: str
    doc: str
    given: tuple[Field, ...]
    taken: tuple[Field, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """An Enum.

    Attributes:
        name: the name of its class.
        names: of its members.
        values: theirs, in the same order.
    """

    name: str
    names: tuple[str, ...]
    values: tuple[object, ...]

    @property
    def literal(self) -> Any:
        """The type of its values; Any where they are no constants."""
        constants = all(type(value) in {str, int, bool, bytes} for value in self.values)
        return Literal[self.values] if self.values and constants else Any


@dataclass(frozen=True, slots=True)
class Alias:
    """A named type.

    Attributes:
        name: its name.
        value: what it stands for.
    """

    name: str
    value: Any


def kind_of(annotation: Any) -> Kind | Choice | Alias | None:
    """What an annotation declares, if it is something that tools declare themselves."""
    if isinstance(annotation, TypeAliasType):
        return Alias(annotation.__name__, _found(annotation))
    origin = get_origin(annotation)
    cls = annotation if origin is None else origin
    if not isinstance(cls, type):
        return None
    if issubclass(cls, Enum):
        members = cls.__members__
        return Choice(cls.__name__, tuple(members), tuple(member.value for member in members.values()))
    if not (issubclass(cls, BaseModel) or is_dataclass(cls) or is_typeddict(cls)):
        return None
    name = _identifier(cls.__name__ + "".join(map(_short, get_args(annotation))))
    parameters = dict(zip(getattr(cls, "__parameters__", ()), get_args(annotation), strict=False))
    if issubclass(cls, BaseModel):
        return Kind(name, _doc(cls), tuple(_given_by_model(cls)), tuple(_taken_by_model(cls)))
    if is_dataclass(cls):
        given, taken = _given_by_dataclass(cls, parameters), _taken_by_dataclass(cls, parameters)
        return Kind(name, _doc(cls), tuple(given), tuple(taken))
    shape = tuple(
        Field(key, _filled(hint, parameters), needed, note_of(bare(hints_of(cls)[key])))
        for key, (hint, needed) in typeddict_fields(cls).items()
    )
    return Kind(name, _doc(cls), shape, shape)


def _found(alias: TypeAliasType) -> Any:
    """What an alias stands for, with the names in it found where it was made."""
    holder = type("Holder", (), {"__annotations__": {"value": alias.__value__}, "__module__": alias.__module__})
    return hints_of(holder)["value"]


def _given_by_model(cls: type[BaseModel]) -> Iterator[Field]:
    for name, field in cls.model_fields.items():
        yield Field(name, field.annotation, needed=True, note=field.description or "")
    for name, computed in cls.model_computed_fields.items():
        yield Field(name, computed.return_type, needed=True, note=computed.description or "")


def _taken_by_model(cls: type[BaseModel]) -> Iterator[Field]:
    for name, field in cls.model_fields.items():
        alias = field.validation_alias if isinstance(field.validation_alias, str) else field.alias
        yield Field(alias or name, field.annotation, field.is_required(), _said_of(field))


def _given_by_dataclass(cls: Any, parameters: Parameters) -> Iterator[Field]:
    hints = hints_of(cls)
    for field in fields(cls):
        yield Field(field.name, _filled(hints[field.name], parameters), needed=True, note=note_of(hints[field.name]))


def _taken_by_dataclass(cls: Any, parameters: Parameters) -> Iterator[Field]:
    settable = {field.name: field for field in fields(cls) if field.init}
    for field in _given_by_dataclass(cls, parameters):
        if field.name in settable:
            found = settable[field.name]
            yield replace(field, needed=found.default is MISSING and found.default_factory is MISSING)


def _filled(hint: Any, parameters: Parameters) -> Any:
    """An annotation with something in the place of its type parameters."""
    if hint in parameters:
        return parameters[hint]
    inner = getattr(hint, "__parameters__", ())
    return hint[tuple(parameters.get(one, one) for one in inner)] if inner and parameters else hint


def _doc(cls: type) -> str:
    """The first line of a class's own documentation; none where a library has written it."""
    doc = inspect.cleandoc(cls.__dict__.get("__doc__") or "")
    first = doc.partition("\n")[0].strip()
    return "" if first.startswith(f"{cls.__name__}(") else first


def _short(annotation: Any) -> str:
    return str(getattr(annotation, "__name__", annotation)).rpartition(".")[2].title()


def _identifier(text: str) -> str:
    name = "".join(letter for letter in text if letter.isidentifier() or letter.isdecimal())
    return name if name.isidentifier() else f"Kind{name}"


def bare(annotation: Any) -> Any:
    """An annotation without what a TypedDict says of whether a field must be there."""
    while get_origin(annotation) in {NotRequired, Required, ReadOnly}:
        annotation = get_args(annotation)[0]
    return annotation


# --- notes ---------------------------------------------------------------------------------------------------


def note_of(annotation: Any) -> str:
    """What `Annotated` says beside the type: descriptions, and bounds."""
    parts: list[str] = []
    for said in getattr(annotation, "__metadata__", ()):
        parts.extend(_noted(said))
    return "; ".join(dict.fromkeys(parts))


def _said_of(field: FieldInfo) -> str:
    return "; ".join(_noted(field))


def _noted(said: Any) -> Iterator[str]:
    if isinstance(said, str):
        yield said
    elif isinstance(said, FieldInfo):
        if said.description:
            yield said.description
        for inner in said.metadata:
            yield from _noted(inner)
    elif isinstance(getattr(said, "documentation", None), str):  # typing_extensions.Doc
        yield said.documentation
    else:
        yield from _bounds(said)


def _bounds(said: Any) -> Iterator[str]:
    for name, words in _BOUNDS.items():
        bound = getattr(said, name, None)
        if bound is not None:
            yield f"{words} {bound!r}"


_BOUNDS = {
    "ge": "at least",
    "gt": "more than",
    "le": "at most",
    "lt": "less than",
    "multiple_of": "a multiple of",
    "min_length": "length at least",
    "max_length": "length at most",
    "pattern": "matches",
}
