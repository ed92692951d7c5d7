"""What a sandbox puts on record of its runs, calls and sessions, and that nothing happens off the record."""

from __future__ import annotations

import asyncio
import hashlib
import json
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from codeact import Limits, Sandbox, tool
from codeact.audit import Audit, Event, Trail, Unrecorded, events, trail
from codeact.audit.files import JsonLines
from codeact.audit.telemetry import OpenTelemetry
from codeact.calls import Door
from codeact.engines import Stop
from codeact.grant import Deadline
from codeact.portal import Portal, own_loop
from tests.conftest import offer

SECRET = "4111-1111-1111-1111"


class Kept:
    """A sink that keeps what it is told, and refuses events of some names."""

    def __init__(self, *refused: str) -> None:
        self.events: list[Event] = []
        self.refused = refused

    def write(self, event: Event) -> None:
        if event.name in self.refused:
            msg = f"no space left for {event.name}"
            raise OSError(msg)
        self.events.append(event)

    def names(self) -> list[str]:
        return [event.name for event in self.events]


called: list[object] = []


@tool
def charge(card: str) -> dict[str, str]:
    """Look a card up."""
    called.append(trail.get().run)
    return {"card": card}


@tool
def broken() -> None:
    """Fail."""
    msg = f"no such card: {SECRET}"
    raise LookupError(msg)


@tool
async def later(card: str) -> str:
    """Look a card up, later."""
    called.append(trail.get().run)
    return card


def made(engine: str, kept: Kept, *, content: bool = False, **limits: Any) -> Sandbox:
    called.clear()
    audit = Audit([kept], content=content)
    return Sandbox([charge, broken, later], engine=engine, audit=audit, limits=Limits(**{"timeout": 20.0, **limits}))


PROGRAM = f"""
print("hello")
tools.charge({SECRET!r})
try: tools.charge()
except TypeError: pass
try: tools.broken()
except ToolError: pass
await tools.later({SECRET!r})
"""


def test_a_run_and_its_calls_are_on_record_in_order(engine: str) -> None:
    kept = Kept()
    with made(engine, kept).session(tenant="acme") as session:
        result = session.run(PROGRAM)
    assert result.ok, result.observation()
    assert kept.names() == [
        "session_open", "sandbox_spawn", "tool_call_executed", "tool_call_denied",
        "tool_call_executed", "tool_call_executed", "sandbox_exit", "session_close",
    ]  # fmt: skip
    assert [event.seq for event in kept.events] == list(range(1, 9))
    assert {(event.session, event.tenant) for event in kept.events} == {(session.id, "acme")}
    assert {event.run for event in kept.events[1:-1]} == {result.run}
    assert called == [result.run, result.run]
    opened, spawned, first, second, third, fourth, ended, closed = (event.data for event in kept.events)
    assert opened["engine"] == spawned["engine"] == engine
    assert spawned["program"] == hashlib.sha256(PROGRAM.encode()).hexdigest()[:16]
    assert spawned["program_len"] == len(PROGRAM)
    assert [data["tool"] for data in (first, second, third, fourth)] == [
        "charge", "charge", "broken", "later",
    ]  # fmt: skip
    assert [data["call"] for data in (first, second, third, fourth)] == [1, 2, 3, 4]
    assert [call.digest for call in result.calls] == [
        data["arguments_digest"] for data in (first, second, third, fourth)
    ]
    assert [data["state"] for data in (first, second, third)] == ["ok", "refused", "failed"]
    assert [data.get("error") for data in (first, second, third, fourth)] == [
        None, "TypeError", "ToolError", None,
    ]  # fmt: skip
    assert {name: ended[name] for name in ("ok", "exit_code", "stdout_len", "stderr_len", "timed_out", "calls")} == {
        "ok": True, "exit_code": None, "stdout_len": 6, "stderr_len": 0, "timed_out": False, "calls": 4,
    }  # fmt: skip
    assert ended["fuel"] == result.usage.fuel
    assert ended["memory"] == result.usage.memory
    assert closed["reason"] == "closed"
    assert closed["runs"] == 1


