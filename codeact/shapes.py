"""Records out of TypedDicts.

At run time a TypedDict is a plain dict; only the annotation of the tool says which dicts are records. A shape
walks a copied value along the annotation and makes records of the dicts that the annotation names.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Callable, Collection, Mapping
from dataclasses import is_dataclass
from typing import Annotated, Any, NotRequired, Required, Union, get_args, get_origin

from pydantic import BaseModel
from typing_extensions import ReadOnly, is_typeddict

from wasm_runtime.guest.records import Record, record

Shape = Callable[[Any], Any]

_WRAPPERS = (Annotated, Required, NotRequired, ReadOnly)


def shape_of(annotation: object) -> Shape | None:
    """The shape of an annotation; None where it names no TypedDict, and values stay as they are."""
    return _shape(annotation, {})


def hints_of(kind: type) -> dict[str, Any]:
    """The annotations of a class; as they are written where they name what cannot be found."""
    try:
        return typing.get_type_hints(kind, include_extras=True)
    except (NameError, TypeError):
        return dict(kind.__annotations__)


def typeddict_fields(kind: Any) -> dict[str, tuple[object, bool]]:
    """The fields of a TypedDict: the annotation of each, and whether it must be there.

    `__required_keys__` alone does not know about `NotRequired` where annotations are strings.
    """
    fields: dict[str, tuple[object, bool]] = {}
    for name, hint in hints_of(kind).items():
        needed = name in kind.__required_keys__
        while get_origin(hint) in _WRAPPERS:
            needed = {Required: True, NotRequired: False}.get(get_origin(hint), needed)
            hint = get_args(hint)[0]  # noqa: PLW2901 - unwrapping is a loop
        fields[name] = (hint, needed)
    return fields


def _shape(annotation: object, seen: dict[object, Shape]) -> Shape | None:
    origin, arguments = get_origin(annotation), get_args(annotation)
    if is_typeddict(origin or annotation):
        return _record_shape(origin or annotation, seen)
    if isinstance(annotation, type) and (is_dataclass(annotation) or issubclass(annotation, BaseModel)):
        return _fields_shape(annotation, seen)
    if origin in _WRAPPERS:
        return _shape(arguments[0], seen)
    if origin in {Union, types.UnionType}:
        return _union_shape([_shape(argument, seen) for argument in arguments])
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return _mapping_shape(_shape(arguments[1], seen) if len(arguments) > 1 else None)
    if isinstance(origin, type) and issubclass(origin, Collection):
        return _collection_shape([_shape(argument, seen) for argument in arguments if argument is not ...])
    return None


def _record_shape(kind: Any, seen: dict[object, Shape]) -> Shape:
    if kind in seen:
        return seen[kind]
    fields = typeddict_fields(kind)
    required = {name for name, (_, needed) in fields.items() if needed}
    is_open = getattr(kind, "__pydantic_config__", {}).get("extra") == "allow"  # as pydantic has it
    inner: dict[str, Shape] = {}

    def shape(value: Any) -> Any:
        if type(value) is not dict or not required <= value.keys():
            return value
        if not (is_open or value.keys() <= fields.keys()):
            return value
        return record({name: inner[name](item) if name in inner else item for name, item in value.items()})

    seen[kind] = shape  # before its fields: a TypedDict may hold itself
    for name, (hint, _) in fields.items():
        found = _shape(hint, seen)
        if found is not None:
            inner[name] = found
    return shape


def _fields_shape(kind: type, seen: dict[object, Shape]) -> Shape | None:
    """The shape of a dataclass or model: it is a record already, but its fields may hold TypedDicts."""
    if kind in seen:
        return seen[kind]
    inner: dict[str, Shape] = {}

    def shape(value: Any) -> Any:
        if isinstance(value, Record):
            for name, shape_one in inner.items():
                if dict.__contains__(value, name):
                    dict.__setitem__(value, name, shape_one(dict.__getitem__(value, name)))
        return value

    seen[kind] = shape
    for name, hint in hints_of(kind).items():
        found = _shape(hint, seen)
        if found is not None:
            inner[name] = found
    return shape if inner else None


def _union_shape(members: list[Shape | None]) -> Shape | None:
    shapes = [member for member in members if member is not None]
    if not shapes:
        return None

    def shape(value: Any) -> Any:
        for member in shapes:
            value = member(value)
        return value

    return shape


def _mapping_shape(inner: Shape | None) -> Shape | None:
    if inner is None:
        return None

    def shape(value: Any) -> Any:
        return {name: inner(item) for name, item in value.items()} if type(value) is dict else value

    return shape


def _collection_shape(members: list[Shape | None]) -> Shape | None:
    shape_one = _union_shape(members)
    if shape_one is None:
        return None

    def shape(value: Any) -> Any:
        if type(value) in {list, tuple}:
            return type(value)(shape_one(item) for item in value)
        return value

    return shape
