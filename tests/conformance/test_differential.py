"""Programs that nobody wrote give the same on CPython and on the engines.

`python -m tests.conformance.differential 600` looks for ten minutes.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.conformance.differential import difference
from tests.conformance.generator import Writer


@st.composite
def programs(draw: Callable[[st.SearchStrategy[Any]], Any]) -> str:
    return Writer(lambda low, high: draw(st.integers(low, high))).program()


@settings(max_examples=200, derandomize=True, deadline=None, database=None, suppress_health_check=list(HealthCheck))
@given(programs())
def test_small_programs(program: str) -> None:
    told = difference(program)
    assert told is None, told


def test_larger_programs() -> None:
    for number in range(200):
        told = difference(Writer(random.Random(number).randint).program())
        assert told is None, told
