"""A task that is begun again under its id goes on where it was: nothing is asked twice, run twice or submitted twice."""

from __future__ import annotations

import asyncio
import errno
import fcntl
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import aclosing
from pathlib import Path

import pytest

from codeact import Agent, Audit, Budget, Journal, Limits, Sandbox
from codeact.agent import Finished, Ran, Running
from codeact.audit import Event
from codeact.journal import ConversationTaken, JournalError
from codeact.messages import Asked, ModelError, Reply
from codeact.testing.models import Program, ScriptedModel
from tests.agent.conftest import get_charges
from tests.agent.talk import complaint
from tests.agent.victim import ID, noted, open_outbox, work


@pytest.fixture
def journal() -> Iterator[Journal]:
    with Journal() as journal:
        yield journal


@pytest.fixture
def room(engine: str, journal: Journal) -> Sandbox:
    return Sandbox([get_charges], engine=engine, journal=journal)


DOWN = ModelError("gone", passing=False)
READ = Program("charges = tools.get_charges('c1')\nlen(charges)")
SUM = Program("sum(charges)")


def test_it_is_killed_at_every_step_and_comes_to_the_same_end(engine: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.agent.victim", str(tmp_path), engine]
    subprocess.run(command, check=True, cwd=Path(__file__).parent.parent.parent, timeout=300)
    places = sorted(tmp_path.iterdir(), key=lambda place: int(place.name))
    undisturbed = work(places[-1], engine, lambda: None)
    assert undisturbed.stop == "answered"
    assert len(places) > 20
    assert any(list(place.glob("journal.sqlite-task-*")) for place in places)
    for place in places:
        with Journal(place / "journal.sqlite") as journal:
            kinds = Counter(entry.kind for entry in journal.conversation(ID).entries())
        result = work(place, engine, lambda: None)
        assert (result.answer, result.stop) == (undisturbed.answer, "answered"), place.name
        assert result.messages == undisturbed.messages, place.name
        asked = Counter(map(int, noted(place, "asked")))
        assert all(asked[number] == 1 for number in range(kinds["reply"])), place.name
        assert all(asked[number] in {1, 2} for number in range(6)), place.name
        assert noted(place, "calls") == ["c1"] or not kinds["observed"], place.name
        with open_outbox(place) as outbox:
            assert len(outbox.entries()) == 1, place.name
            outbox.perform()
            work(place, engine, lambda: None)
            outbox.perform()
        assert noted(place, "refunds") == ["ch_3 1200"], place.name
        assert not list(place.glob("journal.sqlite-task-*")), place.name


def test_it_goes_on_after_the_model_was_gone(room, journal) -> None:
    model = ScriptedModel([READ, DOWN, SUM, "4300"])
    agent = Agent(model, room)
    assert agent.run("?", id="T-1").stop == "model"
    result = agent.run("?", id="T-1")
    assert (result.answer, [each.value for each in result.results]) == ("4300", [3, 4300])
    assert complaint(result.messages) is None
    assert len(model.requests) == 4


def test_it_goes_on_with_another_budget(room, journal) -> None:
    def run(script, **budget):
        return Agent(ScriptedModel(script), room, budget=Budget(**budget)).run("?", id="T-1")

    assert run([[READ, SUM]], programs=1).stop == "programs"
    assert run([], programs=1).stop == "programs"
    result = run(["4300"], programs=2)
    assert (result.answer, [each.value for each in result.results]) == ("4300", [3, 4300])


def test_an_answer_is_given_again_without_the_model(room, journal) -> None:
    agent = Agent(ScriptedModel([READ, "3"]), room)
    first = agent.run("?", id="T-1")
    again = agent.run("?", id="T-1")
    assert (again.answer, again.messages, again.tokens) == (first.answer, first.messages, first.tokens)
    assert [each.value for each in again.results] == [3]
    assert [entry.kind for entry in journal.conversation("T-1").entries()] == [
        "task",
        "reply",
        "observed",
        "reply",
        "end",
    ]


def test_what_was_noticed_before_is_known_after(room, journal) -> None:
    """A program that failed twice before the crash fails for the third time after it."""
    bad = Program("1 / 0")
    agent = Agent(ScriptedModel([bad, bad, DOWN, bad]), room)
    assert agent.run("?", id="T-1").stop == "model"
    assert agent.run("?", id="T-1").stop == "repeats"


def test_replies_of_all_kinds_are_kept_whole(room, journal) -> None:
    odd = Reply("a\udc80", (Asked("x", "1"), Asked("y", None, "no JSON")), "length", kept='{"signed": "\udc80"}')
    agent = Agent(ScriptedModel([odd, Reply("", ending="other"), DOWN, "ok"]), room)
    first = agent.run("?", id="T-1")
    again = agent.run("?", id="T-1")
    assert again.messages[: len(first.messages)] == first.messages
    assert again.answer == "ok"


def test_only_what_happens_now_is_told(room, journal) -> None:
    agent = Agent(ScriptedModel([READ, DOWN, SUM, "4300"]), room)
    agent.run("?", id="T-1")

    async def events() -> list[object]:
        return [event async for event in agent.stream("?", id="T-1")]

    told = [event for event in asyncio.run(events()) if isinstance(event, (Running, Ran, Finished))]
    assert [type(event) for event in told] == [Running, Ran, Finished]
    assert told[1].result.value == 4300


def test_a_program_that_cost_the_world_is_not_run_again(engine, journal) -> None:
    room = Sandbox([get_charges], engine=engine, journal=journal, limits=Limits(timeout=0.5))
    script = [READ, Program("while True: pass"), Program("charges.append(1)"), DOWN, SUM, "4301"]
    agent = Agent(ScriptedModel(script), room)
    assert agent.run("?", id="T-1").stop == "model"
    result = agent.run("?", id="T-1")
    assert (result.answer, result.results[-1].value) == ("4301", 4301)


def test_a_world_that_cannot_be_made_again_is_said_to_be_lost(room, journal, monkeypatch) -> None:
    """The clock is read more often than is put on record."""
    monkeypatch.setattr("codeact.tape.LONGEST", 100)
    often = Program("import time\nx = 1\nfor _ in range(200): time.time()")
    agent = Agent(ScriptedModel([often, DOWN, Program("x"), "gone"]), room)
    assert agent.run("?", id="T-1").stop == "model"
    result = agent.run("?", id="T-1")
    assert "what earlier programs had bound is gone" in result.messages[-2].text


def test_it_goes_on_after_its_time_was_over(room, journal) -> None:
    async def hang(_request) -> str:
        await asyncio.Event().wait()
        return ""

    model = ScriptedModel([READ, hang, SUM, "4300"])
    assert Agent(model, room, budget=Budget(seconds=1)).run("?", id="T-1").stop == "seconds"
    assert Agent(model, room).run("?", id="T-1").answer == "4300"
    ends = [entry.data["stop"] for entry in journal.conversation("T-1").entries() if entry.kind == "end"]
    assert ends == ["seconds", "answered"]


def test_what_was_told_at_the_beginning_is_on_record(room, journal) -> None:
    agent = Agent(ScriptedModel(["ok"], name="m-1"), room)
    agent.run("?", id="T-1")
    first, *_ = journal.conversation("T-1").entries()
    assert first.data == {"text": "?", "model": "m-1", "system": agent.system}


def test_runs_are_for_the_task(room, journal) -> None:
    result = Agent(ScriptedModel([READ, "3"]), room).run("?", id="T-1")
    assert [run.id for run in journal.runs(task="T-1")] == [result.results[0].run]


@pytest.fixture(params=["memory", "file"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str | Path:
    return ":memory:" if request.param == "memory" else tmp_path / "runs.sqlite"


def test_a_second_one_is_told_before_its_model_is_asked(place, engine, tmp_path) -> None:
    second = ScriptedModel(["?"])

    async def meanwhile(_request) -> str:
        with pytest.raises(
            ConversationTaken, match="'T-1': somebody else works on it; when that has ended, run it again"
        ):
            await Agent(second, others).run_async("?", id="T-1")
        return (await Agent(ScriptedModel(["also"]), others).run_async("?", id="T-2")).answer

    with Journal(place) as journal, Journal(place) as opened:
        another = journal if place == ":memory:" else opened
        room, others = (Sandbox(engine=engine, journal=each) for each in (journal, another))
        first = Agent(ScriptedModel([meanwhile, "never"]), room)
        assert first.run("?", id="T-1").answer == "also"
        assert second.requests == []
        assert Agent(second, others).run("?", id="T-1").answer == "also"
    assert not list(tmp_path.glob("*-task-*"))


def test_who_may_not_work_leaves_nothing_open(journal) -> None:
    class Sink(list[str]):
        def write(self, event: Event) -> None:
            self.append(event.to_dict()["event"])

    told = Sink()
    room = Sandbox(engine="restricted", journal=journal, audit=Audit([told]))
    conversation = journal.conversation("T-1")
    conversation.append("task", {"text": "?", "model": "m", "system": ""})
    with conversation.working(), pytest.raises(ConversationTaken):
        Agent(ScriptedModel([]), room).run("?", id="T-1")
    assert told == ["session_open", "session_close"]


def test_where_there_are_no_locks_nobody_works(tmp_path, monkeypatch) -> None:
    def none(file: int, operation: int) -> None:
        raise OSError(errno.ENOLCK, "no locks available")

    with Journal(tmp_path / "runs.sqlite") as journal:
        monkeypatch.setattr(fcntl, "flock", none)
        with pytest.raises(
            JournalError, match="'T-1': whether somebody else works on it cannot be found out: .*no locks"
        ):
            Agent(ScriptedModel([]), Sandbox(engine="restricted", journal=journal)).run("?", id="T-1")


def test_who_has_read_before_another_worked_is_told(room, journal) -> None:
    agent = Agent(ScriptedModel([DOWN, "ok"]), room)
    late = agent.stream("?", id="T-1")
    agent.run("?", id="T-1")

    async def first() -> object:
        async with aclosing(late):
            return await anext(late)

    with pytest.raises(ConversationTaken, match="somebody else has worked on it meanwhile; run it again"):
        asyncio.run(first())
    assert agent.run("?", id="T-1").answer == "ok"


def test_a_task_that_is_cancelled_is_nobodys(room, journal) -> None:
    async def cancelled() -> None:
        began = asyncio.Event()

        async def hang(_request) -> str:
            began.set()
            await asyncio.Event().wait()
            return ""

        working = asyncio.create_task(Agent(ScriptedModel([hang]), room).run_async("?", id="T-1"))
        await began.wait()
        working.cancel()
        await asyncio.gather(working, return_exceptions=True)

    asyncio.run(cancelled())
    assert Agent(ScriptedModel(["ok"]), room).run("?", id="T-1").answer == "ok"


def test_a_record_that_is_not_an_agents_is_refused(room, journal) -> None:
    agent = Agent(ScriptedModel(["ok"]), room)
    journal.conversation("T-1").append("note", "?")
    with pytest.raises(ValueError, match="another task"):
        agent.run("?", id="T-1")
    told = journal.conversation("T-2")
    told.append("task", {"text": "?", "model": "m", "system": ""})
    told.append("reply", "ok")
    with pytest.raises(JournalError, match="entry 2 of its conversation is none of an agent's"):
        agent.run("?", id="T-2")


def test_a_record_that_goes_on_otherwise_is_refused(room, journal) -> None:
    Agent(ScriptedModel([READ, DOWN]), room).run("?", id="T-1")
    reply, observed = [entry.data for entry in journal.conversation("T-1").entries()[1:3]]
    other = journal.conversation("T-2")
    other.append("task", {"text": "?", "model": "m", "system": ""})
    other.append("reply", reply)
    other.append("observed", {**observed, "id": "another"})
    with pytest.raises(JournalError, match="its conversation is not what this agent would make of it"):
        Agent(ScriptedModel([]), room).run("?", id="T-2")
    gone = journal.conversation("T-3")
    gone.append("task", {"text": "?", "model": "m", "system": ""})
    gone.append("reply", reply)
    gone.append("observed", {**observed, "run": "0" * 32})
    with pytest.raises(JournalError, match="a program of its conversation is not in the journal any more"):
        Agent(ScriptedModel([]), room).run("?", id="T-3")


def test_another_task_of_the_same_id_is_a_mistake(room, journal) -> None:
    agent = Agent(ScriptedModel(["ok"]), room)
    agent.run("?", id="T-1")
    with pytest.raises(ValueError, match="id='T-1': the journal has another task of that id"):
        agent.run("!", id="T-1")
