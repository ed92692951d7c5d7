"""Actions: inside they are validated and proposed, and nothing of them happens."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from codeact import Limits, Sandbox, stubs, tool
from codeact.actions import Action, Actions, action
from codeact.audit import Audit, Event
from codeact.offer import Offer
from codeact.proposals import digest_of
from codeact.tools import BadArguments, Toolset
from codeact.work import Work
from tests.conftest import MakeSandbox

DONE: list[object] = []
"""What has happened; nothing ever should."""


class Reason(Enum):
    DUPLICATE = "duplicate"
    GOODWILL = "goodwill"


@dataclass
class Line:
    charge_id: str
    amount: Decimal


class Aliased(BaseModel):
    model_config = ConfigDict(extra="forbid")
    one: int = Field(alias="uno")


@action
def refund(
    charge_id: str, amount: Annotated[Decimal, Field(gt=0)], reason: Reason = Reason.DUPLICATE, *, idempotency_key: str
) -> str:
    """Give money back."""
    DONE.append((charge_id, amount, reason, idempotency_key))
    return "re_1"


@action
async def send_reply(text: str) -> None:
    """Send the customer an answer."""
    DONE.append(text)


@action
def split(lines: list[Line], at: datetime) -> None:
    """Book several lines."""
    DONE.append((lines, at))


@tool
def get_charge(charge_id: str) -> Line:
    """One charge."""
    return Line(charge_id, Decimal("12.50"))


ACTIONS = [refund, send_reply, split]


@pytest.fixture(autouse=True)
def _nothing_happens() -> Any:
    DONE.clear()
    yield
    assert DONE == []


@pytest.fixture
def desk(make: MakeSandbox) -> Sandbox:
    return make([get_charge], actions=ACTIONS)


def test_a_call_of_an_action_is_a_proposal_with_its_arguments_its_digest_and_its_line(desk: Sandbox) -> None:
    result = desk.run(
        "charge = tools.get_charge('ch_1')\nactions.refund(charge.charge_id, charge.amount)\n"
        "actions.send_reply(text='Done.')\nactions.refund('ch_2', amount='3', reason='goodwill')"
    )
    assert result.ok
    assert [(one.seq, one.name, dict(one.arguments), one.line) for one in result.proposals] == [
        (1, "refund", {"charge_id": "ch_1", "amount": Decimal("12.50"), "reason": "duplicate"}, 2),
        (2, "send_reply", {"text": "Done."}, 3),
        (3, "refund", {"charge_id": "ch_2", "amount": Decimal(3), "reason": "goodwill"}, 4),
    ]
    assert all(one.digest == digest_of(one.name, one.arguments) for one in result.proposals)
    assert [(call.name, call.state, call.line) for call in result.calls] == [
        ("get_charge", "ok", 1), ("actions.refund", "ok", 2), ("actions.send_reply", "ok", 3), ("actions.refund", "ok", 4),
    ]  # fmt: skip


def test_what_a_program_is_given_says_that_nothing_is_done(desk: Sandbox) -> None:
    value: Any = desk.run("actions.send_reply('a')\n[actions.send_reply('b').proposal, actions.send_reply('c')]").value
    assert value[0] == 2
    assert value[1]["proposal"] == 3
    assert "not done" in value[1]["status"]


def test_awaiting_a_proposal_is_harmless(desk: Sandbox) -> None:
    assert desk.run("(await actions.send_reply('a')).proposal").value == 1


def test_how_a_program_rounds_does_not_make_one_proposal_of_two(desk: Sandbox) -> None:
    program = "import decimal\ndecimal.getcontext().prec = 1\nfor n in (94, 90):\n    actions.refund('c1', n)"
    result = desk.run(program)
    assert [(each.arguments["amount"], each.seq) for each in result.proposals] == [(94, 1), (90, 2)]
    assert all(digest_of(each.name, each.arguments) == each.digest for each in result.proposals)


def test_the_same_action_with_equal_arguments_is_one_proposal(desk: Sandbox) -> None:
    result = desk.run(
        "a = actions.refund('ch_1', 20)\nb = actions.refund(amount='20.00', charge_id='ch_1')\n"
        "c = actions.refund('ch_1', 21)\n[p.proposal for p in (a, b, c)]"
    )
    assert result.value == [1, 1, 2]
    assert [one.line for one in result.proposals] == [1, 3]


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("actions.refund('ch_1')", "refund(): amount is missing"),
        ("actions.refund('ch_1', -1)", "refund(): amount"),
        ("actions.refund('ch_1', 1, 'revenge')", "refund(): reason"),
        ("actions.refund('ch_1', 1, idempotency_key='mine')", "refund(): there is no parameter 'idempotency_key'"),
        ("actions.refund('ch_1', float('nan'))", "refund(): amount"),
        ("actions.refun('ch_1', 1)", "there is no action 'refun'; did you mean 'refund'?"),
        ("actions['pay']", "there is no action 'pay'"),
        ("tools.refund('ch_1', 1)", "it is an action: write actions.refund(…)"),
        ("actions.get_charge('ch_1')", "it is a tool: write tools.get_charge(…)"),
        ("refund('ch_1', 1)", "write actions.refund(…)"),
        ("from actions import refund", "write actions.name(…)"),
        ("actions.refund = print", "actions cannot be changed"),
        ("actions['refund'] = print", "actions cannot be changed"),
        ("actions.split([object()], None)", "argument 1[0]"),
    ],
)
def test_what_does_not_fit_is_refused_in_words_that_mend_it(desk: Sandbox, code: str, expected: str) -> None:
    result = desk.run(code)
    assert not result.ok
    assert result.proposals == ()
    assert expected in result.observation()


def test_a_refused_call_can_be_caught_and_what_else_was_proposed_stays(desk: Sandbox) -> None:
    result = desk.run("try:\n    actions.refund('ch_1')\nexcept TypeError:\n    actions.send_reply('Sorry.')")
    assert result.ok
    assert [one.name for one in result.proposals] == ["send_reply"]
    assert [call.state for call in result.calls] == ["refused", "ok"]


def test_what_a_program_that_failed_has_proposed_is_said_to_be_dropped(desk: Sandbox) -> None:
    result = desk.run("actions.send_reply('a')\n1 / 0")
    assert not result.ok
    assert [one.name for one in result.proposals] == ["send_reply"]
    assert "dropped, because the program failed" in result.observation()
    assert "1. send_reply(text='a')" in result.observation()


def test_proposals_are_shown_to_the_model_and_are_data(desk: Sandbox) -> None:
    result = desk.run("for n in range(15):\n    actions.send_reply(f'answer {n}')")
    assert "proposed, to be decided outside: 1. send_reply(text='answer 0'); 2." in result.observation()
    assert "and 5 more" in result.observation()
    told: Any = json.loads(json.dumps(result.to_dict()))["proposals"]
    assert len(told) == 15
    assert told[3] == {"seq": 4, "name": "send_reply", "arguments": {"text": "answer 3"},
                       "digest": result.proposals[3].digest, "line": 2}  # fmt: skip


def test_there_is_no_name_actions_where_none_were_granted(make: MakeSandbox) -> None:
    assert make([get_charge]).run("'actions' in globals() or 'actions' in dir(__builtins__)").value in {False, None}
    assert "name 'actions' is not defined" in make([get_charge]).run("actions").observation()


def test_a_program_reads_of_its_actions(desk: Sandbox) -> None:
    assert desk.run("[*actions], len(actions), 'refund' in actions, repr(actions)").value == (
        ["refund", "send_reply", "split"], 3, True, "<actions: refund, send_reply, split>",
    )  # fmt: skip
    shown = desk.run("help(actions.refund)\nprint(actions)\nrepr(actions.refund)")
    assert (
        "refund(charge_id: str, amount: Annotated[Decimal, " in shown.stdout
        or "refund(charge_id: str, amount: Decimal" in shown.stdout
    )
    assert "idempotency_key" not in shown.stdout
    assert "Send the customer an answer." in shown.stdout
    assert str(shown.value).startswith("<action refund(")


def test_a_line_is_of_the_program_that_runs_and_of_the_text_the_model_wrote(desk: Sandbox) -> None:
    with desk.session() as session:
        session.run("def apologise(text):\n    return actions.send_reply(text)")
        result = session.run("\n\n\napologise('Sorry.')")
    assert [one.line for one in result.proposals] == [4]
    fenced = desk.run("Here it is:\n```python\nactions.send_reply('a')\n```")
    assert [one.line for one in fenced.proposals] == [3]


def test_an_action_may_be_called_what_a_mapping_has(make: MakeSandbox) -> None:
    def get(key: str) -> None:
        """Fetch it from the shelf."""

    assert make(actions=[get]).run("actions.get('a').proposal").value == 1


def test_proposals_count_as_calls(make: MakeSandbox) -> None:
    result = make(actions=ACTIONS, calls=3).run("for n in range(9):\n    actions.send_reply(str(n))")
    assert result.error is not None
    assert result.error.kind == "calls"
    assert len(result.proposals) == 3


def test_all_proposals_of_a_program_are_as_large_as_a_value_may_be(make: MakeSandbox) -> None:
    sandbox = make(actions=ACTIONS, value_bytes=10_000)
    code = "for n in range(9):\n    try:\n        actions.send_reply(f'{n % 5}' * 3000)\n    except ToolError as e:\n        print(e)"
    result = sandbox.run(code)
    assert result.ok
    assert len(result.proposals) == 3
    assert result.stdout.splitlines()[0] == (
        "send_reply(): the proposals of this program are larger than the limit value_bytes=10,000"
    )
    assert [call.state for call in result.calls] == [*["ok"] * 3, *["refused"] * 2, *["ok"] * 3, "refused"]


def test_what_a_proposal_holds_counts_however_short_its_digest_takes_it(make: MakeSandbox) -> None:
    code = "from decimal import Decimal\nfor n in range(1, 99):\n    actions.refund(str(n), Decimal(f'{n}.' + '0' * 19_000))"
    result = make(actions=ACTIONS, value_bytes=1_000_000).run(code)
    assert result.error is not None
    assert "larger than the limit value_bytes=1,000,000" in result.error.message
    assert len(result.proposals) == 52


def test_a_program_is_checked_against_its_actions_too(engine: str) -> None:
    sandbox = Sandbox([get_charge], actions=ACTIONS, engine=engine, check=True)
    for code, expected in [
        ("actions.send_reply('a'); actions.refund('ch_1')", "refund(): amount is missing"),
        ("actions.send_reply('a'); actions.refun(1)", "did you mean 'refund'?"),
        ("actions.send_reply('a'); tools.refund('a', 1)", "it is an action"),
        ("actions.send_reply('a'); refund('a', 1)", "write actions.refund(…)"),
    ]:
        result = sandbox.run(code)
        assert result.error is not None
        assert (result.error.kind, result.calls) == ("denied", ())
        assert expected in result.observation()
    assert sandbox.run("actions.refund('ch_1', 2).proposal").value == 1


def test_the_stubs_tell_of_actions(engine: str) -> None:
    text = stubs([get_charge], ACTIONS)
    compile(text, "stubs", "exec")
    assert "class Actions(Protocol):" in text
    assert "actions: Actions" in text
    assert "-> Proposed:" in text
    assert "idempotency_key" not in text
    assert "Actions" not in stubs([get_charge])


def test_an_audit_tells_proposals_from_calls(engine: str) -> None:
    events: list[Event] = []

    class Kept:
        def write(self, event: Event) -> None:
            events.append(event)

    Sandbox([get_charge], actions=ACTIONS, engine=engine, audit=Audit([Kept()])).run(
        "tools.get_charge('a')\nactions.send_reply('b')\nactions.send_reply()"
    )
    assert [(event.name, event.data["tool"]) for event in events if "tool" in event.data] == [
        ("tool_call_executed", "get_charge"),
        ("action_proposed", "actions.send_reply"),
        ("tool_call_denied", "actions.send_reply"),
    ]


# --- on the host ---------------------------------------------------------------------------------------------


def test_arguments_come_back_as_what_the_function_takes() -> None:
    arguments = split.arguments(
        ([{"charge_id": "a", "amount": "1.5"}], "2026-01-02T03:04:05Z"), {}, depth=16, size=10_000
    )
    assert arguments == {
        "lines": [{"charge_id": "a", "amount": Decimal("1.5")}],
        "at": datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
    }
    call = split.call_of(arguments, "k")
    assert (call.args, call.keywords) == ((), {"lines": [Line("a", Decimal("1.5"))], "at": arguments["at"]})
    keyed = refund.call_of({"charge_id": "a", "amount": Decimal(1), "reason": "goodwill"}, "k7")
    assert keyed.keywords == {"charge_id": "a", "amount": 1, "reason": Reason.GOODWILL, "idempotency_key": "k7"}


def test_arguments_of_another_function_are_refused() -> None:
    with pytest.raises(BadArguments, match=r"refund\(\): there is no parameter 'lines'|charge_id"):
        refund.call_of({"lines": []}, "k")


def test_a_parameter_that_validation_would_not_take_back_cannot_be_proposed() -> None:
    @action
    def take(what: Aliased) -> None:
        """Take it."""

    with pytest.raises(BadArguments, match=r"take\(\) cannot be proposed, which is for its host to mend"):
        take.arguments(({"uno": 1},), {}, depth=16, size=10_000)


@pytest.mark.parametrize("number", ["NaN", "sNaN", "-0"])
def test_what_equals_nothing_can_be_proposed_where_it_is_taken(number: str) -> None:
    @action
    def note(amount: Annotated[Decimal, Field(allow_inf_nan=True)]) -> None:
        """Write it down."""

    assert str(note.arguments((number,), {}, depth=16, size=10_000)["amount"]) == number


def test_a_parameter_whose_validation_goes_on_changing_it_cannot_be_proposed() -> None:
    @action
    def pay(cents: Annotated[int, BeforeValidator(lambda euros: euros * 100)]) -> None:
        """Pay euros, which become cents. What was approved would become so once more."""

    with pytest.raises(BadArguments, match=r"pay\(\): validation makes 50000 of cents=500"):
        pay.arguments((5,), {}, depth=16, size=10_000)


def variadic_(*amounts: int) -> None: ...
def open_(**amounts: int) -> None: ...
def odd_(where: Any = object()) -> None: ...  # noqa: B008
def bare_(amount) -> None: ...  # type: ignore[no-untyped-def]


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: action(variadic_), "amounts has no name"),
        (lambda: action(open_), "amounts has no name"),
        (lambda: action(odd_), "the default of 'where' is no plain value"),
        (lambda: action(bare_), "^function 'bare_': parameter 'amount' has no annotation"),
        (lambda: action(refund), "is already an action"),  # type: ignore[arg-type]
        (lambda: action(get_charge), "is already a tool"),
        (lambda: Actions([get_charge]), "is already a tool"),
        (lambda: Actions(refund), "put a single one in a list"),
        (lambda: Sandbox([refund]), "actions="),
        (lambda: Actions([refund, refund]), "two actions are named 'refund'"),
        (lambda: action(name="no name")(odd_), "^'no name' is no public identifier"),
    ],
)
def test_a_mistake_of_the_hosts_is_an_error_at_once(made: Any, expected: str) -> None:
    with pytest.raises((TypeError, ValueError), match=expected):
        made()


def test_on_the_host_an_action_is_its_function() -> None:
    assert isinstance(refund, Action)
    assert refund("a", Decimal(1), idempotency_key="k") == "re_1"
    assert DONE.pop() == ("a", Decimal(1), Reason.DUPLICATE, "k")
    assert Actions({"pay_back": refund})["pay_back"].name == "pay_back"


@pytest.mark.parametrize(
    "name", ["actions.", "actions.refund.x", "actions.actions.refund", "refund", "actions", "tools.get_charge"]
)
def test_no_other_name_leads_to_an_action(name: str) -> None:
    offered = Offer(Toolset([get_charge]), Actions([refund]), Limits())
    assert not isinstance(offered.work(name, ("a", 1), {}, 0), Work)
    assert offered.proposals == ()


_scalars = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.decimals(allow_nan=False)
)
_plain = st.recursive(_scalars, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=8)


@settings(deadline=None, max_examples=40)
@given(st.dictionaries(st.text(), _plain), st.randoms())
def test_equal_arguments_have_one_digest(arguments: dict[str, Any], random: Any) -> None:
    shuffled = list(arguments.items())
    random.shuffle(shuffled)
    assert digest_of("f", arguments) == digest_of("f", dict(shuffled))
    assert digest_of("f", arguments) != digest_of("g", arguments)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Decimal(20), Decimal("20.00")),
        (Decimal(0), Decimal("-0.0")),
        (Decimal("1E+3"), Decimal(1000)),
        (0.0, -0.0),
        (["\ud83d\ude00", "\ud83d"], ["\U0001f600", "\ud83d"]),
        (datetime(2026, 1, 1, 12, tzinfo=UTC), datetime(2026, 1, 1, 14, tzinfo=timezone(timedelta(hours=2)))),
        ({"a": 1, "b": [2, {"c": 3, "d": 4}]}, {"b": [2, {"d": 4, "c": 3}], "a": 1}),
        ({1, 2, 3}, {3, 2, 1}),
    ],
)
def test_equal_values_that_are_written_otherwise_have_one_digest(one: object, other: object) -> None:
    assert digest_of("f", {"x": one}) == digest_of("f", {"x": other})


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, True),
        (1, "1"),
        (Decimal("20.001"), Decimal(20)),
        ([1], (1,)),
        ({"a": 1}, [["a", 1]]),
        ("a", b"a"),
        (None, ""),
    ],
)
def test_other_values_have_another_digest(one: object, other: object) -> None:
    assert digest_of("f", {"x": one}) != digest_of("f", {"x": other})
