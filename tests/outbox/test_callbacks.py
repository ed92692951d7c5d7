"""The callback: what it decides, and what becomes of what it does not."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from desk import Open, approved, refund_of

from codeact.outbox import Entry, Verdict


def test_the_callback_approves_refuses_or_leaves_it_to_a_person(make: Open) -> None:
    answers = {"1": True, "2": False, "3": None}
    asked: list[Entry] = []

    def approve(entry: Entry) -> bool | None:
        asked.append(entry)
        return answers[str(entry.arguments["amount"])]

    outbox = make(approve=approve)
    found = outbox.submit([refund_of(1), refund_of(2), refund_of(3)], task="t1")
    assert [(entry.state, entry.by) for entry in found] == [
        ("approved", "callback"),
        ("refused", "callback"),
        ("proposed", None),
    ]
    outbox.submit([refund_of(3)], task="t1")
    assert len(asked) == 3


def test_a_callback_may_say_why(make: Open) -> None:
    said = {
        "1": Verdict(approved=True, reason="in the books"),
        "2": Verdict(approved=False, reason="not theirs"),
        "3": Verdict(None, "too much for me"),
        "4": Verdict(None),
    }
    outbox = make(approve=lambda entry: said[str(entry.arguments["amount"])])
    outbox.submit([refund_of(amount) for amount in (1, 2, 3, 4)], task="t1")
    assert [(entry.state, entry.by, entry.reason) for entry in outbox.entries()] == [
        ("approved", "callback", "in the books"),
        ("refused", "callback", "not theirs"),
        ("proposed", None, "too much for me"),
        ("proposed", None, "the callback left it to a person"),
    ]
    approved(outbox, outbox.entries()[2])


def test_an_async_callback_is_awaited(make: Open) -> None:
    async def approve(entry: Entry) -> bool:
        await asyncio.sleep(0)
        return entry.arguments["amount"] == 1

    outbox = make(approve=approve)
    with pytest.raises(TypeError, match="submit_async"):
        outbox.submit([refund_of(1)], task="t1")
    found = asyncio.run(outbox.submit_async([refund_of(1), refund_of(2)], task="t1"))
    assert [entry.state for entry in found] == ["approved", "refused"]


def test_a_person_who_was_faster_than_the_callback_has_decided(make: Open) -> None:
    outbox = make(approve=lambda entry: outbox.refuse(entry.id, by="bob", reason="no") is not None)
    (entry,) = outbox.submit([refund_of(1)], task="t1")
    assert (entry.state, entry.by, entry.reason) == ("refused", "bob", "no")


@pytest.mark.parametrize(
    ("fails", "told"),
    [
        (lambda: 1 / 0, "the callback failed: ZeroDivisionError: division by zero"),
        (lambda: "yes", "the callback failed: TypeError: it gave 'yes'; expected True, False, None for a person to "),
        (lambda: Verdict("yes"), "the callback failed: TypeError: it gave Verdict(approved='yes', reason=None); exp"),  # type: ignore[arg-type]  # it is what is told
        (lambda: Verdict(approved=True, reason=3), "the callback failed: TypeError: reason=3: expected a text"),  # type: ignore[arg-type]  # as above
        (lambda: asyncio.sleep(0), "the callback failed: TypeError: it gave <coroutine"),
    ],
    ids=["raises", "no decision", "no verdict", "no reason", "a coroutine"],
)
def test_where_the_callback_fails_a_person_decides_and_it_is_asked_about_the_next(
    make: Open, caplog: pytest.LogCaptureFixture, fails: Callable[[], Any], told: str
) -> None:
    asked: list[object] = []

    def approve(entry: Entry) -> Any:
        asked.append(entry.arguments["amount"])
        return fails() if entry.arguments["amount"] == 1 else True

    outbox = make(approve=approve)
    failed, decided = outbox.submit([refund_of(1), refund_of(2)], task="t1")
    assert (failed.state, failed.by, decided.state) == ("proposed", None, "approved")
    assert failed.reason is not None
    assert failed.reason.startswith(told)
    assert f"the callback `approve` failed for entry {failed.id}" in caplog.text
    assert outbox.submit([refund_of(1), refund_of(2)], task="t1") == [failed, decided]
    assert asked == [1, 2], "that it was asked is on record"


def test_where_an_async_callback_fails_a_person_decides(make: Open) -> None:
    async def approve(entry: Entry) -> bool:
        await asyncio.sleep(0)
        return bool(1 / int(str(entry.arguments["amount"])))

    found = asyncio.run(make(approve=approve).submit_async([refund_of(0), refund_of(2)], task="t1"))
    assert [entry.state for entry in found] == ["proposed", "approved"]


def test_who_was_never_asked_is_asked_at_the_next_submission(make: Open) -> None:
    answers: list[Any] = [True, KeyboardInterrupt()]

    def approve(entry: Entry) -> bool:
        answer = answers.pop(0)
        if isinstance(answer, BaseException):
            raise answer
        return bool(answer)

    outbox, three = make(approve=approve), [refund_of(1), refund_of(2), refund_of(3)]
    with pytest.raises(KeyboardInterrupt):
        outbox.submit(three, task="t1")
    answers += [False, True]
    assert [one.state for one in outbox.submit(three, task="t1")] == ["approved", "refused", "approved"]
    assert answers == []


@pytest.mark.parametrize(("first", "state"), [(False, "refused"), (True, "approved"), (None, "proposed")])
def test_of_several_answers_the_first_counts(make: Open, first: bool | None, state: str) -> None:
    asked: list[Entry] = []

    def approve(entry: Entry) -> bool | None:
        asked.append(entry)
        if len(asked) > 1:
            return first
        outbox.submit([refund_of(1)], task="t1")  # as another process may, while this one waits for an answer
        return not first

    outbox = make(approve=approve)
    (entry,) = outbox.submit([refund_of(1)], task="t1")
    assert (entry.state, len(asked), len(outbox.history(entry.id))) == (state, 2, 2)


def test_a_callback_is_asked_once_about_what_is_proposed_twice(make: Open) -> None:
    asked: list[Entry] = []
    make(approve=asked.append).submit([refund_of(1), refund_of(1)], task="t1")
    assert len(asked) == 1
