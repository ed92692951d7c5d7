"""A run that does otherwise says at which call, or in what."""

from __future__ import annotations

import json
import re
import sqlite3
from pathlib import Path

import pytest

from codeact import Journal, ReplayError, Sandbox, action, tool
from codeact.journal.notation import document, opened
from tests.journal.conftest import Keep
from tests.journal.test_journal import change


@tool
def ask(n: int) -> int:
    """Ask."""
    return n * 10


@tool
async def later(n: int) -> int:
    """Ask and go on."""
    return n


@action
def refund(charge: str) -> None:
    """Pay back."""


PROGRAM = """\
first = tools.ask(1)
print('asked', first)
second = tools.ask(first + 1)
if first == 10:
    tools.ask(3)
open('out.txt', 'w').write(str(second))
actions.refund('c1')
second
"""

TAMPERINGS = {
    "an answer": ("tape", '"10"', '"11"', r"at call 2 \(line 3\) it calls ask\(12\) where ask\(11\) was recorded"),
    "an answer, in words": ("tape", '["Answer","10"]', '["ToolError","no"]', r"at call 2 it ends where a call of ask was recorded at line 3: it failed at line 1 with ToolError: 'no'"),
    "the last answer": ("tape", '["Answer","110"]', '["Answer","111"]', "its value is 111, and was 110"),
    "a call": ("tape", '["ask","', '["tell","', r"at call 1 \(line 1\) it calls ask where a call of tell was recorded"),
    "a name": ("beginning", "print('asked'", "print('told'", "its output differs from line 1 on"),
    "a call that is gone": ("beginning", "first == 10", "first == 11", r"at call 3 \(line 7\) it calls actions.refund where a call of ask was recorded"),
    "an argument": ("beginning", "tools.ask(3)", "tools.ask(4)", r"at call 3 \(line 5\) it calls ask\(4\) where ask\(3\) was recorded"),
    "one call more": ("beginning", "\\nsecond\\n", "\\ntools.ask(second)\\n", r"at call 5 \(line 8\) it calls ask where no more calls were recorded"),
    "one call less": ("beginning", "\\nactions.refund('c1')", "\\n", r"at call 4 it ends where a call of actions.refund was recorded at line 7"),
    "a file": ("beginning", "str(second)", "str(first)", "the file out.txt is another one"),
    "another file": ("beginning", "out.txt", "new.txt", "the file new.txt is another one"),
    "an error": ("beginning", "\\nsecond\\n", "\\n1 / 0\\n", "it failed at line 8 with ZeroDivisionError: 'division by zero', and had finished"),
    "a way out": ("beginning", "\\nsecond\\n", "\\nimport sys; sys.exit(0)\\n", "its value is None, and was 110"),
    "the value": ("ending", '"value":"110"', '"value":"110.0"', "its value is 110, and was 110.0"),
    "the output": ("ending", "asked 10", "asked 11", "its output differs from line 1 on"),
    "the order": ("beginning", "\\nsecond\\n", "\\n 110\\n", "at call 1 it ends where a call of ask was recorded at line 1: it failed at line 8 with IndentationError"),
}  # fmt: skip


def tamper(path: Path, column: str, old: str, new: str) -> None:
    """Write something else over what a journal says."""
    with sqlite3.connect(path) as connection:
        ((found,),) = connection.execute(f"SELECT {column} FROM journal_runs ORDER BY number DESC LIMIT 1")
        text = json.dumps(opened(found), separators=(",", ":"))
        assert old in text
        changed = document(json.loads(text.replace(old, new)))
        connection.execute(
            f"UPDATE journal_runs SET {column} = ? WHERE number = (SELECT max(number) FROM journal_runs)", (changed,)
        )
    connection.close()


@pytest.mark.parametrize("name", TAMPERINGS)
def test_what_was_changed_is_found(keep: Keep, path: Path, name: str) -> None:
    *change, message = TAMPERINGS[name]
    sandbox = keep([ask], actions=[refund])
    result = sandbox.run(PROGRAM)
    assert result.value == 110
    assert sandbox.replay(result.run).same
    tamper(path, *change)
    replayed = sandbox.replay(result.run)
    assert not replayed.same
    assert replayed.diverged is not None
    assert re.search(message, replayed.diverged), replayed.diverged


def test_only_what_was_done_again_is_in_the_result(keep: Keep, path: Path) -> None:
    result = keep([ask], actions=[refund]).run("actions.refund('c1')\nx = tools.ask(1)\nactions.refund(str(x))")
    tamper(path, "tape", '"10"', '"11"')
    replayed = keep().replay(result.run)
    assert replayed.diverged is not None
    assert "it calls actions.refund('11') where actions.refund('10') was recorded" in replayed.diverged
    assert replayed.result.calls == result.calls[:2]
    assert replayed.result.proposals == result.proposals[:1]
    assert replayed.result.error is not None
    assert (replayed.result.error.type, replayed.result.error.line) == ("ReplayError", 3)


