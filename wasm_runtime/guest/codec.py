"""Values as text: one table of what may cross the boundary, read in both directions.

The text is JSON. What JSON has natively stands for itself; everything else is an object with the key `$`,
which names its row in the table. Anything not in the table cannot cross, and the error names its path.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from typing import TypeVar
from uuid import UUID
from zoneinfo import ZoneInfo

from .bounds import DIGITS, INT_BITS, KEY_BITS, LARGE_KEY, bits, distinct
from .jsontext import reader, text_of
from .records import Member, Record, ShadowingRecord, record
from .unawaited import UnawaitedCall

MARK = "$"
"""The key that makes a JSON object one of ours."""

_NATIVE = 1 << 63
"""Integers between this and its negative are JSON numbers; others are hexadecimal, which every interpreter
reads in linear time and without a limit on the digits."""


TOO_DEEP = "nested deeper than the limit value_depth"

PATH = 100
"""Characters of a path that are shown."""


class Uncrossable(TypeError):
    """A value that cannot cross; `str()` gives the path to it and the reason."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason
        self.path = ""

    def under(self, step: str) -> Uncrossable:
        """The same error, seen from one level further out."""
        path = step[: 2 * PATH] + self.path
        self.path = path if len(path) <= 2 * PATH else path[:PATH] + path[-PATH:]
        return self

    def __str__(self) -> str:
        path = self.path if len(self.path) <= PATH else f"{self.path[: PATH // 2]}…{self.path[-PATH // 2 :]}"
        return f"value{path}: {self.reason}"


# --- out: value -> JSON tree ---------------------------------------------------------------------------------


def encode(value: object, depth: int) -> str:
    """The text of a value.

    Args:
        value: what should cross.
        depth: how many levels of nesting it may have.

    Raises:
        Uncrossable: a part of it is not in the table, or it is nested deeper than `depth`.
    """
    try:
        tree = _encode(value, depth)
    except Uncrossable as error:
        if error.reason == TOO_DEEP:
            error.reason = f"{TOO_DEEP}={depth}"
        raise
    return text_of(tree)


def encode_call(args: tuple[object, ...], kwargs: dict[str, object], depth: int) -> str:
    """The text of a call's arguments: that of a list of the positional ones and a dict of the others.

    Args:
        args: positional arguments.
        kwargs: keyword arguments.
        depth: how many levels of nesting one of them may have.

    Raises:
        Uncrossable: see `encode`.
    """
    if is_flat(args) and (not kwargs or (MARK not in kwargs and is_flat(kwargs.values()))):
        return text_of((args, kwargs))
    return encode([list(args), kwargs], depth + 2)


def is_flat(values: Iterable[object]) -> bool:
    """Whether each of them stands for itself."""
    for value in values:
        kind = type(value)
        if kind not in _PLAIN and not (kind is int and -_NATIVE < value < _NATIVE):  # type: ignore[operator]
            return False
    return True


def trees(values: Iterable[object], depth: int) -> list[object]:
    """What `text_of` writes for values, each with so many levels of nesting.

    Raises:
        Uncrossable: see `encode`.
    """
    return _items_out(iter(values), depth)


_PLAIN = frozenset({str, float, bool, type(None)})
"""What stands for itself."""


def _encode(value: object, depth: int) -> object:
    kind = type(value)
    if kind in _PLAIN:
        return value
    row = _OUT.get(kind)
    if row is None:
        row = _inherited(value)
    if depth <= 0 and kind in _CONTAINERS:
        raise Uncrossable(TOO_DEEP)
    return row(value, depth - 1)


_CONTAINERS = frozenset({list, tuple, set, frozenset, dict, Record, ShadowingRecord})


def _inherited(value: object) -> Callable[[object, int], object]:
    """The row of the nearest base that is in the table: a Counter crosses as a dict, a namedtuple as a tuple."""
    if isinstance(value, Enum):
        return lambda value, depth: _encode(value.value, depth)  # type: ignore[attr-defined]
    for base in type(value).__mro__[1:-1]:
        if base in _OUT:
            return _OUT[base]
        if base is str:
            return lambda value, _depth: str.__str__(value)
        if base is float:
            return lambda value, _depth: float.__float__(value)  # type: ignore[arg-type]
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

_LISTABLE = frozenset({"range", "dict_keys", "dict_values", "dict_items", "deque"})


