"""What was counted, as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from benchmarks.roundtrips.bills import FRAME, PRICES, Bill, Pace, Prices, total
from benchmarks.roundtrips.grid import WINDOW, Cell, Counted
from benchmarks.roundtrips.prompts import Tools, declared
from benchmarks.roundtrips.recorded import Form, Reality
from benchmarks.roundtrips.retail import Arm
from benchmarks.roundtrips.retries import RATES
from benchmarks.roundtrips.tokens import Tokenizer

HEADLINE = PRICES[0]
"""The prices of short tables."""


def table(head: Sequence[str], rows: Iterable[Iterable[str]]) -> str:
    """A Markdown table whose first column is text and whose others are numbers."""
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def parameters(pace: Pace) -> str:
    """Everything that was assumed and not counted, as a list."""
    prices = "; ".join(
        f"*{one.name}*: read {one.read:g}, written {one.write:g}, the prompt's first time {one.prompt:g}, "
        f"output {one.output:g}"
        for one in PRICES
    )
    return "\n".join(
        (
            f"* prices, as multiples of one uncached input token: {prices}; headlines use *{HEADLINE.name}*",
            f"* a turn of the model: {pace.first:g} s to its first token, then {pace.speed:g} tokens a second",
            f"* a tool call: {pace.tool:g} s; calls that are made together take as long as one",
            f"* {FRAME} tokens around every message, and around every call in it",
            f"* the model's window: {WINDOW:,} tokens",
        )
    )


def grid_short(cells: Sequence[Cell], tokenizer: str, pace: Pace) -> str:
    """The cells, at the prices of headlines."""
    head = ["task", "n", "turns", "input", "new input", "output"]
    head += [f"cost, {rate:.0%} fail" for rate in RATES] + ["break-even", "seconds"]
    return table(head, (_short(cell, tokenizer, pace) for cell in cells))


def _short(cell: Cell, tokenizer: str, pace: Pace) -> Iterator[str]:
    counted = cell.counted[tokenizer]
    yield from (cell.workload.kind, str(cell.workload.size))
    yield from _against(counted.opponents[counted.strongest(HEADLINE)], counted.programs[0])
    yield from (ratio(counted.ratio(HEADLINE, rate)) for rate in RATES)
    yield rate_of(counted.break_even(HEADLINE))
    yield "{:.1f} → {:.1f}".format(*cell.seconds(tokenizer, pace, "wasm"))


def _against(theirs: Bill, ours: Bill) -> Iterator[str]:
    for name in ("turns", "input", "new", "output"):
        yield f"{getattr(theirs, name):,} → {getattr(ours, name):,}"


def grid_full(cells: Sequence[Cell], tokenizer: str, pace: Pace) -> str:
    """All cells, at all prices."""
    head = ["task", "n", "bytes", "tools", "opponent", "turns", "input", "new input", "output"]
    head += [f"cost, {one.name}" for one in PRICES] + [f"{rate:.0%} fail" for rate in RATES[1:]]
    head += ["break-even", "at 0.5x", "seconds", "wasm ms", "restricted ms"]
    return table(head, (_full(cell, tokenizer, pace) for cell in cells))


def _full(cell: Cell, tokenizer: str, pace: Pace) -> Iterator[str]:
    counted = cell.counted[tokenizer]
    strongest = counted.strongest(HEADLINE)
    yield from (cell.workload.kind, str(cell.workload.size), f"{cell.payload:,}", str(cell.catalogue))
    yield strongest + _fit(counted)
    yield from _against(counted.opponents[strongest], counted.programs[0])
    yield from (ratio(counted.ratio(one, 0)) for one in PRICES)
    yield from (ratio(counted.ratio(HEADLINE, rate)) for rate in RATES[1:])
    yield from (rate_of(counted.break_even(one)) for one in (HEADLINE, PRICES[2]))
    yield "{:.1f} → {:.1f}".format(*cell.seconds(tokenizer, pace, "wasm"))
    yield from (f"{cell.engines[engine] * 1e3:.1f}" for engine in ("wasm", "restricted"))


def _fit(counted: Counted) -> str:
    theirs, ours = (longest > WINDOW for longest in counted.longest)
    if theirs and ours:
        return "; neither fits the window"
    if theirs or ours:
        return f"; {'calls do' if theirs else 'the program does'} not fit the window"
    return ""


def wins(cells: Sequence[Cell], tokenizers: Sequence[str]) -> str:
    """In how many cells programs are cheaper than the strongest opponent, of those in which both fit the window."""
    rows = []
    for name in tokenizers:
        fitting = [counted for cell in cells if (counted := cell.counted[name]).fits]
        for prices in PRICES:
            won = (_won(fitting, prices, rate) for rate in RATES)
            rows.append([f"{name}, {prices.name}", *(f"{count} of {len(fitting)}" for count in won)])
    return table(["programs are cheaper in", *(f"{rate:.0%} fail" for rate in RATES)], rows)


def _won(fitting: Sequence[Counted], prices: Prices, rate: float) -> int:
    return sum(counted.ratio(prices, rate) < 1 for counted in fitting)


def prompts(catalogues: Mapping[str, Tools], tokenizers: Sequence[Tokenizer]) -> str:
    """What it takes to declare tools, in tokens: it is sent again with every turn."""
    head = ["tools", *(f"{form}, {one.name}" for one in tokenizers for form in ("functions", "as JSON", "programs"))]
    return table(head, (_prompt(name, tools, tokenizers) for name, tools in catalogues.items()))


def _prompt(name: str, tools: Tools, tokenizers: Sequence[Tokenizer]) -> Iterator[str]:
    yield name
    for tokenizer in tokenizers:
        found = declared(tools, tokenizer.count)
        yield from (f"{found.compact:,}", f"{found.schemas:,}", f"{found.room:,}")


def facts(reality: Reality) -> str:
    """What there is in the recorded conversations, as a list."""
    return "\n".join(f"* {name}: {number:,}" for name, number in reality.facts.items())


def forms(found: Sequence[Form | Arm], base: str, tokenizer: str, pace: Pace) -> str:
    """Many conversations in several forms.

    Args:
        found: the forms.
        base: the one whose cost is 1.
        tokenizer: the name of the one to count by.
        pace: how fast models and tools are.
    """
    head = ["form", "turns", "input", "new input", "output", *(f"cost, {one.name}" for one in PRICES), "hours"]
    (against,) = (total(form.bills[tokenizer]) for form in found if form.name == base)
    return table(head, (_formed(form, against, tokenizer, pace) for form in found))


def _formed(form: Form | Arm, against: Bill, tokenizer: str, pace: Pace) -> Iterator[str]:
    whole = total(form.bills[tokenizer])
    yield form.name
    yield from (f"{number:,}" for number in (whole.turns, whole.input, whole.new, whole.output))
    for prices in PRICES:
        part = prices.cost(whole) / prices.cost(against)
        yield "1" if whole == against else ratio(part)
    yield f"{form.seconds(tokenizer, pace) / 3600:.2f}"


LENGTHS = ((0, 1), (2, 3), (4, 7), (8, 99))
"""Conversations are told apart by their longest run of reads."""


def by_length(reality: Reality, tokenizer: str) -> str:
    """Where folding pays: the conversations by their longest run of reads."""
    bills = {form.name: form.bills[tokenizer] for form in reality.forms}
    against = ("recorded", "batches")
    names = [name for name in bills if name not in against]
    head = ["longest run", "conversations", *(f"{name}, dearer than {other}" for name in names for other in against)]
    rows = []
    for least, most in LENGTHS:
        chosen = [number for number, length in enumerate(reality.runs) if least <= length <= most]
        counts = (str(_dearer(bills[name], bills[other], chosen)) for name in names for other in against)
        rows.append([f"{least} to {most}" if most < 99 else f"{least} or more", str(len(chosen)), *counts])
    return table(head, rows)


def _dearer(ours: Sequence[Bill], theirs: Sequence[Bill], chosen: Iterable[int]) -> int:
    return sum(HEADLINE.cost(ours[number]) >= HEADLINE.cost(theirs[number]) for number in chosen)


def retail_losses(arms: Sequence[Arm], opponents: Sequence[str], tokenizers: Sequence[str]) -> str:
    """In how many tasks programs are dearer than the opponent that is strongest in that very task."""
    ours = [arm for arm in arms if arm.name not in opponents]
    rows = []
    for name in tokenizers:
        for prices in PRICES:
            theirs = [arm.bills[name] for arm in arms if arm.name in opponents]
            least = [min(map(prices.cost, bills)) for bills in zip(*theirs, strict=True)]
            lost = (
                sum(prices.cost(mine) >= cost for mine, cost in zip(arm.bills[name], least, strict=True))
                for arm in ours
            )
            rows.append([f"{name}, {prices.name}", *(f"{count} of {len(least)}" for count in lost)])
    return table(["dearer in", *(arm.name for arm in ours)], rows)


def ratio(value: float) -> str:
    """A cost as a part of the opponent's; losses stand out, and what is none but for rounding."""
    told = f"{value:.2f}"
    return f"**{told}**" if float(told) >= 1 else told


def rate_of(value: float | None) -> str:
    """A break-even rate."""
    return "**never**" if value is None else f"{value:.0%}"
