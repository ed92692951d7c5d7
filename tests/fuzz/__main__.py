"""Fuzzing for as long as it is let: `python -m tests.fuzz --target door --seconds 3600`.

It goes from target to target in rounds of a few hundred inputs, each with a seed of its own, and prints a line after
each round: what has been tried so far, the memory the process holds, the seed of the round. Where something does not
hold it prints the smallest input that shows it, and how to see it again, and exits with 1. An input that takes longer
than a minute is a finding too, and so is one that kills the process: it is found in the file that is named at the
beginning.

The rounds forget each other, so a run takes no more memory the longer it lasts; what it takes is in the line.
"""

from __future__ import annotations

import argparse
import faulthandler
import os
import random
import sys
import tempfile
import time
import traceback
import warnings
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, seed, settings

from codeact.memory import resident
from tests.fuzz.canaries import environment
from tests.fuzz.targets import TARGETS, Target

ROUND = 300
"""Inputs of a round."""

HANGS = 60.0
"""Seconds after which an input is taken to hang."""

LAST = Path(tempfile.gettempdir(), f"codeact-fuzz-{os.getpid()}.txt")
"""The input under way."""


def main() -> int:
    """Fuzz as the arguments ask for; gives 1 when something did not hold."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__.partition("\n")[0])
    parser.add_argument("--target", default="", metavar="TEXT", help=f"only those that begin so: {_names()}")
    parser.add_argument("--seconds", type=float, default=60.0, help="how long (default: 60)")
    parser.add_argument("--examples", type=int, help="how many inputs at the most")
    parser.add_argument("--seed", type=int, help="of the first round; the next ones count on from it")
    chosen = parser.parse_args()
    targets = [target for target in TARGETS if target.name.startswith(chosen.target)]
    if not targets:
        parser.error(f"--target {chosen.target}: no such target; there are: {_names()}")
    first = random.randrange(10**9) if chosen.seed is None else chosen.seed
    warnings.simplefilter("ignore")  # what programs make the interpreter warn of is not looked for here
    print(f"the input under way is in {LAST}", flush=True)
    with environment():
        return _fuzz(targets, first, time.monotonic() + chosen.seconds, chosen.examples or sys.maxsize)


def _names() -> str:
    return ", ".join(target.name for target in TARGETS)


def _fuzz(targets: list[Target], number: int, until: float, most: int) -> int:
    began, tried = time.monotonic(), 0
    while time.monotonic() < until and tried < most:
        target = targets[number % len(targets)]
        count = min(ROUND, most - tried)
        if not _round(target, number, count, until):
            print(f"\nSee it again: python -m tests.fuzz --target {target.name!r} --seed {number} --examples {count}")
            return 1
        tried += count
        passed = time.monotonic() - began
        print(
            f"{passed:7.0f} s  {tried:9,} inputs  {(resident() or 0) / 1e6:6.0f} MB  seed {number}  {target.name}",
            flush=True,
        )
        number += 1
    LAST.unlink(missing_ok=True)
    return 0


def _round(target: Target, number: int, count: int, until: float) -> bool:
    """Whether a round found nothing."""
    found: list[object] = []

    @seed(number)
    @settings(
        max_examples=count,
        deadline=None,
        database=None,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
        report_multiple_bugs=False,
    )
    @given(sent=target.sent)
    def check(sent: object) -> None:
        if found or time.monotonic() < until:
            LAST.write_text(f"{target.name}\n{sent!r}\n", encoding="utf-8", errors="backslashreplace")
            faulthandler.dump_traceback_later(HANGS, exit=True, file=sys.__stderr__)
            try:
                target.check(sent)
            except Exception:
                found.append(sent)  # from now on it is made smaller, however long that takes
                raise
            finally:
                faulthandler.cancel_dump_traceback_later()

    try:
        check()
    except Exception:  # noqa: BLE001 - whatever does not hold
        traceback.print_exc()
        return False
    return True


if __name__ == "__main__":
    sys.exit(main())