def refusal(value: object) -> str:
    """Why a value of this type cannot cross, and what to make of it instead."""
    if UnawaitedCall in type(value).__mro__:
        return UnawaitedCall.forgotten(value)  # type: ignore[arg-type]
    name = type(value).__name__
    if name in _LISTABLE or hasattr(type(value), "__next__"):
        advice = "make it a list"
    elif hasattr(type(value), "__await__"):
        advice = "await it first"
    elif callable(value):
        advice = "call it first"
    else:
        advice = "make it plain data (dict, list, str, number …)"
    return f"cannot return <{name}>; {advice}"


def _int_out(value: int, _depth: int) -> object:
    plain = value if type(value) is int else int.__int__(value)
    if -_NATIVE < plain < _NATIVE:
        return plain
    if plain.bit_length() > INT_BITS:
        msg = f"cannot return an integer of more than {INT_BITS:,} bits"
        raise Uncrossable(msg)
    return {MARK: "int", "v": hex(plain)}


def _items_out(values: Iterator[object], depth: int) -> list[object]:
    out: list[object] = []
    try:
        for value in values:
            out.append(value if type(value) in _PLAIN else _encode(value, depth))  # noqa: PERF401 - the path needs the place reached
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
            items.sort(key=repr)  # the order of a set is the interpreter's, and the next one's is another
        return {MARK: tag, "v": items}

    return row


def _check_hashable(trees: list[object]) -> None:
    """Records can be hashed inside, where they are the program's own, but not where they arrive."""
    for tree in trees:
        if isinstance(tree, dict):
            if tree[MARK] == "rec":
                raise Uncrossable(UNHASHABLE)
            if tree[MARK] in {"int", "decimal"} and len(str(tree["v"])) > KEY_BITS // 4:
                raise Uncrossable(LARGE_KEY)
            if isinstance(tree["v"], list):
                _check_hashable(tree["v"])


def _fields_out(value: dict[str, object], depth: int, step: str) -> dict[str, object]:
    if type(value) is dict and is_flat(value.values()):
        return value
    out: dict[str, object] = {}
    key: object = None
    try:
        for key, item in value.items():
            out[key] = item if type(item) in _PLAIN else _encode(item, depth)
    except Uncrossable as error:
        raise error.under(step.format(key)) from None
    return out


def _dict_out(value: dict[object, object], depth: int) -> object:
    if MARK not in value and _TEXTS.issuperset(map(type, value)):
        return _fields_out(value, depth, "[{!r}]")  # type: ignore[arg-type]
    pairs: list[object] = []
    for key, item in value.items():
        try:
            name = _encode(key, depth)
            _check_hashable([name])
            pairs.append([name, _encode(item, depth)])
        except Uncrossable as error:
            step = f"[{shown(key)}]"
            raise error.under(step) from None
    return {MARK: "dict", "v": pairs}


_TEXTS = frozenset({str})


def shown(key: object) -> str:
    """A key as it stands in a path."""
    if type(key) is str or type(key) is bytes:
        return repr(key[:PATH])
    if type(key) is bool or type(key) is float or (type(key) is int and key.bit_length() <= KEY_BITS):
        return repr(key)
    return f"<{type(key).__name__}>"


def _record_out(value: dict[str, object], depth: int) -> object:
    fields = dict(dict.items(value))
    if MARK in fields or not all(type(name) is str for name in fields):
        return _dict_out(fields, depth)  # type: ignore[arg-type]  # somebody gave it keys that no field has
    return {MARK: "rec", "v": _fields_out(fields, depth, ".{}")}


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
    if type(zone) is ZoneInfo and zone.key:
        return zone.key
    offset = at.utcoffset()
    if offset is None:
        msg = f"cannot return a time with the time zone <{type(zone).__name__}>; use a fixed offset"
        raise Uncrossable(msg)
    if type(zone) is timezone:
        names = timezone.__getinitargs__(zone)[1:]  # type: ignore[attr-defined]  # there for pickling, not in the stubs
        return [*_span(offset), *map(str.__str__, names)]
    return _span(offset)


def _span(value: timedelta) -> list[int]:
    return [value.days, value.seconds, value.microseconds]


