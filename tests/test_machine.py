"""The wasm machine: its imports, its cache, its ticker, and what it survives."""

from __future__ import annotations

import json
import os
import select
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from codeact import EngineUnavailable, Limits, Sandbox
from codeact.engines import load
from codeact.engines.wasm import WasmEngine
from wasm_runtime import build, cache
from wasm_runtime.machine import GUEST, GuestUnavailable, Machine
from wasm_runtime.ticker import TICK, Ticker

ROOT = Path(__file__).parent.parent

RUN = """
import json, sys, time
began = time.perf_counter()
from codeact import Sandbox
from codeact.engines import load
result = Sandbox().run("6 * 7")
machine = load("wasm").machine
print(json.dumps([result.value, str(machine.cached), time.perf_counter() - began]))
"""


def in_a_process(folder: Path, stderr: int = subprocess.PIPE) -> subprocess.Popen[str]:
    env = {**os.environ, cache.VARIABLE: str(folder)}
    return subprocess.Popen(
        [sys.executable, "-c", RUN], stdout=subprocess.PIPE, stderr=stderr, text=True, env=env, cwd=ROOT
    )


def answer(process: subprocess.Popen[str]) -> list[object]:
    out, errors = process.communicate(timeout=200)
    assert process.returncode == 0, errors
    assert not errors, "nothing is printed where there is no terminal"
    return list(json.loads(out))


@pytest.fixture(scope="module")
def machine() -> Machine:
    engine = load("wasm")
    assert isinstance(engine, WasmEngine)
    return engine.machine


@pytest.fixture
def warm(machine: Machine, tmp_path: Path) -> Path:
    """A cache of its own that holds the compiled guest."""
    assert machine.cached is not None
    folder = tmp_path / "cache"
    folder.mkdir(mode=0o700)
    shutil.copy2(machine.cached, folder)
    return folder


def test_the_imports_of_the_guest_are_the_doors_and_nothing_else(machine: Machine) -> None:
    assert machine.imports == ("call", "monotonic", "now", "wait", "write")


def test_the_compiled_guest_is_loaded_by_the_next_process(warm: Path) -> None:
    (entry,) = warm.glob("*.cwasm")
    value, cached, _ = answer(in_a_process(warm))
    assert (value, cached) == (42, str(entry))
    assert list(warm.glob("*.cwasm")) == [entry]


def test_two_processes_at_once_compile_once_and_say_so(warm: Path) -> None:
    (damaged,) = warm.glob("*.cwasm")
    with damaged.open("r+b") as file:
        file.seek(1000)
        file.write(b"\0" * 16)
    terminal, shown = os.openpty()
    try:
        both = [in_a_process(warm, stderr=shown) for _ in range(2)]
        # What a terminal shows waits in a small buffer: it is read while they run.
        told = b""
        while any(process.poll() is None for process in both):
            if select.select([terminal], [], [], 0.1)[0]:
                told += os.read(terminal, 65536)
        answers = [answer(process) for process in both]
    finally:
        os.close(shown)
        os.close(terminal)
    assert [value for value, *_ in answers] == [42, 42]
    (entry,) = {Path(str(cached)) for _, cached, _ in answers}
    assert set(warm.glob("*.cwasm")) == {damaged, entry}
    assert list(warm.glob("*.tmp")) == []
    lines = told.decode().replace("\r", "\n").splitlines()
    assert any(line.startswith("codeact: compiling the wasm guest, once on this machine …") for line in lines)
    assert sum("another process" in line for line in lines) == 1, "one compiles and the other waits"
    seconds = [line for line in lines if " s (5 to 20 s" in line]
    assert len(seconds) > 3


def test_what_fails_a_check_is_never_loaded(warm: Path) -> None:
    store = cache.Cache.open(warm)
    (entry,) = warm.glob("*.cwasm")
    key = entry.stem.rpartition("-")[0]
    assert store.find(key) == entry
    assert store.find("0" * 32) is None, "another component, compiler or processor has another key"

    entry.chmod(0o622)
    assert store.find(key) is None, "others may write it"
    entry.chmod(0o600)

    with entry.open("r+b") as file:
        file.seek(1000)
        byte = file.read(1)
        file.seek(1000)
        file.write(bytes([byte[0] ^ 1]))
    assert store.find(key) is None, "its content is not what its name says"

    target = warm.parent / "elsewhere.cwasm"
    entry.rename(target)
    entry.symlink_to(target)
    assert store.find(key) is None, "it is a link"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_what_belongs_to_someone_else_is_never_loaded(warm: Path) -> None:
    (entry,) = warm.glob("*.cwasm")
    os.chown(entry, 12345, 12345)
    assert cache.Cache.open(warm).find(entry.stem.rpartition("-")[0]) is None
    os.chown(warm, 12345, 12345)
    with pytest.raises(cache.CacheUnusable, match="belongs to another user"):
        cache.Cache.open(warm)


