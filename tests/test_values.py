"""What goes in comes out equal and of the same type: the codec, the copies, and the way through both engines."""

from __future__ import annotations

import json
import sys
import time as time_module
import tracemalloc
from collections import Counter, OrderedDict, namedtuple
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from enum import Enum, IntEnum, StrEnum
from fractions import Fraction
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel
from typing_extensions import TypedDict

from codeact import Limits, Sandbox
from codeact.engines.room import bounded
from codeact.renderings import jsonable
from codeact.testing.equality import same
from codeact.values import Record, Uncrossable, from_guest, from_host
from tests import tools
from tests.conftest import MakeSandbox
from wasm_runtime.guest.codec import decode, encode
from wasm_runtime.guest.records import record

DEPTH, SIZE = 20, 1_000_000

zones = st.sampled_from(
    [
        None,
        UTC,
        timezone(timedelta(hours=-3, minutes=-30)),
        timezone(timedelta(hours=1), "CET"),
        ZoneInfo("Europe/Berlin"),
    ]
)
atoms = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(min_value=-(2**300), max_value=2**300),
    st.floats(allow_nan=True, allow_infinity=True),
    st.text(st.characters(exclude_categories=())),
    st.binary(),
    st.dates(),
    st.datetimes(timezones=zones, allow_imaginary=False),
    st.times(timezones=st.sampled_from([None, UTC])),
    st.timedeltas(),
    st.decimals(),
    st.fractions(),
    st.uuids(),
)
keys = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(), st.binary(), st.dates()),
    lambda inner: st.one_of(st.tuples(inner, inner), st.frozensets(inner, max_size=3)),
    max_leaves=4,
)
values = st.recursive(
    atoms,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.tuples(inner, inner),
        st.dictionaries(keys, inner, max_size=4),
        # A record with a field "$", which no class of Python's has, crosses as a dict.
        st.dictionaries(st.text().filter(lambda name: name != "$"), inner, max_size=4).map(record),
        st.sets(keys, max_size=3),
        st.frozensets(keys, max_size=3),
    ),
    max_leaves=12,
)


@settings(deadline=None)
@given(values)
def test_the_codec_is_faithful(value: object) -> None:
    text = encode(value, DEPTH)
    assert same(decode(text), value)
    text.encode()


@settings(deadline=None)
@given(values)
def test_copies_are_faithful(value: object) -> None:
    assert same(from_guest(value, depth=DEPTH, size=SIZE), value)
    assert same(from_host(value, depth=DEPTH, size=SIZE), value)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(value=values)
def test_values_cross_both_ways_unchanged(sandbox: Sandbox, value: object) -> None:
    granted = Sandbox([tools.tool(name="give")(_giver(value))], engine=sandbox.engine)
    result = granted.run("tools.give()")
    assert result.ok, result.observation()
    assert same(result.value, from_guest(value, depth=DEPTH, size=SIZE))


def _giver(value: object) -> Any:
    def give() -> object:
        """The value."""
        return value

    return give


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(value=values)
def test_arguments_arrive_unchanged(engine: str, value: object) -> None:
    seen: list[object] = []

    def take(given: Any) -> None:
        """Keep what came."""
        seen.append(given)

    result = Sandbox([tools.tool(name="give")(_giver(value)), take], engine=engine).run("tools.take(tools.give())")
    assert result.ok, result.observation()
    assert same(seen[0], value)


class Color(Enum):
    RED = "red"
    NESTED = ("a", 1)


class Level(IntEnum):
    LOW = 1


class Kind(StrEnum):
    A = "a"


@dataclass(slots=True)
class Slotted:
    x: int
    items: list[int] = field(default_factory=list)


Pair = namedtuple("Pair", ["left", "right"])  # noqa: PYI024 - the untyped one is what is tested


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (Counter("aab"), {"a": 2, "b": 1}),
        (OrderedDict(a=1), {"a": 1}),
        (Slotted(1, [2]), {"x": 1, "items": [2]}),
        (Pair(1, "r"), (1, "r")),
        (Level.LOW, 1),
        (Kind.A, "a"),
        (Color.RED, "red"),
        (type("Text", (str,), {})("sub"), "sub"),
    ],
)
def test_what_tools_return_becomes_plain(value: object, plain: object) -> None:
    copied = from_host(value, depth=DEPTH, size=SIZE)
    assert copied == plain
    assert type(copied).__module__ in {"builtins", "wasm_runtime.guest.records"}


