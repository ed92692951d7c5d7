"""What crosses the boundary, as exact plain types, copied both ways.

The table is the codec's (`wasm_runtime.guest.codec`): None, bool, int, float, str, bytes, list, tuple, set,
frozenset, dict, datetime, date, time, timedelta, Decimal, Fraction, UUID, records and members of an Enum.
A copy is made of nothing but these, judged by `type()`, so that nobody's methods run on the other side.
`from_guest` trusts nothing; `from_host` also understands what tools return: dataclasses, pydantic models
and Enums.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import fields, is_dataclass
from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from operator import attrgetter
from types import MemberDescriptorType
from typing import Any, cast
from uuid import UUID
from zoneinfo import ZoneInfo

from pydantic import BaseModel

from wasm_runtime.guest.bounds import INT_BITS, bits, distinct
from wasm_runtime.guest.codec import TOO_DEEP, UNHASHABLE, Uncrossable, encode, is_flat, refusal, shown
from wasm_runtime.guest.records import Member, Record, ShadowingRecord, record
from wasm_runtime.guest.tables import FEWEST, is_simple

__all__ = ["NODE", "Member", "Record", "Uncrossable", "encode", "from_guest", "from_host"]

NODE = 8
"""Bytes that any value counts for, beside its own content."""

LEAST = 2 * NODE
"""Bytes that any number of 64 bits is below."""

_SQUARE = 13
"""How far the square of a number's bits is shifted: an integer of 10,000 digits counts for about 150 kB."""


def from_guest(value: object, *, depth: int, size: int) -> object:
    """Copy a value that a program made.

    Args:
        value: anything; none of its methods is called.
        depth: levels of nesting it may have.
        size: bytes it may hold.

    Returns:
        The copy, of exact plain types. Subclasses of plain types become the plain type, the program's own
        dataclasses become records, members of Enums their values.

    Raises:
        Uncrossable: with the path to the part that cannot cross.
    """
    return _copied(value, depth, size, _foreign_guest, _strict_zone)


def from_host(value: object, *, depth: int, size: int) -> object:
    """Copy a value that a tool returned; see `from_guest`.

    Returns:
        The copy. Dataclasses and pydantic models become records, members of Enums become
        `Member`s.

    Raises:
        Uncrossable: with the path to the part that cannot cross.
    """
    return _copied(value, depth, size, _foreign_host, _fixed_zone)


def _copied(value: object, depth: int, size: int, foreign: Foreign, zone: Zone) -> object:
    """The copy. What fails in columns is copied again one by one, which shows where it fails."""
    if type(value) is not str and size >= LEAST and is_flat((value,)):
        return value
    try:
        return _Copy(size, depth, foreign, zone, by_column=True).copy(value, depth)
    except (Uncrossable, AttributeError):
        return _Copy(size, depth, foreign, zone, by_column=False).copy(value, depth)


Foreign = Callable[["_Copy", Any, int], object]
Zone = Callable[["datetime | time"], tzinfo]


