"""Benchmarks of codeact: `latency` is how long one waits, `lateness` how late a stop may come, `soak` what is left."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path

from benchmarks import latency, lateness, report, soak
from benchmarks.measure import machine, spread

Add = Callable[..., argparse.ArgumentParser]

POINTS = 20
"""How often the process is looked at."""


def main() -> int:
    """Measure what the arguments ask for; gives 1 when a case failed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    suites = parser.add_subparsers(required=True, metavar="SUITE")
    for suite in (_add_latency(suites.add_parser), _add_lateness(suites.add_parser), _add_soak(suites.add_parser)):
        suite.add_argument("--json", type=Path, metavar="FILE", help="write everything to a file too")
    chosen = parser.parse_args()
    return int(chosen.measure(parser, chosen))


def _add_latency(add: Add) -> argparse.ArgumentParser:
    suite = add("latency", help="how long one waits, as a Markdown table")
    suite.add_argument("--only", default="", metavar="TEXT", help="only the cases with this in their name or engine")
    suite.add_argument("--quick", action="store_true", help="a tenth of the rounds: to see that it works")
    suite.set_defaults(measure=_latency)
    return suite


def _add_lateness(add: Add) -> argparse.ArgumentParser:
    suite = add("lateness", help="how long after its timeout a run comes back, whatever its program does")
    suite.add_argument("--engine", choices=["wasm", "restricted"], default="wasm")
    suite.set_defaults(measure=_lateness)
    return suite


def _add_soak(add: Add) -> argparse.ArgumentParser:
    suite = add("soak", help="whether many runs and sessions leave anything behind")
    suite.add_argument("--engine", choices=["wasm", "restricted"], default="wasm")
    suite.add_argument("--runs", type=int, default=20_000, metavar="N")
    suite.add_argument("--sessions", type=int, default=2_000, metavar="N")
    suite.set_defaults(measure=_soak)
    return suite


def _latency(parser: argparse.ArgumentParser, chosen: argparse.Namespace) -> int:
    cases = [case for case in latency.CASES if chosen.only in f"{case.name} {case.engine}"]
    if not cases:
        names = ", ".join(dict.fromkeys(case.name for case in latency.CASES))
        parser.error(f"--only {chosen.only}: no such case; there are: {names}")
    found = machine()
    print(f"{report.facts(found)}\n")
    print(*report.HEAD, sep="\n", flush=True)
    rows = []
    for case in cases:
        rows.append(latency.measure(case, quick=chosen.quick))
        print(report.line(rows[-1]), flush=True)
    print(f"\n{report.notes(rows)}")
    _write(chosen.json, report.document(found, rows))
    return 1 if any(row.failed for row in rows) else 0


def _lateness(_parser: argparse.ArgumentParser, chosen: argparse.Namespace) -> int:
    found = machine()
    print(f"{report.facts(found)}\n* engine: {chosen.engine}\n", flush=True)
    runs, late = lateness.measure(chosen.engine)
    seen, worst = spread(late), max(late)
    print(
        f"of {runs} runs, {seen.n} met their timeout; they came after it by {seen.median * 1e3:.0f} ms (median), "
        f"{seen.p90 * 1e3:.0f} ms (nine in ten), {worst * 1e3:.0f} ms (the last)"
    )
    _write(chosen.json, {"machine": found, "runs": runs, "seconds_late": late})
    return 0


def _soak(_parser: argparse.ArgumentParser, chosen: argparse.Namespace) -> int:
    found = machine()
    print(f"{report.facts(found)}\n* engine: {chosen.engine}\n\n{soak.HEAD}", flush=True)
    points = []
    for point in soak.soak(chosen.engine, chosen.runs, chosen.sessions, POINTS):
        points.append(point)
        print(soak.told(point), flush=True)
    flat = soak.flat(points)
    print("\n" + "\n".join(f"* {name}: {'flat' if kept else 'GROWS'}" for name, kept in flat.items()))
    _write(chosen.json, {"machine": found, **soak.document(points)})
    return 0 if all(flat.values()) else 1


def _write(path: Path | None, document: dict[str, object]) -> None:
    if path is not None:
        path.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
