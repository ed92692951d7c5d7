"""The standard library inside: programs whose value, output or fault is what CPython gives, or what is said instead."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

TABLES = Path(__file__).with_name("library")


def rows() -> list[Any]:
    """Every row of every table, under the name of its table and the first two lines of its program."""
    found = []
    for table in sorted(TABLES.glob("*.toml")):
        for row in tomllib.loads(table.read_text())["row"]:
            name = "; ".join(row["program"].splitlines()[:2])
            found.append(pytest.param(row, id=f"{table.stem}: {name[:80]}"))
    return found


@pytest.mark.parametrize("row", rows())
def test_row(room, row):
    world = room()
    reply = world.run(row["program"])
    if "fault" in row:
        assert reply.fault is not None
        assert reply.fault["type"] == row["fault"]
        assert row["words"] in reply.fault["message"]
    else:
        assert repr(reply.value) == row.get("value", "None").strip("\n")
    if "printed" in row or "fault" not in row:
        assert world.printed == row.get("printed", "")


def test_every_module_of_the_library_is_there_or_says_why_not(room):
    for name in sorted(sys.stdlib_module_names):
        fault = room().run(f"import {name}").fault
        if fault is not None:
            assert fault["type"] == "ModuleNotFoundError", name
            assert "does not exist in the sandbox" in fault["message"]
            assert f"did you mean {name!r}" not in fault["message"]


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("date('now')", "2026-01-02"),
        ("datetime('NOW', '+1 day', 'localtime')", "2026-01-03 03:04:05"),
        ("datetime()", "2026-01-02 03:04:05"),
        ("strftime('%Y %f')", "2026 05.678"),
        ("strftime('%H:%M', 'now', 'utc')", "03:04"),
        ("current_timestamp", "2026-01-02 03:04:05"),
        ("current_date || current_time", "2026-01-0203:04:05"),
        ("unixepoch()", 1767323045),
        ("datetime('now', 'subsec')", "2026-01-02 03:04:05.678"),
        ("timediff('now', '2026-01-01')", "+0000-00-01 03:04:05.678"),
        ("round(julianday('now'), 3)", 2461042.628),
    ],
)
def test_a_database_knows_the_time_of_the_room(run, expression, value):
    connect = 'import sqlite3\nc = sqlite3.connect(":memory:")\n'
    assert run(f'{connect}c.execute("select {expression}").fetchone()[0]').value == value
    table = (
        f'{connect}c.execute("create table t(a, b default ({expression}))")\nc.execute("insert into t(a) values (1)")'
    )
    assert run(f'{table}\nc.execute("select b from t").fetchone()[0]').value == value


def test_the_randomness_of_a_database_follows_the_seed(run):
    program = (
        "import sqlite3\nc = sqlite3.connect(':memory:')\n"
        "c.execute('with n(x) as (values (1), (2)) select x, random(), hex(randomblob(4)) from n').fetchall()"
    )
    first, again, other = run(program).value, run(program).value, run(program, seed=bytes(32)).value
    assert first == again
    assert first != other
    assert first[0][1] != first[1][1]


def test_what_a_program_sets_for_itself_ends_with_it(room):
    world = room()
    world.run("import decimal, sys\ndecimal.getcontext().prec = 3\nsys.argv.append('x')")
    assert world.run("[decimal.getcontext().prec, len(sys.argv)]").value == [28, 1]


def test_a_traceback_that_is_printed_shows_the_programs_frames_only(room):
    def fails() -> None:
        msg = "no"
        raise KeyError(msg)

    world = room(fails)
    world.run(
        "import json, traceback\nfor f in (tools.fails, lambda: json.loads('{')):\n    try:\n        f()\n"
        "    except Exception:\n        traceback.print_exc()\ntraceback.print_stack()"
    )
    assert "/" not in world.printed
    assert world.printed.count('File "<program>", line 4, in <module>') == 2
    assert 'File "<program>", line 7, in <module>\n    traceback.print_stack()' in world.printed
