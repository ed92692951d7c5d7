"""What a journal keeps of runs, what its readers get, and what it does where it cannot be read or written."""

from __future__ import annotations

import os
import sqlite3
import stat
import threading
import zlib
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from codeact import Journal, Limits, Sandbox, tool
from codeact.engines import Answer, Refusal
from codeact.journal import JournalError
from codeact.journal.notation import PARTS
from codeact.outbox import Outbox
from codeact.tape import LONGEST
from tests.journal.conftest import Keep


@tool
def ask(n: int) -> list[int]:
    """Ask."""
    return [n]


@tool
def broken() -> int:
    """Fail."""
    msg = "no"
    raise ValueError(msg)


def change(path: Path, statement: str, *values: object) -> None:
    """Change a journal's file behind its back."""
    with sqlite3.connect(path) as connection:
        connection.execute(statement, values)
    connection.close()


def test_what_is_kept_of_a_run(keep: Keep, journal: Journal) -> None:
    sandbox = keep([ask, broken], inputs={"in.txt": "given"})
    text = "x = tools.ask(3)\ntry:\n    tools.broken()\nexcept Exception: pass\ntools.ask(n='x')"
    result = sandbox.run(text, files={"a.txt": "a"}, tenant="acme", task="T-1")
    record = journal.run(result.run)
    assert (record.id, record.source, record.head.tenant, record.head.task) == (result.run, text, "acme", "T-1")
    assert (record.head.ok, record.head.kind, record.head.calls) == (False, "runtime", 3)
    assert (record.files, record.inputs) == ({"a.txt": b"a"}, {"in.txt": b"given"})
    assert (record.earlier, record.head.session, record.ready) == ((), None, False)
    assert record.limits == sandbox.limits
    assert record.versions.python.startswith("3.")
    assert (record.versions.guest is None) == (sandbox.engine == "restricted")
    assert [face.name for face in record.faces] == ["ask", "broken"]
    assert record.result == result
    first, second, third = record.calls
    assert (first.name, first.args, first.kwargs, first.answer) == ("ask", (3,), {}, Answer([3]))
    assert (first.state, first.line, second.line) == ("ok", 1, 3)
    assert isinstance(second.answer, Refusal)
    assert (second.answer.type, second.state) == ("ToolError", "failed")
    assert (third.args, third.kwargs, third.state) == ((), {"n": "x"}, "refused")
    assert 0 <= first.began <= second.began <= third.began <= record.head.wall


def test_a_call_that_came_later_has_its_answer(keep: Keep, journal: Journal) -> None:
    @tool
    async def later(n: int) -> int:
        """Ask and go on."""
        return n * 2

    result = keep([later]).run("import asyncio\nawait asyncio.gather(tools.later(1), tools.later(2))")
    assert [call.answer for call in journal.run(result.run).calls] == [Answer(2), Answer(4)]


def test_lists(keep: Keep, journal: Journal) -> None:
    sandbox = keep()
    runs = [sandbox.run("1", task=task).run for task in ("T-1", "T-2", "T-1", None)]
    assert [head.id for head in journal.runs()] == runs[::-1]
    assert [head.id for head in journal.runs(task="T-1")] == [runs[2], runs[0]]
    assert [head.id for head in journal.runs(limit=1)] == [runs[3]]
    assert [head.id for head in journal.runs(begins=runs[1][:20])] == [runs[1]]
    assert journal.runs(task="T-1", begins=runs[1]) == journal.runs(begins=f"{runs[1]}0") == ()
    assert [head.number for head in journal.runs()] == [4, 3, 2, 1]
    journal.conversation("T-3").append("said", "hello")
    tasks = journal.tasks()
    assert [(each.task, each.runs, each.entries) for each in tasks] == [("T-3", 0, 1), ("T-1", 2, 0), ("T-2", 1, 0)]
    assert all(each.began <= each.last for each in tasks)


def test_a_run_by_the_beginning_of_its_id(keep: Keep, journal: Journal) -> None:
    sandbox = keep()
    run, other = sandbox.run("1").run, sandbox.run("2").run
    length = next(size for size in range(1, 33) if run[:size] != other[:size])
    assert journal.run(run[:length]).id == run
    for unknown in ("", "zz", run + "0", "%"):
        with pytest.raises(
            LookupError, match=r"(there is none|there are several whose ids begin so) in the journal '.+'"
        ):
            journal.run(unknown)


