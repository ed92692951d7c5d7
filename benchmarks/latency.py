"""How long one waits: for a run, for a call, for the first result on a machine and in a process.

Every case goes through the public API, each run is in a fresh world and its answer is checked, and nothing is
subtracted but what the case's note names.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.measure import Spread, spread, timed
from benchmarks.tools import DUPLICATE_PROGRAM, DUPLICATES, TOOLS, increment
from codeact import Limits, Sandbox, Tool
from codeact.engines import load

ROOT = Path(__file__).parent.parent
CALLS = 1000
LIMITS = Limits(timeout=60.0)

LOOP = f"""
number = 0
for _ in range({CALLS}):
    number = tools.increment(number)
number
"""

EVERY_NAME = "import codeact; [getattr(codeact, name) for name in codeact.__all__]"


@dataclass(frozen=True, slots=True)
class Case:
    """One thing to measure.

    Attributes:
        name: what a user would call it.
        engine: the engine it needs; None where it needs none.
        unit: the unit it is told in.
        target: what it should stay below, in that unit; None where nothing was promised.
        note: what exactly is measured.
        rounds: samples taken; fewer when the benchmark is asked to be quick.
        measure: gives that many samples, in seconds.
    """

    name: str
    engine: str | None
    unit: str
    target: float | None
    note: str
    rounds: int
    measure: Callable[[int], list[float]]


@dataclass(frozen=True, slots=True)
class Row:
    """A case, measured in its own unit.

    Attributes:
        case: what was measured.
        spread: the samples; None where there are none.
        skipped: why it cannot be measured here; None where it can.
        failed: what went wrong while it was measured; None where nothing did.
    """

    case: Case
    spread: Spread | None = None
    skipped: str | None = None
    failed: str | None = None


UNITS = {"s": 1.0, "ms": 1e3, "µs": 1e6}


class WrongAnswerError(Exception):
    """A program did not come to the value it should: its time would mean nothing."""


def _run(sandbox: Sandbox, code: str, wanted: object) -> None:
    result = sandbox.run(code)
    if result.value != wanted:
        raise WrongAnswerError(result.observation())


def _fresh(rounds: int, *, engine: str, tools: tuple[Tool[..., Any], ...]) -> list[float]:
    sandbox = Sandbox(tools, engine=engine)
    return timed(lambda: _run(sandbox, "1+1", 2), rounds=rounds, warmup=max(5, rounds // 10))


def _calls(rounds: int, *, engine: str) -> list[float]:
    sandbox = Sandbox(TOOLS, engine=engine, limits=LIMITS)

    def by_hand() -> None:
        number = 0
        for _ in range(CALLS):
            number = increment.function(number)

    own = spread(timed(by_hand, rounds=20, warmup=2)).median
    runs = timed(lambda: _run(sandbox, LOOP, CALLS), rounds=rounds, warmup=2)
    return [(run - own) / CALLS for run in runs]


def _duplicates(rounds: int, *, engine: str) -> list[float]:
    sandbox = Sandbox(TOOLS, engine=engine, limits=LIMITS)
    return timed(lambda: _run(sandbox, DUPLICATE_PROGRAM, DUPLICATES), rounds=rounds, warmup=3)


def _checked(rounds: int, *, program: str) -> list[float]:
    checking = Sandbox(TOOLS, engine="restricted", limits=LIMITS, check=True)
    plain = Sandbox(TOOLS, engine="restricted", limits=LIMITS)
    own = spread(timed(lambda: plain.run(program), rounds=20, warmup=2)).median
    return [run - own for run in timed(lambda: checking.run(program), rounds=rounds, warmup=2)]


def _python(*arguments: str, **environment: str) -> tuple[str, float]:
    """The output of a new interpreter, and its seconds from start to end."""
    began = time.perf_counter()
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return done.stdout, time.perf_counter() - began


def _first_compile(rounds: int) -> list[float]:
    samples = []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory(prefix="codeact-benchmark-") as empty:
            samples.append(float(_python("-m", "benchmarks.child", "wasm", CODEACT_CACHE_DIR=empty)[0]))
    return samples


def _next_process(rounds: int, *, engine: str, whole: bool) -> list[float]:
    child = partial(_python, "-m", "benchmarks.child", engine)
    child()
    return [took if whole else float(output) for output, took in (child() for _ in range(rounds))]


def _bare(rounds: int) -> list[float]:
    _python("-c", "pass")
    return [_python("-c", "pass")[1] for _ in range(rounds)]


def _import(rounds: int, *, statement: str, above: bool) -> list[float]:
    _python("-c", statement)
    # Each is paired with a bare interpreter right before it, so that both meet the machine in the same state.
    pairs = [(_python("-c", "pass")[1], _python("-c", statement)[1]) for _ in range(rounds)]
    return [took - bare if above else took for bare, took in pairs]


def _cases() -> Iterator[Case]:
    for engine, target in (("wasm", 2.5), ("restricted", 0.3)):
        note = "Sandbox.run in a fresh world; the Sandbox is made once"
        five = partial(_fresh, engine=engine, tools=TOOLS)
        none = partial(_fresh, engine=engine, tools=())
        yield Case("1+1, five tools granted", engine, "ms", target, note, 500, five)
        yield Case("1+1, no tools", engine, "ms", None, note, 500, none)
    for engine in ("wasm", "restricted"):
        note = f"a whole run of a loop of {CALLS:,} calls, less the tool's own time, by the number of calls"
        yield Case("one tool call", engine, "µs", None, note, 30, partial(_calls, engine=engine))
    for engine in ("wasm", "restricted"):
        note = "a whole run that finds the 100 duplicates among 1,000 charges, which come from one call"
        yield Case("duplicates among 1,000 charges", engine, "ms", None, note, 50, partial(_duplicates, engine=engine))
    note = "the same with `check=True`, less a run without"
    for name, program in (("a check that finds nothing", "1+1"), ("a check that refuses", "tools.increment()")):
        yield Case(name, "restricted", "ms", None, note, 20, partial(_checked, program=program))
    note = "a new process with an empty cache, from before `import codeact` to the first result"
    yield Case("first result on a machine", "wasm", "s", 20.0, note, 3, _first_compile)
    for engine, target_or_none in (("wasm", 0.5), ("restricted", None)):
        note = "a new process, from before `import codeact` to the first result, 1+1 with no tools"
        inside = partial(_next_process, engine=engine, whole=False)
        whole = partial(_next_process, engine=engine, whole=True)
        yield Case("first result in a process", engine, "s", target_or_none, note, 15, inside)
        note = "the same, from the start of the interpreter to its end"
        yield Case("the whole process", engine, "s", None, note, 15, whole)
    yield Case("bare interpreter", None, "ms", None, "a whole process, python -c pass", 20, _bare)
    for name, statement, target_or_none in (
        ("import codeact", "import codeact", 60.0),
        ("every public name", EVERY_NAME, None),
    ):
        whole_too = partial(_import, statement=statement, above=False)
        above = partial(_import, statement=statement, above=True)
        note = f"a whole process, python -c '{statement}'"
        yield Case(f"{name}, with the interpreter", None, "ms", None, note, 20, whole_too)
        note = "the same, less a bare interpreter run right before it"
        yield Case(name, None, "ms", target_or_none, note, 20, above)


CASES = tuple(_cases())


def measure(case: Case, *, quick: bool) -> Row:
    """Measure one case, or say why it cannot be measured here."""
    if case.engine is not None:
        try:
            load(case.engine)
        except Exception as error:  # noqa: BLE001 - an engine may be absent in any way; the row says which
            return Row(case, skipped=f"{type(error).__name__}: {error}".splitlines()[0])
    rounds = max(1, case.rounds // 10) if quick else case.rounds
    try:
        samples = case.measure(rounds)
    except WrongAnswerError as error:
        return Row(case, failed="; ".join(line.strip() for line in str(error).splitlines()))
    except subprocess.CalledProcessError as error:
        return Row(case, failed=f"a child process ended with code {error.returncode}; see stderr")
    return Row(case, spread(sample * UNITS[case.unit] for sample in samples))
