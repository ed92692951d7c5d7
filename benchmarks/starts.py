"""How long one waits for the first result, on a machine and in a process, for an import, and for a check.

These are codeact's alone: each is a new interpreter, or something that others do not have.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from benchmarks.contest import AtMost, Measure, Trial
from benchmarks.contestant import Contestant
from benchmarks.measure import spread, timed
from benchmarks.tools import TOOLS
from codeact import Limits, Sandbox

ROOT = Path(__file__).parents[1]
LIMITS = Limits(timeout=60.0)
EVERY_NAME = "import codeact; [getattr(codeact, name) for name in codeact.__all__]"


def _checked(_who: Contestant, _reference: Contestant, rounds: int, *, program: str) -> list[float]:
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


def _first_compile(_who: Contestant, _reference: Contestant, rounds: int) -> list[float]:
    samples = []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory(prefix="codeact-benchmark-") as empty:
            samples.append(float(_python("-m", "benchmarks.child", "wasm", CODEACT_CACHE_DIR=empty)[0]))
    return samples


def _next_process(who: Contestant, _reference: Contestant, rounds: int, *, whole: bool) -> list[float]:
    child = partial(_python, "-m", "benchmarks.child", who.name)
    child()
    return [took if whole else float(output) for output, took in (child() for _ in range(rounds))]


def _bare(_who: Contestant, _reference: Contestant, rounds: int) -> list[float]:
    _python("-c", "pass")
    return [_python("-c", "pass")[1] for _ in range(rounds)]


def _import(_who: Contestant, _reference: Contestant, rounds: int, *, statement: str, above: bool) -> list[float]:
    _python("-c", statement)
    # Each is paired with a bare interpreter right before it, so that both meet the machine in the same state.
    pairs = [(_python("-c", "pass")[1], _python("-c", statement)[1]) for _ in range(rounds)]
    return [took - bare if above else took for bare, took in pairs]


def _cases() -> Iterator[Trial]:
    note = "a run with `check=True`, less a run without"
    for name, program in (("a check that finds nothing", "1+1"), ("a check that refuses", "tools.increment()")):
        yield Trial(name, "ms", note, 20, partial(_checked, program=program), only=("restricted",))
    note = "a new process with an empty cache, from before `import codeact` to the first result"
    yield Trial("first result on a machine", "s", note, 3, _first_compile, {"wasm": AtMost(20)}, ("wasm",))
    ours = ("wasm", "restricted")
    note = "a new process, from before `import codeact` to the first result, 1+1 with no tools"
    inside: Measure = partial(_next_process, whole=False)
    yield Trial("first result in a process", "s", note, 15, inside, {"wasm": AtMost(0.5)}, ours)
    note = "the same, from the start of the interpreter to its end"
    yield Trial("the whole process", "s", note, 15, partial(_next_process, whole=True), only=ours)
    yield Trial("bare interpreter", "ms", "a whole process, python -c pass", 20, _bare, only=("python",))
    for name, statement, targets in (
        ("import codeact", "import codeact", {"python": AtMost(60)}),
        ("every public name", EVERY_NAME, {}),
    ):
        whole: Measure = partial(_import, statement=statement, above=False)
        note = f"a whole process, python -c '{statement}'"
        yield Trial(f"{name}, with the interpreter", "ms", note, 20, whole, only=("python",))
        above: Measure = partial(_import, statement=statement, above=True)
        yield Trial(
            name, "ms", "the same, less a bare interpreter run right before it", 20, above, targets, ("python",)
        )


CASES = tuple(_cases())
