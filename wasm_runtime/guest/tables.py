"""Lists of records that are alike, column by column.

Tools give such lists all day. Written record by record, each value of a type that JSON does not have costs a call on
both sides; a column of them costs one. Only a host writes them: what comes from inside is read record by record, so
that nothing short can stand for something large.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from operator import attrgetter
from typing import Any
from uuid import UUID

from . import codec
from .jsontext import text_of
from .records import Record, ShadowingRecord, record

FEWEST = 8
"""Records for which a table is worth it."""

_RECORDS = frozenset({Record, ShadowingRecord})


def written(value: object, depth: int) -> str | None:
    """The text of a list of records that are alike; None for everything else.

    Args:
        value: any plain value.
        depth: how many levels of nesting it may have.
    """
    if type(value) is not list or len(value) < FEWEST or not _RECORDS.issuperset(map(type, value)):
        return None
    names = list(dict.keys(value[0]))
    if not names or codec.MARK in names or any(list(dict.keys(one)) != names for one in value):
        return None
    rows = [tuple(dict.values(one)) for one in value]
    try:
        columns = [_column(column, depth - 2) for column in zip(*rows, strict=True)]
    except codec.Uncrossable:  # whoever writes it record by record says where
        return None
    return text_of([names, columns])


def read(text: str) -> list[Record]:
    """The list of records of a text that `written` made."""
    found: Any = codec.decode(text)  # a host's, so it is what `written` makes
    names, columns = found
    kind = type(record(dict.fromkeys(names)))
    made = [items if row is None else map(_MADE[row], items) for row, items in columns]
    return [kind(zip(names, row)) for row in zip(*made)]  # noqa: B905 - all are of one length, which a host sees to


def _column(values: Sequence[object], depth: int) -> tuple[str | None, list[object]]:
    """How a column is made, and of what."""
    if codec.is_flat(values):
        return None, list(values)
    kinds = set(map(type, values))
    row = _ROWS.get(kinds.pop()) if len(kinds) == 1 else None
    if row is not None and row.fits(values):
        return row.name, list(map(row.text, values))
    return None, codec.trees(values, depth)


class _Row:
    """A type that a column may be of.

    Attributes:
        name: what it is called in a text.
        text: how one is written.
        made: how it is read again.
        fits: whether that says all there is to say of some.
    """

    def __init__(
        self,
        name: str,
        text: Callable[..., str],
        made: Callable[[str], object],
        fits: Callable[[Sequence[object]], bool] = lambda _values: True,
    ) -> None:
        self.name = name
        self.text = text
        self.made = made
        self.fits = fits


def is_simple(zones: Iterable[object]) -> bool:
    """Whether each is none or the interpreter's own UTC: what merely equals it may have another name."""
    return all(zone is None or zone is UTC for zone in zones)


def _are_simple(moments: Sequence[object]) -> bool:
    """Whether times are in no zone or in UTC, and none is the second of two."""
    return is_simple(map(attrgetter("tzinfo"), moments)) and not any(map(attrgetter("fold"), moments))


_ROWS: dict[type, _Row] = {
    Decimal: _Row("decimal", str, Decimal),
    datetime: _Row("datetime", datetime.isoformat, datetime.fromisoformat, _are_simple),
    date: _Row("date", date.isoformat, date.fromisoformat),
    UUID: _Row("uuid", str, UUID),
}

_MADE = {row.name: row.made for row in _ROWS.values()}
