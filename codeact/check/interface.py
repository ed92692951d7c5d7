"""What the type checker is told of a program's world: the tools as the door takes them, not as they are declared.

Arguments are validated in a forgiving way: a number may come as text, a record as any mapping, a list as a tuple. Only
what is sure to be refused may be a finding, so a parameter is declared with all that the door could take for it.
"""

from __future__ import annotations

import datetime as dt
import inspect
from collections.abc import Iterator, Mapping
from decimal import Decimal
from fractions import Fraction
from types import UnionType
from typing import Any, Literal, NotRequired, Required, Union, get_args, get_origin
from uuid import UUID

from pydantic.fields import FieldInfo
from typing_extensions import ReadOnly

from codeact.check.judge import ANY
from codeact.declarations import Declarations
from codeact.kinds import Alias, Choice, Kind, kind_of
from codeact.notation import Notation
from codeact.signatures import parameters_line
from codeact.tools import Toolset

_HEAD = f"""\
import collections as _collections
import collections.abc as _abc
import datetime as _datetime
import decimal as _decimal
import fractions as _fractions
import typing as _typing
import uuid as _uuid

from typing import {ANY} as {ANY}

_Anything: _typing.TypeAlias = _typing.Any
_Nothing: _typing.TypeAlias = None
_Text: _typing.TypeAlias = str | bytes | bytearray | Member
_Name: _typing.TypeAlias = bytes | Member
_Id: _typing.TypeAlias = _uuid.UUID | _Text
_Number: _typing.TypeAlias = int | float | str | bytes | _decimal.Decimal | _fractions.Fraction | Member
_Moment: _typing.TypeAlias = _datetime.date | _datetime.time | _datetime.timedelta | _Number
_Many: _typing.TypeAlias = list[_Anything] | tuple[_Anything, ...] | set[_Anything] | frozenset[_Anything] | _collections.deque[_Anything]
_Mapping: _typing.TypeAlias = _abc.Mapping[_Anything, _Anything]

class ToolError(Exception): ...

class Record(dict[str, _typing.Any]):
    def __setattr__(self, name: str, value: _typing.Any, /) -> None: ...
    def __delattr__(self, name: str, /) -> None: ...

class Member:
    name: _typing.Any
    value: _typing.Any
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
"""
"""No tool has a name that begins with an underscore, so none stands in the way of these."""

_TAKEN: dict[Any, str] = {
    **dict.fromkeys((str, bytes), "_Text"),
    **dict.fromkeys((bool, int, float, Fraction), "_Number"),
    Decimal: "_Number | _Many",
    **dict.fromkeys((dt.date, dt.datetime, dt.time, dt.timedelta), "_Moment"),
    UUID: "_Id",
    **dict.fromkeys((list, tuple, set, frozenset), "_Many"),
    dict: "_Mapping",
    **dict.fromkeys((type(None), None), "_Nothing"),
}
"""What the door takes for a type; anything for a type that is not here."""


def kinds_of(declarations: Declarations) -> tuple[str, ...]:
    """The names by which the checker knows what tools give."""
    return tuple(filter(None, map(declarations.notation.name, declarations.given)))


def interface(offered: Mapping[str, Toolset], declarations: Declarations) -> str:
    """The module of builtins that the checker reads.

    Args:
        offered: what programs find, by the names of their types: tools, and actions.
        declarations: the kinds that they give and take.
    """
    notation = declarations.notation
    kinds = "\n\n".join(filter(None, map(declarations.declaration, declarations.given)))
    methods = "\n".join(line for name, members in offered.items() for line in _methods(name, members, notation))
    bound = "\n".join(f"{name.lower()}: {name}" for name in offered)
    seconds = "\n".join(f"{name}_ = {name}" for name in sorted(notation.second))
    imports = "\n".join(
        f"from {module} import {', '.join(sorted(names))}" for module, names in sorted(notation.imports.items())
    )
    return f"{imports}\n{_HEAD}\n{kinds}\n\n{seconds}\n\n{methods}\n\n{bound}\n"


def _methods(name: str, toolset: Toolset, notation: Notation) -> Iterator[str]:
    avoid = frozenset(toolset)
    yield f"class {name}(_abc.Mapping[str, _abc.Callable[..., _Anything]]):"
    for member in toolset.values():
        own = "self" if "self" not in member.signature.parameters else "self_"
        parameters = [
            parameter.replace(default=parameter.empty if parameter.default is parameter.empty else ...)
            for parameter in member.signature.parameters.values()
        ]
        line = parameters_line(inspect.Signature(parameters), _taken)
        returned = notation.write(member.signature.return_annotation, avoid=avoid)
        head = "async def" if member.is_async else "def"
        yield f"    {head} {member.name}({', '.join(filter(None, (own, line)))}) -> {returned}: ..."
    yield "    def __getitem__(self, name: str, /) -> _Anything: ..."


def _taken(annotation: Any) -> str:
    """All that the door takes for an annotation."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if hasattr(annotation, "__metadata__"):
        return _taken(arguments[0]) if all(map(_only_narrows, annotation.__metadata__)) else "_Anything"
    if origin in {Required, NotRequired, ReadOnly}:
        return _taken(arguments[0])
    if origin in {Union, UnionType}:
        return " | ".join(dict.fromkeys(map(_taken, arguments)))
    if origin is Literal:
        return _of_values(arguments)
    match kind_of(annotation):
        case Kind():
            return "_Mapping"
        case Choice() as choice:
            return _of_values(choice.values)
        case Alias():
            return "_Anything"
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return "_Mapping"
    supertype = getattr(annotation, "__supertype__", None)
    return _taken(supertype) if supertype is not None else _TAKEN.get(origin or annotation, "_Anything")


def _of_values(values: tuple[Any, ...]) -> str:
    """What is taken for one of some values: of texts these alone, and of others what may become one of them."""
    if all(type(value) is str for value in values):
        return f"_typing.Literal[{', '.join(map(repr, values))}] | _Name"
    return "_Number" if all(type(value) is int for value in values) else "_Anything"


def _only_narrows(said: Any) -> bool:
    """Whether something in `Annotated` cannot let in more than the type does."""
    if isinstance(said, FieldInfo):
        return all(map(_only_narrows, said.metadata))
    return isinstance(said, str) or type(said).__module__ in {"annotated_types", "typing_extensions", "pydantic.fields"}