class _Copy:
    """One crossing: the budget that is left, and what to do with types and time zones outside the table."""

    __slots__ = ("_by_column", "_foreign", "depth", "left", "size", "zone")

    def __init__(self, size: int, depth: int, foreign: Foreign, zone: Zone, *, by_column: bool) -> None:
        self.zone = zone
        self.size = size
        self.depth = depth
        self.left = size
        self._foreign = foreign
        self._by_column = by_column

    def too_deep(self) -> Uncrossable:
        return Uncrossable(f"{TOO_DEEP}={self.depth}")

    def spend(self, amount: int) -> None:
        self.left -= amount
        if self.left < 0:
            msg = f"larger than the limit value_bytes={self.size:,}"
            raise Uncrossable(msg)

    def copy(self, value: object, depth: int) -> object:
        kind = type(value)
        if kind is str:
            self.spend(NODE + len(cast("str", value)))
            return value
        if kind in _SMALL:
            self.spend(NODE)
            return value
        leaf = _LEAVES.get(kind)
        if leaf is not None:
            return leaf(self, value, depth)
        row = _ROWS.get(kind)
        if row is None:
            return self._foreign(self, value, depth)
        if depth <= 0:
            raise self.too_deep()
        return row(self, value, depth - 1)

    def spend_number(self, size: int) -> None:
        """Spend for a number of so many bits.

        A large one counts for the square of its length, because that is what it costs to convert it, which a
        host's validation may do.
        """
        self.spend(NODE + size // 8 + (size * size >> _SQUARE))

    def items(self, values: Iterable[object], depth: int) -> list[object]:
        self.spend(NODE)
        if self._by_column and isinstance(values, (list, tuple)) and len(values) >= FEWEST:
            alike = self.rows(values, depth)
            if alike is not None:
                return alike
        out: list[object] = []
        try:
            for value in values:
                out.append(self.copy(value, depth))  # noqa: PERF401 - the path needs the place reached
        except Uncrossable as error:
            step = f"[{len(out)}]"
            raise error.under(step) from None
        return out

    def rows(self, values: list[Any] | tuple[Any, ...], depth: int) -> list[object] | None:
        """Copies of dicts or records that are alike, made column by column, which takes a third of the time.

        Returns:
            None where they are not alike.
        """
        kind = type(values[0])
        if depth <= 0 or set(map(type, values)) != {kind}:
            return None
        if kind in _DICTS:
            names = [*dict.keys(values[0])]
            if not names or not all(_are_named(one, names) for one in values):
                return None
            columns = [*zip(*map(dict.values, values), strict=True)]
        elif self._foreign is _foreign_host and is_dataclass(kind):  # a guest's attributes may be anything's
            names = [field.name for field in fields(kind)]
            columns = [tuple(map(attrgetter(name), values)) for name in names]
        else:
            return None
        self.spend((NODE + (sum(NODE + len(name) for name in names) if kind is dict else 0)) * len(values))
        copies = zip(*[self.column(column, depth - 1) for column in columns], strict=True)
        if kind is dict:
            return [dict(zip(names, row, strict=True)) for row in copies]
        return [record(dict(zip(names, row, strict=True))) for row in copies]

    def column(self, values: tuple[object, ...], depth: int) -> Sequence[object]:
        """Copies of some values, which mostly are of one type."""
        kinds = set(map(type, values))
        if kinds == _TEXTS:
            self.spend(NODE * len(values) + sum(map(len, values)))  # type: ignore[arg-type]  # they are texts
        elif kinds <= _SMALL or (kinds == {datetime} and is_simple(map(attrgetter("tzinfo"), values))):
            self.spend(NODE * len(values))
        elif kinds == {Decimal} and _are_short(values):
            self.spend(LEAST * len(values))
        else:
            return [self.copy(value, depth) for value in values]
        return values

    def named(self, pairs: Iterable[tuple[str, object]], depth: int) -> dict[object, object]:
        """What a dict holds whose keys are texts: these have hashes that nobody can foresee."""
        out: dict[object, object] = {}
        name = ""
        try:
            for name, value in pairs:
                self.spend(NODE + len(name))
                out[name] = self.copy(value, depth)
        except Uncrossable as error:
            step = f"[{shown(name)}]"
            raise error.under(step) from None
        return out

    def fields(self, pairs: Iterable[tuple[str, object]], depth: int) -> Record:
        self.spend(NODE)
        out: dict[str, object] = {}
        name = ""
        try:
            for name, value in pairs:
                out[name] = self.copy(value, depth)
        except Uncrossable as error:
            step = f".{name}"
            raise error.under(step) from None
        return record(out)


_TEXTS = frozenset({str})

_SMALL = frozenset({type(None), bool, float, date, timedelta, UUID})


def _int(copy: _Copy, value: int, _depth: int) -> object:
    size = value.bit_length()
    if size > INT_BITS:  # neither the other side nor a record could read it
        msg = f"cannot return an integer of more than {INT_BITS:,} bits"
        raise Uncrossable(msg)
    copy.spend_number(size)
    return value


def _bytes(copy: _Copy, value: bytes, _depth: int) -> object:
    copy.spend(NODE + len(value))
    return value


def _dict(copy: _Copy, value: dict[object, object], depth: int) -> object:
    copy.spend(NODE)
    if _TEXTS.issuperset(map(type, dict.keys(value))):
        return copy.named(dict.items(value), depth)  # type: ignore[arg-type]  # so the keys are texts
    keys: list[object] = []
    items: list[object] = []
    for key, item in dict.items(value):
        try:
            keys.append(copy.copy(key, depth))
            items.append(copy.copy(item, depth))
        except Uncrossable as error:
            step = f"[{shown(key)}]"
            raise error.under(step) from None
    return _hashed(keys, lambda keys: dict(zip(keys, items, strict=True)))


def _record(copy: _Copy, value: Record, depth: int) -> object:
    return copy.fields(cast("Iterable[tuple[str, object]]", dict.items(value)), depth)


def _member(copy: _Copy, value: Member, depth: int) -> object:
    return copy.copy(value.value, depth)


def _zoned(copy: _Copy, value: datetime | time, _depth: int) -> object:
    copy.spend(NODE)
    zone = value.tzinfo
    if zone is None or zone is UTC:
        return value
    if type(zone) is timezone:
        return value.replace(tzinfo=_offset(copy, zone))
    if type(zone) is ZoneInfo and type(zone.key) is str:
        return value
    return value.replace(tzinfo=copy.zone(value))


def _offset(copy: _Copy, zone: timezone) -> timezone:
    """A fixed offset and its name, of plain parts: both may be of a subclass, with methods of its own."""
    span, *names = timezone.__getinitargs__(zone)  # type: ignore[attr-defined]  # there for pickling, not in the stubs
    days, seconds, rest = (getattr(timedelta, part).__get__(span) for part in ("days", "seconds", "microseconds"))
    for name in names:
        copy.spend(len(str.__str__(name)))
    return timezone(timedelta(days, seconds, rest), *map(str.__str__, names))


def _strict_zone(value: datetime | time) -> tzinfo:
    raise Uncrossable(refusal(value.tzinfo))


def _fixed_zone(value: datetime | time) -> tzinfo:
    """The offset of a zone of some library's own, such as pydantic's."""
    offset = value.utcoffset()
    if offset is None:
        raise Uncrossable(refusal(value.tzinfo))
    return timezone(offset)


def _decimal(copy: _Copy, value: Decimal, _depth: int) -> object:
    copy.spend_number(bits(value))
    return value


def _fraction(copy: _Copy, value: Fraction, depth: int) -> object:
    for part in (value.numerator, value.denominator):
        if type(part) is not int:
            raise Uncrossable(refusal(part))
        _int(copy, part, depth)
    return value


def _hashed(keys: list[object], build: Callable[[list[object]], object]) -> object:
    """Build a set or a dict of keys, once they are known to be hashable and distinct enough."""
    try:
        return build(distinct(keys))
    except TypeError:
        raise Uncrossable(UNHASHABLE) from None
    except ValueError as error:
        raise Uncrossable(str(error)) from None


_LEAVES: dict[type, Callable[[_Copy, Any, int], object]] = {
    int: _int,
    bytes: _bytes,
    datetime: _zoned,
    time: _zoned,
    Decimal: _decimal,
    Fraction: _fraction,
    Member: _member,
}

_ROWS: dict[type, Callable[[_Copy, Any, int], object]] = {
    list: lambda copy, value, depth: copy.items(value, depth),
    tuple: lambda copy, value, depth: tuple(copy.items(value, depth)),
    set: lambda copy, value, depth: _hashed(copy.items(value, depth), set),
    frozenset: lambda copy, value, depth: _hashed(copy.items(value, depth), frozenset),
    dict: _dict,
    Record: _record,
    ShadowingRecord: _record,
}

_BASES: dict[type, Callable[[Any], object]] = {
    str: str.__str__,
    int: int.__int__,
    float: float.__float__,
    bytes: lambda value: bytes.__getitem__(value, slice(None)),
    list: lambda value: list(list.__iter__(value)),
    tuple: lambda value: tuple(tuple.__iter__(value)),
    set: lambda value: set(set.__iter__(value)),
    frozenset: lambda value: frozenset(frozenset.__iter__(value)),
    dict: lambda value: dict(dict.items(value)),
}
"""How to see a subclass of a plain type as the plain type without running a line of the subclass."""


def _foreign_guest(copy: _Copy, value: object, depth: int) -> object:
    mro = _mro(value)
    if Enum in mro:
        return copy.copy(_stored(value, "_value_"), depth)
    for base in mro:
        if base in _BASES:
            return copy.copy(_BASES[base](value), depth)
    for base in mro:
        names = _class_dict(base).get("__dataclass_fields__")
        if type(names) is dict:
            if depth <= 0:
                raise copy.too_deep()
            pairs = ((str.__str__(name), _stored(value, name)) for name in names)
            return copy.fields(pairs, depth - 1)
    raise Uncrossable(refusal(value))


def _mro(value: object) -> tuple[type, ...]:
    return cast("tuple[type, ...]", type.__dict__["__mro__"].__get__(type(value)))


def _class_dict(kind: type) -> dict[str, object]:
    return cast("dict[str, object]", type.__dict__["__dict__"].__get__(kind))


def _stored(value: object, name: str) -> object:
    """What is stored under a name in an instance or its slots; properties and hooks of its class do not run."""
    for base in _mro(value):
        slot = _class_dict(base).get("__dict__")
        if slot is not None and type(slot).__name__ == "getset_descriptor":
            inside = cast("Any", slot).__get__(value)
            if type(inside) is dict and name in inside:
                return inside[name]
    for base in _mro(value):
        slot = _class_dict(base).get(name)
        if isinstance(slot, MemberDescriptorType):
            return slot.__get__(value)
    raise Uncrossable(refusal(value))


def _foreign_host(copy: _Copy, value: object, depth: int) -> object:
    if isinstance(value, Enum):
        return Member(value.name, copy.copy(value.value, depth))
    if depth <= 0:
        raise copy.too_deep()
    if isinstance(value, BaseModel):
        return copy.fields(_model_fields(value), depth - 1)
    if is_dataclass(value) and not isinstance(value, type):
        return copy.fields(((field.name, getattr(value, field.name)) for field in fields(value)), depth - 1)
    for base, plain in _BASES.items():
        if isinstance(value, base):
            return copy.copy(plain(value), depth)
    if isinstance(value, datetime):
        return copy.copy(datetime.combine(value.date(), value.timetz()), depth)
    if isinstance(value, date):
        return copy.copy(date(value.year, value.month, value.day), depth)
    raise Uncrossable(refusal(value))


def _model_fields(model: BaseModel) -> Iterator[tuple[str, object]]:
    kind = type(model)
    for name in kind.model_fields:
        yield name, getattr(model, name)
    for name in kind.model_computed_fields:
        yield name, getattr(model, name)
    yield from (model.model_extra or {}).items()


_DICTS = frozenset({dict, Record, ShadowingRecord})


def _are_named(fields: dict[object, object], names: list[object]) -> bool:
    """Whether a dict has these keys, in this order, and all are texts: only those are compared."""
    keys = [*dict.keys(fields)]
    return _TEXTS.issuperset(map(type, keys)) and keys == names


_SHORT = 40
"""Characters of a number that takes no time and no room worth speaking of."""


def _are_short(numbers: Iterable[object]) -> bool:
    texts = [*map(str, numbers)]
    return max(map(len, texts)) <= _SHORT and "E" not in "".join(texts)
