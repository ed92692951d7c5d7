"""What is on record, and where it goes."""

from __future__ import annotations

import gc
import json
import logging
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from codeact.audit import Audit, Event, Trail, Unrecorded
from codeact.audit.files import JsonLines
from codeact.audit.loggers import Logging
from codeact.audit.telemetry import OpenTelemetry


def lines(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


class TestJsonLines:
    """One line an event."""

    def test_lines(self, tmp_path: Path) -> None:
        path = tmp_path / "audit.jsonl"
        trail = Trail(Audit([JsonLines(path)]), "r1", "s1", "acme")
        trail.emit("sandbox_spawn", {"engine": "wasm"})
        trail.emit("sandbox_exit", {"ok": True})
        first, second = lines(path)
        assert {**first, "time": 0} == {
            "event": "sandbox_spawn", "audit": first["audit"], "seq": 1, "process": os.getpid(), "time": 0, "run": "r1", "session": "s1", "tenant": "acme",
            "engine": "wasm",
        }  # fmt: skip
        assert (second["event"], second["seq"], second["ok"]) == ("sandbox_exit", 2, True)

    def test_it_is_its_owner_s_and_is_appended_to(self, tmp_path: Path) -> None:
        path = tmp_path / "audit.jsonl"
        for _ in range(2):
            sink = JsonLines(path)
            Trail(Audit([sink])).emit("session_open", {})
            sink.close()
            sink.close()
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert len(lines(path)) == 2

    @pytest.mark.parametrize("gone", ["moved", "removed"])
    def test_a_file_that_is_gone_is_made_anew(self, tmp_path: Path, gone: str) -> None:
        path = tmp_path / "audit.jsonl"
        trail = Trail(Audit([JsonLines(path)]))
        trail.emit("session_open", {})
        if gone == "moved":
            path.rename(tmp_path / "audit.1.jsonl")
        else:
            path.unlink()
        trail.emit("session_close", {})
        assert [line["event"] for line in lines(path)] == ["session_close"]
        if gone == "moved":
            assert [line["event"] for line in lines(tmp_path / "audit.1.jsonl")] == ["session_open"]

    def test_a_directory_that_is_gone_for_a_while(self, tmp_path: Path) -> None:
        path = tmp_path / "logs" / "audit.jsonl"
        path.parent.mkdir()
        trail = Trail(Audit([JsonLines(path)]))
        trail.emit("session_open", {})
        path.parent.rename(tmp_path / "away")
        for _ in range(2):
            with pytest.raises(Unrecorded):
                trail.emit("session_close", {})
        (tmp_path / "away").rename(path.parent)
        trail.emit("session_close", {})
        assert [line["event"] for line in lines(path)] == ["session_open", "session_close"]

    def test_a_link_is_not_followed(self, tmp_path: Path) -> None:
        (tmp_path / "audit.jsonl").symlink_to(tmp_path / "elsewhere")
        with pytest.raises(OSError, match="symbolic links"):
            JsonLines(tmp_path / "audit.jsonl")
        assert not (tmp_path / "elsewhere").exists()

    def test_a_full_log_refuses_and_keeps_what_it_has(self, tmp_path: Path) -> None:
        path = tmp_path / "audit.jsonl"
        trail = Trail(Audit([JsonLines(path, limit=200)]))
        trail.emit("session_open", {})
        with pytest.raises(Unrecorded, match=r"LogFull: .*may hold 200 bytes \(limit of the log\)"):
            trail.emit("session_close", {"filler": "x" * 200})
        assert len(lines(path)) == 1

    def test_a_killed_process_loses_nothing(self, tmp_path: Path) -> None:
        path = tmp_path / "audit.jsonl"
        program = (
            "import os, signal, sys\nfrom codeact.audit import Audit, Trail\n"
            "from codeact.audit.files import JsonLines\n"
            "trail = Trail(Audit([JsonLines(sys.argv[1])]))\n"
            "for n in range(100): trail.emit('session_open', {'n': n})\n"
            "os.kill(os.getpid(), signal.SIGKILL)"
        )
        done = subprocess.run([sys.executable, "-c", program, str(path)], check=False)
        assert done.returncode == -9
        assert [line["n"] for line in lines(path)] == list(range(100))

    def test_a_line_that_was_cut_spoils_no_other(self, tmp_path: Path) -> None:
        """Not one of another process or of a later one either, which know nothing of it."""
        path = tmp_path / "audit.jsonl"
        program = (
            "import resource, sys\nfrom codeact.audit import Audit, Trail, Unrecorded\n"
            "from codeact.audit.files import JsonLines\n"
            "trail = Trail(Audit([JsonLines(sys.argv[1])]))\n"
            "trail.emit('session_open', {})\n"
            "resource.setrlimit(resource.RLIMIT_FSIZE, (400, 400))\n"
            "try: trail.emit('session_close', {'filler': 'x' * 500})\n"
            "except Unrecorded: sys.exit(7)"
        )
        mine = Trail(Audit([JsonLines(path)]))
        done = subprocess.run([sys.executable, "-c", program, str(path)], check=False)
        assert done.returncode == 7
        assert path.stat().st_size == 400
        mine.emit("session_open", {"whose": "mine"})
        Trail(Audit([JsonLines(path)])).emit("session_open", {"whose": "a later one's"})
        first, cut, second, third = path.read_text().splitlines()
        assert json.loads(first)["event"] == "session_open"
        assert cut.endswith("x")
        assert [json.loads(line)["whose"] for line in (second, third)] == ["mine", "a later one's"]

    def test_processes_share_it(self, tmp_path: Path) -> None:
        """A long line of another one that is being written is none that was cut."""
        path = tmp_path / "audit.jsonl"
        program = (
            "import sys\nfrom codeact.audit import Audit, Trail\nfrom codeact.audit.files import JsonLines\n"
            "trail = Trail(Audit([JsonLines(sys.argv[1])]))\n"
            "for n in range(300): trail.emit('session_open', {'text': 'x' * 100_000})"
        )
        both = [subprocess.Popen([sys.executable, "-c", program, str(path)]) for _ in range(2)]
        assert [each.wait() for each in both] == [0, 0]
        assert len(lines(path)) == 600

    def test_what_nobody_holds_is_closed(self, tmp_path: Path) -> None:
        gc.collect()
        before = len(list(Path("/dev/fd").iterdir()))
        for _ in range(50):
            JsonLines(tmp_path / "audit.jsonl")
        gc.collect()
        assert len(list(Path("/dev/fd").iterdir())) <= before

    def test_two_audits_of_one_file_can_be_told_apart(self, tmp_path: Path) -> None:
        path = tmp_path / "audit.jsonl"
        for _ in range(2):
            trail = Trail(Audit([JsonLines(path)]))
            trail.emit("session_open", {})
            trail.emit("session_close", {})
        assert len({(line["audit"], line["seq"]) for line in lines(path)}) == 4

    def test_threads_share_it(self, tmp_path: Path) -> None:
        path = tmp_path / "audit.jsonl"
        audit = Audit([JsonLines(path)])
        threads = [
            threading.Thread(target=lambda: [Trail(audit).emit("egress", {"x": "y" * 300}) for _ in range(50)])
            for _ in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert [line["seq"] for line in lines(path)] == list(range(1, 201))

    def test_a_limit_that_is_none(self, tmp_path: Path) -> None:
        with pytest.raises(ValueError, match="limit=0: must be above zero"):
            JsonLines(tmp_path / "audit.jsonl", limit=0)


def test_logging(caplog: pytest.LogCaptureFixture) -> None:
    trail = Trail(Audit([Logging()]), "r1")
    with caplog.at_level(logging.INFO, "codeact.audit"):
        trail.emit("tool_call_executed", {"tool": "a"})
        trail.emit("tool_call_denied", {"tool": "b"})
        trail.emit("egress", {"allowed": False})
    assert [record.levelname for record in caplog.records] == ["INFO", "WARNING", "WARNING"]
    assert json.loads(caplog.records[0].message)["tool"] == "a"
    assert isinstance(caplog.records[0].__dict__["event"], Event)


def test_spans() -> None:
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    trail = Trail(Audit([OpenTelemetry(provider.get_tracer("test"))]), "r1", None, "acme")
    trail.emit("sandbox_spawn", {"engine": "wasm"})
    trail.emit("egress", {"origin": "https://api.test", "allowed": True})
    trail.emit("tool_call_executed", {"tool": "get_charges", "call": 1, "state": "ok", "duration_ms": 5.0})
    trail.emit("sandbox_exit", {"ok": False, "error": "timeout", "duration_ms": 9.0})
    call, run = exporter.get_finished_spans()
    assert (run.name, call.name) == ("execute_tool run_python", "execute_tool get_charges")
    assert call.parent is not None
    assert call.parent.span_id == run.context.span_id
    assert run.attributes is not None
    assert call.attributes is not None
    assert run.attributes["gen_ai.operation.name"] == "execute_tool"
    assert run.attributes["codeact.tenant"] == "acme"
    assert run.attributes["error.type"] == "timeout"
    assert not run.status.is_ok
    assert call.attributes["gen_ai.tool.name"] == "get_charges"
    assert call.attributes["gen_ai.tool.call.id"] == "r1:1"
    assert call.end_time is not None
    assert call.start_time is not None
    assert abs(call.end_time - call.start_time - 5_000_000) < 1000
    assert [event.name for event in run.events] == ["egress"]


def test_a_request_that_outlives_its_run_has_a_span_of_its_own() -> None:
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    sink = OpenTelemetry(provider.get_tracer("test"))
    trail = Trail(Audit([sink]), "r1")
    trail.emit("sandbox_spawn", {})
    trail.emit("sandbox_exit", {"ok": True})
    trail.emit("egress", {"origin": "https://api.test", "allowed": True, "error": "CancelledError", "duration_ms": 5.0})
    assert [span.name for span in exporter.get_finished_spans()] == ["execute_tool run_python", "execute_tool egress"]


class Deaf:
    """A sink that takes nothing."""

    def write(self, event: Event) -> None:
        raise OSError(event.name)


def test_a_sink_that_fails_keeps_nothing_from_the_others() -> None:
    """A span would never end."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    trail = Trail(Audit([Deaf(), OpenTelemetry(provider.get_tracer("test"))]), "r1")
    for name in ("sandbox_spawn", "sandbox_exit"):
        with pytest.raises(Unrecorded, match=f"Deaf did not take the event {name}: OSError: {name}"):
            trail.emit(name, {})
    assert len(exporter.get_finished_spans()) == 1


def test_an_event_in_the_middle_of_another_comes_after_it() -> None:
    """As when the collector runs a host's finalizer, which closes a session: waiting for itself it waited for ever."""
    seen: list[tuple[str, int]] = []

    class Nested:
        def write(self, event: Event) -> None:
            if event.name == "sandbox_spawn":
                trail.emit("session_close", {})
            seen.append((event.name, event.seq))

    trail = Trail(Audit([Nested()]))
    thread = threading.Thread(target=trail.emit, args=("sandbox_spawn", {}), daemon=True)
    thread.start()
    thread.join(20)
    assert seen == [("sandbox_spawn", 1), ("session_close", 2)]


def test_every_sink_gets_every_event_and_numbers_have_no_gaps() -> None:
    class Kept:
        def __init__(self) -> None:
            self.numbers: list[int] = []

        def write(self, event: Event) -> None:
            self.numbers.append(event.seq)

    first, second = Kept(), Kept()
    audit = Audit([first, second])
    for _ in range(3):
        Trail(audit).emit("session_open", {})
    assert first.numbers == second.numbers == [1, 2, 3]
