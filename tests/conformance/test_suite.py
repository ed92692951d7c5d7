"""The suite itself: what it says of engines that are right, wrong, different by design, or not there yet."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from codeact import Sandbox
from codeact.engines import Doors, Face, Fault, Outcome, Program
from codeact.limits import Limits
from codeact.testing import conformance
from codeact.testing.equality import same
from codeact.testing.reference import UnsafeCPython, UnsafeInstance
from codeact.testing.table import Case, Difference, Raises, Value

CASE = Case("made/up", "print('hi')\n[1, 2]")
FAILING = Case("made/failing", "x = 1\n1 / 0", Raises("ZeroDivisionError", "division", "runtime", 2))


class Bent(UnsafeCPython):
    """CPython, and then something is done to what it says."""

    name = "bent"

    def __init__(self, bend: Callable[[Outcome], Outcome]) -> None:
        self.bend = bend

    def open(self, faces: tuple[Face, ...], limits: Limits) -> UnsafeInstance:
        bend = self.bend

        class Instance(UnsafeInstance):
            def run(self, program: Program, doors: Doors) -> Outcome:
                outcome = super().run(program, doors)
                return outcome if "version_info" in program.source else bend(outcome)

        return Instance(faces, limits)


straight = Bent(lambda outcome: outcome)
wrong_value = Bent(lambda outcome: replace(outcome, value=[1, 2.0]))
wrong_error = Bent(lambda outcome: replace(outcome, fault=Fault("runtime", "ValueError", "division")))


@pytest.mark.parametrize("case", [CASE, FAILING])
def test_an_engine_that_is_right(case: Case) -> None:
    verdict = conformance.check(straight, case)
    assert (verdict.ok, verdict.complaint, verdict.skipped, verdict.engine) == (True, None, None, "bent")
    assert str(verdict) == f"{case.name} on bent: conforms"


@pytest.mark.parametrize(
    ("engine", "case", "words"),
    [
        (wrong_value, CASE, ["   1 print('hi')", "expected: list [1, 2]", "got:      list [1, 2.0]"]),
        (wrong_error, CASE, ["expected: list [1, 2]", "got:      ValueError: division (runtime"]),
        (straight, replace(FAILING, expects=Raises("ValueError", "", None, 1)), ["ValueError", "ZeroDivisionError"]),
        (straight, replace(FAILING, expects=Raises("ZeroDivisionError", "", None, 1)), ["line 1", "line 2"]),
        (straight, replace(FAILING, expects=None), ["a program that succeeds, or a row that says how it fails"]),
        (straight, replace(CASE, note="bound x"), ["a note with 'bound x'"]),
        (straight, replace(CASE, pending={"bent": "soon"}), ["take the mark off: pending (soon)"]),
        (straight, replace(CASE, differs={"bent": Difference("why", None, Value(3))}), ["expected: int 3"]),
    ],
)
def test_an_engine_or_a_row_that_is_wrong(engine: UnsafeCPython, case: Case, words: list[str]) -> None:
    verdict = conformance.check(engine, case)
    assert not verdict.ok
    assert all(word in str(verdict) for word in words), verdict


def test_what_is_pending_may_be_wrong() -> None:
    assert conformance.check(wrong_value, replace(CASE, pending={"bent": "soon"})).ok


def test_a_difference_by_design() -> None:
    case = replace(FAILING, differs={"bent": Difference("why", "instead", Raises("ValueError", "division"))})
    assert conformance.check(wrong_error, case).ok
    assert conformance.check(straight, replace(case, differs={})).ok


def test_a_version_that_is_not_there() -> None:
    verdict = conformance.check(straight, replace(CASE, since=(4, 0)))
    assert verdict.ok
    assert "needs Python 4.0" in str(verdict.skipped)


def test_output_is_compared() -> None:
    case = replace(CASE, program="import sys\nprint(sys.flags.utf8_mode, id(object()))\n1", expects=Value(1))
    assert "stdout" in str(conformance.check("wasm", case))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, True), (1, 1.0), (0.0, -0.0), ([1], (1,)), ({"a": 1, "b": 2}, {"b": 2, "a": 1}), ({1}, {True}), ([[1.0]], [[1]]),
        (set(), frozenset()), ("a", b"a"),
    ],
)  # fmt: skip
def test_what_is_equal_and_not_the_same(one: object, other: object) -> None:
    assert not same(one, other)
    assert same(one, one)
    assert same(other, other)


def test_nan_is_itself() -> None:
    assert same([float("nan"), {1: float("nan")}], [float("nan"), {1: float("nan")}])


def test_plain_cpython_keeps_no_program_s_loggers() -> None:
    sandbox = Sandbox(engine=UnsafeCPython())
    ask = "import logging\n{}\nlog = logging.getLogger('app')\nlog.isEnabledFor(logging.DEBUG), log.isEnabledFor(logging.INFO)"
    assert sandbox.run(ask.format("logging.getLogger('app').setLevel(logging.DEBUG)")).value == (True, True)
    assert sandbox.run(ask.format("logging.basicConfig(level=logging.INFO)")).value == (False, True)
    assert sandbox.run(ask.format("")).value == (False, False)