def test_a_wait_that_does_not_fit(keep: Keep, path: Path) -> None:
    result = keep([later]).run("import asyncio\nawait asyncio.gather(tools.later(1), tools.later(2))")
    tamper(path, "tape", '"heard":[[0', '"heard":[[7')
    assert keep().replay(result.run).diverged == "at call 3 (line 2) it waits where an answer had come"


def test_the_clock(keep: Keep, path: Path) -> None:
    result = keep().run("import time\nint(time.time())")
    change(path, "UPDATE journal_runs SET now = CAST(x'3d00e1f50500000000' || substr(now, 10) AS BLOB)")
    assert "its value is 0, and was" in (keep().replay(result.run).diverged or "")


def test_chance(keep: Keep, path: Path, journal: Journal) -> None:
    result = keep().run("import random\nrandom.random()")
    seed = journal.run(result.run).tape.seed.hex()
    tamper(path, "tape", seed, "00" * 32)
    assert "its value is" in (keep().replay(result.run).diverged or "")


def test_another_count(keep: Keep, path: Path) -> None:
    result = keep().run("for n in range(10): pass")
    tamper(path, "ending", f'"fuel":{result.usage.fuel}', f'"fuel":{result.usage.fuel + 1}')
    told = keep().replay(result.run).diverged
    assert told == (
        f"all it did is the same, in {result.usage.fuel:,} units of fuel, and had taken {result.usage.fuel + 1:,}"
    )


def test_other_versions_are_named(keep: Keep, journal: Journal, monkeypatch: pytest.MonkeyPatch, path: Path) -> None:
    monkeypatch.setattr("platform.python_version", lambda: "3.10.0")
    result = keep().run("1")
    monkeypatch.undo()
    assert keep().replay(result.run).same
    tamper(path, "ending", '"value":"1"', '"value":"2"')
    told = keep().replay(result.run).diverged
    assert told is not None
    assert told.startswith("its value is 1, and was 2 (python was 3.10.0 and is 3.")


def test_an_earlier_program_of_its_session(keep: Keep, path: Path, journal: Journal) -> None:
    session = keep([ask]).session()
    first = session.run("x = tools.ask(1)")
    tamper(path, "tape", '["ask","', '["tell","')
    last = session.run("x")
    told = rf"program 1 of its session, run {first.run}, did otherwise: at call 1 \(line 1\) it calls ask where a call of tell"
    with pytest.raises(ReplayError, match=told):
        keep().replay(last.run)


def test_a_run_of_another_engine(journal: Journal) -> None:
    run = Sandbox(engine="restricted", journal=journal).run("1").run
    with pytest.raises(ReplayError, match="ran on engine='restricted', and this sandbox has engine='wasm'"):
        Sandbox(journal=journal).replay(run)


def test_a_run_without_an_end(keep: Keep, path: Path) -> None:
    run = keep().run("1").run
    change(path, "UPDATE journal_runs SET ending = NULL, ok = NULL")
    with pytest.raises(ReplayError, match="no end on record: it is under way, or its process died"):
        keep().replay(run)


def test_a_session_of_which_a_part_is_gone(keep: Keep, path: Path) -> None:
    session = keep().session()
    session.run("x = 1")
    last = session.run("x")
    change(path, "DELETE FROM journal_runs WHERE number = 1")
    with pytest.raises(ReplayError, match="others had run before, and these are not all in the journal"):
        keep().replay(last.run)


def test_a_session_that_began_without_a_journal(keep: Keep, engine: str) -> None:
    session = Sandbox(engine=engine).session()
    session.run("x = 1")
    other = keep().session(history=session.history)
    other.restore()
    last = other.run("x")
    assert last.value == 1
    with pytest.raises(ReplayError, match="others had run before, and these are not all in the journal"):
        keep().replay(last.run)


def test_a_tape_that_is_not_whole(keep: Keep, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("codeact.tape.LONGEST", 20)
    result = keep().run("import time\nfor _ in range(30): time.time()")
    with pytest.raises(ReplayError, match="read the clocks or was answered more than a journal keeps"):
        keep().replay(result.run)


def test_too_many_answers(keep: Keep, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("codeact.tape.LARGEST", 20)
    result = keep([ask]).run("for _ in range(30): tools.ask(1)")
    with pytest.raises(ReplayError, match="read the clocks or was answered more than a journal keeps"):
        keep().replay(result.run)


def test_arguments_that_are_too_many_are_known_by_their_digest(keep: Keep, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("codeact.grant.ARGUMENTS", 30)
    result = keep([ask]).run("for n in range(5): tools.ask(n)")
    replayed = keep().replay(result.run)
    assert replayed.same
    assert [call.args for call in replayed.recorded.calls] == [(0,), (1,), (2,), None, None]
