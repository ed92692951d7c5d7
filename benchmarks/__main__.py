"""`python -m benchmarks latency` measures, and prints a Markdown table."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from benchmarks import report
from benchmarks.latency import CASES, measure
from benchmarks.measure import machine


def main() -> int:
    """Measure what the arguments ask for; gives 1 when a case failed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("suite", choices=["latency"], help="what to measure")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write everything to a file too")
    parser.add_argument("--only", default="", metavar="TEXT", help="only the cases with this in their name or engine")
    parser.add_argument("--quick", action="store_true", help="a tenth of the rounds: to see that it works")
    chosen = parser.parse_args()
    cases = [case for case in CASES if chosen.only in f"{case.name} {case.engine}"]
    if not cases:
        parser.error(
            f"--only {chosen.only}: no such case; there are: {', '.join(dict.fromkeys(c.name for c in CASES))}"
        )
    found = machine()
    print(f"{report.facts(found)}\n")
    print(*report.HEAD, sep="\n", flush=True)
    rows = []
    for case in cases:
        rows.append(measure(case, quick=chosen.quick))
        print(report.line(rows[-1]), flush=True)
    print(f"\n{report.notes(rows)}")
    if chosen.json is not None:
        chosen.json.write_text(json.dumps(report.document(found, rows), indent=2) + "\n", encoding="utf-8")
    return 1 if any(row.failed for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
