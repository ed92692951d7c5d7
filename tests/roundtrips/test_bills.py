"""What conversations cost, against what was worked out by hand."""

from __future__ import annotations

import pytest

from benchmarks.roundtrips.bills import FRAME, Bill, Pace, Prices, bill, longest, tokens, total
from benchmarks.roundtrips.conversation import Ask, Episode, Message, Prompt
from benchmarks.roundtrips.retries import Retries


def _words(text: str) -> int:
    return len(text.split())


EPISODE = Episode(
    Prompt("be brief", "one two three"),
    (
        Message("user", "what is it"),
        Message("assistant", asks=(Ask("get", {"a": 1}),)),
        Message("tool", "a b c d e"),
        Message("assistant", "it is"),
    ),
)


def test_every_message_pays_for_its_frame_and_for_the_calls_in_it() -> None:
    assert tokens(Message("user", "what is it"), _words) == FRAME + 3
    # The call: its frame, its name, and `{"a":1}`.
    assert tokens(Message("assistant", asks=(Ask("get", {"a": 1}),)), _words) == FRAME + FRAME + 1 + 1


def test_the_history_is_sent_again_with_every_turn() -> None:
    prompt, question, asking, observed, answer = 5, 7, 10, 9, 6
    found = bill(EPISODE, _words)
    assert found == Bill(
        turns=2,
        input=(prompt + question) + (prompt + question + asking + observed),
        new=prompt + question + asking + observed,
        output=asking + answer,
        prompt=prompt,
    )
    assert longest(EPISODE, _words) == prompt + question + asking + observed + answer
    assert total([found, found]).input == 2 * found.input


def test_prices_tell_what_was_cached_from_what_was_not() -> None:
    found = Bill(turns=2, input=100, new=70, output=10, prompt=20)
    cold = Prices("cold", read=0.1, write=1.25, prompt=1.25, output=5)
    warm = Prices("warm", read=0.1, write=1.25, prompt=0.1, output=5)
    assert cold.cost(found) == pytest.approx(70 * 1.25 + 30 * 0.1 + 10 * 5)
    assert warm.cost(found) == pytest.approx(20 * 0.1 + 50 * 1.25 + 30 * 0.1 + 10 * 5)
    assert Prices("none", 1, 1, 1, 0).cost(found) == 100


def test_time_is_that_of_the_model_of_the_tools_and_of_the_engine() -> None:
    found = Bill(turns=3, output=200)
    assert Pace(first=0.5, speed=100, tool=0.2).seconds(found, 4, engine=0.03) == pytest.approx(1.5 + 2 + 0.8 + 0.03)


def test_three_conversations_say_what_any_number_of_failures_costs() -> None:
    cost = Retries(none=10, one=13, two=18)  # 10 + 2k + k²
    assert [cost.after(failures) for failures in range(5)] == [10, 13, 18, 25, 34]


@pytest.mark.parametrize("rate", [0.0, 0.1, 0.3, 0.5])
def test_what_is_expected_is_the_sum_over_all_numbers_of_failures(rate: float) -> None:
    cost = Retries(none=10, one=13, two=18)
    summed = sum(rate**failures * (1 - rate) * cost.after(failures) for failures in range(200))
    assert cost.expected(rate) == pytest.approx(summed)


def test_at_the_break_even_rate_both_cost_the_same() -> None:
    cost = Retries(none=10, one=13, two=18)
    rate = cost.break_even(20)
    assert rate is not None
    assert cost.expected(rate) == pytest.approx(20)
    # Each failure costs 5, the opponent 15 more: three failures are expected when three of four fail.
    assert Retries(none=5, one=10, two=15).break_even(20) == pytest.approx(0.75)
    assert Retries(none=5, one=10, two=15).break_even(5) == pytest.approx(0)
    assert cost.break_even(9.9) is None
