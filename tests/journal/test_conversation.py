"""The conversation of a task: in order, whole, and written by one at a time."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from codeact import Journal
from codeact.journal import ConversationTaken, JournalError
from tests.journal.test_journal import change


@pytest.fixture
def journal(path: Path) -> Journal:
    """A journal in a file."""
    return Journal(path)


DATA: list[Any] = [None, 1, "ä \ud800", [1, [2.5, {"a": None}]], {"text": "x" * 100_000}, True, {}]


def test_what_is_said_is_there_again(journal: Journal, path: Path) -> None:
    conversation = journal.conversation("T-1")
    assert conversation.entries() == ()
    written = [conversation.append("said", data) for data in DATA]
    with Journal(path) as other:
        found = other.conversation("T-1")
        assert len(found) == len(DATA)
        assert list(found.entries()) == written
        assert [entry.seq for entry in written] == list(range(1, len(DATA) + 1))
        assert [entry.data for entry in found.entries()] == DATA
        assert found.append("more", 1).seq == len(DATA) + 1
        assert other.conversation("T-2").entries() == ()


def test_a_second_writer_is_told(journal: Journal, path: Path) -> None:
    first = journal.conversation("T-1")
    first.append("said", "a")
    with Journal(path) as other:
        second = other.conversation("T-1")
        second.append("said", "b")
        with pytest.raises(ConversationTaken, match="task 'T-1': its conversation has 2 entries, and 1 were expected"):
            first.append("said", "c")
    assert [entry.data for entry in first.entries()] == ["a", "b"]
    assert first.append("said", "c").seq == 3


def test_of_many_at_once_one_writes(journal: Journal, path: Path) -> None:
    journals = [Journal(path) for _ in range(4)]
    conversations = [each.conversation("T-1") for each in journals]
    start = threading.Barrier(4)
    told: list[str] = []

    def write(number: int) -> None:
        start.wait()
        try:
            conversations[number].append("said", number)
        except ConversationTaken:
            told.append("taken")
        else:
            told.append("written")

    threads = [threading.Thread(target=write, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(told) == ["taken", "taken", "taken", "written"]
    assert len(journal.conversation("T-1").entries()) == 1
    for each in journals:
        each.close()


@pytest.mark.parametrize("data", [float("nan"), {1, 2}, b"x", object()])
def test_what_json_cannot_hold(journal: Journal, data: Any) -> None:
    conversation = journal.conversation("T-1")
    with pytest.raises((TypeError, ValueError), match=r"data=.*: expected what JSON can hold"):
        conversation.append("said", data)
    with pytest.raises(TypeError, match="kind="):
        conversation.append(5, 1)  # type: ignore[arg-type]  # what is refused
    assert conversation.entries() == ()


def test_a_damaged_entry(journal: Journal, path: Path) -> None:
    journal.conversation("T-1").append("said", [1])
    change(path, "UPDATE journal_entries SET data = x'3d5b'")
    with pytest.raises(JournalError, match="task 'T-1': entry 1 of its conversation is damaged"):
        journal.conversation("T-1").entries()