_OUT: dict[type, Callable[..., object]] = {
    int: _int_out,
    list: _list_out,
    dict: _dict_out,
    Record: _record_out,
    ShadowingRecord: _record_out,
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

    It may come from anyone: every row takes just the types that `encode` writes, numbers are bounded before they
    are made, and keys that were made to collide are refused before they are compared.

    Raises:
        ValueError: the text is no encoding of a value: not JSON, an unknown row, a malformed row, or nested
            deeper than the interpreter can follow.
    """
    try:
        value, end = reader(_object_in if is_marked(text) else None)(text, 0)
    except StopIteration:
        msg = "no JSON"
        raise ValueError(msg) from None
    except RecursionError:
        msg = "nested too deeply"
        raise ValueError(msg) from None
    except (KeyError, TypeError, ArithmeticError, AttributeError, OSError) as error:
        msg = f"malformed value: {type(error).__name__}"
        raise ValueError(msg) from None
    if end != len(text):
        msg = "more than one value"
        raise ValueError(msg)
    return value


def is_marked(text: str) -> bool:
    """Whether there may be something in a text that JSON does not have natively."""
    return _QUOTED in text


_QUOTED = f'"{MARK}"'


def _object_in(found: dict[str, object]) -> object:
    if MARK not in found:
        return found
    return _IN[_exact(found[MARK], str)](found)


_T = TypeVar("_T")


def _exact(value: object, kind: type[_T]) -> _T:
    if type(value) is not kind:
        msg = f"expected {kind.__name__}"
        raise TypeError(msg)
    return value


def _int_in(found: dict[str, object]) -> int:
    text = _exact(found["v"], str)
    if len(text) > INT_BITS // 4 + 3:
        msg = f"an integer of more than {INT_BITS:,} bits"
        raise ValueError(msg)
    return int(text, 16)


def _decimal_in(found: dict[str, object]) -> Decimal:
    text = _exact(found["v"], str)
    if len(text) > DIGITS:
        msg = f"a Decimal of more than {DIGITS:,} characters"
        raise ValueError(msg)
    return Decimal(text)


def _fraction_in(found: dict[str, object]) -> Fraction:
    numerator, denominator = _exact(found["v"], list)
    if _exact(denominator, int) <= 0:
        msg = "a fraction that is none"
        raise ValueError(msg)
    # It was in lowest terms when it left; to make sure of it again would cost the square of its length.
    if bits(_exact(numerator, int)) + bits(denominator) > KEY_BITS:
        made = Fraction(0)
        made._numerator, made._denominator = numerator, denominator  # type: ignore[attr-defined]  # noqa: SLF001
        return made
    return Fraction(numerator, denominator)


def _record_in(found: dict[str, object]) -> Record:
    return record(_exact(found["v"], dict))


def _pairs_in(found: dict[str, object]) -> dict[object, object]:
    pairs = [(key, value) for key, value in (_exact(pair, list) for pair in _exact(found["v"], list))]
    distinct([key for key, _ in pairs])
    return dict(pairs)


def _zone_in(zone: object) -> timezone | ZoneInfo:
    if type(zone) is str:
        if len(zone) > _KEY:
            msg = "a time zone that is none"
            raise ValueError(msg)
        return ZoneInfo(zone)
    parts = _exact(zone, list)
    return timezone(timedelta(*_numbers(parts[:_SPAN])), *(_exact(name, str) for name in parts[_SPAN:]))


_KEY = 255
"""Characters of a time zone's key."""

_SPAN = 3
"""Numbers that a span of time is made of."""


def _numbers(found: object) -> list[int]:
    return [_exact(number, int) for number in _exact(found, list)]


def _zoned(value: _Z, found: dict[str, object]) -> _Z:
    fold = _exact(found["fold"], int)
    if "zone" in found:
        return value.replace(fold=fold, tzinfo=_zone_in(found["zone"]))
    return value.replace(fold=fold)


_Z = TypeVar("_Z", datetime, time)


_IN: dict[str, Callable[[dict[str, object]], object]] = {
    "int": _int_in,
    "tuple": lambda found: tuple(_exact(found["v"], list)),
    "set": lambda found: set(distinct(_exact(found["v"], list))),
    "frozenset": lambda found: frozenset(distinct(_exact(found["v"], list))),
    "dict": _pairs_in,
    "rec": _record_in,
    "bytes": lambda found: _exact(found["v"], str).encode("latin-1"),
    "datetime": lambda found: _zoned(datetime.fromisoformat(_exact(found["v"], str)), found),
    "date": lambda found: date.fromisoformat(_exact(found["v"], str)),
    "time": lambda found: _zoned(time.fromisoformat(_exact(found["v"], str)), found),
    "timedelta": lambda found: timedelta(*_numbers(found["v"])),
    "decimal": _decimal_in,
    "fraction": _fraction_in,
    "uuid": lambda found: UUID(hex=_exact(found["v"], str)),
    "member": lambda found: Member(_exact(found["n"], str), found["v"]),
}