def test_contents_are_kept_once(keep: Keep, path: Path) -> None:
    sandbox = keep(inputs={"in.txt": b"x" * 50_000})
    for _ in range(5):
        sandbox.run("1", files={"a.txt": b"y" * 50_000})
    with sqlite3.connect(path) as connection:
        assert connection.execute("SELECT count(*), sum(length(data)) < 110000 FROM journal_contents").fetchone() == (
            3,
            1,
        )
    connection.close()


def test_only_its_owner_may_read_it(path: Path) -> None:
    before = os.umask(0)
    try:
        with Journal(path) as journal:
            Sandbox(engine="restricted", journal=journal).run("1")
            found = [each for each in path.parent.iterdir() if each.name.startswith(path.name)]
            assert len(found) == 3
            assert {stat.S_IMODE(each.stat().st_mode) for each in found} == {0o600}
    finally:
        os.umask(before)


def test_a_link_is_not_followed(path: Path, tmp_path: Path) -> None:
    path.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(JournalError, match="symbolic link"):
        Journal(path)
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize("given", [5, None, b"x"])
def test_a_path_that_is_none(given: Any) -> None:
    with pytest.raises(TypeError, match="expected the path of a file"):
        Journal(given)


def test_a_file_that_is_no_journal(path: Path) -> None:
    path.write_bytes(b"something else, which is long enough to be looked at" * 100)
    with pytest.raises(JournalError, match="not a database"):
        Journal(path)
    with pytest.raises(JournalError, match="cannot be opened"):
        Journal(path.parent / "missing" / "journal.sqlite")
    with pytest.raises(JournalError, match="journal"):
        Journal(path.parent)


def test_another_version(path: Path) -> None:
    Journal(path).close()
    change(path, "UPDATE journal_about SET value = 99")
    with pytest.raises(JournalError, match="is of version 99, and this codeact knows version 1"):
        Journal(path)


def test_in_the_file_of_an_outbox(path: Path, engine: str) -> None:
    with Outbox(path) as outbox, Journal(path) as journal:
        result = Sandbox(engine=engine, journal=journal).run("1 + 1", task="T-1")
        assert not outbox.entries()
        assert Sandbox(engine=engine, journal=journal).replay(result.run).same
    with Journal(path) as journal, Outbox(path):
        assert [head.id for head in journal.runs(task="T-1")] == [result.run]


def test_in_memory(engine: str) -> None:
    with Journal() as journal, Journal() as other:
        sandbox = Sandbox(engine=engine, journal=journal)
        run = sandbox.run("1").run
        assert sandbox.replay(run).same
        assert other.runs() == ()


def test_what_is_no_journal(engine: str) -> None:
    with pytest.raises(TypeError, match="expected a codeact.Journal"):
        Sandbox(engine=engine, journal="journal.sqlite")
    with pytest.raises(ValueError, match="no journal"):
        Sandbox(engine=engine).replay("0")


@pytest.mark.parametrize(
    ("task", "error"), [("", ValueError), ("\ud800", ValueError), (5, TypeError), (b"T", TypeError)]
)
def test_a_task_that_is_none(keep: Keep, journal: Journal, task: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="task="):
        keep().run("1", task=task)
    with pytest.raises(error, match="task="):
        keep().session(task=task)
    with pytest.raises(error, match="task="):
        journal.conversation(task)


def test_a_run_is_not_begun_where_it_cannot_be_put_on_record(keep: Keep, journal: Journal) -> None:
    called = []

    @tool
    def touch() -> None:
        """Be seen."""
        called.append(1)

    sandbox = keep([touch])
    journal.close()
    result = sandbox.run("tools.touch()")
    assert (result.error.kind, result.error.type, called) == ("host", "Unrecorded", [])


def test_nothing_leaves_of_a_run_whose_end_cannot_be_put_on_record(keep: Keep, path: Path) -> None:
    @tool
    def cut() -> int:
        """Take the journal away."""
        path.rename(path.with_suffix(".old"))
        return 5

    result = keep([cut]).run("print('out')\ntools.cut()")
    assert (result.ok, result.value, result.stdout, result.files) == (False, None, "", ())
    assert (result.error.kind, result.error.type) == ("host", "Unrecorded")
    path.with_suffix(".old").rename(path)
    with Journal(path) as journal:
        assert [(head.ok, head.wall) for head in journal.runs()] == [(None, None)]


