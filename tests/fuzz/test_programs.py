"""Random hostile programs on both engines: nothing of the host's is ever within reach."""

from __future__ import annotations

import builtins
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings

from tests.fuzz.canaries import STOOD_FOR, WITHHELD, check_restricted, check_wasm, environment, run_restricted
from tests.fuzz.grammar import programs

FUZZED = settings(
    max_examples=150, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck), database=None
)


@pytest.fixture(autouse=True, scope="module")
def canary() -> Iterator[None]:
    with environment():
        yield


@FUZZED
@given(sources=programs)
def test_nothing_of_the_hosts_is_within_reach(sources: list[str]) -> None:
    check_restricted(sources)


@FUZZED
@given(sources=programs)
def test_the_boundary_has_no_canary_behind_it(sources: list[str]) -> None:
    check_wasm(sources)


@pytest.mark.parametrize("name", sorted(WITHHELD))
def test_a_builtin_that_is_not_granted_does_not_resolve(name: str) -> None:
    instance, _, outcomes = run_restricted([f"x = {name}"])
    assert "x" not in instance._world.globals, outcomes


@pytest.mark.parametrize("name", sorted(STOOD_FOR - {"__build_class__"}))
def test_what_stands_for_a_builtin_is_not_the_real_one(name: str) -> None:
    instance, _, outcomes = run_restricted([f"x = {name}"])
    assert "x" in instance._world.globals, outcomes
    assert instance._world.globals["x"] is not getattr(builtins, name)
