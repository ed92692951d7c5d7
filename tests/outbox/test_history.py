"""What is kept of all that has happened to an entry."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from decimal import Decimal
from pathlib import Path

import pytest
from desk import Clock, Open, Till, approved, proposal, refund_of

from codeact.outbox import Outbox, OutboxError, Step


def test_what_has_happened_to_an_entry_is_its_history(make: Open, till: Till, clock: Clock) -> None:
    outbox = make(approve=lambda _: None)

    def later() -> None:
        clock.now += 1

    (entry,) = outbox.submit([proposal("charge", charge_id="c1", amount=Decimal(1))], task="t1")
    began = clock.now
    later()
    outbox.approve(entry.id, digest=entry.digest, by="ada", expires=1)
    later()
    outbox.entries()
    approved(outbox, entry)
    till.raises = TimeoutError("no answer")
    outbox.perform()
    later()
    outbox.settle(entry.id, "again", by="bob", note="the provider keeps keys")
    till.raises = None
    outbox.perform()
    assert outbox.history(entry.id[:8]) == (
        Step("proposed", began),
        Step("proposed", began, reason="the callback left it to a person"),
        Step("approved", began + 1, by="ada"),
        Step("proposed", began + 2, reason="the approval by ada has expired, and nothing had been begun"),
        Step("approved", began + 2, by="ada"),
        Step("started", began + 2),
        Step("unknown", began + 2, error="TimeoutError: no answer"),
        Step("approved", began + 3, by="bob", reason="the provider keeps keys"),
        Step("started", began + 3),
        Step("done", began + 3),
    )
    with pytest.raises(OutboxError, match="there is no entry 'beef'"):
        outbox.history("beef")


def test_what_cannot_be_done_is_no_part_of_a_history(outbox: Outbox) -> None:
    (entry,) = outbox.submit([refund_of(1)], task="t1")
    outbox.refuse(entry.id, by="bob")
    with pytest.raises(OutboxError, match="is refused already; that is final"):
        outbox.refuse(entry.id, by="ada")
    assert [(step.state, step.by) for step in outbox.history(entry.id)] == [("proposed", None), ("refused", "bob")]


@pytest.mark.parametrize("change", ["state = 'gone'", "time = 'noon'", "reason = x'00'", "error = x'00'"])
def test_a_history_that_is_none_is_told_as_such(tmp_path: Path, change: str) -> None:
    with Outbox(tmp_path / "outbox.db") as outbox:
        (entry,) = outbox.submit([refund_of(1)], task="t1")
        with closing(sqlite3.connect(tmp_path / "outbox.db")) as connection:
            connection.execute(f"UPDATE outbox_step SET {change}")
            connection.commit()
        with pytest.raises(OutboxError, match=f"entry {entry.id}: its history cannot be read"):
            outbox.history(entry.id)


def test_what_is_settled_has_no_error_any_more(outbox: Outbox, till: Till) -> None:
    (entry,) = outbox.submit([refund_of(1)], task="t1")
    approved(outbox, entry)
    till.raises = TimeoutError("no answer")
    outbox.perform()
    assert outbox.settle(entry.id, "done", by="ada").error is None
    assert [step.error for step in outbox.history(entry.id)][-2:] == ["TimeoutError: no answer", None]
