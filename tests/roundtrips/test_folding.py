"""Folding, on conversations small enough to be folded by hand."""

from __future__ import annotations

import json

import pytest

from benchmarks.roundtrips.airline_tools import READS, THOUGHTS, WRITES, airline_tools
from benchmarks.roundtrips.bills import total
from benchmarks.roundtrips.conversation import Ask, Message
from benchmarks.roundtrips.folding import Fold, Rule, Step, everything, flowing, folded, known, path, runs
from benchmarks.roundtrips.recorded import Player, ResultsDiffer, batched, count, read, written
from benchmarks.roundtrips.tokens import Tokenizer

USER = {"name": {"first_name": "Mia"}, "reservations": ["AAA111", "BBB222"]}


def _call(name: str, result: object, said: str = "", **arguments: object) -> Step:
    text = result if isinstance(result, str) else json.dumps(result)
    return Step(Message("assistant", said, (Ask(name, arguments),)), text)


def _says(role: str, text: str) -> Step:
    return Step(Message("user" if role == "user" else "assistant", text))


PROFILE = _call("get_user_details", USER, user_id="mia_1")
FIRST = _call("get_reservation_details", {"reservation_id": "AAA111", "cabin": "economy"}, reservation_id="AAA111")
SECOND = _call("get_reservation_details", {"reservation_id": "BBB222", "cabin": "business"}, reservation_id="BBB222")
DIRECT = _call("search_direct_flight", [{"flight_number": "HAT1"}], origin="JFK", destination="SEA", date="2024-05-20")
ONESTOP = _call("search_onestop_flight", [], origin="JFK", destination="SEA", date="2024-05-20")
SUM = _call("calculate", "255.0", expression="152 + 103")
CANCEL = _call("cancel_reservation", "cancelled", reservation_id="AAA111")
THINK = _call("think", "", thought="hm")


def _sizes(steps: list[Step], rule: Rule) -> list[int]:
    return [len(part.steps) for part in folded(steps, "Be kind.", READS, rule) if isinstance(part, Fold)]


def test_runs_end_at_messages_writes_thoughts_and_words() -> None:
    steps = [_says("user", "hi"), PROFILE, FIRST, _says("assistant", "well"), SECOND, CANCEL, DIRECT, THINK, ONESTOP]
    assert list(runs(steps, READS)) == [(1, 3), (4, 5), (6, 7), (8, 9)]
    said = _call("get_user_details", USER, "let me see", user_id="mia_1")
    assert list(runs([PROFILE, said, FIRST], READS)) == [(0, 1), (1, 3)]
    assert list(runs([CANCEL, _says("user", "hi")], READS)) == []


@pytest.mark.parametrize(
    ("said", "rule", "sizes"),
    [
        ("I am mia_1", known, [1, 2]),  # the profile must be read, and tells both ids
        ("I am mia_1", flowing, [3]),
        ("I am mia_1, about AAA111", known, [2, 1]),
        ("I am mia_1, about AAA111 and BBB222", known, [3]),
        ("I am mia_1", everything, [3]),
    ],
)
def test_what_the_customer_said_can_be_folded(said: str, rule: Rule, sizes: list[int]) -> None:
    assert _sizes([_says("user", said), PROFILE, FIRST, SECOND], rule) == sizes


def test_a_part_of_a_word_is_not_known() -> None:
    assert _sizes([_says("user", "about AAA1112"), PROFILE, FIRST], known) == [1, 1]


def test_the_first_calls_own_arguments_are_known_to_the_next() -> None:
    assert _sizes([_says("user", "New York to Seattle, please"), DIRECT, ONESTOP], known) == [2]


def test_numbers_of_a_calculation_must_have_been_said() -> None:
    assert _sizes([_says("user", "152 and 103"), PROFILE, SUM], known) == [2]
    priced = _call("get_user_details", {"price": 152, "other": 103}, user_id="mia_1")
    assert _sizes([_says("user", "I am mia_1"), priced, SUM], flowing) == [1, 1]
    assert _sizes([_says("user", "I am mia_1"), priced, SUM], everything) == [2]