def test_a_field_that_is_not_there_is_named_either_way(make: MakeSandbox) -> None:
    def give() -> Slotted:
        """A record."""
        return Slotted(1)

    for program in ("tools.give().y", "tools.give()['y']"):
        error = make([give]).run(program).error
        assert error is not None
        assert "record has no field 'y'; its fields are: x, items" in error.message


def test_a_namedtuple_is_a_tuple(make: MakeSandbox) -> None:
    def give() -> Pair:
        """A namedtuple."""
        return Pair(1, "r")

    assert make([give]).run("left, right = tools.give()\n[left, right, tools.give()[1]]").value == [1, "r", "r"]


@pytest.mark.parametrize("fields", [{"$": 1}, {"$": None}, {"$": "dict", "v": [[1, 2]]}, {"$": "int"}])
def test_a_mark_among_the_fields_is_a_field(make: MakeSandbox, fields: dict[str, object]) -> None:
    def give() -> dict[str, object]:
        """Fields."""
        return fields

    seen: list[object] = []

    def take(value: Any) -> None:
        """Keep."""
        seen.append(value)

    def give_record() -> Any:
        """A record of them."""
        return record(dict(fields))

    result = make([give, give_record, take]).run("tools.take(tools.give_record())\n[tools.give(), tools.give_record()]")
    assert result.value == [fields, fields], result.observation()
    assert seen == [fields]


def test_a_record_field_wins_over_a_method_of_dict() -> None:
    copied: Any = from_host(Slotted(1, [2]), depth=DEPTH, size=SIZE)
    assert isinstance(copied, Record)
    assert copied.items == [2]
    assert copied["items"] == [2]
    assert copied.keys() == {"x", "items"}
    with pytest.raises(AttributeError, match="no field 'y'; its fields are: x, items"):
        _ = copied.y


class Moment(BaseModel):
    at: datetime


class Person(TypedDict):
    id: str


@dataclass(frozen=True)
class Order:
    customer: Person


class Page(BaseModel):
    people: list[Person]


def test_a_time_zone_of_some_librarys_own_becomes_an_offset(make: MakeSandbox) -> None:
    def moment() -> Moment:
        """A time that pydantic has read."""
        return Moment.model_validate_json('{"at": "2026-01-02T03:04:05+02:00"}')

    result = make([moment]).run("tools.moment().at")
    assert same(result.value, datetime(2026, 1, 2, 3, 4, 5, tzinfo=timezone(timedelta(hours=2)))), result.observation()


def test_an_offset_is_made_of_plain_parts() -> None:
    class Span(timedelta):
        days = 3

    class Name(str):
        __slots__ = ()

    moment = datetime(2026, 1, 2, tzinfo=timezone(Span(hours=1), Name("CET")))
    for copy in (from_guest(moment, depth=DEPTH, size=SIZE), from_host(moment, depth=DEPTH, size=SIZE)):
        assert same(copy, datetime(2026, 1, 2, tzinfo=timezone(timedelta(hours=1), "CET")))
        assert type(copy.tzname()) is str
        assert type(copy.utcoffset()) is timedelta


@dataclass
class Query:
    id: str
    items: list[str]
    keys: list[str]
    values: int
    copy: bool


QUERY = {"id": "q", "items": ["a"], "keys": [], "values": 3, "copy": True}


@pytest.mark.parametrize(
    "program",
    [
        "import json\njson.loads(json.dumps(q))",
        "import copy\ncopy.copy(q)",
        "import copy\ncopy.deepcopy([q])[0]",
        "dict(q)",
        "{**q}",
        "import pprint\nassert \"'items': ['a']\" in pprint.pformat(q)\nq",
        "import csv, io\ntext = io.StringIO()\nrow = csv.DictWriter(text, ['id', 'items', 'keys', 'values', 'copy'])\n"
        "row.writerow(q)\nassert text.getvalue() == \"q,['a'],[],3,True\\r\\n\"\nq",
        "{'id': q.id, 'items': q.items, 'keys': q.keys, 'values': getattr(q, 'values'), 'copy': q.copy}",
    ],
)
def test_a_record_with_fields_like_methods_of_dict_is_a_dict_for_the_library(make: MakeSandbox, program: str) -> None:
    def query() -> Query:
        return Query("q", ["a"], [], 3, copy=True)

    result = make([query]).run(f"q = tools.query()\n{program}")
    assert result.value == QUERY, result.error


