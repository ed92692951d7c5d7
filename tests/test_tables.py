"""Lists of records that are alike: column by column they are what they are record by record."""

from __future__ import annotations

from dataclasses import make_dataclass
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeact import values as values_module
from codeact.testing.equality import same
from codeact.values import Uncrossable, from_guest, from_host
from tests.conftest import MakeSandbox
from tests.test_values import atoms, values
from wasm_runtime.guest import tables
from wasm_runtime.guest.codec import decode, encode
from wasm_runtime.guest.records import Record, record

Row = make_dataclass("Row", ["id", "items", "at"])
columns = st.one_of(
    st.just(atoms),
    st.sampled_from([st.decimals(), st.datetimes(), st.datetimes(timezones=st.just(UTC)), st.dates(), st.uuids()]),
    st.sampled_from([st.integers(), st.text(), st.floats(), st.booleans(), st.timedeltas(), values]),
)
names = st.lists(st.text(min_size=1).filter(lambda name: name != "$"), min_size=1, max_size=4, unique=True)


@st.composite
def lists_of_records(draw: st.DrawFn) -> list[Record]:
    known = draw(names)
    kinds = [draw(columns) for _ in known]
    count = draw(st.integers(tables.FEWEST, 12))
    return [record(dict(zip(known, map(draw, kinds), strict=True))) for _ in range(count)]


@given(lists_of_records())
def test_a_table_reads_as_the_list_that_it_was_made_of(rows: list[Record]) -> None:
    text = tables.written(rows, 100)
    assert text is not None
    assert same(tables.read(text), decode(encode(rows, 100)))


@given(st.lists(st.tuples(atoms, values, atoms), min_size=8, max_size=12))
def test_copies_by_column_are_what_copies_one_by_one_are(rows: list[tuple[object, object, object]]) -> None:
    listed = [Row(*row) for row in rows]
    copied = from_host(listed, depth=100, size=10**7)
    assert same(copied, [from_host(row, depth=100, size=10**7) for row in listed])


def alike(**fields: Any) -> list[Record]:
    return [record(dict(fields)) for _ in range(tables.FEWEST)]


@pytest.mark.parametrize(
    "value",
    [
        alike(a=1)[1:],
        [*alike(a=1), {"a": 1}],
        [*alike(a=1), record({"b": 1})],
        [*alike(a=1, b=2), record({"b": 2, "a": 1})],
        alike(),
        alike(**{"$": 1}),
        tuple(alike(a=1)),
        alike(a=object()),
        {"rows": alike(a=1)},
    ],
    ids=["few", "a dict", "another field", "another order", "no field", "a mark", "a tuple", "uncrossable", "inside"],
)
def test_everything_else_is_no_table(value: object) -> None:
    assert tables.written(value, 100) is None


@pytest.mark.parametrize(
    "value",
    [
        datetime(2026, 3, 1, fold=1, tzinfo=None),  # noqa: DTZ001 - it is what is tried
        datetime(2026, 3, 1, tzinfo=timezone(timedelta(hours=1))),
        datetime(2026, 3, 1, tzinfo=timezone(timedelta(0), "Z")),
        datetime(1, 1, 1, tzinfo=UTC),
        Decimal("-0"),
        Decimal("NaN"),
        Decimal("1E+5000"),
        date.max,
        UUID(int=0),
        2**200,
        "\ud800",
        None,
    ],
)
def test_values_at_the_edge_arrive_in_tables(make: MakeSandbox, value: object) -> None:
    def give() -> list[Any]:
        return [Row(value, None, None)] * tables.FEWEST

    result = make([give]).run("[row.id for row in tools.give()]")
    assert same(result.value, [value] * tables.FEWEST), result.error


def test_keys_are_not_compared_before_they_are_known_to_be_texts() -> None:
    class Odd:
        def __eq__(self, other: object) -> bool:
            raise AssertionError

        def __hash__(self) -> int:
            return 1

    rows: list[object] = [{"a": 1}] * 9 + [{Odd(): 1}]
    with pytest.raises(Uncrossable, match="cannot return <Odd>"):
        from_guest(rows, depth=10, size=10**6)


@given(st.lists(st.fixed_dictionaries({"a": atoms, "b": values}), min_size=8, max_size=12))
def test_dicts_by_column_are_what_dicts_one_by_one_are(rows: list[dict[str, object]]) -> None:
    assert same(from_guest(rows, depth=100, size=10**7), [from_guest(row, depth=100, size=10**7) for row in rows])


def test_a_field_named_as_a_method_wins_in_a_table_too(make: MakeSandbox) -> None:
    def give() -> list[Any]:
        return [Row(number, [number], None) for number in range(20)]

    assert make([give]).run("[row.items for row in tools.give()]").value == [[number] for number in range(20)]


def test_what_cannot_cross_is_named_by_its_place_in_the_list() -> None:
    rows = [Row(1, 2, 3)] * 9 + [Row(1, object(), 3)]
    with pytest.raises(Uncrossable, match=r"value\[9\]\.items: cannot return <object>"):
        from_host(rows, depth=100, size=10**6)


def test_limits_hold_for_what_is_copied_by_column(make: MakeSandbox) -> None:
    deep: list[Any] = []
    for _ in range(20):
        deep = [deep]

    def long() -> list[Any]:
        return [Row(1, "x" * 1000, None)] * 100

    def nested() -> list[Any]:
        return [Row(1, deep, None)] * 10

    sandbox = make([long, nested], value_bytes=50_000, value_depth=10)
    assert "value_bytes=50,000" in str(sandbox.run("tools.long()").error)
    assert "value_depth=10" in str(sandbox.run("tools.nested()").error)


def test_what_cannot_cross_is_found_in_time_however_deep_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    copied = 0
    copy = values_module._Copy.copy

    def counted(self: values_module._Copy, value: object, depth: int) -> object:
        nonlocal copied
        copied += 1
        return copy(self, value, depth)

    monkeypatch.setattr(values_module._Copy, "copy", counted)
    value: object = object()
    for _ in range(60):
        value = [{"x": value}, *[{"x": 0}] * 7]
    with pytest.raises(Uncrossable, match=r"value\[0\]\['x'\]\[0\]"):
        from_guest(value, depth=200, size=10**7)
    assert copied < 2000
