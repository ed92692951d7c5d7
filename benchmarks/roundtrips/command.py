"""`python -m benchmarks roundtrips`: what code as action saves against tool calls, and what it does not."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks import report
from benchmarks.measure import machine
from benchmarks.roundtrips import grid, needs, recorded, retail, retail_tools, tables
from benchmarks.roundtrips.airline_tools import READS, airline_tools
from benchmarks.roundtrips.bills import PRICES, Pace
from benchmarks.roundtrips.catalogue import catalogue
from benchmarks.roundtrips.retries import RATES
from benchmarks.roundtrips.tokens import Tokenizer, tokenizers
from benchmarks.roundtrips.workloads import OPPONENTS, WORKLOADS, Workload
from codeact import EngineUnavailable
from codeact.extras import MissingExtra

DATA = Path(__file__).parents[3] / "shared" / "data"
"""Where the recorded data are, beside a checkout."""

NEEDED = {"recorded": recorded.FILE, "retail": retail_tools.DIRECTORY}
"""What parts need of them."""

METHOD = Path(__file__).with_name("method.md")
"""The page, with a mark for every table."""


def add(parser: Callable[..., argparse.ArgumentParser]) -> argparse.ArgumentParser:
    """Declare the suite to the command line."""
    suite = parser("roundtrips", help="what programs save against tool calls, in turns, tokens, money and time")
    suite.add_argument(
        "--data", type=Path, default=DATA, metavar="DIR", help="where the recorded data are: %(default)s"
    )
    suite.add_argument("--part", choices=PARTS, action="append", help="only this part; may be given again")
    suite.add_argument("--only", default="", metavar="TEXT", help="only the tasks of the grid with this in their name")
    suite.add_argument("--full", action="store_true", help="all cells of the grid; it takes some minutes")
    suite.add_argument("--page", action="store_true", help="print docs/roundtrips.md: method and all tables")
    suite.set_defaults(measure=measure)
    return suite


def measure(parser: argparse.ArgumentParser, chosen: argparse.Namespace) -> int:
    """Count what the arguments ask for.

    Returns:
        0 when all was counted; 1 when the two ways came to different answers; 2 when there is nothing to count with,
        or a part that was asked for has no data.
    """
    workloads = tuple(one for one in WORKLOADS if chosen.only in one.kind)
    if not workloads:
        kinds = ", ".join(dict.fromkeys(one.kind for one in WORKLOADS))
        parser.error(f"--only {chosen.only}: no such task; there are: {kinds}")
    if chosen.page and (chosen.part or chosen.only):
        parser.error("--page has all parts and all tasks; leave --part and --only out")
    try:
        parts = _parts(chosen)
        counting = Counting(tokenizers(), Pace(), chosen.data, workloads, full=chosen.full or chosen.page)
        sections, document = _counted(parts, counting, shown=not chosen.page)
    except (FileNotFoundError, MissingExtra, EngineUnavailable) as error:
        print(error, file=sys.stderr)
        return 2
    except (grid.AnswersDiffer, recorded.ResultsDiffer) as error:
        print(f"the two ways differ: {error}", file=sys.stderr)
        return 1
    if chosen.page:
        print(page(sections), end="")
    if chosen.json is not None:
        chosen.json.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    return 0


def _parts(chosen: argparse.Namespace) -> list[str]:
    """The parts that can be counted.

    Raises:
        FileNotFoundError: the data of one are not there, and they or it were asked for by name.
    """
    parts = list(chosen.part or PARTS)
    absent = [part for part in parts if part in NEEDED and not (chosen.data / NEEDED[part]).exists()]
    told = "\n".join(
        f"{chosen.data / NEEDED[part]} does not exist, so there is no part {part!r}; --data DIR says where it is"
        for part in absent
    )
    if absent and (chosen.part or chosen.page or chosen.data != DATA):
        raise FileNotFoundError(told)
    if absent:
        print(told, file=sys.stderr)
    return [part for part in parts if part not in absent]


def _counted(parts: Sequence[str], counting: Counting, *, shown: bool) -> tuple[dict[str, str], dict[str, object]]:
    """The tables by their titles, printed as they come where they are to be shown, and everything as data."""
    found = machine()
    sections = {"machine": report.facts(found), "parameters": tables.parameters(counting.pace)}
    document: dict[str, object] = {"machine": found, "pace": asdict(counting.pace), "prices": list(map(asdict, PRICES))}
    if shown:
        print("\n".join(sections.values()), flush=True)
    for part in parts:
        told, document[part] = PARTS[part](counting)
        sections |= told
        if shown:
            print(*(f"\n### {name}\n\n{text}" for name, text in told.items()), sep="\n", flush=True)
    return sections, document


def page(sections: dict[str, str]) -> str:
    """The page with its tables."""
    text = METHOD.read_text(encoding="utf-8")
    for name, table in sections.items():
        text = text.replace(f"<!-- {name} -->", table)
    return text


Counted = tuple[dict[str, str], object]
"""The tables of a part by their titles, and the same as JSON-ready data."""


@dataclass(frozen=True, slots=True)
class Counting:
    """The parts of the benchmark.

    Attributes:
        tokenizers: what tokens are counted by.
        pace: how fast models and tools are supposed to be.
        data: where recorded data are.
        workloads: the tasks of the grid.
        full: whether all cells of the grid are wanted.
    """

    tokenizers: tuple[Tokenizer, ...]
    pace: Pace
    data: Path
    workloads: tuple[Workload, ...]
    full: bool

    def recorded(self) -> Counted:
        """Recorded reality."""
        reality = recorded.count(recorded.load(self.data), self.tokenizers)
        told = {"recorded: what there is": tables.facts(reality)}
        for name in self._names():
            told[f"recorded, {name}"] = tables.forms(reality.forms, "recorded", name, self.pace)
        told["recorded: losses"] = tables.by_length(reality, self._names()[0])
        forms = [_formed(form, self.pace) for form in reality.forms]
        return told, {"facts": dict(reality.facts), "longest_runs": reality.runs, "forms": forms}

    def grid(self) -> Counted:
        """The grid."""
        payloads, catalogues = (grid.PAYLOADS, grid.CATALOGUES) if self.full else (PAYLOADS, CATALOGUES)
        cells = list(grid.cells(self.tokenizers, payloads, catalogues, self.workloads))
        short = [one for one in cells if one.payload in PAYLOADS and one.catalogue in CATALOGUES]
        told = {f"grid, {name}": tables.grid_short(short, name, self.pace) for name in self._names()}
        told["grid: wins"] = tables.wins(cells, self._names())
        if self.full:
            told |= {f"grid, {name}, all cells": tables.grid_full(cells, name, self.pace) for name in self._names()}
        airline = [tool for tool in airline_tools(lambda _name, _arguments: None) if tool.name in READS]
        shop = retail_tools.reads(retail_tools.Shop({}, {}, {}))
        declared = {f"grid, {size} tools": catalogue(size, PAYLOADS[0]) for size in grid.CATALOGUES}
        declared |= {f"airline, {len(airline)} reads": tuple(airline), f"retail, {len(shop)} reads": shop}
        told["prompts"] = tables.prompts(declared, self.tokenizers)
        return told, [_cell(cell) for cell in cells]

    def retail(self) -> Counted:
        """Retail support."""
        shop, tasks = retail_tools.load(self.data)
        arms = retail.arms([needs.needs(task, shop) for task in tasks], shop, self.tokenizers)
        strongest = next(iter(OPPONENTS))
        told = {f"retail, {name}": tables.forms(arms, strongest, name, self.pace) for name in self._names()}
        told["retail: losses"] = tables.retail_losses(arms, tuple(OPPONENTS), self._names())
        return told, {"tasks": len(tasks), "arms": [_formed(arm, self.pace) for arm in arms]}

    def _names(self) -> list[str]:
        return [one.name for one in self.tokenizers]


PARTS = {"recorded": Counting.recorded, "grid": Counting.grid, "retail": Counting.retail}

PAYLOADS = (1_000,)
CATALOGUES = (50,)
"""The cells of the short form."""


def _formed(form: recorded.Form | retail.Arm, pace: Pace) -> dict[str, Any]:
    return {
        "name": form.name,
        "engine_seconds": form.engine,
        "seconds": {name: form.seconds(name, pace) for name in form.bills},
        "bills": {name: [asdict(one) for one in bills] for name, bills in form.bills.items()},
    }


def _cell(cell: grid.Cell) -> dict[str, object]:
    return {
        "task": cell.workload.kind,
        "size": cell.workload.size,
        "payload": cell.payload,
        "tools": cell.catalogue,
        "engine_seconds": dict(cell.engines),
        "tokens": {name: dict(_tokens(counted)) for name, counted in cell.counted.items()},
    }


def _tokens(counted: grid.Counted) -> Iterator[tuple[str, object]]:
    yield "opponents", {name: asdict(found) for name, found in counted.opponents.items()}
    yield "programs_by_failures", [asdict(found) for found in counted.programs]
    yield "longest", {"calls": counted.longest[0], "programs": counted.longest[1]}
    yield "fits_window", counted.fits
    for one in PRICES:
        ratios = {f"{rate:g}": counted.ratio(one, rate) for rate in RATES}
        found = {"strongest": counted.strongest(one), "cost_ratio": ratios, "break_even": counted.break_even(one)}
        yield f"at {one.name}", found
