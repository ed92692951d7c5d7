"""What is on record of the steps that entries take, and what becomes of steps that cannot be recorded."""

from __future__ import annotations

import logging
from decimal import Decimal

import pytest
from desk import Clock, Open, Till, approved, proposal, refund_of

from codeact.audit import Audit, Event, Unrecorded
from codeact.outbox import Allow, Outbox, Refuse
from codeact.result import DIGITS


class Listener:
    """A sink that takes events until it is told which it does not take."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.refused: str | None = None

    def write(self, event: Event) -> None:
        if event.name == self.refused:
            msg = "the log is full"
            raise OSError(msg)
        self.events.append(event)

    @property
    def names(self) -> list[str]:
        return [event.name.removeprefix("outbox_") for event in self.events]


@pytest.fixture
def listener() -> Listener:
    return Listener()


@pytest.fixture
def outbox(make: Open, listener: Listener) -> Outbox:
    return make(audit=Audit([listener]))


def test_every_step_is_on_record_without_what_was_said(outbox: Outbox, listener: Listener) -> None:
    (entry,) = outbox.submit([proposal()], task="t")
    outbox.submit([proposal()], task="t")
    approved(outbox, entry)
    outbox.perform()
    outbox.entries()
    assert listener.names == ["proposed", "approved", "started", "done"]
    assert [event.data["by"] for event in listener.events] == [None, "ada", "ada", "ada"]
    for event in listener.events:
        assert event.data["entry"] == entry.id
        assert event.data["arguments_digest"] == entry.digest[:DIGITS]
        assert "'c1'" not in str(event.to_dict())
        assert "refunded" not in str(event.to_dict())


def test_what_was_said_is_on_record_where_the_audit_keeps_it(make: Open, listener: Listener) -> None:
    outbox = make(audit=Audit([listener], content=True), rules=[Allow("refund")])
    outbox.submit([proposal()], task="t")
    outbox.perform()
    assert listener.names == ["proposed", "approved", "started", "done"]
    assert listener.events[0].data["arguments"] == {"charge_id": "c1", "amount": "20"}
    assert listener.events[1].data["reason"] == "Allow('refund')"
    outbox = make(audit=Audit([listener], content=True), rules=[Allow("charge", reason="a small matter")])
    outbox.submit([proposal("charge", charge_id="c", amount=Decimal(1))], task="t")
    assert listener.events.pop().data["reason"] == "a small matter"
    listener.events.pop()
    assert listener.events[3].data["result"] == "refunded 20"


def test_the_ways_that_are_not_straight_are_on_record_too(
    make: Open, listener: Listener, till: Till, clock: Clock
) -> None:
    outbox = make(audit=Audit([listener]), rules=[Refuse("refund", where={"amount": 2})])
    outbox.submit([refund_of(2)], task="t")
    assert listener.names == ["proposed", "refused"]
    (entry,) = outbox.submit([proposal("charge", charge_id="c", amount=Decimal(1))], task="t")
    outbox.approve(entry.id, digest=entry.digest, by="ada", expires=1)
    clock.now += 1
    outbox.entries()
    assert listener.names[2:] == ["proposed", "approved", "proposed"]
    till.raises = TimeoutError("after c")
    approved(outbox, entry)
    outbox.perform()
    outbox.settle(entry.id, "again", by="bob")
    till.raises = ValueError("no c")
    outbox.perform()
    assert listener.names[5:] == ["approved", "started", "unknown", "approved", "started", "failed"]
    assert [event.data.get("error") for event in listener.events[5:]] == [
        None,
        None,
        "TimeoutError",
        None,
        None,
        "ValueError",
    ]


@pytest.mark.parametrize("refused", ["outbox_proposed", "outbox_approved"])
def test_what_cannot_be_recorded_is_not_taken_in(make: Open, listener: Listener, refused: str) -> None:
    outbox = make(audit=Audit([listener]), rules=[Allow("refund", where={"amount": 2})])
    listener.refused = refused
    with pytest.raises(Unrecorded):
        outbox.submit([refund_of(1), refund_of(2)], task="t")
    assert outbox.entries() == []


def test_a_decision_that_cannot_be_recorded_is_none(outbox: Outbox, listener: Listener) -> None:
    (entry,) = outbox.submit([proposal()], task="t")
    for refused, decide in (
        ("outbox_approved", lambda: approved(outbox, entry)),
        ("outbox_refused", lambda: outbox.refuse(entry.id, by="ada")),
    ):
        listener.refused = refused
        with pytest.raises(Unrecorded):
            decide()
    assert outbox.get(entry.id) == entry


def test_a_start_that_cannot_be_recorded_is_none(outbox: Outbox, listener: Listener, till: Till) -> None:
    for amount in (1, 2):
        approved(outbox, outbox.submit([refund_of(amount)], task="t")[0])
    listener.refused = "outbox_started"
    with pytest.raises(Unrecorded):
        outbox.perform()
    assert till.effects == []
    assert [entry.state for entry in outbox.entries()] == ["approved", "approved"]


@pytest.mark.parametrize(
    ("raised", "state"), [(None, "done"), (ValueError(), "failed"), (TimeoutError(), "unknown")], ids=str
)
def test_an_end_that_cannot_be_recorded_is_kept(
    outbox: Outbox, listener: Listener, till: Till, raised: Exception | None, state: str
) -> None:
    for amount in (1, 2):
        approved(outbox, outbox.submit([refund_of(amount)], task="t")[0])
    till.raises = raised
    listener.refused = f"outbox_{state}"
    with pytest.raises(Unrecorded):
        outbox.perform()
    assert till.effects == ["c1 1"]  # nothing more is begun
    assert [entry.state for entry in outbox.entries()] == [state, "approved"]


def test_an_interrupt_goes_before_an_audit_that_is_full(
    outbox: Outbox, listener: Listener, till: Till, caplog: pytest.LogCaptureFixture
) -> None:
    (entry,) = outbox.submit([proposal()], task="t")
    approved(outbox, entry)
    till.raises = KeyboardInterrupt()
    listener.refused = "outbox_unknown"
    with pytest.raises(KeyboardInterrupt):
        outbox.perform()
    assert outbox.get(entry.id).state == "unknown"
    assert [record.levelno for record in caplog.records] == [logging.ERROR]


def test_what_is_only_found_out_is_kept_also_unrecorded(
    outbox: Outbox, listener: Listener, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    (entry,) = outbox.submit([proposal()], task="t")
    outbox.approve(entry.id, digest=entry.digest, by="ada", expires=1)
    clock.now += 1
    listener.refused = "outbox_proposed"
    assert outbox.get(entry.id).state == "proposed"
    assert f"entry {entry.id} is proposed, and the audit did not take it" in caplog.text
