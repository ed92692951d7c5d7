"""Compiled programs are kept for the tenant that has run them, and are as good as new."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from codeact import Sandbox
from codeact.engines.code_cache import LONGEST, MOST, CodeCache
from codeact.engines.restricted import accesses, operations, refusals
from codeact.engines.restricted.engine import RestrictedInstance
from codeact.engines.restricted.grants import builtin_names


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What is compiled while a test runs."""
    made: list[Any] = []
    compile_once = RestrictedInstance._compile_once

    def noted(self: RestrictedInstance, *args: Any) -> Any:
        made.append(compile_once(self, *args))
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


def test_a_cache_holds_so_many_and_the_one_unused_for_longest_goes() -> None:
    cache = CodeCache()
    part = cache.of("acme")
    for number in range(MOST):
        part.keep(str(number), None, number)
    part.keep("1", None, 1)
    assert (len(cache), part.find("0")) == (MOST, 0)
    part.keep("more", None, "more")
    assert (part.find("0"), part.find("1"), part.find("2"), part.find("more")) == (0, 1, None, "more")
    part.keep("x" * (LONGEST + 1), None, "long")
    assert part.find("x" * (LONGEST + 1)) is None


def test_a_tenant_of_many_texts_makes_room_by_his_own() -> None:
    cache = CodeCache()
    small, large = cache.of("small"), cache.of(None)
    for number in range(20):
        small.keep(str(number), None, number)
    for number in range(3 * MOST):
        large.keep(str(number), None, number)
    assert len(cache) == MOST
    assert [small.find(str(number)) for number in range(20)] == list(range(20))
    assert large.find(str(2 * MOST)) is None
    for tenant in range(3 * MOST):
        cache.of(str(tenant)).keep("1 + 1", None, tenant)
    assert len(cache) == MOST
    assert len(cache._tenants) <= MOST


def test_a_cache_is_whole_after_many_threads_have_used_it() -> None:
    cache = CodeCache()

    def use(tenant: int) -> None:
        part = cache.of(str(tenant % 3))
        for number in range(2000):
            if part.find(str(number % 300)) not in (None, number % 300):
                raise AssertionError(number)
            part.keep(str(number % 300), None, number % 300)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(use, range(8)))
    assert len(cache) == sum(map(len, cache._tenants.values())) <= MOST


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
def test_a_forked_child_has_a_cache_that_nobody_is_in() -> None:
    code = (
        "import os, signal\nfrom codeact.engines.code_cache import CodeCache\ncache = CodeCache()\npart = cache.of(None)\n"
        "part.keep('1', None, 1)\nwith cache._lock:\n    pid = os.fork()\n"
        "    if not pid:\n        signal.alarm(20)\n        os._exit(part.find('1') is not None or len(cache))\n"
        "print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), part.find('1'))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (0, "0 1\n"), done.stderr


def test_names_that_mean_no_builtin_do_not_matter(compiled: list[Any]) -> None:
    """Long names, and many of them, are not kept with the programs that are run beside them."""
    with Sandbox(engine="restricted").session() as session:
        for name in ("a", "b" * (LONGEST + 1)):
            assert session.run(f"exec('{name} = 1')").ok
            assert session.run("1 + 1").value == 2
        assert len(compiled) == 3
        assert session.run("int = 5").ok
        assert session.run("1 + 1").value == 2
        assert len(compiled) == 5


def test_the_policy_asks_for_no_name_that_a_cached_program_does_not_depend_on() -> None:
    asked = operations._PLAIN_CALLS | accesses._REWRITTEN | accesses._ALIASES | refusals.EVALUATORS | refusals.MISSING
    assert asked | {"dict"} <= builtin_names()


def test_a_turn_that_says_what_an_earlier_one_has_said_is_compiled_once_and_is_told_apart(compiled: list[Any]) -> None:
    program = "def broken(n):\n    return [1 / (x - x) for x in range(n)]\n\nold = globals().get('old', broken)"
    with Sandbox(engine="restricted").session() as session:
        for _ in range(3):
            assert session.run(program).ok
        latest, first = session.run("broken(1)").error, session.run("old(1)").error
    assert len(compiled) == 3
    for error, number in ((latest, 3), (first, 1)):
        assert error is not None
        assert error.line == 1
        assert f"program {number}" in error.traceback