def test_a_program_takes_arguments_from_the_results_that_hold_them() -> None:
    fold = Fold((PROFILE, FIRST, SECOND), "I am mia_1")
    assert written(fold) == (
        'r1 = tools.get_user_details("mia_1")\n'
        'r2 = tools.get_reservation_details(r1["reservations"][0])\n'
        'r3 = tools.get_reservation_details(r1["reservations"][1])\n'
        "[r1, r2, r3]"
    )
    assert [[step.ask.name for step in level] for level in fold.levels()] == [
        ["get_user_details"],
        ["get_reservation_details", "get_reservation_details"],
    ]
    messages, waits = batched(fold)
    assert (len(messages), waits) == (5, 2)
    code, observed = Player().observe(fold)
    assert code == written(fold)
    assert observed.startswith("ok after 3 tool calls\nvalue: [{'name': {'first_name': 'Mia'}")


def test_calls_of_one_kind_are_a_comprehension_and_a_single_one_is_itself() -> None:
    assert written(Fold((FIRST, SECOND), "AAA111 BBB222")) == (
        '[tools.get_reservation_details(x) for x in ["AAA111", "BBB222"]]'
    )
    assert written(Fold((FIRST,), "")) == 'tools.get_reservation_details("AAA111")'
    assert written(Fold((FIRST, SUM), "152 103")) == (
        '[tools.get_reservation_details("AAA111"), tools.calculate("152 + 103")]'
    )


def test_a_path_leads_to_whole_values_only() -> None:
    assert path({"a": [1, {"b c": "x"}]}, "x") == '["a"][1]["b c"]'
    assert path({"a": "xy"}, "x") is None
    assert path("x", "x") is None


def test_a_program_that_gives_something_else_is_no_result(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.roundtrips.recorded.written", lambda _fold: "[1]")
    with pytest.raises(ResultsDiffer, match=r"\[1\]"):
        Player().observe(Fold((FIRST,), ""))


def _recorded(*steps: Step) -> list[dict[str, object]]:
    messages: list[dict[str, object]] = [{"role": "system", "content": "Be kind."}]
    for step in steps:
        calls = [{"function": {"name": ask.name, "arguments": ask.text}} for ask in step.message.asks]
        messages.append({"role": step.message.role, "content": step.message.text or None, "tool_calls": calls})
        if calls:
            messages.append({"role": "tool", "content": step.result})
    return messages


def test_a_conversation_is_counted_in_every_form() -> None:
    end = _says("assistant", "done")
    conversation = read(_recorded(_says("user", "I am mia_1"), PROFILE, FIRST, SECOND, CANCEL, end))
    assert conversation.steps == (_says("user", "I am mia_1"), PROFILE, FIRST, SECOND, CANCEL, end)
    reality = count([conversation], [Tokenizer("letters", len)])
    assert reality.facts == {
        "conversations": 1,
        "assistant turns": 5,
        "read-only calls": 3,
        "calls that write": 1,
        "thoughts written down": 0,
        "runs of two or more reads": 1,
        "reads in such runs": 3,
        "turns that folding saves, known": 1,
        "turns that folding saves, data flow": 2,
        "turns that folding saves, everything": 2,
    }
    assert reality.runs == (3,)
    turns = {form.name: total(form.bills["letters"]).turns for form in reality.forms}
    assert turns == {
        "recorded": 5,
        "batches": 4,
        "programs, known": 4,
        "programs, data flow": 3,
        "programs, everything": 3,
    }
    assert [form.waits for form in reality.forms] == [4, 3, 4, 4, 4]
    assert [form.engine > 0 for form in reality.forms] == [False, False, True, True, True]


def test_a_function_of_which_nobody_said_whether_it_reads_is_an_error() -> None:
    with pytest.raises(ValueError, match="get_weather: say in airline_tools whether it reads or writes"):
        read(_recorded(_call("get_weather", "{}")))


def test_every_function_is_declared_and_of_one_sort() -> None:
    names = {tool.name for tool in airline_tools(lambda _name, _arguments: None)}
    assert names == READS | WRITES | THOUGHTS
    assert len(names) == len(READS) + len(WRITES) + len(THOUGHTS)