def test_typeddicts_inside_other_records_are_records(make: MakeSandbox) -> None:
    def order() -> Order:
        """A dataclass that holds a TypedDict."""
        return Order({"id": "c1"})

    def page() -> Page:
        """A model that holds some."""
        return Page(people=[{"id": "c2"}])

    result = make([order, page]).run("[tools.order().customer.id, tools.page().people[0].id]")
    assert result.value == ["c1", "c2"], result.observation()


@pytest.mark.parametrize("holder", ["{P(1), P(2)}", "{P(1): 2}", "{(1, P(2))}", "frozenset([P(1)])"])
def test_a_record_cannot_be_in_a_set_or_a_key(make: MakeSandbox, holder: str) -> None:
    result = make().run(f"from dataclasses import dataclass\n@dataclass(frozen=True)\nclass P:\n    x: int\n{holder}")
    assert result.error is not None
    assert result.error.kind == "value", result.observation()
    assert "a record cannot be in a set" in result.error.message


class Hostile:
    """Whoever calls a method of this fails the test."""

    def _never(self, *_: object) -> Any:
        pytest.fail("a method of a guest's object was called")

    __eq__ = __hash__ = __repr__ = __str__ = __len__ = __iter__ = __getattr__ = _never  # type: ignore[assignment]


class HostileDict(dict[str, object]):
    items = keys = values = __iter__ = __len__ = __getitem__ = Hostile._never  # type: ignore[assignment]


class HostileStr(str):
    __slots__ = ()
    __str__ = __len__ = __hash__ = __eq__ = Hostile._never  # type: ignore[assignment]


def test_no_method_of_a_guests_object_runs() -> None:
    with pytest.raises(Uncrossable, match=r"value\['a'\]: cannot return <Hostile>"):
        from_guest({"a": Hostile()}, depth=DEPTH, size=SIZE)
    copied = from_guest([HostileDict(a=1), HostileStr("text")], depth=DEPTH, size=SIZE)
    assert same(copied, [{"a": 1}, "text"])


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"rows": [1, {"x": object()}]}, r"value\['rows'\]\[1\]\['x'\]: cannot return <object>"),
        ([(1, 2, (n for n in "a"))], r"value\[0\]\[2\]: cannot return <generator>; make it a list"),
        ({1: [range(3)]}, r"value\[1\]\[0\]: cannot return <range>; make it a list"),
        (record({"x": {"y": lambda: 1}}), r"value\.x\['y'\]: cannot return <function>"),
    ],
)
def test_what_cannot_cross_names_its_path(value: object, message: str) -> None:
    with pytest.raises(Uncrossable, match=message):
        from_guest(value, depth=DEPTH, size=SIZE)
    with pytest.raises(Uncrossable, match=message):
        encode(value, DEPTH)


@pytest.mark.parametrize(
    "value",
    [1 << 400_000, Decimal("1e10000000"), Decimal("1e-3000000"), Fraction(1 << 300_000), [1 << 200_000] * 9],
    ids=["int", "large", "small", "fraction", "many"],
)
def test_a_number_counts_for_what_it_costs_to_convert(value: object) -> None:
    with pytest.raises(Uncrossable, match=r"value_bytes|an integer of more than 262,144 bits"):
        from_guest(value, depth=DEPTH, size=10 * 2**20)


