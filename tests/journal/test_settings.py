"""Runs of every kind of sandbox are replayed, and those that were ended from outside as far as they came."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest

from codeact import Audit, Journal, Limits, ReplayError, Sandbox, tool
from codeact.audit import Event
from tests.journal.conftest import Keep


@tool
def ask(n: int) -> int:
    """Ask."""
    return n


@tool
def slow() -> int:
    """Take longer than there is."""
    time.sleep(1.5)
    return 1


@tool
async def hang() -> int:
    """Never answer."""
    await asyncio.sleep(60)
    return 1


def test_worlds_that_were_made_ready(journal: Journal) -> None:
    with Sandbox([ask], journal=journal, ready=1) as ready:
        warm = ready.run("tools.ask(1), id([])")
        session = ready.session()
        session.run("x = tools.ask(2)")
        turn = session.run("x, id([])")
        plain = Sandbox([ask], journal=journal)
        cold = plain.run("tools.ask(1), id([])")
        assert warm.usage.fuel != cold.usage.fuel
        assert journal.run(warm.run).ready
        for sandbox in (ready, plain):
            for result in (warm, cold, turn):
                replayed = sandbox.replay(result.run)
                assert replayed.same, replayed.diverged
                assert replayed.result.value == result.value


def test_worlds_in_workers(journal: Journal) -> None:
    with Sandbox([ask], journal=journal, workers=1) as remote, Sandbox([ask], journal=journal, ready=1) as ready:
        afar = remote.run("tools.ask(1), id([])")
        session = remote.session()
        session.run("x = tools.ask(2)")
        turn = session.run("x")
        near = Sandbox(journal=journal)
        for sandbox in (remote, near):
            for result in (afar, turn):
                assert sandbox.replay(result.run).same
        assert remote.replay(near.run("1").run).same
        warm = ready.run("1")
        with pytest.raises(ReplayError, match="made ready, which there is not with workers: replay it without"):
            remote.replay(warm.run)


def test_programs_that_were_checked(keep: Keep) -> None:
    pytest.importorskip("ty")
    sandbox = keep([ask], check=True)
    for program in ("tools.ask('x')", "tools.ask(1)", "Here:\n```python\ntools.ask(1)\n```", "x = = 1"):
        result = sandbox.run(program)
        for other in (sandbox, keep()):
            replayed = other.replay(result.run)
            assert replayed.same, replayed.diverged
            assert replayed.result.error == result.error


def test_inputs(keep: Keep) -> None:
    given = keep(inputs={"in.txt": "given"})
    result = given.run("open('in.txt').read()")
    refused = given.run("open('in.txt', 'w')")
    other = keep(inputs={"in.txt": "others"})
    assert other.replay(result.run).same
    assert other.replay(result.run).result.value == "given"
    assert other.replay(refused.run).same


def test_types_of_files(keep: Keep) -> None:
    result = keep(file_types=(".csv",)).run("open('a.csv', 'w').write('a')\nopen('b.txt', 'w').write('b')")
    assert [file.path for file in result.files] == ["a.csv"]
    replayed = keep().replay(result.run)
    assert replayed.same
    assert replayed.result.note == result.note


def test_the_tools_and_limits_of_now_do_not_matter(keep: Keep) -> None:
    @tool(name="ask")
    def other(text: str) -> str:
        """Another tool of that name."""
        raise AssertionError(text)

    result = keep([ask]).run("help(tools.ask)\ntools.ask(1), tools['ask'](2)")
    assert keep([other, slow], calls=1, output=10, value_bytes=100).replay(result.run).same


def test_a_tool_that_had_not_answered_at_the_deadline(keep: Keep) -> None:
    result = keep([ask, slow], timeout=0.7).run("print(tools.ask(1))\ntools.slow()")
    assert result.error.kind == "timeout"
    replayed = keep().replay(result.run)
    assert replayed.diverged is None
    assert [(call.name, call.args, call.answer, call.state) for call in replayed.recorded.calls[1:]] == [
        ("slow", (), None, "unfinished")
    ]
    assert replayed.result.stdout == "1\n"
    assert replayed.result.error.kind == "timeout"


def test_a_tool_that_ran_beside_at_the_deadline(keep: Keep) -> None:
    result = keep([ask, hang], timeout=0.7).run(
        "import asyncio\nprint(1)\nawait asyncio.gather(tools.hang(), tools.hang())"
    )
    assert result.error.kind == "timeout"
    began = time.monotonic()
    replayed = keep().replay(result.run)
    assert replayed.same, (replayed.diverged, replayed.unfinished)
    assert time.monotonic() - began < 20


def test_a_call_that_had_too_little_time(keep: Keep) -> None:
    result = keep([hang], call_timeout=0.2).run(
        "import asyncio\nasync def one():\n    try:\n        return await tools.hang()\n    except Exception as error:\n"
        "        return str(error)\nawait asyncio.gather(one(), one())"
    )
    assert "did not answer within 0.2 s" in result.value[0]
    assert keep().replay(result.run).same


@pytest.mark.parametrize("program", ["print('x')\nwhile True: pass", "for n in range(10**9): tools.ask(n)"])
def test_a_program_that_the_clock_ended(keep: Keep, program: str) -> None:
    result = keep([ask], timeout=0.5).run(program)
    assert result.error.kind in {"timeout", "calls"}
    replayed = keep().replay(result.run)
    assert replayed.diverged is None
    if not replayed.same:
        assert "the clock ended it, and not the program" in replayed.unfinished
    assert replayed.result.stdout == result.stdout


def test_a_run_that_was_cancelled(keep: Keep, journal: Journal) -> None:
    async def cancelled() -> None:
        began = asyncio.Event()
        loop = asyncio.get_running_loop()

        @tool
        async def begin() -> None:
            """Begin."""
            loop.call_soon_threadsafe(began.set)
            await asyncio.sleep(60)

        task = asyncio.create_task(keep([ask, begin]).run_async("tools.ask(1)\nawait tools.begin()"))
        await began.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    (head,) = journal.runs()
    assert (head.ok, head.kind) == (False, "host")
    assert [call.name for call in journal.run(head.id).calls] == ["ask", "begin"]
    replayed = keep().replay(head.id)
    assert replayed.diverged is None
    assert "the host (CancelledError) ended it" in replayed.unfinished


def test_nothing_of_a_replay_goes_on_record(engine: str, journal: Journal) -> None:
    events: list[Event] = []

    class Sink:
        def write(self, event: Event) -> None:
            events.append(event)

    sandbox = Sandbox([ask], engine=engine, journal=journal, audit=Audit([Sink()]))
    session = sandbox.session()
    runs = [sandbox.run("tools.ask(1)").run, session.run("x = tools.ask(1)").run, session.run("x").run]
    before = len(events)
    for run in runs:
        assert sandbox.replay(run).same
    assert len(events) == before
    assert len(journal.runs()) == 3


def test_a_replay_does_not_hold_an_event_loop(keep: Keep) -> None:
    run = keep().run("1").run

    async def inside() -> None:
        with pytest.raises(RuntimeError, match="would hold the running event loop"):
            keep().replay(run)
        assert (await keep().replay_async(run)).same

    asyncio.run(inside())


def test_a_source_that_is_too_large(keep: Keep, journal: Journal) -> None:
    result = keep(source=100).run("#" * 200)
    assert result.error is not None
    assert keep().replay(result.run).same


def test_many_readings_of_a_clock_take_little_room(path: Path, engine: str) -> None:
    with Journal(path) as journal:
        sandbox = Sandbox(engine=engine, journal=journal, limits=Limits(timeout=60))
        result = sandbox.run("import time\nsum(time.time() > 0 for _ in range(20_000))")
        assert sandbox.replay(result.run).same
    assert path.stat().st_size < 500_000


def test_a_session_after_a_program_that_the_clock_ended(journal: Journal) -> None:
    sandbox = Sandbox(engine="restricted", journal=journal, limits=Limits(timeout=0.3))
    session = sandbox.session()
    assert session.run("n = 0\nwhile True: n += 1").error.kind == "timeout"
    last = session.run("n")
    assert last.ok
    with pytest.raises(
        ReplayError, match="was ended by the clock in the middle of its work: what it left cannot be made again"
    ):
        sandbox.replay(last.run)


def test_a_session_after_a_program_that_printed_too_much(keep: Keep) -> None:
    session = keep([ask], output=1000).session()
    session.run("x = tools.ask(1)")
    assert session.run("y = 2\nwhile True: print('x' * 100)").error.kind == "output"
    last = session.run("globals().get('y', 0)")
    assert keep().replay(last.run).same
    assert session.restore() == session.names
