"""The grid: every workload over payloads and catalogues, both ways, carried out and counted."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from benchmarks.roundtrips.bills import Bill, Pace, Prices, bill, longest
from benchmarks.roundtrips.catalogue import catalogue
from benchmarks.roundtrips.conversation import Calls, Episode, Programs, Prompt, converse
from benchmarks.roundtrips.prompts import calling, programming
from benchmarks.roundtrips.retries import Retries
from benchmarks.roundtrips.tokens import Tokenizer
from benchmarks.roundtrips.workloads import OPPONENTS, WORKLOADS, Workload
from codeact import Limits, Sandbox

SYSTEM = "You work in the back office of a shop. Answer the user in one short sentence."
PAYLOADS = (100, 1_000, 10_000)
CATALOGUES = (5, 50, 500)
ENGINES = ("wasm", "restricted")
WINDOW = 200_000
"""Tokens of the model's window. What is longer is marked, and no headline."""

SHOWN = 2_000_000
"""Characters that an observation shows here: a model that has to read everything may, in one piece."""

FAILURES = 3
"""Conversations of a cell that differ by how many programs fail first: 0, 1, 2."""

ROUNDS = 5
"""How often the time of an engine is taken; the median counts."""


@dataclass(frozen=True, slots=True)
class Counted:
    """The tokens of a cell by one tokenizer.

    Attributes:
        opponents: the bill of each opponent.
        programs: the bills of the programs, by how many fail first.
        longest: the tokens that must fit into the window: of the opponents, which have the same history, and of the
            programs.
    """

    opponents: Mapping[str, Bill]
    programs: tuple[Bill, ...]
    longest: tuple[int, int]

    def strongest(self, prices: Prices) -> str:
        """The opponent that is cheapest, the one with the fewest turns where several are."""
        return min(self.opponents, key=lambda name: (prices.cost(self.opponents[name]), self.opponents[name].turns))

    def retries(self, prices: Prices) -> Retries:
        """The cost of the programs by their failures."""
        return Retries(*map(prices.cost, self.programs))

    def ratio(self, prices: Prices, rate: float) -> float:
        """What the programs are expected to cost, as a part of what the strongest opponent does."""
        return self.retries(prices).expected(rate) / prices.cost(self.opponents[self.strongest(prices)])

    def break_even(self, prices: Prices) -> float | None:
        """The rate of failures at which both cost the same; None where programs are dearer without any."""
        return self.retries(prices).break_even(prices.cost(self.opponents[self.strongest(prices)]))

    @property
    def fits(self) -> bool:
        """Whether both ways go into the model's window."""
        return max(self.longest) <= WINDOW


@dataclass(frozen=True, slots=True)
class Cell:
    """One workload over one payload and one catalogue.

    Attributes:
        workload: the task.
        payload: characters of an item.
        catalogue: how many tools are declared.
        counted: its tokens, by the name of the tokenizer.
        waits: how many times an opponent waits for tools.
        engines: seconds of an engine for all programs of the task, by its name, measured.
    """

    workload: Workload
    payload: int
    catalogue: int
    counted: Mapping[str, Counted]
    waits: Mapping[str, int]
    engines: Mapping[str, float]

    def seconds(self, tokenizer: str, pace: Pace, engine: str) -> tuple[float, float]:
        """How long the fastest opponent takes, and how long the programs."""
        counted = self.counted[tokenizer]
        theirs = min(pace.seconds(found, self.waits[name]) for name, found in counted.opponents.items())
        return theirs, pace.seconds(counted.programs[0], self.workload.waits, self.engines[engine])


class AnswersDiffer(AssertionError):
    """The two ways came to different answers, so nothing can be said of what they cost."""


def cells(
    tokenizers: Sequence[Tokenizer],
    payloads: Sequence[int],
    catalogues: Sequence[int],
    workloads: Sequence[Workload] = WORKLOADS,
) -> Iterator[Cell]:
    """Carry the grid out.

    Raises:
        AnswersDiffer: the conversations of a cell do not end in the same words.
    """
    for size in catalogues:
        for payload in payloads:
            for workload in workloads:
                yield cell(workload, payload, size, tokenizers)


def cell(workload: Workload, payload: int, size: int, tokenizers: Sequence[Tokenizer]) -> Cell:
    """Carry one cell out.

    Raises:
        AnswersDiffer: its conversations do not end in the same words.
    """
    call, write = _prompts(size, payload)
    tools = Calls(catalogue(size, payload))
    opponents = {
        name: converse(call, workload.question, workload.calls(batch), tools) for name, batch in OPPONENTS.items()
    }
    ours = []
    for failures in range(FAILURES):
        host = Programs(_sandbox("wasm", size, payload))
        ours.append(converse(write, workload.question, workload.written(failures), host))
        if sum(not result.ok for result in host.results) != failures:
            msg = f"{workload.kind} {workload.size}: {failures} programs were to fail: {host.results}"
            raise AnswersDiffer(msg)
    _same([*opponents.values(), *ours])
    return Cell(
        workload,
        payload,
        size,
        {tokenizer.name: _counted(opponents, ours, tokenizer) for tokenizer in tokenizers},
        {name: episode.turns - 1 for name, episode in opponents.items()},
        {engine: _measured(workload, _sandbox(engine, size, payload)) for engine in ENGINES},
    )


def _counted(opponents: Mapping[str, Episode], ours: Sequence[Episode], tokenizer: Tokenizer) -> Counted:
    return Counted(
        {name: bill(episode, tokenizer.count) for name, episode in opponents.items()},
        tuple(bill(episode, tokenizer.count) for episode in ours),
        (
            min(longest(episode, tokenizer.count) for episode in opponents.values()),
            longest(ours[0], tokenizer.count),
        ),
    )


def _same(episodes: Sequence[Episode]) -> None:
    if len({episode.answer for episode in episodes}) > 1:
        msg = f"{episodes[0].messages[0].text[:80]}: {[episode.answer[:200] for episode in episodes]}"
        raise AnswersDiffer(msg)


def _measured(workload: Workload, sandbox: Sandbox) -> float:
    rounds = []
    for _ in range(ROUNDS):
        host = Programs(sandbox)
        converse(Prompt("", ""), "", workload.written(0), host)
        rounds.append(sum(result.usage.wall for result in host.results))
    return statistics.median(rounds)


@cache
def _prompts(size: int, payload: int) -> tuple[Prompt, Prompt]:
    tools = catalogue(size, payload)
    return calling(SYSTEM, tools), programming(SYSTEM, tools)


@cache
def _sandbox(engine: str, size: int, payload: int) -> Sandbox:
    return Sandbox(catalogue(size, payload), engine=engine, limits=Limits(shown=SHOWN, timeout=60))
