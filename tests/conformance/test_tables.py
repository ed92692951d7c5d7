"""Every row of the tables on every engine, plain CPython first."""

from __future__ import annotations

import pytest

from codeact.engines import Engine
from codeact.testing import conformance
from codeact.testing.reference import UnsafeCPython
from codeact.testing.table import Case

PYTHON = UnsafeCPython()
ENGINES: tuple[str | Engine, ...] = (PYTHON, "wasm", "restricted")


def _rows() -> list[object]:
    return [
        pytest.param(engine, case, id=f"{getattr(engine, 'name', engine)}-{case}")
        for engine in ENGINES
        for case in conformance.cases()
        if case.on_cpython or engine is not PYTHON
    ]


# A coroutine that a program forgot is nobody's mistake but the program's.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize(("engine", "case"), _rows())
def test_conforms(engine: str | Engine, case: Case) -> None:
    verdict = conformance.check(engine, case)
    if verdict.skipped:
        pytest.skip(verdict.skipped)
    assert verdict.ok, verdict


def test_names_are_unique() -> None:
    names = [case.name for case in conformance.cases()]
    assert len(names) == len(set(names))
