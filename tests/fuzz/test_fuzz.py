"""Random hostile input for every door and both engines: nothing of the host's is reached, nothing takes it down.

`python -m tests.fuzz` goes on with other input for as long as it is let.
"""

from __future__ import annotations

import builtins
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.fuzz import __main__ as entry
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


def _below(limit: int) -> Target:
    def check(sent: int) -> None:
        assert sent < limit

    return Target("numbers", st.integers(0, 1000), check)


@pytest.mark.parametrize(("limit", "code"), [(2000, 0), (11, 1)])
def test_what_does_not_hold_is_shown_at_its_smallest(
    limit: int, code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(entry, "LAST", tmp_path / "last.txt")
    monkeypatch.setattr(entry, "TARGETS", (_below(limit),))
    monkeypatch.setattr("sys.argv", ["fuzz", "--seed", "7", "--examples", "400"])
    assert entry.main() == code
    told = capsys.readouterr()
    assert ("400 inputs" in told.out) is (code == 0)
    assert ("sent=11," in told.err) is (code == 1)
    assert ("--target 'numbers' --seed 7 --examples 300" in told.out) is (code == 1)
