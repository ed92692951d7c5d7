"""What comes in, who decides, and what may happen to an entry in each of its states."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from typing import Annotated, Any

import pytest
from annotated_types import Predicate
from desk import Clock, Open, Till, approved, proposal, refund_of
from pydantic import AfterValidator

from codeact import Result, Sandbox
from codeact.actions import Actions, action
from codeact.audit import Audit
from codeact.outbox import Allow, Entry, NothingHappened, Outbox, OutboxError, Refuse
from codeact.outbox.entries import MOVES, STATES


def test_a_proposal_waits_for_a_person_where_nobody_decides(outbox: Outbox, till: Till) -> None:
    (entry,) = outbox.submit([proposal()], task="t1")
    assert (entry.state, entry.task, entry.name, entry.seq, entry.line) == ("proposed", "t1", "refund", 1, 1)
    assert entry.arguments == {"charge_id": "c1", "amount": Decimal(20)}
    assert outbox.perform() == []
    assert till.effects == []


def test_what_is_approved_is_performed_once(outbox: Outbox, till: Till) -> None:
    (entry,) = outbox.submit([proposal()], task="t1")
    assert approved(outbox, entry).by == "ada"
    (done,) = outbox.perform()
    assert (done.state, done.value, done.error, done.owner) == ("done", "refunded 20", None, None)
    assert outbox.perform() == []
    assert till.effects == ["c1 20"]
    assert outbox.get(entry.id) == done


def test_the_same_in_one_task_is_one_entry_whatever_its_state(outbox: Outbox, till: Till) -> None:
    (first,) = outbox.submit([proposal()], task="t1")
    assert outbox.submit([proposal(seq=4), proposal()], task="t1") == [first, first]
    approved(outbox, first)
    (done,) = outbox.perform()
    assert outbox.submit([proposal()], task="t1") == [done]
    (other,) = outbox.submit([proposal()], task="t2")
    assert (other.state, other.id == first.id, other.key == first.key) == ("proposed", False, False)
    assert till.effects == ["c1 20"]


def test_the_id_and_the_key_of_a_consequence_are_the_same_in_every_outbox(outbox: Outbox) -> None:
    (entry,) = outbox.submit([proposal("ping", host="a")], task="t1")
    with Outbox(":memory:") as other:
        (twin,) = other.submit([proposal("ping", host="a")], task="t1")
    assert (entry.id, entry.key) == ("08d88401e15b5030994b7e007d46a69c", twin.key)


def test_functions_that_take_the_key_are_given_it(outbox: Outbox, till: Till) -> None:
    (entry,) = outbox.submit([proposal("charge", charge_id="c1", amount=Decimal(1))], task="t1")
    approved(outbox, entry)
    (done,) = outbox.perform()
    assert (done.keyed, till.keys) == (True, [entry.key])


def test_an_approval_is_of_a_digest(outbox: Outbox, till: Till) -> None:
    one, other = outbox.submit([refund_of(1), refund_of(2)], task="t1")
    with pytest.raises(OutboxError, match=re.escape(f"has the digest {one.digest}, and '{other.digest}' was given")):
        outbox.approve(one.id, digest=other.digest, by="ada")
    assert outbox.get(one.id).state == "proposed"


def test_an_approval_is_used_once(outbox: Outbox, till: Till) -> None:
    till.raises = ValueError("no such charge")
    (entry,) = outbox.submit([proposal()], task="t1")
    approved(outbox, entry)
    (failed,) = outbox.perform()
    assert (failed.state, failed.error) == ("failed", "ValueError: no such charge")
    assert outbox.perform() == []
    till.raises = None
    approved(outbox, failed)
    (done,) = outbox.perform()
    assert (done.state, done.error, len(till.effects)) == ("done", None, 2)


def test_an_approval_expires(outbox: Outbox, till: Till, clock: Clock) -> None:
    (entry,) = outbox.submit([proposal()], task="t1")
    assert outbox.approve(entry.id, digest=entry.digest, by="ada", expires=60).expires == clock.now + 60
    clock.now += 60
    assert outbox.perform() == []
    back = outbox.get(entry.id)
    assert (back.state, back.by, back.expires) == ("proposed", None, None)
    assert back.reason == "the approval by ada has expired, and nothing had been begun"
    approved(outbox, entry)
    clock.now += 10**9
    assert [one.state for one in outbox.perform()] == ["done"]


def test_an_approval_that_expires_while_another_is_performed_is_not_performed(make: Open, clock: Clock) -> None:
    def refund(charge_id: str, amount: Decimal) -> None:
        clock.now += 60

    outbox = make(actions=[refund])
    first, second = outbox.submit([refund_of(1), refund_of(2)], task="t1")
    approved(outbox, first)
    outbox.approve(second.id, digest=second.digest, by="ada", expires=60)
    assert [one.state for one in outbox.perform()] == ["done", "proposed"]


def _in_state(outbox: Outbox, till: Till, state: str) -> Entry:
    (entry,) = outbox.submit([proposal("charge", charge_id="c1", amount=Decimal(1))], task="t1")
    if state == "proposed":
        return entry
    if state == "refused":
        return outbox.refuse(entry.id, by="ada")
    approved(outbox, entry)
    if state == "approved":
        return outbox.get(entry.id)
    till.raises = {"failed": ValueError(), "unknown": TimeoutError()}.get(state)
    (ended,) = outbox.perform()
    return ended


CALLS = {
    "approved": lambda outbox, entry: outbox.approve(entry.id, digest=entry.digest, by="eve"),
    "refused": lambda outbox, entry: outbox.refuse(entry.id, by="eve"),
    "settled as done": lambda outbox, entry: outbox.settle(entry.id, "done", by="eve"),
    "settled as failed": lambda outbox, entry: outbox.settle(entry.id, "failed", by="eve"),
    "settled as again": lambda outbox, entry: outbox.settle(entry.id, "again", by="eve"),
}


@pytest.mark.parametrize("state", [state for state in STATES if state != "started"])
@pytest.mark.parametrize("move", [move for move in MOVES if move.by_person], ids=lambda move: move.verb)
def test_what_a_person_may_do_in_each_state_is_the_table(outbox: Outbox, till: Till, state: str, move: object) -> None:
    entry = _in_state(outbox, till, state)
    assert entry.state == state
    if state in move.sources:
        after = CALLS[move.verb](outbox, entry)
        assert (after.state, after.by) == (move.to, "eve")
        assert outbox.get(entry.id) == after
    else:
        told = f"is {state} already" if state == move.verb else f"is {state}: it cannot be {move.verb}"
        with pytest.raises(OutboxError, match=f"{entry.id[:8]}, .*, {told}; "):
            CALLS[move.verb](outbox, entry)
        assert outbox.get(entry.id) == entry


def test_what_is_being_performed_is_started_and_nobody_changes_it(make: Open) -> None:
    seen: list[str] = []

    def busy(charge_id: str, amount: Decimal) -> str:
        (entry,) = outbox.entries()
        seen.append(entry.state)
        with pytest.raises(OutboxError, match="is started: it cannot be refused; it is being performed"):
            outbox.refuse(entry.id, by="eve")
        assert outbox.perform() == []
        return "ok"

    outbox = make(actions={"refund": busy})
    (entry,) = outbox.submit([proposal()], task="t1")
    approved(outbox, entry)
    assert [one.state for one in outbox.perform()] == ["done"]
    assert seen == ["started"]


@pytest.mark.parametrize(
    ("error", "state"),
    [
        (ValueError("x"), "failed"),
        (ArithmeticError("x"), "failed"),
        (NothingHappened("refused at the door"), "failed"),
        (TimeoutError(), "unknown"),
        (ConnectionResetError(), "unknown"),
        (OSError("disk"), "unknown"),
        (EOFError(), "unknown"),
        (MemoryError(), "unknown"),
        (ExceptionGroup("several", [ValueError(), TimeoutError()]), "unknown"),
        (ExceptionGroup("several", [ValueError()]), "failed"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else value,
)
def test_what_an_exception_means(outbox: Outbox, till: Till, error: Exception, state: str) -> None:
    till.raises = error
    (entry,) = outbox.submit([proposal()], task="t1")
    approved(outbox, entry)
    (ended,) = outbox.perform()
    assert (ended.state, ended.error) == (state, f"{type(error).__name__}: {error}")


def test_an_exception_that_hides_a_timeout_is_unknown(make: Open) -> None:
    def waited(seconds: float) -> None:
        raise TimeoutError

    def refund(charge_id: str, amount: Decimal) -> str:
        try:
            waited(0)
        except TimeoutError:
            msg = "the library's own"
            raise ValueError(msg) from None

    outbox = make(actions=[refund])
    (entry,) = outbox.submit([proposal()], task="t1")
    approved(outbox, entry)
    assert [one.state for one in outbox.perform()] == ["unknown"]


def test_nothing_happened_also_because_of_a_connection(outbox: Outbox, till: Till) -> None:
    till.raises = NothingHappened("refused")
    till.raises.__cause__ = ConnectionRefusedError()
    (entry,) = outbox.submit([proposal()], task="t1")
    approved(outbox, entry)
    assert [one.state for one in outbox.perform()] == ["failed"]


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(3), GeneratorExit()], ids=repr)
def test_what_ends_the_program_goes_on_and_leaves_unknown(outbox: Outbox, till: Till, error: BaseException) -> None:
    till.raises = error
    first, second = outbox.submit([refund_of(1), refund_of(2)], task="t1")
    approved(outbox, first)
    approved(outbox, second)
    with pytest.raises(type(error)):
        outbox.perform()
    assert [one.state for one in outbox.entries()] == ["unknown", "approved"]


def test_settled_as_again_it_is_performed_with_the_same_key(outbox: Outbox, till: Till) -> None:
    entry = _in_state(outbox, till, "unknown")
    till.raises = None
    outbox.settle(entry.id, "again", by="ada", note="the provider has not seen it")
    (done,) = outbox.perform()
    assert (done.state, done.reason, till.keys) == ("done", "the provider has not seen it", [entry.key] * 2)


def test_without_a_key_it_cannot_be_performed_again(outbox: Outbox, till: Till) -> None:
    till.raises = TimeoutError()
    (entry,) = outbox.submit([proposal()], task="t1")
    approved(outbox, entry)
    outbox.perform()
    with pytest.raises(OutboxError, match="takes no idempotency_key: performed again, it could happen twice"):
        outbox.settle(entry.id, "again", by="ada")


def test_what_was_begun_with_a_key_is_not_performed_without(outbox: Outbox, till: Till) -> None:
    entry = _in_state(outbox, till, "unknown")
    outbox.settle(entry.id, "again", by="ada")

    def charge(charge_id: str, amount: Decimal) -> None:
        till.effects.append("without")

    outbox._actions = Actions([charge])  # as in a process with newer code
    (held,) = outbox.perform()
    assert (held.state, outbox.get(entry.id).state, "without" in till.effects) == ("approved", "approved", False)
    assert held.reason == "not performed: it was begun by a function that takes the key, and this one takes none"


def test_what_cannot_be_performed_here_says_so_and_is_kept(outbox: Outbox, till: Till) -> None:
    gone, changed = outbox.submit([proposal("gone", x=1), proposal(charge_id="c1", amount="much")], task="t1")
    approved(outbox, gone)
    approved(outbox, changed)
    first, second = outbox.perform()
    assert first.reason == "not performed: there is no action 'gone' here; there are refund, charge, send"
    assert second.reason.startswith("not performed: its arguments do not fit the function any more: refund(): ")
    assert [one.state for one in outbox.entries()] == ["approved", "approved"]
    assert till.effects == []


def _doubled(amount: int) -> int:
    return amount * 2


def _unable(amount: int) -> int:
    msg = "the rates are not there"
    raise LookupError(msg)


@pytest.mark.parametrize(
    ("validator", "told"),
    [
        (_doubled, "validation makes 40 of amount="),
        (_unable, "cannot be validated: LookupError: the rates are not there"),
    ],
)
def test_what_validation_makes_something_else_of_is_not_performed_and_the_others_are(
    outbox: Outbox, till: Till, validator: Callable[[int], int], told: str
) -> None:
    for entry in outbox.submit([proposal(), proposal("charge", charge_id="c2", amount=1)], task="t1"):
        approved(outbox, entry)

    def refund(charge_id: str, amount: int) -> None:
        till.effects.append("otherwise")

    refund.__annotations__["amount"] = Annotated[int, AfterValidator(validator)]
    outbox._actions = Actions([refund, till.charge])  # as in a process with newer code
    held, done = outbox.perform()
    assert (held.state, done.state, till.effects) == ("approved", "done", ["c2 1"])
    assert held.reason is not None
    assert told in held.reason


def test_a_character_in_two_halves_is_that_character(make: Open, till: Till) -> None:
    @action
    def post(what: Any) -> None:
        till.effects.append(what)

    outbox = make(actions=[post], rules=[Allow("post")])
    outbox.submit([proposal("post", what="\ud83d\ude00"), proposal("post", what="\U0001f600")], task="t1")
    assert [entry.state for entry in outbox.perform()] == ["done"]
    assert till.effects == ["\U0001f600"]


def test_arguments_that_were_changed_in_the_database_are_not_performed(outbox: Outbox, till: Till) -> None:
    (entry,) = outbox.submit([proposal(charge_id="c1", amount=1)], task="t1")
    approved(outbox, entry)
    with outbox._ledger.store.change():
        outbox._ledger.store.connection.execute("UPDATE outbox_entry SET arguments = replace(arguments, '1', '9')")
    (held,) = outbox.perform()
    assert held.reason == "not performed: its arguments are not those of its digest: they were changed in the database"
    outbox.refuse(entry.id, by="ada")
    assert till.effects == []


def test_changed_arguments_cannot_be_approved(outbox: Outbox) -> None:
    (entry,) = outbox.submit([proposal(charge_id="c1", amount=1)], task="t1")
    with outbox._ledger.store.change():
        outbox._ledger.store.connection.execute("UPDATE outbox_entry SET arguments = replace(arguments, '1', '9')")
    with pytest.raises(OutboxError, match="look at it again"):
        approved(outbox, entry)


def test_async_functions_are_awaited_both_ways(outbox: Outbox, till: Till) -> None:
    first, second = outbox.submit([proposal("send", to="a"), proposal("send", to="b")], task="t1")
    approved(outbox, first)
    assert [one.state for one in outbox.perform()] == ["done"]
    approved(outbox, second)

    async def main() -> list[Entry]:
        with pytest.raises(RuntimeError, match="await outbox.perform_async"):
            outbox.perform()
        return await outbox.perform_async()

    assert [one.value for one in asyncio.run(main())] == ["refunded 0"]
    assert till.effects == ["a 0", "b 0"]


@pytest.mark.parametrize("error", [None, ValueError("x"), StopIteration(1), TimeoutError()], ids=repr)
def test_plain_functions_are_performed_in_an_event_loop(outbox: Outbox, till: Till, error: Exception | None) -> None:
    till.raises = error
    (entry,) = outbox.submit([proposal()], task="t1")
    approved(outbox, entry)
    (ended,) = asyncio.run(outbox.perform_async())
    assert ended.state == ("done" if error is None else "unknown" if isinstance(error, TimeoutError) else "failed")


def test_what_is_cancelled_is_unknown(make: Open) -> None:
    begun: list[asyncio.Event] = []

    async def send(to: str) -> None:
        begun[0].set()
        await asyncio.Event().wait()

    outbox = make(actions=[send])
    (entry,) = outbox.submit([proposal("send", to="a")], task="t1")
    approved(outbox, entry)

    async def main() -> None:
        begun.append(asyncio.Event())
        performing = asyncio.create_task(outbox.perform_async())
        await begun[0].wait()
        performing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await performing

    asyncio.run(main())
    assert outbox.get(entry.id).state == "unknown"


def test_a_value_that_cannot_be_kept_does_not_undo_what_was_done(make: Open) -> None:
    class Odd:
        def __repr__(self) -> str:
            raise ZeroDivisionError

    def refund(charge_id: str, amount: Decimal) -> object:
        return [Odd()]

    outbox = make(actions=[refund])
    (entry,) = outbox.submit([proposal()], task="t1")
    approved(outbox, entry)
    (done,) = outbox.perform()
    assert (done.state, done.value) == ("done", None)
    assert done.error.startswith("what it returned is not kept: ")


def test_what_is_performed_is_of_one_task_and_in_order(outbox: Outbox, till: Till) -> None:
    for task, amount in (("t1", 1), ("t2", 2), ("t1", 3)):
        (entry,) = outbox.submit([refund_of(amount)], task=task)
        approved(outbox, entry)
    assert [one.arguments["amount"] for one in outbox.perform("t1")] == [1, 3]
    assert till.effects == ["c1 1", "c1 3"]
    assert [one.state for one in outbox.entries(task="t2")] == ["approved"]
    assert len(outbox.entries(state="done")) == 2


def test_ids_may_be_shortened_to_what_is_one(outbox: Outbox) -> None:
    found = outbox.submit([refund_of(amount) for amount in range(40)], task="t1")
    assert outbox.get(found[7].id[:12]) == found[7]
    for wrong in ("", "x", "%", "0" * 33):
        with pytest.raises(OutboxError, match="there is no entry"):
            outbox.get(wrong)
    many = next(digit for digit in "0123456789abcdef" if sum(one.id.startswith(digit) for one in found) > 1)
    with pytest.raises(OutboxError, match="there are several entries"):
        outbox.get(many)


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda outbox: outbox.submit([refund_of(1)]), "task="),
        (lambda outbox: outbox.submit([refund_of(1)], task=" "), "must not be empty"),
        (lambda outbox: outbox.submit([refund_of(1)], task="\ud800"), "surrogates"),
        (lambda outbox: outbox.submit(["refund"], task="t"), "'refund' is no Proposal"),
        (lambda outbox: outbox.submit([replace(refund_of(1), digest="0")], task="t"), "its digest is not that"),
        (lambda outbox: outbox.approve("0", digest="0", by=""), "by=''"),
        (lambda outbox: outbox.approve("0", digest="0", by="a", expires=0), "expires=0"),
        (lambda outbox: outbox.approve("0", digest="0", by="a", expires=float("nan")), "expires=nan"),
        (lambda outbox: outbox.settle("0", "maybe", by="a"), "outcome='maybe': expected one of done, failed, again"),
        (lambda outbox: outbox.entries(state="gone"), "state='gone': expected one of proposed, "),
        (lambda outbox: Outbox(":memory:", approve=3), "approve=3"),
        (lambda outbox: Outbox(":memory:", audit=3), "audit=3"),
        (lambda outbox: Outbox(":memory:", rules=[3]), "3 is no rule"),
        (lambda outbox: Outbox(":memory:", rules=Allow("x")), "expected a list of rules"),
    ],
)
def test_misuse_says_what_was_wrong(outbox: Outbox, call: object, told: str) -> None:
    with pytest.raises((TypeError, ValueError), match=re.escape(told)):
        call(outbox)
    assert outbox.entries() == []


def test_the_result_of_a_run_is_taken_and_of_one_that_failed_nothing(outbox: Outbox) -> None:
    result = run("actions.refund('c1', 20)\nactions.refund('c2', 5)")
    first, second = outbox.submit(result, task="t")
    assert (first.run, first.arguments, first.line) == (result.run, {"charge_id": "c1", "amount": Decimal(20)}, 1)
    assert (second.seq, second.line) == (2, 2)
    failed = run("actions.refund('c3', 20)\n1 / 0")
    assert (len(failed.proposals), outbox.submit(failed, task="t")) == (1, [])
    assert outbox.submit(run("actions.refund('c1', 20.0)"), task="t") == [first]
    # Without a task each run is one of its own.
    alone = run("actions.refund('c1', 20)")
    assert outbox.submit(alone) == outbox.submit(alone)
    assert outbox.submit(alone)[0].task == alone.run
    assert len(outbox.entries()) == 3


def run(program: str) -> Result:
    return Sandbox(actions=Till().actions, engine="restricted").run(program)


def test_all_or_none_of_the_proposals_are_taken(outbox: Outbox) -> None:
    with pytest.raises(ValueError, match="digest"):
        outbox.submit([refund_of(1), replace(refund_of(2), digest="0")], task="t")
    assert outbox.entries() == []


@pytest.mark.parametrize("who", ["rule", "audit"])
def test_whoever_is_asked_within_a_step_cannot_take_another(make: Open, who: str) -> None:
    told: list[str] = []

    def meddle(_: object) -> bool:
        with pytest.raises(OutboxError) as caught:
            outbox.submit([proposal(charge_id="c9", amount=Decimal(9))], task="inner")
        told.append(str(caught.value))
        return True

    class Sink:
        write = staticmethod(meddle)

    settings = {"audit": Audit([Sink()])} if who == "audit" else {}
    rules = [Allow("refund", where={"amount": Predicate(meddle)})] if who == "rule" else []
    outbox = make(rules=rules, **settings)
    assert len(outbox.submit([refund_of(Decimal(1)), refund_of(Decimal(2))], task="t1")) == 2
    assert {entry.task for entry in outbox.entries()} == {"t1"}
    assert set(told) == {"a rule or an audit cannot change the outbox that asks it"}


def test_what_no_database_can_hold_is_an_error_of_the_outbox(make: Open) -> None:
    outbox = make(rules=[Refuse("refund", reason="\ud800")])
    with pytest.raises(OutboxError, match="surrogates"):
        outbox.submit([proposal()], task="t1")
    assert outbox.entries() == []


def test_a_closed_outbox_says_so(outbox: Outbox) -> None:
    outbox.close()
    outbox.close()
    with pytest.raises(OutboxError, match="this outbox is closed"):
        outbox.entries()


def test_an_entry_is_ready_for_json(outbox: Outbox) -> None:
    (entry,) = outbox.submit([refund_of(Decimal("1.50"))], task="t")
    data = json.loads(json.dumps(entry.to_dict()))
    assert (data["arguments"], data["key"]) == ({"charge_id": "c1", "amount": "1.50"}, entry.key)
