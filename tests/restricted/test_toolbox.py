"""The tools object: a read-only mapping of callables that lead nowhere but to the door."""

from __future__ import annotations

import pytest

from codeact.engines import Face
from codeact.engines.restricted.engine import RestrictedEngine


def test_attribute_and_item_are_the_same(run):
    ran = run("a = tools.get_charges('c1')\nb = tools['get_charges']('c1')\n(a == b, a[0]['id'])")
    assert ran.value == (True, "ch_1")
    assert ran.house.calls == [("get_charges", ("c1",), {})] * 2


def test_it_is_a_mapping(run):
    assert run("[list(tools), len(tools), 'fetch' in tools, 'x' in tools, tools.get('x', 5), [n for n, t in tools.items()] == list(tools.keys()), len(tools.values()), sorted(dict(tools))[0]]").value == [
        ["get_charges", "search_kb", "fetch", "broken"], 4, True, False, 5, True, 4, "broken",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "program",
    [
        "tools.x = 1",
        "tools['x'] = 1",
        "del tools.fetch",
        "del tools['fetch']",
        "setattr(tools, 'x', 1)",
        "tools.fetch.x = 1",
        "tools |= {}",
    ],
)
def test_it_cannot_be_changed(run, program):
    fault = run(program + "\n1").fault
    assert fault.type in {"TypeError", "AttributeError"}
    if "|=" not in program:
        assert fault.message == "tools cannot be changed"


def test_an_unknown_tool_names_near_ones(run):
    fault = run("tools.get_charge('c1')").fault
    assert fault.type == "AttributeError"
    assert (
        fault.message
        == "there is no tool 'get_charge'; did you mean 'get_charges'? the tools are: get_charges, search_kb, fetch, broken"
    )
    assert run("tools['nope']").fault.type == "KeyError"


def test_they_show_their_documentation(run):
    ran = run(
        "print(tools)\nhelp(tools.fetch)\nhelp(tools)\n[repr(tools.get_charges), tools.fetch.__name__, tools.fetch.__doc__]"
    )
    assert ran.value == ["<tool get_charges(customer_id: str) -> list[Charge]>", "fetch", "Fetch, slowly."]
    assert ran.text.count("async fetch(key: str) -> str\n    Fetch, slowly.") == 3


@pytest.mark.parametrize(
    "name",
    [
        "__globals__",
        "__closure__",
        "__self__",
        "__wrapped__",
        "__code__",
        "__defaults__",
        "__kwdefaults__",
        "func",
        "args",
        "_face",
        "_world",
    ],
)
def test_a_tool_leads_nowhere(run, name):
    assert run(f"tools.get_charges.{name}").fault.kind in {"denied", "runtime"}
    assert run(f"getattr(tools.get_charges, '{name[:3]}' + '{name[3:]}')").fault.type == "AttributeError"


def test_errors_of_tools(run):
    assert (
        run("try:\n    tools.broken()\nexcept ToolError as e:\n    r = str(e)\nr").value
        == "broken failed: ValueError: no luck"
    )
    fault = run("x = 1\ntools.broken()").fault
    assert (fault.kind, fault.type, fault.frames[-1].line) == ("tool", "ToolError", 2)
    assert run("try:\n    tools.get_charges(1, 2)\nexcept TypeError as e:\n    r = e.args\nr").value == (
        "get_charges(): customer_id must be a string",
    )


def test_arguments_are_copied_and_judged(run):
    ran = run("class S(str):\n    def lower(self): return 'evil'\ntools.search_kb(S('q'), k=[(1, {2})])")
    ((_, args, named),) = ran.house.calls
    assert (type(args[0]), args, named) == (str, ("q",), {"k": [(1, {2})]})
    fault = run("tools.search_kb('q', [1, lambda: 1])").fault
    assert fault.message.startswith("search_kb(): argument 2[1]: ")


def test_pending_calls(run):
    ran = run("p = tools.fetch('x')\nbefore = repr(p)\n[before, await p, await tools.search_kb('y')]")
    assert ran.value == ["<call of fetch, not awaited: write `await tools.fetch(...)`>", "fetch:x", "search_kb:y"]


def test_tools_named_like_methods_of_a_mapping(run):
    faces = (
        Face("get", "get(key: str) -> str", "", awaitable=False),
        Face("keys", "keys(of: str)", "", awaitable=False),
    )
    assert run("[tools.get('k'), tools['keys']('z'), list(tools)]", faces=faces).value == [
        "get:k",
        "keys:z",
        ["get", "keys"],
    ]


def test_printing(run):
    assert (
        run("print('a', 1, None, sep='-', end='!', flush=True)\nprint()\nprint([1], {'b': 2})").text
        == "a-1-None!\n[1] {'b': 2}\n"
    )


def test_the_engine_s_name_and_fuel():
    assert (RestrictedEngine().name, RestrictedEngine().default_fuel) == ("restricted", 50_000_000)