def test_a_single_run_has_a_tenant_too(engine: str) -> None:
    kept = Kept()
    sandbox = made(engine, kept)
    sandbox.run("tools.charge('1')", tenant="acme")
    asyncio.run(sandbox.run_async("1", tenant="other"))
    assert [event.tenant for event in kept.events] == ["acme"] * 3 + ["other"] * 2
    assert {event.session for event in kept.events} == {None}
    with pytest.raises(TypeError, match="tenant=3: expected a str"):
        sandbox.run("1", tenant=3)  # type: ignore[arg-type]


def test_secrets_are_digests_unless_content_is_asked_for(engine: str) -> None:
    kept = Kept()
    made(engine, kept).run(PROGRAM)
    assert SECRET not in json.dumps([event.to_dict() for event in kept.events])
    kept = Kept()
    made(engine, kept, content=True).run(PROGRAM)
    by_name = [event.data for event in kept.events]
    assert by_name[0]["text"] == PROGRAM
    assert by_name[1]["arguments"] == [[SECRET], {}]
    assert by_name[1]["result"] == {"card": SECRET}
    assert "missing" in str(by_name[2]["message"])
    assert SECRET in str(by_name[3]["message"])


ENDS = {
    "a fault": ("1 / 0", "runtime", False),
    "a program that is none": ("def", "syntax", False),
    "a deadline": ("while True: pass", "timeout", True),
    "too much source": ("x = 1\n" * 1000, "syntax", False),
    "too many calls": ("for n in range(9): tools.charge('1')", "calls", False),
    "too much output": ("print('x' * 5000)", "output", False),
}


@pytest.mark.parametrize("case", ENDS)
def test_every_end_is_on_record(engine: str, case: str) -> None:
    program, kind, timed_out = ENDS[case]
    kept = Kept()
    result = made(engine, kept, timeout=1.0, calls=5, output=3000, source=2000).run(program)
    assert kept.names()[0] == "sandbox_spawn"
    assert kept.names()[-1] == "sandbox_exit"
    ended = kept.events[-1].data
    assert result.error is not None
    assert (ended["ok"], ended["error"], ended["timed_out"]) == (False, result.error.kind, timed_out)
    assert result.error.kind in {kind, "denied"}
    assert ended["error_type"] == result.error.type
    assert sum(name.startswith("tool_call") for name in kept.names()) == len(result.calls)


def test_a_call_that_is_given_up_is_on_record(engine: str) -> None:
    @tool
    async def forever() -> None:
        """Not end."""
        await asyncio.Event().wait()

    kept = Kept()
    sandbox = Sandbox([forever], engine=engine, limits=Limits(timeout=0.3), audit=Audit([kept]))
    sandbox.run("await tools.forever()")
    assert kept.names() == ["sandbox_spawn", "tool_call_executed", "sandbox_exit"]
    assert kept.events[1].data["state"] == "unfinished"


def test_a_run_that_nobody_waits_for_is_on_record(engine: str) -> None:
    kept = Kept()
    sandbox = made(engine, kept)

    async def main() -> None:
        task = asyncio.create_task(sandbox.run_async("while True: pass"))
        await asyncio.sleep(0)  # it begins
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert kept.names() == ["sandbox_spawn", "sandbox_exit"]
    assert kept.events[-1].data["error_type"] == "CancelledError"


@pytest.mark.parametrize("refused", ["sandbox_spawn", "tool_call_executed", "tool_call_denied", "sandbox_exit"])
def test_nothing_happens_off_the_record(engine: str, refused: str) -> None:
    kept = Kept(refused)
    program = "tools.charge()" if refused == "tool_call_denied" else "tools.charge('1')"
    result = made(engine, kept).run(f"try:\n    {program}\nexcept BaseException: pass\ntools.charge('2')\n'done'")
    assert result.error is not None
    assert (result.error.kind, result.error.type) == ("host", "Unrecorded")
    assert "could not be put on record" in result.error.message
    assert "no space" not in result.observation()
    assert result.value is None
    expected = {"sandbox_spawn": 0, "tool_call_executed": 1, "tool_call_denied": 0, "sandbox_exit": 2}
    assert len(called) == expected[refused]
    assert refused not in kept.names()


def test_a_session_whose_opening_cannot_be_recorded_is_not_opened(engine: str) -> None:
    with pytest.raises(Unrecorded, match="Kept did not take the event session_open: OSError: no space left"):
        made(engine, Kept("session_open")).session()