def test_a_cache_open_to_others_is_not_used(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    with pytest.raises(cache.CacheUnusable, match="chmod 700"):
        cache.Cache.open(tmp_path)
    assert tmp_path.stat().st_mode & 0o777 == 0o755


def test_a_cache_that_cannot_be_made_says_why(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(cache.CacheUnusable, match="file"):
        cache.Cache.open(tmp_path / "file")


def test_old_entries_are_dropped(tmp_path: Path) -> None:
    store = cache.Cache.open(tmp_path)
    for number in range(cache.KEPT + 3):
        made = store.store(f"key{number}", str(number).encode())
        os.utime(made, (number, number))
    left = {entry.stem.partition("-")[0] for entry in tmp_path.glob("*.cwasm")}
    assert f"key{cache.KEPT + 2}" in left
    assert len(left) == cache.KEPT
    for name in left:
        assert store.find(name) is not None


@pytest.mark.parametrize("content", [None, b"", b"not wasm at all"])
def test_a_missing_or_broken_guest_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes | None
) -> None:
    monkeypatch.setenv(cache.VARIABLE, str(tmp_path / "cache"))
    guest = tmp_path / "guest.wasm"
    if content is not None:
        guest.write_bytes(content)
    with pytest.raises(GuestUnavailable, match="guest.wasm"):
        Machine(guest)


def test_no_other_engine_is_used_in_place_of_wasm(tmp_path: Path) -> None:
    code = (
        "import wasm_runtime.machine as machine, pathlib, codeact\n"
        "machine.GUEST = pathlib.Path('nowhere.wasm')\n"
        "machine.Machine.__init__.__defaults__ = (machine.GUEST,)\n"
        "try:\n    codeact.Sandbox()\nexcept codeact.EngineUnavailable as error:\n    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert "engine='wasm': the wasm guest nowhere.wasm cannot be read" in done.stdout
    assert issubclass(EngineUnavailable, RuntimeError)


def test_the_package_carries_the_guest_of_these_sources() -> None:
    assert GUEST.stat().st_size > 1_000_000
    made_from = build.STAMP.read_text(encoding="utf-8")
    assert made_from == build.digest(), "the guest is older than its sources; make it again: pip install -e ."


def test_the_ticker_ticks_only_while_guests_run() -> None:
    ticks: list[float] = []
    ticked = threading.Event()

    def tick() -> None:
        ticks.append(time.monotonic())
        ticked.set()

    ticker = Ticker(tick)
    assert not ticker.alive
    with ticker:
        assert ticked.wait(5)
        assert ticker.alive
    until = time.monotonic() + 10
    while ticker.alive and time.monotonic() < until:
        threading.Event().wait(TICK)
    assert not ticker.alive
    ticked.clear()
    with ticker:
        assert ticked.wait(5), "it starts again"


@pytest.mark.parametrize("engine", ["wasm", "restricted"])
def test_a_forked_child_can_run(engine: str) -> None:
    sandbox = Sandbox(engine=engine, limits=Limits(timeout=1.0))
    assert sandbox.run("1 + 1").value == 2
    child = os.fork()
    if child == 0:
        try:
            fine = sandbox.run("2 + 2").value == 4
            error = sandbox.run("while True:\n    pass").error
            os._exit(0 if fine and error is not None and error.kind == "timeout" else 1)
        finally:
            os._exit(2)
    until = time.monotonic() + 60
    while time.monotonic() < until:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            assert os.waitstatus_to_exitcode(status) == 0
            return
        threading.Event().wait(0.02)
    os.kill(child, 9)
    pytest.fail("the child hangs")


def test_a_process_that_exits_during_a_run_exits_cleanly() -> None:
    code = (
        "import threading, time\nfrom codeact import Sandbox, Limits\n"
        "s = Sandbox(limits=Limits(timeout=60))\nassert s.run('1').ok\n"
        "threading.Thread(target=s.run, args=('while True: pass',), daemon=True).start()\n"
        "time.sleep(0.3)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=ROOT, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""


def test_a_host_interrupted_by_the_keyboard_lives_and_stops_the_run() -> None:
    code = (
        "import os, signal, threading, time\nfrom codeact import Sandbox, Limits, tool\n"
        "@tool\ndef interrupt() -> int:\n    'Send SIGINT to the host.'\n    os.kill(os.getpid(), signal.SIGINT)\n    return 1\n"
        "s = Sandbox([interrupt], limits=Limits(timeout=60))\n"
        "began = time.monotonic()\n"
        "try:\n    s.run('tools.interrupt()\\nwhile True: pass')\nexcept KeyboardInterrupt:\n    print('interrupted', time.monotonic() - began < 10)\n"
        "print(s.run('1 + 1').value)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=ROOT, timeout=60
    )
    assert done.stdout.split() == ["interrupted", "True", "2"], done.stderr


def test_a_tick_that_fails_is_told_and_not_the_last(caplog: pytest.LogCaptureFixture) -> None:
    again = threading.Event()

    def tick() -> None:
        if caplog.records:
            again.set()
        raise ArithmeticError

    with Ticker(tick):
        assert again.wait(5)
    assert "a tick failed" in caplog.text
