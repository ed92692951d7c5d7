"""Random hostile input for every door and both engines: nothing of the host's is reached, nothing takes it down.

`python -m tests.fuzz` goes on with other input for as long as it is let.
"""

from __future__ import annotations

import builtins
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings

from tests.fuzz.canaries import STOOD_FOR, WITHHELD, environment, run_restricted
from tests.fuzz.targets import TARGETS, Target


@pytest.fixture(autouse=True, scope="module")
def canary() -> Iterator[None]:
    with environment():
        yield


@pytest.mark.parametrize("target", TARGETS, ids=[target.name for target in TARGETS])
def test_whatever_is_sent(target: Target) -> None:
    @settings(
        max_examples=target.examples,
        deadline=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
        database=None,
    )
    @given(sent=target.sent)
    def check(sent: object) -> None:
        target.check(sent)

    check()


@pytest.mark.parametrize("name", sorted(WITHHELD))
def test_a_builtin_that_is_not_granted_does_not_resolve(name: str) -> None:
    instance, _, outcomes = run_restricted([f"x = {name}"])
    assert "x" not in instance._world.globals, outcomes


@pytest.mark.parametrize("name", sorted(STOOD_FOR - {"__build_class__"}))
def test_what_stands_for_a_builtin_is_not_the_real_one(name: str) -> None:
    instance, _, outcomes = run_restricted([f"x = {name}"])
    assert "x" in instance._world.globals, outcomes
    assert instance._world.globals["x"] is not getattr(builtins, name)
