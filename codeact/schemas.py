"""Typed functions of what is described by JSON Schema: the tools of protocols and of other frameworks.

A schema becomes annotations: objects are TypedDicts, choices Literals, the rest what it is called in Python. What has no
annotation, or is deeper or larger than anybody writes, is Any: a schema from somebody else is never believed to be well made,
and whoever wrote it validates the arguments again.
"""

from __future__ import annotations

import inspect
import keyword
import math
import re
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from typing import Annotated, Any, Literal, NotRequired, Required, Union, cast
from unicodedata import normalize

from annotated_types import Ge, Gt, Le, Len, Lt
from pydantic import ConfigDict, Field
from typing_extensions import TypedDict

from codeact.renderings import printable, visible

__all__ = ["Arguments", "Schema", "identifiers", "typed"]

Schema = Mapping[str, Any]
"""A JSON Schema."""

Arguments = dict[str, Any]
"""Of a call, by the names that the schema has."""

DEEPEST = 16
"""Levels of a schema that become annotations."""

MOST = 2_000
"""Parts of a schema that become annotations, and choices in them."""

TOLD = 1_000
"""Characters of a description that are told."""


def typed(
    name: str,
    call: Callable[[Arguments], Any] | Callable[[Arguments], Awaitable[Any]],
    *,
    parameters: Schema,
    returns: Schema | None = None,
    doc: str = "",
) -> Callable[..., Any]:
    """Make a typed function of what a schema describes, to be given to `tool` or `action`.

    Parameters that must be given come first. One that may be left out has the schema's default, or None where there is none
    that fits; a None that stands for nothing is not handed on.

    Args:
        name: the function's.
        call: does the work. It is given the arguments by the names that the schema has for them, without those that were left
            out. Where it is `async def`, so is the function.
        parameters: the schema of an object with an argument in each property.
        returns: the schema of what comes back; Any by default.
        doc: what the model is told; what a reader of it would not see is written as escapes.

    Raises:
        TypeError: a schema is no mapping.
        ValueError: the parameters are no object, or two of them would have one name.
    """
    reader = _Reader(parameters)
    properties = _properties(name, parameters)
    names = identifiers(properties)
    needed = parameters.get("required")
    required = frozenset(filter(_is_text, needed)) if isinstance(needed, (list, tuple)) else frozenset()
    made = {
        inside: _parameter(reader, inside, properties[foreign], needed=foreign in required)
        for foreign, inside in names.items()
    }
    ordered = sorted(made.values(), key=lambda parameter: parameter.default is not parameter.empty)
    result = Any if returns is None else _Reader(returns).annotation(returns, "Result")
    signature = inspect.Signature(ordered, return_annotation=result)
    foreign_names = {inside: foreign for foreign, inside in names.items()}
    silent = frozenset(
        inside
        for foreign, inside in names.items()
        if made[inside].default is None and not _says_null(properties[foreign])
    )

    def arguments(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Arguments:
        bound = signature.bind(*args, **kwargs).arguments
        return {
            foreign_names[inside]: value for inside, value in bound.items() if not (value is None and inside in silent)
        }

    def function(*args: Any, **kwargs: Any) -> Any:
        return call(arguments(args, kwargs))

    async def function_async(*args: Any, **kwargs: Any) -> Any:
        return await cast("Awaitable[Any]", call(arguments(args, kwargs)))

    typed_function = cast("Any", function_async if inspect.iscoroutinefunction(call) else function)
    typed_function.__name__ = typed_function.__qualname__ = name
    typed_function.__doc__ = visible(doc)
    typed_function.__signature__ = signature
    typed_function.__annotations__ = {
        "return": result,
        **{parameter.name: parameter.annotation for parameter in ordered},
    }
    return cast("Callable[..., Any]", typed_function)


def identifiers(names: Iterable[str]) -> dict[str, str]:
    """Public Python names for names from elsewhere: `get-charges` is `get_charges`.

    Raises:
        ValueError: two of them would have one name, or one has no letter or digit to make a name of.
    """
    found: dict[str, str] = {}
    owners: dict[str, str] = {}
    for name in names:
        inside = _identifier(name)
        if not inside:
            msg = f"no Python name can be made of {name!r:.200}"
            raise ValueError(msg)
        if inside in owners:
            msg = f"{owners[inside]!r:.200} and {name!r:.200} would both be named {inside!r:.200}"
            raise ValueError(msg)
        owners[inside] = name
        found[name] = inside
    return found


def _identifier(name: str) -> str:
    text = re.sub(r"\W+", "_", normalize("NFKC", name)).strip("_")
    text = "".join(letter for letter in text if f"a{letter}".isidentifier())
    if not text:
        return ""
    if not text[0].isidentifier():
        text = f"n{text}"
    return f"{text}_" if keyword.iskeyword(text) else text


def _properties(name: str, schema: Schema) -> dict[str, Any]:
    if not isinstance(schema, Mapping):
        msg = f"{name}: parameters={schema!r:.200}: expected a JSON Schema, a mapping"
        raise TypeError(msg)
    found = schema.get("properties", {})
    if schema.get("type", "object") != "object" or not isinstance(found, Mapping):
        msg = f"{name}: the schema of its parameters is of no object: {schema!r:.200}"
        raise ValueError(msg)
    return {key: value for key, value in found.items() if _is_text(key)}


def _parameter(reader: _Reader, name: str, schema: Any, *, needed: bool) -> inspect.Parameter:
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    annotation = reader.annotation(schema, _title(schema, name))
    note = _note(schema)
    default: Any = inspect.Parameter.empty
    if not needed:
        default = schema.get("default") if isinstance(schema, Mapping) else None
        default = default if _is_constant(default) else None
        if default is None:
            annotation = _joined([annotation, None])
    annotation = Annotated[annotation, Field(description=note)] if note else annotation
    return inspect.Parameter(name, kind, default=default, annotation=annotation)


class _Reader:
    """Reads one schema."""

    def __init__(self, root: Schema) -> None:
        self._root = root
        self._left = MOST
        self._within: list[int] = []
        self._objects: dict[int, Any] = {}

    def annotation(self, schema: Any, name: str) -> Any:
        """The annotation of a part of it; `name` is for what has none of its own."""
        self._left -= 1
        if not isinstance(schema, Mapping) or self._left < 0 or len(self._within) >= DEEPEST:
            return Any
        if id(schema) in self._within:
            return Any  # it holds itself
        self._within.append(id(schema))
        try:
            return self._read(schema, name)
        finally:
            self._within.pop()

    def _read(self, schema: Schema, name: str) -> Any:
        if "$ref" in schema:
            found = self._referred(schema["$ref"])
            return self.annotation(found, _title(found, _last(schema["$ref"]) or name))
        if "const" in schema:
            return _literal([schema["const"]])
        if isinstance(schema.get("enum"), (list, tuple)):
            self._left -= len(schema["enum"])
            return _literal(list(schema["enum"])) if self._left >= 0 else Any
        for several in ("anyOf", "oneOf"):
            if isinstance(schema.get(several), (list, tuple)):
                return self._union(schema[several], name)
        if isinstance(schema.get("allOf"), (list, tuple)) and "properties" not in schema:
            return self._all(schema["allOf"], name)
        kinds = schema.get("type", "object" if "properties" in schema else None)
        if isinstance(kinds, (list, tuple)):
            return _joined([self._of_type(kind, schema, name) for kind in kinds])
        found = self._of_type(kinds, schema, name)
        return _joined([found, None]) if schema.get("nullable") is True else found

    def _of_type(self, kind: Any, schema: Schema, name: str) -> Any:
        match kind:
            case "string":
                return _sized(str, schema, "minLength", "maxLength")
            case "integer":
                return _bounded(int, schema)
            case "number":
                return _bounded(float, schema)
            case "boolean":
                return bool
            case "null":
                return None
            case "array":
                item = self.annotation(schema.get("items"), _singular(name))
                return _sized(list[item], schema, "minItems", "maxItems")  # type: ignore[valid-type]
            case "object":
                return self._object(schema, name)
        return Any

    def _object(self, schema: Schema, name: str) -> Any:
        if id(schema) in self._objects:
            return self._objects[id(schema)]
        properties = schema.get("properties")
        more = schema.get("additionalProperties", True)
        if not isinstance(properties, Mapping) or not properties:
            return dict[str, self.annotation(more, _singular(name))]  # type: ignore[misc]
        needed = schema.get("required")
        required = needed if isinstance(needed, (list, tuple)) else ()
        fields: dict[str, Any] = {}
        for key, value in properties.items():
            if _is_text(key):
                annotation, note = self.annotation(value, _title(value, key)), _note(value)
                annotation = Annotated[annotation, Field(description=note)] if note else annotation
                fields[key] = (Required if key in required else NotRequired)[annotation]
        made = self._objects[id(schema)] = cast("Any", TypedDict)(_title(schema, name), fields)
        made.__pydantic_config__ = ConfigDict(extra="forbid" if more is False else "allow")
        made.__doc__ = _told(schema.get("description")).partition("\n")[0] or None
        return made

    def _union(self, members: Iterable[Any], name: str) -> Any:
        return _joined([self.annotation(member, _title(member, name)) for member in members])

    def _all(self, members: Iterable[Any], name: str) -> Any:
        """What satisfies all of them satisfies the first that says something; the others are for who made the schema."""
        found = [self.annotation(member, _title(member, name)) for member in members]
        return next((annotation for annotation in found if annotation is not Any), Any)

    def _referred(self, pointer: Any) -> Any:
        """What a `$ref` refers to in the same schema; None where it does not."""
        if not isinstance(pointer, str) or not pointer.startswith("#"):
            return None
        found: Any = self._root
        for part in filter(None, pointer.removeprefix("#").split("/")):
            key = part.replace("~1", "/").replace("~0", "~")
            found = found.get(key) if isinstance(found, Mapping) else None
        return found


def _joined(members: list[Any]) -> Any:
    if not members or Any in members:
        return Any
    return Union[tuple(members)]  # noqa: UP007 - of as many as there are


def _literal(values: list[Any]) -> Any:
    if values and all(_is_choice(value) for value in values):
        return Literal[tuple(values)]
    return Any


def _is_choice(value: Any) -> bool:
    if type(value) is str:
        return len(value) <= TOLD and _is_text(value)
    return value is None or type(value) is bool or (type(value) is int and abs(value) <= _FARTHEST)


def _sized(kind: Any, schema: Schema, least: str, most: str) -> Any:
    low, high = _whole(schema.get(least)), _whole(schema.get(most))
    return kind if low is None and high is None else Annotated[kind, Len(low or 0, high)]


def _bounded(kind: Any, schema: Schema) -> Any:
    whole = kind is int
    for key, bound in (("minimum", Ge), ("maximum", Le), ("exclusiveMinimum", Gt), ("exclusiveMaximum", Lt)):
        value: Any = schema.get(key)
        if not _is_number(value) or abs(value) > _FARTHEST:
            continue
        if whole and value != int(value):  # an integer is above 0.5 where it is at least 1
            bound, value = (Ge, math.ceil(value)) if bound in {Ge, Gt} else (Le, math.floor(value))  # noqa: PLW2901
        kind = Annotated[kind, bound(value)]
    return kind


def _whole(value: Any) -> int | None:
    return value if type(value) is int and 0 <= value < 2**31 else None


def _is_text(value: Any) -> bool:
    """Whether it is a text without lone surrogates, of which pydantic makes nothing."""
    return isinstance(value, str) and printable(value) == value


def _is_number(value: Any) -> bool:
    return type(value) in {int, float} and value == value  # noqa: PLR0124 - no NaN


def _is_constant(value: Any) -> bool:
    if type(value) is int:
        return abs(value) <= _FARTHEST
    return type(value) in {str, float, bool}


def _says_null(schema: Any) -> bool:
    """Whether a schema says itself that None stands for something where it is left out."""
    return isinstance(schema, Mapping) and "default" in schema and schema["default"] is None


def _note(schema: Any) -> str:
    """What is said of a value beside its type."""
    return "; ".join(_notes(schema)) if isinstance(schema, Mapping) else ""


def _notes(schema: Schema) -> Iterator[str]:
    told = " ".join(_told(schema.get("description")).split())
    if told:
        yield told
    for key, words in (("format", ""), ("pattern", "matches ")):
        value = schema.get(key)
        if isinstance(value, str) and value:
            yield words + " ".join(_told(value).split())


def _told(text: Any) -> str:
    if not isinstance(text, str):
        return ""
    return visible(text if len(text) <= TOLD else f"{text[:TOLD]}…")


def _title(schema: Any, name: str) -> str:
    """A name for a kind of record: the schema's own title, or what it is found as."""
    title = schema.get("title") if isinstance(schema, Mapping) else None
    words = re.findall(r"[A-Za-z0-9]+", title if isinstance(title, str) and len(title) <= _LONGEST else "")
    words = words or re.findall(r"[A-Za-z0-9]+", name[:_LONGEST])
    made = "".join(word[:1].upper() + word[1:] for word in words)
    return made if made.isidentifier() and not keyword.iskeyword(made) else f"Kind{made}"


def _singular(name: str) -> str:
    return name.removesuffix("s") if len(name) > 1 and not name.endswith("ss") else f"{name}Item"


def _last(pointer: Any) -> str:
    return pointer.rpartition("/")[2] if isinstance(pointer, str) else ""


_FARTHEST = 10**300
"""The largest number that is a bound, a choice or a default: floats hold it, and Python writes it out."""

_LONGEST = 60
"""Characters that the name of a kind of record may be made of."""