def test_runs_at_once_have_their_own_ids(engine: str) -> None:
    kept = Kept()
    sandbox = made(engine, kept)
    results = []
    threads = [
        threading.Thread(target=lambda: results.append(sandbox.run("tools.charge('1')\ntools.charge('2')")))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({result.run for result in results}) == 4
    for result in results:
        own = [event.name for event in kept.events if event.run == result.run]
        assert own == ["sandbox_spawn", "tool_call_executed", "tool_call_executed", "sandbox_exit"]
    assert [event.seq for event in kept.events] == list(range(1, 17))


def test_spans_nest_calls_in_their_run(engine: str) -> None:
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    audit = Audit([OpenTelemetry(provider.get_tracer("test"))])
    Sandbox([charge], engine=engine, audit=audit).run("tools.charge('1')\ntools.charge()")
    spans = {span.name: span for span in exporter.get_finished_spans()}
    assert set(spans) == {"execute_tool run_python", "execute_tool charge"}
    run = spans["execute_tool run_python"]
    assert [span.parent and span.parent.span_id for span in exporter.get_finished_spans() if span is not run] == [
        run.context and run.context.span_id
    ] * 2
    assert (run.attributes or {})["gen_ai.operation.name"] == "execute_tool"
    assert (run.attributes or {})["error.type"] == "runtime"


def test_the_log_is_whole_up_to_the_last_event_when_the_process_is_killed(engine: str, tmp_path: Path) -> None:
    program = (
        "import os, signal, sys\nfrom codeact import Sandbox, tool\nfrom codeact.audit import Audit\n"
        "from codeact.audit.files import JsonLines\n@tool\ndef step(n: int) -> None:\n"
        "    if n == 3: os.kill(os.getpid(), signal.SIGKILL)\n"
        f"Sandbox([step], engine={engine!r}, audit=Audit([JsonLines(sys.argv[1])])).run('for n in range(9): tools.step(n)')"
    )
    path = tmp_path / "audit.jsonl"
    done = subprocess.run([sys.executable, "-c", program, str(path)], timeout=60, check=False)
    assert done.returncode == -9
    events = [json.loads(line) for line in path.read_text().splitlines()]
    assert [event["event"] for event in events] == ["sandbox_spawn", *["tool_call_executed"] * 3]
    assert [event["seq"] for event in events] == [1, 2, 3, 4]


def test_a_call_that_ends_at_the_deadline_is_on_record_before_the_run(
    engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept, over = Kept(), threading.Event()
    tell = Door._tell

    def late(*args: Any) -> None:
        over.wait(1.0)  # the deadline passes meanwhile, and whoever waits for the run ends it if it can
        tell(*args)

    monkeypatch.setattr(Door, "_tell", late)
    result = Sandbox([charge], engine=engine, audit=Audit([kept]), limits=Limits(timeout=0.2)).run("tools.charge('1')")
    over.set()
    assert not result.ok
    assert kept.names() == ["sandbox_spawn", "tool_call_executed", "sandbox_exit"]


def test_nobody_waits_while_a_large_result_is_read_for_the_record(monkeypatch: pytest.MonkeyPatch) -> None:
    kept, closed = Kept(), []
    door = Door(
        offer([charge], Limits()),
        Limits(),
        Deadline(Limits(timeout=60)),
        Portal(own_loop),
        Trail(Audit([kept]), run="r1"),
    )
    digest_of = events.digest_of

    def slow(*args: Any) -> str:
        closing = threading.Thread(target=door.close)
        closing.start()
        closing.join(10)
        closed.append(not closing.is_alive())
        return digest_of(*args)

    monkeypatch.setattr(events, "digest_of", slow)
    assert isinstance(door.call("charge", ("1",), {}), Stop)
    assert closed == [True]
    assert [event.data["state"] for event in kept.events] == ["unfinished"]


def test_arguments_and_results_are_in_spans_where_content_is_kept(engine: str) -> None:
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    audit = Audit([OpenTelemetry(provider.get_tracer("test"))], content=True)
    program = "tools.charge('\\ud800')\n2 ** 70"
    assert Sandbox([charge], engine=engine, audit=audit).run(program).ok
    call, run = ((span.attributes or {}) for span in exporter.get_finished_spans())
    assert json.loads(str(call["gen_ai.tool.call.arguments"])) == [["\ud800"], {}]
    assert json.loads(str(call["gen_ai.tool.call.result"])) == {"card": "\ud800"}
    assert json.loads(str(run["gen_ai.tool.call.arguments"])) == program
    assert run["gen_ai.tool.call.result"] == str(2**70)
    assert run["codeact.engine"] == engine
    assert str([dict(call), dict(run)]).encode()  # all of it can be sent


asking = threading.Event()


@tool
async def ask() -> None:
    """Wait, as for an answer that never comes, and put that on record."""
    asking.set()
    try:
        await asyncio.Event().wait()
    finally:
        trail.get().emit("egress", {"allowed": True})


async def cancelled(sandbox: Sandbox) -> None:
    asking.clear()
    asked = asyncio.create_task(sandbox.run_async("await tools.ask()"))
    await asyncio.to_thread(asking.wait, 20)
    asked.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asked


GIVEN_UP = {
    "run": lambda sandbox: sandbox.run("await tools.ask()"),
    "run_async": lambda sandbox: asyncio.run(sandbox.run_async("await tools.ask()")),
    "cancelled": lambda sandbox: asyncio.run(cancelled(sandbox)),
}


@pytest.mark.parametrize("way", GIVEN_UP)
def test_a_request_that_is_given_up_is_on_record_before_the_end_of_its_run(engine: str, way: str) -> None:
    kept = Kept()
    GIVEN_UP[way](Sandbox([ask], engine=engine, audit=Audit([kept]), limits=Limits(timeout=1.0)))
    first, *between, last = kept.names()
    assert (first, sorted(between), last) == ("sandbox_spawn", ["egress", "tool_call_executed"], "sandbox_exit")


def test_what_cannot_be_recorded_of_a_request_that_is_given_up_is_logged(
    engine: str, caplog: pytest.LogCaptureFixture
) -> None:
    sandbox = Sandbox([ask], engine=engine, audit=Audit([Kept("egress")]), limits=Limits(timeout=0.5))
    assert not sandbox.run("await tools.ask()").ok
    assert "no space left for egress" in caplog.text


@pytest.mark.parametrize("refused", ["tool_call_executed", "sandbox_exit"])
def test_every_other_sink_is_told_of_the_end(engine: str, refused: str) -> None:
    failing, healthy = Kept(refused), Kept()
    sandbox = Sandbox([charge], engine=engine, audit=Audit([failing, healthy]))
    result = sandbox.run("print('said')\nopen('a.txt', 'w').write('x')\ntools.charge('1')")
    assert healthy.names() == ["sandbox_spawn", "tool_call_executed", "sandbox_exit"]
    assert result.error is not None
    assert result.error.type == "Unrecorded"
    assert (result.stdout, result.files, result.value) == ("", (), None)


def test_what_is_said_in_the_middle_of_an_event_fails_by_itself(engine: str) -> None:
    class Nesting(Kept):
        def write(self, event: Event) -> None:
            super().write(event)
            if event.name == "sandbox_spawn" and sessions:
                sessions.pop().close()

    kept = Nesting("session_close")
    sandbox = Sandbox(engine=engine, audit=Audit([kept]))
    sessions = [sandbox.session()]
    assert sandbox.run("1 + 1").value == 2
    assert kept.names() == ["session_open", "sandbox_spawn", "sandbox_exit"]


BAD_SINKS = {
    "a sink alone": (JsonLines, "expected a list of sinks"),
    "a text": (lambda _path: "audit.jsonl", "expected a list of sinks"),
    "none": (lambda _path: [], "nothing would be on record"),
    "something else": (lambda _path: [print], "is no sink"),
    "a class": (lambda _path: [JsonLines], "is no sink"),
}


@pytest.mark.parametrize("case", BAD_SINKS)
def test_what_is_no_sink_is_refused_at_once(case: str, tmp_path: Path) -> None:
    sinks, told = BAD_SINKS[case]
    with pytest.raises((TypeError, ValueError), match=told):
        Audit(sinks(tmp_path / "audit.jsonl"))