def test_a_session_goes_on_after_a_turn_that_is_not_on_record(keep: Keep, journal: Journal, path: Path) -> None:
    @tool
    def cut() -> int:
        """Take the journal away."""
        path.rename(path.with_suffix(".old"))
        return 5

    session = keep([cut]).session()
    assert session.run("x = tools.cut()").error.type == "Unrecorded"
    path.with_suffix(".old").rename(path)
    last = session.run("x")
    with pytest.raises(JournalError, match="has no end on record"):
        journal.history(last.run)


def test_a_text_with_surrogates_and_a_tenant(keep: Keep, journal: Journal) -> None:
    result = keep().run("print('\\ud800')\n{'\\ud800': '\\ud800'}", files={"ä": "ö"}, tenant="ä")
    assert journal.run(result.run).result == result
    assert journal.runs()[0].tenant == "ä"


def test_threads(keep: Keep, journal: Journal) -> None:
    sandbox = keep([ask])
    found: list[bool] = []

    def work() -> None:
        for n in range(10):
            result = sandbox.run(f"tools.ask({n})")
            found.append(result.value == [n] and journal.run(result.run).result == result)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [True] * 40
    assert len(journal.runs()) == 40


def test_forgetting_a_task(keep: Keep, journal: Journal, path: Path) -> None:
    sandbox = keep(inputs={"in.txt": "given"})
    sandbox.run("1", task="T-1", files={"secret.txt": "secret"})
    kept = sandbox.run("1", task="T-2", files={"other.txt": "other"}).run
    journal.conversation("T-1").append("said", "hello")
    assert journal.forget("T-1") == 1
    assert [each.task for each in journal.tasks()] == ["T-2"]
    assert journal.run(kept).files == {"other.txt": b"other"}
    assert sandbox.replay(kept).same
    with sqlite3.connect(path) as connection:
        contents = [data for (data,) in connection.execute("SELECT data FROM journal_contents")]
    connection.close()
    assert b"secret" not in contents
    assert {b"other", b"given"} < set(contents)


def test_pruning(keep: Keep, journal: Journal, path: Path) -> None:
    sandbox = keep()
    needed = [sandbox.run("1", task=task).run for task in (None, "T-1", "T-2")][-1]
    for task in ("T-1", "T-2"):
        journal.conversation(task).append("said", "hello")
    change(path, "UPDATE journal_runs SET began = began - 7 * 24 * 3600")
    change(path, "UPDATE journal_entries SET time = time - 7 * 24 * 3600")
    journal.conversation("T-2").append("said", "goes on")
    new = sandbox.run("2", task="T-1").run
    assert journal.prune(datetime.now(UTC) - timedelta(days=1)) == 2
    assert [head.id for head in journal.runs()] == [new, needed]
    assert [len(journal.conversation(task).entries()) for task in ("T-1", "T-2")] == [0, 2]
    assert journal.prune(datetime.now(UTC) + timedelta(days=1)) == 2
    assert journal.tasks() == ()
    with pytest.raises(ValueError, match="time zone"):
        journal.prune(datetime(2026, 1, 1))  # noqa: DTZ001 - what is refused
    with pytest.raises(TypeError, match="before='2026': expected a time"):
        journal.prune("2026")  # type: ignore[arg-type]  # what a mistake looks like


