"""Compiled programs are kept for the tenant that has run them, and are as good as new."""

from __future__ import annotations

from typing import Any

import pytest

from codeact import Sandbox
from codeact.engines import shelf
from codeact.engines.restricted.engine import RestrictedInstance
from codeact.engines.shelf import Shelf


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What is compiled while a test runs."""
    made: list[Any] = []
    compile_once = RestrictedInstance._compile_once

    def noted(self: RestrictedInstance, source: str, name: str) -> Any:
        made.append(compile_once(self, source, name))
        return made[-1]

    monkeypatch.setattr(RestrictedInstance, "_compile_once", noted)
    return made


PROGRAM = """
def total(rows):
    return sum(row["amount"] for row in rows)
cache = {}
for number in range(20):
    cache.setdefault(number % 3, []).append({"amount": number})
print(total(cache[0]))
{key: total(rows) for key, rows in cache.items()}
"""


def test_a_program_is_compiled_once_and_runs_the_same_every_time(compiled: list[Any]) -> None:
    sandbox = Sandbox(engine="restricted")
    results = [sandbox.run(PROGRAM) for _ in range(5)]
    assert len(compiled) == 1
    assert {str(result.value) for result in results} == {"{0: 63, 1: 70, 2: 57}"}
    assert len({result.usage.fuel for result in results}) == 1
    assert len({(result.stdout, result.note) for result in results}) == 1


def test_no_tenant_and_no_sandbox_is_given_what_another_has_compiled(compiled: list[Any]) -> None:
    sandbox = Sandbox(engine="restricted")
    for tenant in ("acme", "bolt", None, "acme", "bolt", None):
        assert sandbox.run("1 + 1", tenant=tenant).value == 2
    assert Sandbox(engine="restricted").run("1 + 1").value == 2
    assert len(compiled) == 4
    assert len({id(one.tail) for one in compiled}) == 4


def test_what_earlier_programs_have_bound_is_another_program(compiled: list[Any]) -> None:
    sandbox = Sandbox(engine="restricted")
    values = []
    for first in ("x = 1", "len = 5", "x = 1"):
        with sandbox.session() as session:
            session.run(first)
            values.append(session.run("str(len)[:1]").value)
    assert values == ["<", "5", "<"]
    assert len(compiled) == 4


def test_errors_are_told_anew_with_their_lines(compiled: list[Any]) -> None:
    sandbox = Sandbox(engine="restricted")
    for program, line in (("1\n1 / 0", 2), ("def f(:", 1), ("1\nopen.__globals__", 2)):
        errors = [sandbox.run(program).error for _ in range(3)]
        assert all(error is not None and error.line == line for error in errors)
        assert len({str(error) for error in errors}) == 1


def test_a_shelf_holds_so_many_and_the_one_unused_for_longest_goes() -> None:
    part = Shelf().of("acme")
    for number in range(shelf.MOST):
        part.keep(str(number), None, number)
    assert part.find("0") == 0
    part.keep("more", None, "more")
    assert (part.find("0"), part.find("1"), part.find("more")) == (0, None, "more")
    part.keep("x" * (shelf.LONGEST + 1), None, "long")
    assert part.find("x" * (shelf.LONGEST + 1)) is None


def test_a_world_with_long_names_leaves_nothing_on_the_shelf() -> None:
    sandbox = Sandbox(engine="restricted")
    with sandbox.session() as session:
        assert session.run(f"exec('{'x' * (shelf.LONGEST + 1)} = 1')").ok
        assert session.run("1 + 1").value == 2
    kept = sandbox._grant.shelf._kept
    assert all(sum(map(len, names)) < shelf.LONGEST for *_, (_, names) in kept)
