"""`python -m codeact.testing.conformance`: an engine put to the test, from a shell."""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Iterator, Sequence
from itertools import groupby

from codeact.engines import EngineUnavailable, engine_names
from codeact.testing.conformance import Verdict, cases, check_all

SHOWN = 10
"""Verdicts that are shown whole; of the others there is a line."""

FAILED = 1
MISUSED = 2


class _Failures(logging.Handler):
    """Keeps why the engine itself failed, which a sandbox tells its host's log and not the program."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.last: str | None = None

    def emit(self, record: logging.LogRecord) -> None:
        """Keep the last one."""
        self.last = logging.Formatter().format(record)


def main(arguments: Sequence[str] | None = None) -> int:
    """Check an engine; gives the exit code.

    Args:
        arguments: of the command; those of the process by default.
    """
    parser = argparse.ArgumentParser(
        prog="python -m codeact.testing.conformance",
        description="Whether an engine runs what honest programs are, and says what it must where they fail.",
        epilog="Exit codes: 0 it conforms, 1 it does not, 2 it cannot be asked.",
    )
    parser.add_argument("engine", help=f"the name of an engine: {', '.join(engine_names())}")
    parser.add_argument("--only", metavar="PREFIX", default="", help="only cases whose name begins so, such as limits/")
    parser.add_argument("--like", metavar="ENGINE", help="it differs by design where that one does")
    chosen = parser.parse_args(arguments)
    if not cases(chosen.only):
        parser.error(f"--only {chosen.only}: no case begins so")
    failures, logger = _Failures(), logging.getLogger("codeact")
    logger.addHandler(failures)
    try:
        return _report(check_all(chosen.engine, chosen.only, like=chosen.like), failures)
    except (EngineUnavailable, ValueError) as error:
        sys.stderr.write(f"{parser.prog}: {error}\n")
        return MISUSED
    finally:
        logger.removeHandler(failures)


def _report(verdicts: Iterator[Verdict], failures: _Failures) -> int:
    counts = {"conform": 0, "not asked": 0, "fail": 0}
    for table, found in groupby(verdicts, key=lambda verdict: verdict.case.name.partition("/")[0]):
        here = dict.fromkeys(counts, 0)
        for verdict in found:
            here["fail" if not verdict.ok else "not asked" if verdict.skipped else "conform"] += 1
            if not verdict.ok:
                _show(verdict, whole=counts["fail"] + here["fail"] <= SHOWN, failure=failures.last)
            failures.last = None
        counts = {outcome: counts[outcome] + here[outcome] for outcome in counts}
        _put(f"{table:<16}{_told(here)}")
    _put(f"{'in all':<16}{_told(counts)}")
    return FAILED if counts["fail"] else 0


def _show(verdict: Verdict, *, whole: bool, failure: str | None) -> None:
    if not whole:
        _put(f"FAILS {verdict.case.name}")
        return
    _put(f"FAILS {verdict}" + (f"\n{failure}" if failure else "") + "\n")


def _told(counts: dict[str, int]) -> str:
    return ", ".join(f"{count:,} {outcome}" for outcome, count in counts.items() if count)


def _put(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()
