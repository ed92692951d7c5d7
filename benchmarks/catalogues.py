"""What many tools cost: a fresh run beside one with few, finding one, and what a model is told.

These are codeact's alone, and measured in the benchmark's own process.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, partial
from typing import Any

from benchmarks.arms import WrongAnswerError
from benchmarks.contest import Trial
from benchmarks.contestant import Contestant
from benchmarks.measure import timed
from codeact import Sandbox, Tool, prompt, stubs, tool
from codeact.catalogue import Catalogue

FEW, MANY = 5, 1_000
QUERY = "what was paid for a shipment"


@cache
def tools(number: int) -> tuple[Tool[..., Any], ...]:
    """So many, as servers have them: a verb and a thing, a paragraph of documentation, two parameters."""

    def read(key: str, limit: int = 10) -> list[dict[str, Any]]:
        return [{"key": key}] * limit

    return tuple(tool(name=name, doc=doc)(read) for name, doc in _named(number))


def _named(number: int) -> Iterator[tuple[str, str]]:
    verbs = ("get", "list", "find", "count", "compare")
    things = ("invoice", "payment", "shipment", "refund", "contract", "ticket", "vehicle", "audit", "coupon", "branch")
    for place in range(number):
        verb, thing = verbs[place % len(verbs)], things[place // len(verbs) % len(things)]
        office = place // (len(verbs) * len(things))
        said = f"{verb.title()} what office {office} has on a {thing}."
        yield f"{verb}_{thing}_of_office_{office}", f"{said}\n\n{_MORE}"


_MORE = (
    "By its key, with what was paid, when and by whom, as it stands in the books of that office. Of those that were cancelled"
    " the last state is given; there are at most `limit`."
)


def _fresh(who: Contestant, _reference: Contestant, rounds: int, *, number: int, program: str) -> list[float]:
    sandbox = Sandbox(tools(number), engine=who.name)

    def run() -> None:
        result = sandbox.run(program)
        if not result.ok:
            raise WrongAnswerError(result.observation())

    return timed(run, rounds=rounds, warmup=3)


def _indexed(_who: Contestant, _reference: Contestant, rounds: int) -> list[float]:
    many = tools(MANY)

    def index() -> None:
        Catalogue(many).search(QUERY)

    return timed(index, rounds=rounds, warmup=1)


def _searched(_who: Contestant, _reference: Contestant, rounds: int) -> list[float]:
    return timed(partial(Catalogue(tools(MANY)).search, QUERY), rounds=rounds, warmup=1)


def _told(_who: Contestant, _reference: Contestant, rounds: int, *, whole: bool) -> list[float]:
    sandbox = Sandbox(tools(MANY), engine="restricted")
    text = stubs(sandbox.tools) if whole else prompt.system(sandbox, has_tools=True, instructions="")
    return [float(len(text))] * rounds


def _cases() -> Iterator[Trial]:
    ours, host = ("wasm", "restricted"), ("python",)
    for number in (FEW, MANY):
        fresh = partial(_fresh, number=number, program="1+1")
        yield Trial(f"1+1, {number:,} tools granted", "ms", "a whole run in a fresh world", 200, fresh, only=ours)
    called = partial(_fresh, number=MANY, program="tools.get_refund_of_office_0('a')")
    yield Trial("the same with one call", "ms", "of a tool among the thousand", 200, called, only=ours)
    found = partial(_fresh, number=MANY, program=f"tools.search({QUERY!r}, 3)")
    yield Trial("the same with one search", "ms", "the index is there", 200, found, only=ours)
    yield Trial("an index of 1,000 tools", "ms", "made, with the first search", 10, _indexed, only=host)
    yield Trial("one search among 1,000", "ms", "six words, on the host", 100, _searched, only=host)
    note = "characters of the system prompt"
    yield Trial("a prompt with 1,000 tools", "", note, 1, partial(_told, whole=False), only=host)
    note = "characters, which no prompt has"
    yield Trial("the stubs of 1,000 tools", "", note, 1, partial(_told, whole=True), only=host)


CASES = tuple(_cases())