@pytest.mark.parametrize(
    "program",
    [
        "{i * (2 ** 61 - 1) for i in range(20000)}",
        "{i * (2 ** 61 - 1): 1 for i in range(20000)}",
        "from decimal import Decimal\nN = 1 << 4_000_000\n[{N, Decimal(3)}]",
        "tools.convert(1 << 3_000_000)",
        "from decimal import Decimal\ntools.whole(Decimal('1e10000000'))",
        "[1 << 2_000_000]",
        "{str(i): i for i in range(700_000)}",
    ],
)
def test_values_that_would_hold_the_host_are_refused(program: str) -> None:
    def convert(x: Decimal) -> int:
        """Take a Decimal."""
        return 1

    def whole(x: int) -> int:
        """Take an int."""
        return 1

    began = time_module.monotonic()
    result = Sandbox([convert, whole], limits=Limits(timeout=5)).run(program)
    assert time_module.monotonic() - began < 8
    assert result.error is not None, result.observation()[:500]
    assert result.error.kind in {"value", "runtime", "timeout"}, result.observation()[:500]


def test_depth_counts_containers_only(make: MakeSandbox) -> None:
    for leaf in ("1", "'1'", "None", "b'1'", "1.5"):
        assert make(value_depth=2).run(f"[[{leaf}]]").ok
        assert not make(value_depth=2).run(f"[[[{leaf}]]]").ok


def test_records_that_were_changed_inside_cross_as_what_they_became() -> None:
    def give() -> Slotted:
        """A record."""
        return Slotted(1)

    result = Sandbox([give]).run("r = tools.give()\nr[1] = 2\nr[None] = 3\nr['$'] = 4\nr")
    assert result.value == {"x": 1, "items": [], 1: 2, None: 3, "$": 4}


def test_nan_keys_stay_apart(make: MakeSandbox) -> None:
    value: Any = make().run("{float('nan'): 1, float('nan'): 2}").value
    assert len(value) == 2


def test_a_copy_is_bounded() -> None:
    shared: list[object] = []
    for _ in range(40):
        shared = [shared, shared]  # 2 ** 40 leaves, if it were unfolded without a budget
    with pytest.raises(Uncrossable, match="value_bytes|value_depth"):
        from_guest(shared, depth=100, size=100_000)
    loop: list[object] = []
    loop.append(loop)
    with pytest.raises(Uncrossable, match="value_depth"):
        from_guest(loop, depth=50, size=SIZE)


@pytest.mark.parametrize(
    "text",
    [
        "", "{", "[1,", '{"$":"nothing"}', '{"$":"int"}', '{"$":"int","v":"zz"}', '{"$":["int"],"v":1}', '{"$":"set","v":[[1]]}',
        '{"$":"datetime","v":1}', '{"$":"datetime","v":"2026-01-01","fold":3}', '{"$":"dict","v":[[1]]}', '{"$":"uuid","v":"x"}',
        '{"$":"decimal","v":"x"}', '{"$":"fraction","v":[1,0]}', '{"$":"time","v":"12:00","fold":0,"zone":"No/Where"}',
        '{"$":"rec","v":[1]}', '{"$":"timedelta","v":[1e400]}', "[" * 100_000, '{"$":"bytes","v":"\u0100"}',
        '{"$":"datetime","v":"2026-01-01","fold":0,"zone":"../../etc/passwd"}', '{"$":null}',
        '{"$":"datetime","v":"2026-01-01","fold":0,"zone":"America"}', '{"$":"datetime","v":"2026-01-01","fold":0,"zone":"' + "x" * 5000 + '"}',
        '{"$":"set","v":"abc"}', '{"$":"tuple","v":{"a":1}}', '{"$":"fraction","v":["1e30000000"]}', '{"$":"fraction","v":["1","2"]}',
        '{"$":"decimal","v":{"$":"int","v":"0x1"}}', '{"$":"rec","v":{"$":"dict","v":[[{"$":"tuple","v":[1]},2]]},"x":[]}x',
        '{"$":"int","v":"0x' + "f" * 70_000 + '"}', '{"$":"date","v":["2026"]}', '{"$":"timedelta","v":["1"]}',
        '{"$":"set","v":[' + ",".join(str(n * (2**61 - 1)) for n in range(20)) + "]}",
        '{"$":"set","v":[{"$":"int","v":"0x' + "f" * 400 + '"}]}', '{"$":"set","v":[{"$":"tuple","v":[{"$":"decimal","v":"1e9999999"}]}]}',
        '{"$":"set","v":[{"$":"member","n":"x","v":{"$":"int","v":"0x' + "f" * 400 + '"}}]}', '{"$":"dict","v":["ab"]}',
        '{"$":"fraction","v":[1,-2]}', '{"$":"decimal","v":"' + "9" * 100_000 + '"}',
    ],
)  # fmt: skip
def test_a_forged_text_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - each row says something else
        decode(text)


