"""`python -m benchmarks roundtrips`: what code as action saves against tool calls, and what it does not."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path

from benchmarks import report
from benchmarks.measure import machine
from benchmarks.roundtrips import grid, tables
from benchmarks.roundtrips.bills import PRICES, Pace
from benchmarks.roundtrips.retries import RATES
from benchmarks.roundtrips.tokens import Tokenizer, TokenizersMissing, tokenizers

DATA = Path(__file__).parents[3] / "shared" / "data"
"""Where the recorded data are, beside a checkout."""


def add(parser: Callable[..., argparse.ArgumentParser]) -> argparse.ArgumentParser:
    """Declare the suite to the command line."""
    suite = parser("roundtrips", help="what programs save against tool calls, in turns, tokens, money and time")
    suite.add_argument("--full", action="store_true", help="all cells of the grid; it takes some minutes")
    suite.set_defaults(measure=measure)
    return suite


def measure(_parser: argparse.ArgumentParser, chosen: argparse.Namespace) -> int:
    """Count what the arguments ask for; gives 1 when the two ways came to different answers, 2 when none can count."""
    try:
        counters = tokenizers()
    except TokenizersMissing as error:
        print(error, file=sys.stderr)
        return 2
    found, pace = machine(), Pace()
    print(f"{report.facts(found)}\n{tables.parameters(pace)}\n", flush=True)
    try:
        cells = _grid(counters, pace, full=chosen.full)
    except grid.AnswersDiffer as error:
        print(f"the two ways differ: {error}", file=sys.stderr)
        return 1
    if chosen.json is not None:
        document = {
            "machine": found,
            "pace": asdict(pace),
            "prices": [asdict(one) for one in PRICES],
            "grid": [_data(cell) for cell in cells],
        }
        chosen.json.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    return 0


def _grid(counters: Sequence[Tokenizer], pace: Pace, *, full: bool) -> list[grid.Cell]:
    payloads, catalogues = (grid.PAYLOADS, grid.CATALOGUES) if full else ((1_000,), (50,))
    cells = list(grid.cells(counters, payloads, catalogues))
    for counter in counters:
        shown = tables.grid_full if full else tables.grid_short
        print(f"### {counter.name}\n\n{shown(cells, counter.name, pace)}\n")
    print(tables.wins(cells, [counter.name for counter in counters]), flush=True)
    return cells


def _data(cell: grid.Cell) -> dict[str, object]:
    return {
        "task": cell.workload.kind,
        "size": cell.workload.size,
        "payload": cell.payload,
        "tools": cell.catalogue,
        "engine_seconds": dict(cell.engines),
        "tokens": {name: _counted(counted) for name, counted in cell.counted.items()},
    }


def _counted(counted: grid.Counted) -> dict[str, object]:
    return {
        "opponents": {name: asdict(found) for name, found in counted.opponents.items()},
        "programs_by_failures": [asdict(found) for found in counted.programs],
        "longest": {"calls": counted.longest[0], "programs": counted.longest[1]},
        "fits_window": counted.fits,
        "at": {
            one.name: {
                "strongest": counted.strongest(one),
                "cost_ratio": {f"{rate:g}": counted.ratio(one, rate) for rate in RATES},
                "break_even": counted.break_even(one),
            }
            for one in PRICES
        },
    }