DAMAGES = {
    "no bytes": ("UPDATE journal_runs SET ending = 'text'", "no bytes"),
    "cut": ("UPDATE journal_runs SET ending = substr(ending, 1, 40)", "damaged"),
    "not compressed": ("UPDATE journal_runs SET tape = x'7a00'", "damaged"),
    "other parts": ("UPDATE journal_runs SET ending = CAST('={\"ok\": 1}' AS BLOB)", "damaged"),
    "a list": ("UPDATE journal_runs SET tape = CAST('=[]' AS BLOB)", "damaged"),
    "too deep": (
        "UPDATE journal_runs SET tape = CAST('=' || replace(hex(zeroblob(99999)), '0', '[') AS BLOB)",
        "damaged",
    ),
    "no answer": ("UPDATE journal_runs SET tape = CAST(replace(tape, '[3]', '[3')  AS BLOB)", "damaged"),
    "half a reading": ("UPDATE journal_runs SET now = x'3d01'", "damaged"),
    "another setting": ("UPDATE journal_contents SET data = x'3d7b7d'", "is not what it was"),
    "no setting": ("DELETE FROM journal_contents", "is missing"),
    "after itself": (
        "UPDATE journal_runs SET beginning = CAST(replace(replace(beginning, '\"past\":[]', '\"past\":[\"' || id || '\"]'),"
        " '\"whole\":true', '\"whole\":false') AS BLOB)",
        "after itself",
    ),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_a_damaged_record_says_so(keep: Keep, journal: Journal, path: Path, name: str) -> None:
    statement, message = DAMAGES[name]
    sandbox = keep([ask])
    run = sandbox.run("tools.ask(3)").run
    change(path, statement)
    with pytest.raises(JournalError, match=message):
        journal.run(run)
    with pytest.raises(JournalError, match=message):
        sandbox.replay(run)
    assert [head.id for head in journal.runs()] == [run]


@pytest.mark.parametrize(
    "column", ["id", "task", "tenant", "session", "engine", "began", "wall", "ok", "kind", "calls"]
)
def test_what_stands_in_a_list_is_looked_at_too(keep: Keep, journal: Journal, path: Path, column: str) -> None:
    keep([ask]).run("tools.ask(3)")
    change(path, f"UPDATE journal_runs SET {column} = x'00ff'")
    with pytest.raises(JournalError, match="damaged"):
        journal.runs()


@pytest.mark.parametrize("column", ["kind", "time"])
def test_what_was_said_is_looked_at_too(journal: Journal, path: Path, column: str) -> None:
    conversation = journal.conversation("T-1")
    conversation.append("reply", {"text": "Hello."})
    change(path, f"UPDATE journal_entries SET {column} = x'00ff'")
    with pytest.raises(JournalError, match="damaged"):
        conversation.entries()
    change(path, "UPDATE journal_entries SET time = 'noon'")
    with pytest.raises(JournalError, match="damaged"):
        journal.tasks()


def test_readings_of_a_clock_become_no_more_than_there_can_be(keep: Keep, journal: Journal, path: Path) -> None:
    run = keep([ask]).run("tools.ask(3)").run
    bomb = b"z" + zlib.compress(bytes(8 * LONGEST + 8), 9)
    change(path, f"UPDATE journal_runs SET now = x'{bomb.hex()}'")
    with pytest.raises(JournalError, match="larger than it may be"):
        journal.run(run)


@pytest.mark.parametrize("column", ["ending", "tape", "beginning"])
def test_a_record_of_very_many_parts_is_not_even_read(keep: Keep, journal: Journal, path: Path, column: str) -> None:
    run = keep([ask]).run("tools.ask(3)").run
    bomb = b"z" + zlib.compress(b"[" + b"[]," * (PARTS // 2) + b"[]]", 9)
    change(path, f"UPDATE journal_runs SET {column} = x'{bomb.hex()}'")
    with pytest.raises(JournalError, match="more parts"):
        journal.run(run)


def test_a_text_may_look_like_very_many_parts(keep: Keep, journal: Journal) -> None:
    long = ",[" * (PARTS // 2 + 1)
    result = keep(value_bytes=2**26).run(f"',[' * {PARTS // 2 + 1}")
    assert journal.run(result.run).result.value == long


@pytest.mark.parametrize(
    "code", ["1 << 262_144", "tools.wide()", "tools.echo(1 << 262_144)", "actions.note(1 << 262_144)"]
)
def test_an_integer_that_no_record_could_hold_is_refused_where_it_would_cross(engine: str, code: str) -> None:
    @tool
    def wide() -> int:
        """A wide number."""
        return 1 << 262_144

    @tool
    def echo(number: int) -> int:
        """The same number."""
        return number

    def note(number: int) -> None:
        """Take note of it."""

    limits = Limits(value_bytes=10**9)
    sandbox = Sandbox([wide, echo], actions=[note], engine=engine, limits=limits, journal=Journal())
    error = sandbox.run(code).error
    assert error is not None
    assert error.kind != "host"
    assert "an integer of more than 262,144 bits" in error.message
    assert sandbox.run("1 << 262_143").value == 1 << 262_143