def _alike(depth: int, variant: int) -> object:
    """Sets of one hash that differ, of such sets: to find out takes comparing each with each."""
    if depth == 0:
        return variant * (2**61 - 1)
    return {"$": "frozenset", "v": [*(_alike(depth - 1, n) for n in range(7)), _alike(depth - 1, 8 + variant)]}


@pytest.mark.parametrize("wrap", [lambda key: key, lambda key: {"$": "member", "n": "x", "v": key}])
def test_sets_of_sets_that_collide_are_refused(wrap: Any) -> None:
    with pytest.raises(ValueError, match="collide"):
        decode(json.dumps({"$": "set", "v": [wrap(_alike(2, n)) for n in range(2)]}))
    honest = {-1, -2, frozenset({-1}), frozenset({-2}), frozenset({frozenset({1, (2, 3)}), frozenset()})}
    assert decode(encode(honest, DEPTH)) == honest


HEAVY = {
    "a pair that is a text": '{"$":"dict","v":["' + "x" * 30_000_000 + '"]}',
    "a Decimal": '{"$":"decimal","v":"' + "9" * 30_000_000 + '"}',
    "a time zone": '{"$":"time","v":"12:00","fold":0,"zone":"' + "A/" * 15_000_000 + '"}',
    "a key": '{"' + "\xff" * 30_000_000 + '":1}',
    "a key that takes ten times its length to be shown": '{"' + "\U000e0001" * 7_000_000 + '":{"a":[[]]}}',
    "a number of JSON": "1" * 30_000_000,
    "bytes": '{"$":"bytes","v":"' + "x" * 30_000_000 + '"}',
    "lists": "[" + "[]," * 250_000 + "[]]",
    "dicts": "[" + '{"a":1},' * 160_000 + "{}]",
    "sets": "[" + '{"$":"set","v":[]},' * 80_000 + "1]",
}


@pytest.mark.parametrize("case", HEAVY)
def test_what_is_made_of_a_text_is_in_proportion_to_it(case: str) -> None:
    tracemalloc.start()
    try:
        with suppress(Uncrossable, ValueError):
            bounded(HEAVY[case], Limits(value_depth=2))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 80_000_000


@pytest.mark.parametrize("text", ["9" * 40_000, "[-" + "9" * 40_000 + "]"])
def test_numbers_are_short_where_the_interpreter_does_not_mind(text: str) -> None:
    before = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(0)
    try:
        with pytest.raises(ValueError, match="too long"):
            decode(text)
        assert decode("[1, -2]") == [1, -2]
    finally:
        sys.set_int_max_str_digits(before)


@settings(deadline=None)
@given(values)
def test_jsonable_is_json(value: object) -> None:
    json.dumps(jsonable(value), allow_nan=False)


def test_dates_of_the_program_are_real_dates(make: MakeSandbox) -> None:
    result = make().run(
        "from datetime import datetime, timezone, date, timedelta\nfrom decimal import Decimal\n"
        "[datetime(2026, 1, 2, tzinfo=timezone.utc), date(2026, 1, 2) + timedelta(days=1), Decimal('1.10')]"
    )
    assert same(result.value, [datetime(2026, 1, 2, tzinfo=UTC), date(2026, 1, 3), Decimal("1.10")]), result


def test_a_programs_own_types_become_plain(make: MakeSandbox) -> None:
    result = make().run(
        "from dataclasses import dataclass\nfrom collections import Counter, defaultdict\nfrom enum import Enum\n"
        "class Color(Enum):\n    RED = 'red'\n"
        "@dataclass\nclass Row:\n    name: str\n    n: int = 2\n"
        "d = defaultdict(list)\nd['k'].append(1)\n"
        "[Row('a'), Counter('aab'), d, Color.RED]"
    )
    assert result.ok, result.observation()
    assert result.value == [{"name": "a", "n": 2}, {"a": 2, "b": 1}, {"k": [1]}, "red"]
