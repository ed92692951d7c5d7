"""Programs and answers that nobody wrote are replayed as they were, in the same process and in another one."""

from __future__ import annotations

import ast
import random
from collections.abc import Callable
from datetime import UTC, date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from codeact import Journal, Limits, Sandbox, tool
from tests.conformance.generator import Writer
from tests.journal.test_processes import stranger
from tests.journal.test_replay import alike

LIMITS = Limits(timeout=30)

_leaves = st.one_of(
    st.none(), st.booleans(), st.integers(-(2**70), 2**70), st.floats(), st.text(st.characters(), max_size=8), st.binary(max_size=8),
    st.dates().map(date.isoformat), st.datetimes(timezones=st.just(UTC)), st.timedeltas(), st.decimals(), st.fractions(), st.uuids(),
    st.characters(categories=["Cs"]),
)  # fmt: skip
_hashable = st.recursive(
    st.one_of(st.integers(-999, 999), st.text(max_size=4), st.booleans()),
    lambda inner: st.one_of(st.tuples(inner, inner), st.frozensets(inner, max_size=4)),
    max_leaves=4,
)
values = st.recursive(
    _leaves,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.tuples(inner, inner),
        st.dictionaries(st.text(max_size=4), inner, max_size=4),
        st.dictionaries(_hashable, inner, max_size=3),
        st.sets(_hashable, max_size=6),
    ),
    max_leaves=8,
)


@st.composite
def programs(draw: Callable[[st.SearchStrategy[Any]], Any]) -> str:
    """Small programs that print, fail, loop and compute."""
    return Writer(lambda low, high: draw(st.integers(low, high))).program()


WITH_TOOLS = """\
import asyncio, random, time
seen = []
for n in range({rounds}):
    match random.randrange(5):
        case 0:
            seen.append(tools.give(n))
        case 1:
            try:
                seen.append(tools.fail(n))
            except Exception as error:
                print(error)
        case 2:
            seen.extend(await asyncio.gather(*[tools.later(k) for k in range(random.randrange(4))], return_exceptions=True) and [n])
        case 3:
            seen.append((time.time(), tools.give(random.random())))
        case 4:
            tasks = [asyncio.create_task(tools.later(k)) for k in range(3)]
            done, left = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in left:
                task.cancel()
            print(len(done) > 0, n)
seen
"""


def given_by(answers: list[object]) -> list[Any]:
    """Tools that give these answers, one after the other, and other answers when they are asked again."""
    left = iter(answers)

    @tool
    def give(n: float) -> object:
        """Give something."""
        return next(left, n)

    @tool
    def fail(n: int) -> object:
        """Fail."""
        msg = f"{n} {next(left, None)!r:.50}"
        raise ValueError(msg)

    @tool
    async def later(n: int) -> object:
        """Give something later."""
        return next(left, n)

    return [give, fail, later]


@pytest.fixture(scope="module")
def kept() -> Journal:
    """A journal in memory."""
    return Journal()


def some(examples: int) -> settings:
    """So many examples, always the same."""
    return settings(
        max_examples=examples, deadline=None, database=None, derandomize=True, suppress_health_check=list(HealthCheck)
    )


@some(60)
@given(program=programs())
def test_programs(kept: Journal, engine: str, program: str) -> None:
    sandbox = Sandbox(engine=engine, limits=LIMITS, journal=kept)
    result = sandbox.run(program)
    replayed = sandbox.replay(result.run)
    assert replayed.same, replayed.diverged
    assert alike(replayed.result, result)
    assert alike(replayed.recorded.result, result)


@some(100)
@given(answers=st.lists(values, max_size=6))
def test_answers(kept: Journal, engine: str, answers: list[object]) -> None:
    program = "seen = []\nfor n in range(6):\n    x = tools.give(n)\n    seen.append(x)\n    print(x)\nprint(seen)\ntools.give(1.5)\nseen"
    result = Sandbox(given_by(answers), engine=engine, limits=LIMITS, journal=kept).run(program)
    replayed = Sandbox(engine=engine, limits=LIMITS, journal=kept).replay(result.run)
    assert replayed.same, replayed.diverged
    assert alike(replayed.result, result)


@some(40)
@given(answers=st.lists(values, max_size=20), rounds=st.integers(1, 12))
def test_calls_of_all_kinds(kept: Journal, engine: str, answers: list[object], rounds: int) -> None:
    sandbox = Sandbox(given_by(answers), engine=engine, limits=LIMITS, journal=kept)
    result = sandbox.run(WITH_TOOLS.format(rounds=rounds))
    replayed = sandbox.replay(result.run)
    assert replayed.same, replayed.diverged
    assert alike(replayed.result, result)


@some(20)
@given(turns=st.lists(programs(), min_size=2, max_size=4), restored=st.integers(0, 3))
def test_sessions(kept: Journal, engine: str, turns: list[str], restored: int) -> None:
    sandbox = Sandbox(engine=engine, limits=LIMITS, journal=kept)
    with sandbox.session() as session:
        for number, turn in enumerate(turns):
            result = session.run(turn)
            if number == restored:
                session.restore()
    replayed = sandbox.replay(result.run)
    assert replayed.same, replayed.diverged


def test_in_another_process(path: Path, engine: str) -> None:
    found = []
    with Journal(path) as journal:
        for number in range(25):
            chosen = random.Random(number)
            tools = given_by([chosen.choice([1, "ä", None, 2.5, [1], {"a": {2}}]) for _ in range(10)])
            sandbox = Sandbox(tools, engine=engine, limits=LIMITS, journal=journal)
            found.append(sandbox.run(Writer(chosen.randint).program()))
            found.append(sandbox.run(WITH_TOOLS.format(rounds=chosen.randrange(1, 9))))
    said = stranger("replay", path, engine, *[result.run for result in found], PYTHONHASHSEED="5")
    lines = [ast.literal_eval(line) for line in said.stdout.splitlines()]
    assert len(lines) == len(found), said.stderr
    for result, (diverged, unfinished, _, fuel) in zip(found, lines, strict=True):
        assert (diverged, unfinished, fuel) == (None, None, result.usage.fuel)
