"""Values as text: one table of what may cross the boundary, read in both directions.

The text is JSON. What JSON has natively stands for itself; everything else is an object with the key `$`,
which names its row in the table. Anything not in the table cannot cross, and the error names its path.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from uuid import UUID
from zoneinfo import ZoneInfo

MARK = "$"
"""The key that makes a JSON object one of ours."""

_NATIVE_BITS = 63
"""Integers of up to this many bits are JSON numbers; larger ones are hexadecimal, which every interpreter
reads in linear time and without a limit on the digits."""


class Uncrossable(TypeError):
    """A value that cannot cross; `str()` gives the path to it and the reason."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason
        self.path = ""

    def under(self, step: str) -> Uncrossable:
        """The same error, seen from one level further out."""
        self.path = step + self.path
        return self

    def __str__(self) -> str:
        return f"value{self.path}: {self.reason}"


class Record(dict[str, object]):
    """A record that came from a tool: `charge.amount` and `charge["amount"]` are the same."""

    __slots__ = ()

    def __getattr__(self, name: str) -> object:
        try:
            return self[name]
        except KeyError:
            fields = ", ".join(map(str, self))
            msg = f"record has no field {name!r}; its fields are: {fields}"
            raise AttributeError(msg, name=name) from None

    def __setattr__(self, name: str, value: object) -> None:
        self[name] = value

    def __delattr__(self, name: str) -> None:
        self.pop(name)


class _ShadowingRecord(Record):
    """A record with fields that are named like methods of dict: the fields win."""

    __slots__ = ()

    def __getattribute__(self, name: str) -> object:
        if dict.__contains__(self, name):
            return dict.__getitem__(self, name)
        return super().__getattribute__(name)


_DICT_NAMES = frozenset(dir(dict))


def record(fields: dict[str, object]) -> Record:
    """A record with these fields, whatever they are called."""
    if _DICT_NAMES.isdisjoint(fields):
        return Record(fields)
    return _ShadowingRecord(fields)


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


# --- out: value -> JSON tree ---------------------------------------------------------------------------------


def encode(value: object, depth: int) -> str:
    """The text of a value.

    Args:
        value: what should cross.
        depth: how many levels of nesting it may have.

    Raises:
        Uncrossable: a part of it is not in the table, or it is nested deeper than `depth`.
    """
    tree = _encode(value, depth)
    text = json.dumps(tree, ensure_ascii=False, separators=(",", ":"))
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:  # lone surrogates: only escapes can carry them
            text = json.dumps(tree, separators=(",", ":"))
    return text


def _encode(value: object, depth: int) -> object:
    kind = type(value)
    if kind is str or kind is float or kind is bool or value is None:
        return value
    row = _OUT.get(kind)
    if row is None:
        row = _inherited(value)
    if depth <= 0 and kind in _CONTAINERS:
        msg = "nested deeper than the limit value_depth"
        raise Uncrossable(msg)
    return row(value, depth - 1)


_CONTAINERS = frozenset({list, tuple, set, frozenset, dict, Record, _ShadowingRecord})


def _inherited(value: object) -> Callable[[object, int], object]:
    """The row of the nearest base that is in the table: a Counter crosses as a dict, a namedtuple as a tuple."""
    if isinstance(value, Enum):
        return lambda value, depth: _encode(value.value, depth)  # type: ignore[attr-defined]
    for base in type(value).__mro__[1:-1]:
        if base in _OUT:
            return _OUT[base]
        if base is str or base is float:
            return lambda value, _depth: base(value)  # type: ignore[arg-type]
    described = _describe(value)
    if described is not None:
        return lambda _value, depth: _record_out(described, depth)
    raise Uncrossable(refusal(value))


def _describe(value: object) -> dict[str, object] | None:
    """The fields of a dataclass instance; None for anything else."""
    fields = getattr(type(value), "__dataclass_fields__", None)
    if not isinstance(fields, dict):
        return None
    return {name: getattr(value, name) for name in fields}


UNHASHABLE = "a record cannot be in a set or a key of a dict; use a list, or a field of it"

_LISTABLE = frozenset({"generator", "range", "map", "filter", "zip", "dict_keys", "dict_values", "dict_items", "deque"})


def refusal(value: object) -> str:
    """Why a value of this type cannot cross, and what to make of it instead."""
    name = type(value).__name__
    if name in _LISTABLE:
        advice = "make it a list"
    elif hasattr(type(value), "__await__"):
        advice = "await it first"
    else:
        advice = "make it plain data (dict, list, str, number …)"
    return f"cannot return <{name}>; {advice}"


def _int_out(value: int, _depth: int) -> object:
    return int(value) if value.bit_length() <= _NATIVE_BITS else {MARK: "int", "v": hex(value)}


def _items_out(values: Iterator[object], depth: int) -> list[object]:
    out: list[object] = []
    try:
        for value in values:
            out.append(_encode(value, depth))  # noqa: PERF401 - the path needs the place reached
    except Uncrossable as error:
        step = f"[{len(out)}]"
        raise error.under(step) from None
    return out


def _list_out(value: list[object], depth: int) -> object:
    return _items_out(iter(value), depth)


def _tagged_items(tag: str) -> Callable[[object, int], object]:
    def row(value: object, depth: int) -> object:
        items = _items_out(iter(value), depth)  # type: ignore[call-overload]
        if tag != "tuple":
            _check_hashable(items)
        return {MARK: tag, "v": items}

    return row


def _check_hashable(trees: list[object]) -> None:
    """Records can be hashed inside, where they are the program's own, but not where they arrive."""
    for tree in trees:
        if isinstance(tree, dict):
            if tree[MARK] == "rec":
                raise Uncrossable(UNHASHABLE)
            if isinstance(tree["v"], list):
                _check_hashable(tree["v"])


