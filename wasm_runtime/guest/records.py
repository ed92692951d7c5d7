"""What tools give: records and members of Enums, as plain values that a program can read with ease."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable

from .names import MissingKey, listed, unknown


class Record(dict[str, object]):
    """A record that came from a tool: `charge.amount` and `charge["amount"]` are the same."""

    __slots__ = ()

    def __getattr__(self, name: str) -> object:
        try:
            return dict.__getitem__(self, name)
        except KeyError:
            raise AttributeError(_no_field(self, name), name=name) from None

    def __missing__(self, name: object) -> object:
        raise MissingKey(_no_field(self, name))

    def __setattr__(self, name: str, value: object) -> None:
        self[name] = value

    def __delattr__(self, name: str) -> None:
        try:
            del self[name]
        except KeyError:
            raise AttributeError(_no_field(self, name), name=name) from None

    def __reduce_ex__(
        self, _protocol: object
    ) -> tuple[Callable[[dict[str, object]], Record], tuple[dict[str, object]]]:
        """How copies and pickles are made: what `object` has for it would ask for a method `items`."""
        return record, (dict(self),)


def _no_field(fields: Record, name: object) -> str:
    names = [known for known in fields if type(known) is str]
    if type(name) is str:
        return unknown("record has no field", name, names, "its fields are")
    return f"a record has named fields, and no item of type {type(name).__name__}; its fields are: {listed(names)}"


class ShadowingRecord(Record):
    """A record with fields that are named like methods of dict: the fields win.

    Not for the standard library, which takes it for the dict it is: `json.dumps` asks any dict for its `items()`.
    """

    __slots__ = ()

    def __getattribute__(self, name: str) -> object:
        if dict.__contains__(self, name) and not (name in _DICT_NAMES and _asked_by_library()):
            return dict.__getitem__(self, name)
        return super().__getattribute__(name)


_DICT_NAMES = frozenset(dir(dict))

_LIBRARY = json.__file__.rpartition("json")[0]
"""How the file names of the standard library begin."""


def _asked_by_library() -> bool:
    return sys._getframe(2).f_code.co_filename.startswith(_LIBRARY)  # noqa: SLF001 - as documented as it gets


def record(fields: dict[str, object]) -> Record:
    """A record with these fields, whatever they are called."""
    if _DICT_NAMES.isdisjoint(fields):
        return Record(fields)
    return ShadowingRecord(fields)


class Member:
    """A member of an Enum that came from a tool. It equals its value, so `charge.status == "paid"` holds."""

    __slots__ = ("name", "value")

    def __init__(self, name: str, value: object) -> None:
        self.name = name
        self.value = value

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Member):
            return self.name == other.name and self.value == other.value
        return self.value == other

    def __hash__(self) -> int:
        return hash(self.value)

    def __str__(self) -> str:
        return str(self.value)

    def __repr__(self) -> str:
        return f"<{self.name}: {self.value!r}>"
