from __future__ import annotations

import pytest


def add(a: int, b: int = 1) -> int:
    """Add two numbers."""
    return a + b


def fails() -> None:
    msg = "no such customer"
    raise KeyError(msg)


def misused() -> None:
    msg = "wrong arguments"
    raise TypeError(msg)


async_add = add.__class__(add.__code__, add.__globals__, "async_add", add.__defaults__)


@pytest.mark.parametrize(
    ("program", "value"),
    [
        ("tools.add(1, b=2)", 3),
        ("tools['add'](1)", 2),
        ("tools.add is tools['add']", True),
        ("list(tools)", ["add", "async_add"]),
        ("len(tools), 'add' in tools, 'x' in tools", (2, True, False)),
        ("sorted(tools.keys()) == [name for name, tool in tools.items()]", True),
        ("tools.get('x', 5)", 5),
        ("await tools.add(1)", 2),
        ("await tools.async_add(1)", 2),
        ("call = tools.async_add(1)\nawait call", 2),
        ("[await tools.async_add(i) for i in range(3)]", [1, 2, 3]),
        ("import asyncio\nawait asyncio.gather(*[tools.async_add(i) for i in range(3)])", [1, 2, 3]),
        ("import asyncio\nasync def main():\n    return await tools.async_add(1)\nasyncio.run(main())", 2),
        (
            "import asyncio\ntasks = [asyncio.create_task(tools.async_add(i)) for i in (1, 2)]\nawait asyncio.gather(*tasks)",
            [2, 3],
        ),
        (
            "from concurrent.futures import ThreadPoolExecutor as T\nwith T() as t:\n    r = list(t.map(tools.add, [1, 2]))\nr",
            [2, 3],
        ),
        ("'tools' in globals()", False),
    ],
)
def test_calls(room, program, value):
    assert room(add, async_add).run(program).value == value


@pytest.mark.parametrize(
    ("program", "kind", "words"),
    [
        ("tools.ad(1)", "AttributeError", "did you mean 'add'"),
        ("tools['ad']", "KeyError", "the tools are: add"),
        ("tools.add = 1", "AttributeError", "cannot be changed"),
        ("tools['add'] = 1", "TypeError", "cannot be changed"),
        ("del tools.add", "AttributeError", "cannot be changed"),
        ("tools.add(x for x in [])", "TypeError", "add(): argument 1: cannot pass <generator>; make it a list"),
        ("tools.add(b={'k': [print]})", "TypeError", "add(): argument b"),
        ("tools.fails()", "ToolError", "KeyError: 'no such customer'"),
        ("tools.misused()", "TypeError", "wrong arguments"),
        ("tools.async_add(1)", "TypeError", "write `await tools.async_add(...)`"),
    ],
)
def test_refusals(room, program, kind, words):
    fault = room(add, async_add, fails, misused).run(program).fault
    assert fault["type"] == kind
    assert words in fault["message"]


def test_a_tool_error_can_be_caught_and_other_results_survive(room):
    reply = room(add, fails).run(
        "done = []\nfor call in (lambda: tools.add(1), lambda: tools.fails()):\n"
        "    try:\n        done.append(call())\n    except ToolError as error:\n        done.append(str(error))\ndone"
    )
    assert reply.value == [2, "KeyError: 'no such customer'"]


def test_help_and_print_show_what_there_is(room):
    world = room(add)
    world.run("print(tools)\nhelp(tools.add)\nhelp(tools)")
    assert world.printed.count("Add two numbers.") >= 2
    assert "add(...)" in world.printed


def test_a_forgotten_await_shows_itself(room):
    world = room(async_add)
    world.run("print(tools.async_add(1))")
    assert "not awaited" in world.printed
    assert world.calls == []


def test_a_tool_named_like_a_method_of_mappings_wins(room):
    def items() -> list[int]:
        return [1]

    assert room(items).run("tools.items(), tools['items'](), list(tools)").value == ([1], [1], ["items"])


def test_printed_text_leaves_before_a_call(room):
    seen = []

    def look() -> None:
        seen.append(world.printed)

    world = room(look)
    world.run("print('a', end='')\ntools.look()\nprint('b', end='')")
    assert seen == ["a"]
    assert world.printed == "ab"