def _fields_out(value: dict[str, object], depth: int, step: str) -> dict[str, object]:
    out: dict[str, object] = {}
    key: object = None
    try:
        for key, item in value.items():
            out[key] = _encode(item, depth)
    except Uncrossable as error:
        raise error.under(step.format(key)) from None
    return out


def _dict_out(value: dict[object, object], depth: int) -> object:
    if MARK not in value and all(type(key) is str for key in value):
        return _fields_out(value, depth, "[{!r}]")  # type: ignore[arg-type]
    pairs: list[object] = []
    for key, item in value.items():
        try:
            name = _encode(key, depth)
            _check_hashable([name])
            pairs.append([name, _encode(item, depth)])
        except Uncrossable as error:
            step = f"[{_short(key)}]"
            raise error.under(step) from None
    return {MARK: "dict", "v": pairs}


def _short(key: object) -> str:
    return repr(key) if type(key) in {str, int, float, bool, bytes} else f"<{type(key).__name__}>"


def _record_out(value: dict[str, object], depth: int) -> object:
    return {MARK: "rec", "v": _fields_out(value if type(value) is dict else dict(dict.items(value)), depth, ".{}")}


def _datetime_out(value: datetime, _depth: int) -> object:
    zone = value.tzinfo
    out: dict[str, object] = {MARK: "datetime", "v": value.replace(tzinfo=None).isoformat(), "fold": value.fold}
    if zone is not None:
        out["zone"] = _zone_out(zone, value)
    return out


def _time_out(value: time, _depth: int) -> object:
    out: dict[str, object] = {MARK: "time", "v": value.replace(tzinfo=None).isoformat(), "fold": value.fold}
    if value.tzinfo is not None:
        out["zone"] = _zone_out(value.tzinfo, value)
    return out


def _zone_out(zone: object, at: datetime | time) -> object:
    key = getattr(zone, "key", None)
    if isinstance(key, str):
        return key
    offset = at.utcoffset()
    if offset is None:
        msg = f"cannot return a time with the time zone <{type(zone).__name__}>; use a fixed offset"
        raise Uncrossable(msg)
    return _span(offset)


def _span(value: timedelta) -> list[int]:
    return [value.days, value.seconds, value.microseconds]


_OUT: dict[type, Callable[..., object]] = {
    int: _int_out,
    list: _list_out,
    dict: _dict_out,
    Record: _record_out,
    _ShadowingRecord: _record_out,
    tuple: _tagged_items("tuple"),
    set: _tagged_items("set"),
    frozenset: _tagged_items("frozenset"),
    bytes: lambda value, _depth: {MARK: "bytes", "v": value.decode("latin-1")},
    datetime: _datetime_out,
    date: lambda value, _depth: {MARK: "date", "v": value.isoformat()},
    time: _time_out,
    timedelta: lambda value, _depth: {MARK: "timedelta", "v": _span(value)},
    Decimal: lambda value, _depth: {MARK: "decimal", "v": str(value)},
    Fraction: lambda value, depth: {
        MARK: "fraction",
        "v": [_encode(value.numerator, depth), _encode(value.denominator, depth)],
    },
    UUID: lambda value, _depth: {MARK: "uuid", "v": value.hex},
    Member: lambda value, depth: {MARK: "member", "n": value.name, "v": _encode(value.value, depth)},
}


# --- in: JSON tree -> value ----------------------------------------------------------------------------------


def decode(text: str) -> object:
    """The value of a text that `encode` made.

    Raises:
        ValueError: the text is no encoding of a value: not JSON, an unknown row, a malformed row, or nested
            deeper than the interpreter can follow.
    """
    try:
        return json.loads(text, object_hook=_object_in if f'"{MARK}"' in text else None)
    except RecursionError:
        msg = "nested too deeply"
        raise ValueError(msg) from None
    except (KeyError, TypeError, ArithmeticError, AttributeError) as error:
        msg = f"malformed value: {type(error).__name__}"
        raise ValueError(msg) from None


def _object_in(found: dict[str, object]) -> object:
    if MARK not in found:
        return found
    return _IN[found[MARK]](found)  # type: ignore[index]


def _zone_in(zone: object) -> timezone | ZoneInfo:
    return ZoneInfo(zone) if isinstance(zone, str) else timezone(timedelta(*zone))  # type: ignore[misc]


def _datetime_in(found: dict[str, object]) -> object:
    value = datetime.fromisoformat(found["v"]).replace(fold=found["fold"])  # type: ignore[arg-type]
    return value.replace(tzinfo=_zone_in(found["zone"])) if "zone" in found else value


def _time_in(found: dict[str, object]) -> object:
    value = time.fromisoformat(found["v"]).replace(fold=found["fold"])  # type: ignore[arg-type]
    return value.replace(tzinfo=_zone_in(found["zone"])) if "zone" in found else value


_IN: dict[str, Callable[[dict], object]] = {  # type: ignore[type-arg]
    "int": lambda found: int(found["v"], 16),
    "tuple": lambda found: tuple(found["v"]),
    "set": lambda found: set(found["v"]),
    "frozenset": lambda found: frozenset(found["v"]),
    "dict": lambda found: dict(map(tuple, found["v"])),
    "rec": lambda found: record(found["v"]),
    "bytes": lambda found: found["v"].encode("latin-1"),
    "datetime": _datetime_in,
    "date": lambda found: date.fromisoformat(found["v"]),
    "time": _time_in,
    "timedelta": lambda found: timedelta(*found["v"]),
    "decimal": lambda found: Decimal(found["v"]),
    "fraction": lambda found: Fraction(*found["v"]),
    "uuid": lambda found: UUID(hex=found["v"]),
    "member": lambda found: Member(found["n"], found["v"]),
}
