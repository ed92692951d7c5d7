"""Benchmarks of codeact: what it costs, beside what others cost, what it saves, how late a stop may come, and what is left."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from benchmarks import check, lateness, plots, report, soak
from benchmarks.contest import Field, Row
from benchmarks.contestant import Entry
from benchmarks.measure import machine, spread
from benchmarks.peers import PEERS
from benchmarks.peers.environments import entry
from benchmarks.roundtrips import command as roundtrips
from benchmarks.suites import SUITES

NO_PLOTS = "it needs matplotlib; install the extra: pip install 'codeact[benchmarks]'"

Add = Callable[..., argparse.ArgumentParser]

HERE = Path(__file__).parent
PLOTS = HERE.parent / "docs" / "benchmarks"
BASELINE = HERE / "baseline.json"

POINTS = 20
"""How often the process is looked at."""


def main() -> int:
    """Measure what the arguments ask for; gives 1 when a case failed."""
    parser = arguments()
    chosen = parser.parse_args()
    return int(chosen.measure(parser, chosen))


def arguments() -> argparse.ArgumentParser:
    """What the command takes."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    suites = parser.add_subparsers(required=True, metavar="SUITE")
    for name, suite in SUITES.items():
        _add_tables(suites.add_parser, name, suite.about, (name,))
    _add_tables(suites.add_parser, "all", "all of these, one after the other", tuple(SUITES))
    _add_check(suites.add_parser)
    _add_draw(suites.add_parser)
    for other in (_add_lateness(suites.add_parser), _add_soak(suites.add_parser), roundtrips.add(suites.add_parser)):
        other.add_argument("--json", type=Path, metavar="FILE", help="write everything to a file too")
    return parser


def _add_tables(add: Add, name: str, about: str, suites: tuple[str, ...]) -> None:
    parser = add(name, help=f"{about}, as a Markdown table")
    names = ", ".join(peer.name for peer in PEERS)
    parser.add_argument("--only", default="", metavar="TEXT", help="only the cases with this in their name")
    parser.add_argument("--quick", action="store_true", help="a tenth of the rounds: to see that it works")
    parser.add_argument(
        "--peers", nargs="*", metavar="NAME", choices=[peer.name for peer in PEERS],
        help=f"beside peers, which are installed into environments of their own: {names}; all where none is named",
    )  # fmt: skip
    parser.add_argument("--json", type=Path, metavar="FILE", help="write everything to a file too")
    parser.add_argument(
        "--plots", type=Path, nargs="?", const=PLOTS, metavar="DIR",
        help="draw what was measured too, as SVG (extra `benchmarks`); into docs/benchmarks where no directory is named",
    )  # fmt: skip
    parser.set_defaults(measure=_tables, suites=suites)


def _add_check(add: Add) -> None:
    parser = add("check", help="whether anything costs more than the baseline says; gives 1 when it does")
    parser.add_argument("--counted", action="store_true", help="only what is counted, which needs no idle machine")
    parser.add_argument("--write", action="store_true", help="make the baseline anew")
    parser.add_argument("--baseline", type=Path, default=BASELINE, metavar="FILE")
    parser.set_defaults(measure=_check)


def _add_draw(add: Add) -> None:
    parser = add("draw", help="draw what an earlier run has written with --json")
    parser.add_argument("found", type=Path, metavar="FILE")
    parser.add_argument("--plots", type=Path, default=PLOTS, metavar="DIR")
    parser.set_defaults(measure=_draw)


def _add_lateness(add: Add) -> argparse.ArgumentParser:
    suite = add("lateness", help="how long after its timeout a run comes back, whatever its program does")
    suite.add_argument("--engine", choices=["wasm", "restricted"], default="wasm")
    suite.add_argument("--quick", action="store_true", help="a tenth of the programs: to see that it works")
    suite.set_defaults(measure=_lateness)
    return suite


def _add_soak(add: Add) -> argparse.ArgumentParser:
    suite = add("soak", help="whether many runs and sessions leave anything behind")
    suite.add_argument("--engine", choices=["wasm", "restricted"], default="wasm")
    suite.add_argument("--runs", type=int, default=20_000, metavar="N")
    suite.add_argument("--sessions", type=int, default=2_000, metavar="N")
    suite.set_defaults(measure=_soak)
    return suite


def _tables(parser: argparse.ArgumentParser, chosen: argparse.Namespace) -> int:
    suites = {name: SUITES[name] for name in chosen.suites if SUITES[name].chosen(chosen.only)}
    if not suites:
        names = ", ".join(case.name for name in chosen.suites for case in SUITES[name].cases)
        parser.error(f"--only {chosen.only}: no such case; there are: {names}")
    if chosen.plots is not None and find_spec("matplotlib") is None:
        parser.error(f"--plots: {NO_PLOTS}")
    peers = _peers(chosen.peers)
    found = {**machine(), **{peer.name: peer.version for peer in peers if peer.version}}
    print(report.facts(found))
    measured: dict[str, list[Row]] = {name: [] for name in suites}
    with Field(peers) as field:
        for name, suite in suites.items():
            print(f"\n## {name}: {suite.about}\n")
            print(*report.HEAD, sep="\n", flush=True)
            for rows in suite.rows(field, only=chosen.only, quick=chosen.quick):
                print(*report.lines(rows), sep="\n", flush=True)
                measured[name] += rows
            print(f"\n{report.notes(measured[name])}")
    document = report.document(found, measured)
    _write(chosen.json, document)
    if chosen.plots is not None:
        _drawn(document, chosen.plots)
    return 1 if any(row.failed for rows in measured.values() for row in rows) else 0


def _check(parser: argparse.ArgumentParser, chosen: argparse.Namespace) -> int:
    if not chosen.write and not chosen.baseline.exists():
        parser.error(f"--baseline {chosen.baseline}: no such file; `check --write` makes it")
    found = dict(check.counted())
    if not chosen.counted:
        found.update(check.timed())
    if chosen.write:
        _write(chosen.baseline, check.document(found))
        return 0
    baseline = check.figures(json.loads(chosen.baseline.read_text(encoding="utf-8")))
    if chosen.counted:
        baseline = {name: figure for name, figure in baseline.items() if name.startswith(check.COUNTS)}
    findings = check.compare(baseline, found)
    print(report.facts(machine()), "", *check.table(findings), sep="\n")
    return 1 if any(finding.bad for finding in findings) else 0


def _draw(parser: argparse.ArgumentParser, chosen: argparse.Namespace) -> int:
    if find_spec("matplotlib") is None:
        parser.error(NO_PLOTS)
    _drawn(json.loads(chosen.found.read_text(encoding="utf-8")), chosen.plots)
    return 0


def _drawn(document: dict[str, Any], directory: Path) -> None:
    for path in plots.draw(document["suites"], directory):
        print(f"drawn: {path}")


def _peers(names: list[str] | None) -> list[Entry]:
    """Those of some names; all for an empty list."""
    return [] if names is None else [entry(peer) for peer in PEERS if not names or peer.name in names]


def _lateness(_parser: argparse.ArgumentParser, chosen: argparse.Namespace) -> int:
    found = machine()
    print(f"{report.facts(found)}\n* engine: {chosen.engine}\n", flush=True)
    runs, late = lateness.measure(chosen.engine, quick=chosen.quick)
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
