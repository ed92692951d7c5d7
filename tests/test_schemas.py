"""Functions that JSON Schema describes are typed as if they had been written here."""

from __future__ import annotations

import asyncio
import inspect
import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codeact import Sandbox, action, stubs, tool
from codeact.schemas import identifiers, typed

CHARGE = {
    "type": "object",
    "title": "Charge",
    "properties": {"id": {"type": "string"}, "amount": {"type": "integer"}},
    "required": ["id", "amount"],
}


def echo(arguments: dict[str, Any]) -> dict[str, Any]:
    return arguments


def of(properties: dict[str, Any], *, required: tuple[str, ...] = (), **schema: Any) -> Any:
    return typed("look", echo, parameters={"type": "object", "properties": properties, "required": required, **schema})


TYPES = [
    ({"type": "string"}, "str"),
    ({"type": "integer"}, "int"),
    ({"type": "number"}, "float"),
    ({"type": "boolean"}, "bool"),
    ({"type": "null"}, "None"),
    ({"type": ["string", "null"]}, "str | None"),
    ({"type": "string", "nullable": True}, "str | None"),
    ({"type": "array", "items": {"type": "integer"}}, "list[int]"),
    ({"type": "array"}, "list[Any]"),
    ({"type": "object"}, "dict[str, Any]"),
    ({"type": "object", "additionalProperties": {"type": "number"}}, "dict[str, float]"),
    ({"enum": ["new", "old", 3]}, "Literal['new', 'old', 3]"),
    ({"enum": [1.5]}, "Any"),
    ({"enum": [f"choice {number}" for number in range(5_000)]}, "Any"),
    ({"const": "x" * 5_000}, "Any"),
    ({"const": "x"}, "Literal['x']"),
    ({"anyOf": [{"type": "string"}, {"type": "integer"}]}, "str | int"),
    ({"oneOf": [{"type": "string"}, {}]}, "Any"),
    ({"allOf": [{}, {"type": "string"}]}, "str"),
    (CHARGE, "Charge"),
    ({"$ref": "#/$defs/One"}, "int"),
    ({"$ref": "https://elsewhere/schema"}, "Any"),
    ({"$ref": "#/$defs/None"}, "Any"),
    ({"type": "stringy"}, "Any"),
    ({}, "Any"),
    (True, "Any"),
    (17, "Any"),
]


@pytest.mark.parametrize(("schema", "written"), TYPES, ids=[f"{place}-{name}" for place, (_, name) in enumerate(TYPES)])
def test_a_schema_is_the_type_that_a_person_would_write(schema: Any, written: str) -> None:
    made = tool(of({"x": schema}, required=("x",), **{"$defs": {"One": {"type": "integer"}}}))
    assert made.signature_line == f"look(x: {written}) -> Any"


def test_arguments_go_by_the_names_of_the_schema_and_what_is_left_out_stays_out(make) -> None:
    look = of(
        {
            "customer-id": {"type": "string"},
            "from": {"type": "string"},
            "limit": {"type": "integer", "default": 10},
            "until": {"type": ["string", "null"], "default": None},
        },
        required=("customer-id",),
    )
    run = make([look]).run("tools.look('c1'), tools.look(customer_id='c1', from_='a', limit=3, until='b')")
    assert run.value == (
        {"customer-id": "c1", "limit": 10, "until": None},
        {"customer-id": "c1", "from": "a", "limit": 3, "until": "b"},
    )


def test_what_must_be_given_comes_first() -> None:
    look = tool(of({"a": {"type": "string"}, "b": {"type": "integer"}}, required=("b",)))
    assert look.signature_line == "look(b: int, a: str | None = None) -> Any"


MISFITS = [
    ({"type": "integer", "maximum": 9}, "10", "less than or equal to 9"),
    ({"type": "integer", "minimum": 0.5}, "0", "greater than or equal to 1"),
    ({"type": "integer", "exclusiveMaximum": 2.5}, "3", "less than or equal to 2"),
    ({"type": "integer", "exclusiveMaximum": 2.0}, "2", "less than 2"),
    ({"type": "string", "minLength": 2}, "'a'", "at least 2 characters"),
    ({"enum": ["a", "b"]}, "'c'", "'a' or 'b'"),
    (CHARGE, "{'id': 'x'}", "x['amount'] is missing"),
    ({**CHARGE, "additionalProperties": False}, "{'id': 'x', 'amount': 1, 'more': 2}", "x['more']"),
]


@pytest.mark.parametrize(("schema", "given", "told"), MISFITS, ids=[told for _, _, told in MISFITS])
def test_what_does_not_fit_never_reaches_the_call(make, schema: Any, given: str, told: str) -> None:
    run = make([of({"x": schema}, required=("x",))]).run(f"tools.look({given})")
    assert told in run.error.message
    assert [call.state for call in run.calls] == ["refused"]


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "number", "minimum": -(10**400), "maximum": 10**400},
        {"type": "integer", "minimum": -math.inf, "maximum": math.nan},
        {"enum": ["\ud800", 1]},
        {"enum": [10**5000, 1]},
        {"type": "number", "default": 10**5000},
        {"type": ["object", "number"], "properties": {"\ud800": {"type": "string"}}},
    ],
    ids=lambda schema: next(reversed(schema)),
)
def test_what_no_annotation_can_hold_is_left_to_who_made_the_schema(make, schema: Any) -> None:
    assert make([of({"x": schema, "\ud801": {}, "null": {"type": "null"}})]).run("tools.look(1)").value == {"x": 1}


