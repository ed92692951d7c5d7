"""What rules decide, and what they leave to others."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import Annotated, Literal

import pytest
from annotated_types import Ge, Gt, Interval, Le, Len, Lt, MaxLen, MinLen, MultipleOf, Predicate, Timezone
from desk import Clock, Open, Till, approved, proposal, refund_of
from pydantic import Field, StringConstraints

from codeact.actions import Actions
from codeact.outbox import Allow, Outbox, Rate, Refuse
from codeact.outbox.rules import checked
from tests.conftest import named

NAN = float("nan")

MEETS = [
    (Le(50), 50),
    (Le(50), 49.5),
    (Le(50), Decimal("50.00")),
    (Le(50), Fraction(99, 2)),
    (Le(50), -(10**30)),
    (Le(Decimal("0.1")), 0),
    (Le(date(2026, 1, 1)), date(2025, 1, 1)),
    (Interval(gt=0, le=50), 50),
    (MultipleOf(5), 25),
    (MaxLen(3), "abc"),
    (MaxLen(3), [1, 2]),
    (MinLen(1), "a"),
    (Predicate(str.isupper), "ABC"),
    (Predicate(bool), True),
    (StringConstraints(pattern=r"^ch_"), "ch_1"),
    ("EUR", "EUR"),
    (20, 20),
    (None, None),
    (True, True),
    (Decimal("1.0"), Decimal(1)),
    (str, ""),
    (Literal["EUR", "USD"], "USD"),
    (Annotated[Decimal, Le(50)], Decimal(50)),
    (Annotated[int, Field(le=50)], 50),
    (list[int], [1, 2]),
]

DOES_NOT = [
    (Le(50), 50.0000001),
    (Le(50), NAN),
    (Le(50), Decimal("NaN")),
    (Le(50), Decimal("sNaN")),
    (Gt(50), NAN),
    (Gt(50), Decimal("NaN")),
    (Ge(0), NAN),
    (Lt(0), NAN),
    (Interval(ge=0), NAN),
    (MultipleOf(5), NAN),
    (Le(NAN), 1),
    (Le(50), float("inf")),
    (Le(50), "5"),
    (Le(50), None),
    (Le(50), True),
    (Le(50), False),
    (Le(50), [5]),
    (Le(50), {"amount": 5}),
    (Le(50), date(2025, 1, 1)),
    (Interval(gt=0, le=50), 0),
    (Interval(gt=0, le=50), -1),
    (MaxLen(3), "abcd"),
    (MaxLen(3), 3),
    (Predicate(str.isupper), 3),
    (Predicate(lambda value: 1 / 0), 3),
    (StringConstraints(pattern=r"^ch_"), 1),
    (StringConstraints(strip_whitespace=True), " a "),
    ("EUR", "eur"),
    ("EUR", None),
    (20, 20.0),
    (20, Decimal(20)),
    (1, True),
    (True, 1),
    (NAN, NAN),
    (str, 1),
    (int, True),
    (Literal["EUR", "USD"], "GBP"),
    (Literal[1], True),
    (Annotated[Decimal, Le(50)], 50),
    (Annotated[int, Le(50)], "50"),
    (list[int], ["1"]),
]


@pytest.mark.parametrize("rule", [Allow, Refuse])
@pytest.mark.parametrize(("wanted", "value"), MEETS, ids=named)
def test_a_condition_that_is_met(rule: type[Allow], wanted: object, value: object) -> None:
    assert rule("pay", where={"amount": wanted}).speaks("pay", {"amount": value, "to": "a"})
    assert not rule("pay", where={"amount": wanted}).speaks("play", {"amount": value})


@pytest.mark.parametrize("rule", [Allow, Refuse])
@pytest.mark.parametrize(("wanted", "value"), DOES_NOT, ids=named)
def test_a_condition_that_is_not_met(rule: type[Allow], wanted: object, value: object) -> None:
    assert not rule("pay", where={"amount": wanted}).speaks("pay", {"amount": value, "to": "a"})


@pytest.mark.parametrize("wanted", [Le(50), None, str, object(), Predicate(lambda _: True)], ids=named)
def test_what_is_missing_meets_nothing(wanted: object) -> None:
    if type(wanted) is object:
        with pytest.raises(TypeError, match="a condition is none"):
            Allow("pay", where={"amount": wanted})
    else:
        assert not Allow("pay", where={"amount": wanted}).speaks("pay", {"to": "a"})


@pytest.mark.parametrize("rule", [Allow, Refuse])
def test_a_rule_about_nothing_is_an_error_where_it_is_written(rule: type[Allow]) -> None:
    with pytest.raises(TypeError, match=r"\(5\): expected the name of an action"):
        rule(5)  # type: ignore[arg-type]  # what a mistake looks like
    with pytest.raises(TypeError, match=r"where=5\): expected conditions by the names"):
        rule("pay", where=5)  # type: ignore[arg-type]  # as above


def test_what_a_refusal_cannot_tell_no_later_rule_approves(make: Open) -> None:
    def blocked(_: object) -> bool:
        msg = "the list is away"
        raise ConnectionError(msg)

    refuse = Refuse("refund", where={"charge_id": Predicate(blocked), "amount": Gt(10)})
    outbox = make(rules=[refuse, Allow("refund")])
    small, large = outbox.submit([refund_of(Decimal(1)), refund_of(Decimal(20))], task="t1")
    assert (small.state, large.state) == ("approved", "proposed")
    unable = Allow("refund", where={"charge_id": Predicate(blocked)})
    (entry,) = make(rules=[unable, Allow("refund")]).submit([refund_of(Decimal(2))], task="t1")
    assert (entry.state, entry.reason) == ("approved", "Allow('refund')")


def test_every_condition_must_be_met() -> None:
    rule = Allow("pay", where={"amount": Le(50), "currency": "EUR"})
    assert rule.speaks("pay", {"amount": 1, "currency": "EUR"})
    assert not rule.speaks("pay", {"amount": 1, "currency": "USD"})
    assert not rule.speaks("pay", {"amount": 51, "currency": "EUR"})


def test_the_conditions_of_a_rule_cannot_be_changed_behind_it() -> None:
    where: dict[str, object] = {"amount": Le(50)}
    rule = Allow("pay", where=where)
    where.clear()
    assert not rule.speaks("pay", {"amount": 51})
    assert str(rule) == "Allow('pay', where={'amount': Le(le=50)})"
    bounds = {"amount": Interval(gt=0, le=50), "text": StringConstraints(max_length=9), "lines": Len(1)}
    assert str(Allow("pay", where=bounds)) == (
        "Allow('pay', where={'amount': Interval(gt=0, le=50), 'text': StringConstraints(max_length=9), 'lines': Len(min_length=1)})"
    )


@pytest.mark.parametrize("wanted", [Timezone("UTC"), object(), lambda value: True, [Le(5)], [1, 2]], ids=named)
def test_what_would_be_no_condition_is_an_error_where_it_is_written(wanted: object) -> None:
    with pytest.raises(TypeError, match="a condition is none"):
        Allow("pay", where={"to": wanted})


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: Allow("pay", count=0), "Allow(count=0): must be above zero"),
        (lambda: Allow("pay", count=True), "Allow(count=True): expected a whole number"),
        (lambda: Allow("pay", count=2.5), "Allow(count=2.5): expected a whole number"),
        (lambda: Allow("pay", rate=3), "Allow(rate=3): expected a Rate"),
        (lambda: Rate(0, seconds=1), "Rate(count=0): must be above zero"),
        (lambda: Rate(1, seconds=0), "Rate(seconds=0): must be above zero"),
        (lambda: Rate(1, seconds=NAN), "Rate(seconds=nan): must be above zero"),
        (lambda: Rate(1, seconds="1"), "Rate(seconds='1'): expected a number of seconds"),
        (lambda: checked([Allow("pay")], _ACTIONS), "there is no action 'pay'; there are refund, charge, send"),
        (
            lambda: checked([Refuse("refund", where={"ammount": Gt(1)})], _ACTIONS),
            "refund has no parameter 'ammount'; it has charge_id, amount",
        ),
        (
            lambda: checked([Allow("charge", where={"idempotency_key": "a"})], _ACTIONS),
            "charge has no parameter 'idempotency_key'",
        ),
    ],
)
def test_a_rule_that_is_wrong_says_so_at_once(make: object, told: str) -> None:
    with pytest.raises((TypeError, ValueError), match=re.escape(told)):
        make()


_ACTIONS = Actions(Till().actions)


def _decided(outbox: Outbox, *amounts: object, task: str = "t") -> list[str]:
    return [entry.state for entry in outbox.submit([refund_of(amount) for amount in amounts], task=task)]


def test_the_first_rule_that_speaks_decides(make: Open) -> None:
    rules = [
        Refuse("refund", where={"amount": Gt(500)}, reason="too much"),
        Allow("refund", where={"amount": Le(50)}),
        Refuse("refund", where={"amount": 1}),
    ]
    outbox = make(rules=rules)
    assert _decided(outbox, 501, 50, 1, 51) == ["refused", "approved", "approved", "proposed"]
    refused, allowed, *_ = outbox.entries()
    assert (refused.by, refused.reason) == ("rule", "too much")
    assert (allowed.by, allowed.reason) == ("rule", "Allow('refund', where={'amount': Le(le=50)})")


def test_the_callback_is_asked_about_what_no_rule_decides(make: Open) -> None:
    asked: list[Mapping[str, object]] = []
    outbox = make(
        rules=[Allow("refund", where={"amount": Le(50)})],
        approve=lambda entry: asked.append(entry.arguments) is not None,
    )
    assert _decided(outbox, 1, 51) == ["approved", "refused"]
    assert [arguments["amount"] for arguments in asked] == [51]


def test_the_count_is_of_what_is_approved_in_a_task(make: Open) -> None:
    outbox = make(rules=[Allow("refund", where={"amount": Le(50)}, count=2)])
    assert _decided(outbox, 100, 200, 1, 1, 2, 3) == [
        "proposed",
        "proposed",
        "approved",
        "approved",
        "approved",
        "proposed",
    ]
    assert _decided(outbox, 1, 4) == ["approved", "proposed"]
    assert _decided(outbox, 1, task="other") == ["approved"]


def test_what_others_have_approved_counts_too_and_what_became_of_it_does_not_matter(make: Open, till: Till) -> None:
    outbox = make(rules=[Allow("refund", where={"amount": Le(50)}, count=2)])
    (entry,) = outbox.submit([refund_of(100)], task="t")
    approved(outbox, entry)
    till.raises = ValueError()
    assert [one.state for one in outbox.perform()] == ["failed"]
    assert _decided(outbox, 1, 2) == ["approved", "proposed"]


def test_past_its_count_a_rule_leaves_it_to_the_next(make: Open) -> None:
    outbox = make(rules=[Allow("refund", count=1), Refuse("refund")])
    assert _decided(outbox, 1, 2) == ["approved", "refused"]


def test_the_rate_is_over_all_tasks(make: Open, clock: Clock) -> None:
    outbox = make(rules=[Allow("refund", rate=Rate(2, seconds=60))])
    assert _decided(outbox, 1, task="a") + _decided(outbox, 2, task="b") == ["approved", "approved"]
    assert _decided(outbox, 3, task="c") == ["proposed"]
    clock.now += 59.9
    assert _decided(outbox, 4, task="c") == ["proposed"]
    clock.now += 0.1
    assert _decided(outbox, 5, 6, 7, task="c") == ["approved", "approved", "proposed"]
    clock.now -= 10_000  # a clock that was set back gives no room
    assert _decided(outbox, 8, task="c") == ["proposed"]


def test_rules_are_about_one_action(make: Open) -> None:
    outbox = make(rules=[Allow("refund")])
    (entry,) = outbox.submit([proposal("send", to="a")], task="t")
    assert entry.state == "proposed"
