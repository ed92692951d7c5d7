"""The grid's conversations: carried out both ways, counted, and equal in what they find."""

from __future__ import annotations

import dataclasses
import json
import sys

import pytest

from benchmarks.roundtrips import grid, prompts
from benchmarks.roundtrips.bills import PRICES, bill
from benchmarks.roundtrips.catalogue import catalogue, items
from benchmarks.roundtrips.conversation import Programs, converse
from benchmarks.roundtrips.retries import Retries
from benchmarks.roundtrips.tokens import PART, Tokenizer, parts, tokenizers
from benchmarks.roundtrips.workloads import WORKLOADS, Workload, chain, fan_out, look_up
from codeact import Limits, Sandbox
from codeact.extras import MissingExtra

LETTERS = Tokenizer("letters", len)


@pytest.mark.parametrize("workload", WORKLOADS, ids=lambda workload: f"{workload.kind} {workload.size}")
def test_both_ways_come_to_the_same_answer(workload: Workload) -> None:
    found = grid.cell(workload, 1_000, 5, [LETTERS])
    counted = found.counted["letters"]
    assert [ours.turns for ours in counted.programs] == [1 + len(workload.programs) + k for k in range(3)]
    assert set(found.engines) == {"wasm", "restricted"}


def test_another_answer_is_no_result() -> None:
    wrong = dataclasses.replace(fan_out(5), answer=lambda found: f"{found + 1} cents are open.")
    with pytest.raises(grid.AnswersDiffer, match=r"What do those .* cents are open"):
        grid.cell(wrong, 1_000, 5, [LETTERS])


def test_a_program_that_was_to_fail_and_did_not_is_no_result() -> None:
    right = fan_out(5)
    with pytest.raises(grid.AnswersDiffer, match="1 programs were to fail"):
        grid.cell(dataclasses.replace(right, failing=right.programs[-1]), 1_000, 5, [LETTERS])


def test_a_third_failure_costs_what_the_first_two_say() -> None:
    workload, tools = chain(3), catalogue(5, 100)
    prompt = prompts.programming(grid.SYSTEM, tools)
    sandbox = Sandbox(tools, engine="restricted", limits=Limits(shown=grid.SHOWN))
    episodes = [converse(prompt, workload.question, workload.written(k), Programs(sandbox)) for k in range(4)]
    none, one, two, three = (PRICES[0].cost(bill(episode, len)) for episode in episodes)
    assert Retries(none, one, two).after(3) == pytest.approx(three)


def test_a_single_look_up_is_dearer_as_a_program() -> None:
    counted = grid.cell(look_up(1), 1_000, 50, [LETTERS]).counted["letters"]
    assert all(counted.ratio(prices, 0) > 1 for prices in PRICES)
    assert counted.break_even(PRICES[0]) is None


@pytest.mark.parametrize("payload", grid.PAYLOADS)
def test_items_are_as_large_as_the_payload(payload: int) -> None:
    sizes = {len(json.dumps(dataclasses.asdict(one), separators=(",", ":"))) for one in items(payload).values()}
    assert sizes == {payload}


@pytest.mark.parametrize("size", grid.CATALOGUES)
def test_both_ways_are_told_of_every_tool(size: int) -> None:
    tools = catalogue(size, 100)
    assert len({tool.name for tool in tools}) == size
    calls, programs = prompts.calling("", tools), prompts.programming("", tools)
    for tool in tools:
        assert f"type {tool.name} = (" in calls.functions
        assert f"async def {tool.name}(self, " in programs.system
    assert len(prompts.compact(tools)) < len(prompts.schemas(tools))


def test_the_vocabularies_are_two() -> None:
    try:
        o200k, deepseek = tokenizers()
    except MissingExtra as missing:
        pytest.skip(str(missing))
    text = "def f(x):\n    return tools.get_charges('c1')"
    assert 5 < o200k.count(text) < len(text)
    assert 5 < deepseek.count(text) < len(text)
    long = " the clerk wrote: {'a': 1}, and\n left." * 10_000
    assert "".join(parts(long)) == long
    assert [len(part) >= PART for part in parts(long)] == [True, False]
    # What it is cut at is cut by the vocabulary's own rule too, so that the parts have as many tokens as the whole.
    assert o200k.count(long) == o200k.count(long[: len(long) // 2]) * 2
    assert o200k.count("antidisestablishmentarianism 1234567") != deepseek.count("antidisestablishmentarianism 1234567")


def test_tokenizers_that_are_not_installed_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "bpe_openai", None)
    with pytest.raises(match=r"pip install 'codeact\[benchmarks\]'"):
        tokenizers()
