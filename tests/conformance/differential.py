"""The same program on CPython and on an engine, and whether anything tells the two apart."""

from __future__ import annotations

import random
import sys
import time

from codeact import Limits, Result, Sandbox
from codeact.testing.equality import same
from codeact.testing.reference import UnsafeCPython
from tests.conformance.generator import Writer

LIMITS = Limits(timeout=20.0)
PYTHON = Sandbox(engine=UnsafeCPython(), limits=LIMITS)
GUEST = (3, 14)
"""The version of Python that the wasm guest is; lines and messages are compared where it is the host's too."""


def difference(program: str) -> str | None:
    """What differs between CPython and the engines, or None."""
    expected = PYTHON.run(program)
    for engine in ("wasm", "restricted"):
        got = _sandbox(engine).run(program)
        alike = engine == "restricted" or sys.version_info[:2] == GUEST
        if _end(got, alike) != _end(expected, alike) or not same(got.value, expected.value):
            return f"{engine} differs\n{program}\nexpected: {expected.observation()}\ngot: {got.observation()}"
    return None


def _sandbox(engine: str) -> Sandbox:
    if engine not in _made:
        _made[engine] = Sandbox(engine=engine, limits=LIMITS)
    return _made[engine]


_made: dict[str, Sandbox] = {}


def _end(result: Result, exactly: bool) -> tuple[object, ...]:
    error = result.error
    if error is None:
        return (result.stdout,)
    return result.stdout, error.kind, error.type, *((error.line, error.message) if exactly else ())


def main(seconds: float, seed: int) -> None:
    """Write programs until the time is up, and print those that differ."""
    end = time.monotonic() + seconds
    count = found = 0
    while time.monotonic() < end:
        chance = random.Random(f"{seed} {count}")
        told = difference(Writer(chance.randint).program())
        count += 1
        if told is not None:
            found += 1
            sys.stdout.write(f"--- seed {seed}, program {count}: {told}\n\n")
            sys.stdout.flush()
    sys.stdout.write(f"{count} programs, {found} differ\n")


if __name__ == "__main__":
    main(float(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else time.time_ns())