def test_more_than_an_open_schema_names_is_handed_on(make) -> None:
    given = {"id": "x", "amount": 1, "more": 2}
    assert make([of({"x": CHARGE}, required=("x",))]).run(f"tools.look({given})").value == {"x": given}


def test_what_comes_back_are_records(make) -> None:
    async def call(_arguments: dict[str, Any]) -> list[dict[str, Any]]:
        await asyncio.sleep(0)
        return [{"id": "ch_1", "amount": 3, "more": None}]

    look = typed("look", call, parameters={"type": "object"}, returns={"type": "array", "items": CHARGE})
    assert inspect.iscoroutinefunction(look)
    assert make([look]).run("charge = (await tools.look())[0]\ncharge.amount, charge.more").value == (3, None)
    assert "class Charge(Record):" in stubs([look])


def test_a_kind_that_is_met_twice_is_declared_once() -> None:
    pair = of({"one": {"$ref": "#/$defs/C"}, "two": {"$ref": "#/$defs/C"}}, **{"$defs": {"C": CHARGE}})
    assert stubs([pair]).count("class Charge(TypedDict)") == 1


def test_a_schema_that_holds_itself_ends() -> None:
    node = {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}, "value": {"type": "integer"}}}
    text = stubs([of({"node": {"$ref": "#/$defs/Node"}}, **{"$defs": {"Node": node}})])
    assert "next: NotRequired[Any]" in text


def test_a_schema_that_doubles_at_each_level_ends() -> None:
    levels = {
        f"L{level}": {"type": "array", "items": {"anyOf": [{"$ref": f"#/$defs/L{level + 1}"}] * 30}}
        for level in range(30)
    }
    tool(of({"x": {"$ref": "#/$defs/L0"}}, **{"$defs": levels}))


def test_what_a_reader_would_not_see_is_escaped() -> None:
    hidden = "good\u202e\x1b[2J\U000e0041"
    made = typed("get", print, parameters={"properties": {"a": {"description": hidden}}}, doc=f"{hidden}\nmore")
    text = stubs([made])
    assert hidden not in text
    assert text.count(r"good\\u202e\\x1b[2J\\U000e0041") == 2  # in a docstring, where each backslash is two


def test_what_is_said_of_parameters_is_in_the_documentation() -> None:
    text = stubs([of({"day": {"type": "string", "format": "date", "description": "when\nit was"}})])
    assert "day: when it was; date" in text


def test_an_action_takes_it_as_well(make) -> None:
    refund = action(of({"charge-id": {"type": "string"}, "note": {"type": "string"}}, required=("charge-id",)))
    (proposal,) = make([], actions=[refund]).run("actions.look('ch_1')").proposals
    assert proposal.arguments == {"charge_id": "ch_1", "note": None}
    assert refund.call_of(proposal.arguments, "")() == {"charge-id": "ch_1"}


def test_names_become_identifiers() -> None:
    names = ["get-charges", "a.b/c", "3d", "from", "_x_", "ünï", "camelCase"]
    assert identifiers(names) == dict(
        zip(names, ["get_charges", "a_b_c", "n3d", "from_", "x", "ünï", "camelCase"], strict=True)
    )


def test_names_that_would_be_one_are_refused() -> None:
    with pytest.raises(ValueError, match="'get-it' and 'get it' would both be named 'get_it'"):
        identifiers(["get-it", "get it"])
    with pytest.raises(ValueError, match=r"no Python name can be made of '\?!'"):
        identifiers(["?!"])


def test_parameters_that_are_no_object_are_refused() -> None:
    with pytest.raises(ValueError, match="look: the schema of its parameters is of no object"):
        typed("look", echo, parameters={"type": "array"})
    with pytest.raises(TypeError, match="expected a JSON Schema"):
        typed("look", echo, parameters=[])  # type: ignore[arg-type]


WORDS = st.sampled_from(
    [
        "type",
        "properties",
        "items",
        "enum",
        "anyOf",
        "allOf",
        "$ref",
        "required",
        "minimum",
        "minLength",
        "default",
        "title",
        "description",
        "const",
        "additionalProperties",
        "#",
        "#/properties/x",
        "object",
        "array",
        "string",
        "integer",
    ]
)
TEXTS = st.text(st.characters(), max_size=4)  # lone surrogates too, which JSON can say
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.just(10**400) | st.floats() | WORDS | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS | TEXTS, inner, max_size=5),
    max_leaves=25,
)


@settings(deadline=None)
@given(st.dictionaries(st.sampled_from(["x", "y-z"]), ANYTHING, max_size=2), ANYTHING)
def test_no_schema_breaks_what_is_made_of_it(properties: dict[str, Any], returns: Any) -> None:
    schema = {"type": "object", "properties": properties, "required": ["x"]}
    made = typed("look", echo, parameters=schema, returns=returns if isinstance(returns, dict) else None)
    compile(stubs([made]), "stubs", "exec")
    assert Sandbox([made], engine="restricted").run("help(tools.look)").ok
