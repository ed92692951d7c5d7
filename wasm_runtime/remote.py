"""Workers and their worlds, seen from the host.

A worker is a process that holds a machine. It reaches nothing: each door of its guests leads back here, where the
same host as ever stands behind it. Whatever a worker says may be forged, because its guest may have taken it over.
"""

from __future__ import annotations

import itertools
import logging
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import wasmtime

from wasm_runtime.cache import VARIABLE
from wasm_runtime.doors import Host
from wasm_runtime.frames import (
    ANSWER,
    AT,
    CALL,
    CAUSE,
    CLOCK,
    CLOSE,
    DETAIL,
    DONE,
    END,
    FAILED,
    LINE,
    MONOTONIC,
    NOW,
    PAUSE,
    PROGRAM,
    READY,
    RUN,
    STOP,
    TRAP,
    WAIT,
    WORDS,
    WORLD,
    WRITE,
    Channel,
    Malformed,
    cut,
)
from wasm_runtime.instance import Reason, Trap
from wasm_runtime.ticker import Ticker
from wasm_runtime.worker import REASONS

log = logging.getLogger("codeact")

STARTING = 120.0
"""Seconds that a worker may take to set its machine up; where nothing can be cached it compiles the guest."""

LATE = 0.2
"""Seconds after the end of a run that a door may hold its worker; then the worker is taken from it."""

STUCK = 2.0
"""Seconds after the end of a run that a worker may take to stop its guest; then it is killed."""

STOPPED: Reason = "stopped"
LOST: Reason = "lost"

_PASSED_ON = ("HOME", "XDG_CACHE_HOME", VARIABLE, "LD_LIBRARY_PATH")
"""What a worker sees of the host's environment: where the compiled guest is, and the interpreter's own libraries."""

_START = "import sys; sys.path += sys.argv[3:]; from wasm_runtime.worker import main; main(*sys.argv[1:3])"


class WorkerUnavailable(Exception):
    """A worker cannot be set up; the message says why."""


class Worker:
    """A process that makes worlds and runs one program at a time.

    Attributes:
        worlds: how many it holds.
        channel: the line to it. Whoever has the worker to himself may use it.
    """

    def __init__(self, guest: Path, digest: str) -> None:
        """Start one; `greet` waits until it is set up.

        Args:
            guest: the file of the guest that it runs.
            digest: what the guest's SHA-256 must be, hexadecimal.

        Raises:
            WorkerUnavailable: the process cannot be started.
        """
        self._dead = False
        self._owner = os.getpid()
        self.worlds = 0
        self._doomed: list[int] = []
        self._numbers = itertools.count()
        here, there = socket.socketpair()
        self.channel = Channel(here)
        _workers.add(self)
        paths = dict.fromkeys(
            str(Path(module.__file__ or "").parents[1]) for module in (sys.modules[__package__], wasmtime)
        )
        try:
            self.process = subprocess.Popen(  # noqa: S603 - this interpreter, and our own module
                [sys.executable, "-I", "-S", "-c", _START, str(guest.resolve()), digest, *paths],
                stdin=there.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env={name: os.environ[name] for name in _PASSED_ON if name in os.environ},
                start_new_session=True,  # the terminal's signals are for the host
            )
        except OSError as error:
            self.channel.close()
            msg = f"no worker process can be started: {error.strerror or error}"
            raise WorkerUnavailable(msg) from error
        finally:
            there.close()

    def greet(self) -> None:
        """Wait until it is set up.

        Raises:
            WorkerUnavailable: it never will be.
        """
        overdue = threading.Timer(STARTING, self.kill)
        overdue.daemon = True
        overdue.start()
        try:
            kind, words = self.channel.receive({READY: 0, FAILED: WORDS})
        except (EOFError, Malformed):
            self.kill()
            self.wait()
            msg = f"a worker process {self.ending()} before it was set up"
            raise WorkerUnavailable(msg) from None
        finally:
            overdue.cancel()
        if kind == FAILED:
            self.kill()
            self.wait()
            raise WorkerUnavailable(words.decode(errors="replace"))

    def number(self) -> int:
        """A number for a new world, which no other one has."""
        self.worlds += 1
        return next(self._numbers)

    def doom(self, world: int) -> None:
        """Let a world be destroyed with the next `tidy`."""
        self._doomed.append(world)

    def tidy(self) -> None:
        """Destroy what is doomed. Whoever calls it has the worker to himself."""
        while self._doomed:
            try:
                self.channel.send_now(CLOSE, WORLD.pack(self._doomed.pop()))
            except OSError:  # dead, or it has not read anything for a long time
                self.kill()

    @property
    def dead(self) -> bool:
        """Whether it is of no more use, or another process's of which this one is a fork."""
        return self._dead or self._owner != os.getpid()

    @property
    def sound(self) -> bool:
        """Whether it does nothing, as it should where it has nothing to do."""
        return not self.dead and not self.channel.ready()

    def kill(self) -> None:
        """End it, now."""
        self._dead = True
        self.process.kill()

    def wait(self) -> None:
        """Wait until it has ended."""
        self.process.wait()
        self._dead = True

    def ending(self) -> str:
        """How it has ended, in words."""
        try:
            status = self.process.wait(1)
        except subprocess.TimeoutExpired:
            return "was killed"
        if status >= 0:
            return f"ended with status {status}"
        with suppress(ValueError):
            return f"was ended by {signal.Signals(-status).name}"
        return f"was ended by signal {-status}"

    def disown(self) -> None:
        """Be no worker of this process, which is a forked child."""
        self._dead = True
        self.channel.close()
        if hasattr(self, "process"):
            self.process.returncode = 0  # it is not this process's to wait for


class Remote:
    """One world in a worker; see `wasm_runtime.instance.Instance`, whose twin it is.

    Attributes:
        last: whether the next run is the last one, after which there is nothing to close.
        fuel: units spent since the last run began.
        memory: bytes of linear memory; None once the world is dead.
    """

    def __init__(self, worker: Worker, *, memory: int, free: Callable[[], None]) -> None:
        """Make a world, which comes to be with its first run.

        Args:
            worker: who holds it.
            memory: bytes of linear memory it may have, its own interpreter included.
            free: is called when the worker has come to the end of a run. Before each, the worker is to be had.
        """
        self._worker = worker
        self._most = memory
        self._number = worker.number()
        self._free = free
        self.last = False
        self.fuel = 0
        self.memory: int | None = None

    def run(self, request: str, host: Host, fuel: int) -> str:
        """Hand a request to the guest and wait for its answer; see `Instance.run`.

        Raises:
            Trap: it gave none. Where the reason is `lost`, the worker has gone, and all its worlds.
        """
        self.fuel = 0
        program = PROGRAM.pack(self._number, self._most, fuel, host.asked, host.told, self.last)
        talk = _Talk(self._worker, host, self._free)
        try:
            kind, body = talk.run(program, request.encode())
            return self._answer(body, fuel) if kind == DONE else self._trap(body, fuel)
        except Trap:
            raise
        except (EOFError, OSError):
            talk.fail()
            raise Trap(STOPPED if talk.stopped else LOST, self._worker.ending()) from None
        except ValueError as error:
            talk.fail()
            log.error("the worker process %d did not keep to the protocol: %s", self._worker.process.pid, error)  # noqa: TRY400 - it says it all
            raise Trap(LOST, "did not keep to the protocol") from None
        except BaseException:
            talk.fail()  # the worker still waits for an answer
            raise
        finally:
            if self.last:
                self._worker.worlds -= 1
            talk.end()

    def _answer(self, body: bytes, fuel: int) -> str:
        (spent, memory), answer = cut(body, END)
        self.fuel = _within(spent, fuel)
        self.memory = _within(memory, self._most) if memory >= 0 else None
        return answer.decode()

    def _trap(self, body: bytes, fuel: int) -> str:
        (spent, reason), words = cut(body, CAUSE)
        self.fuel = _within(spent, fuel)
        detail = words.decode(errors="ignore")
        raise Trap(REASONS[_within(reason, len(REASONS) - 1)], "".join(filter(str.isprintable, detail)))

    def close(self) -> None:
        """Destroy the world, when the worker next has nothing to do; to be called once."""
        if not self.last:
            self._worker.worlds -= 1
            self._worker.doom(self._number)


def _within(number: int, most: int) -> int:
    if number > most:
        msg = f"{number:,} is more than {most:,}"
        raise Malformed(msg)
    return number


class _Talk:
    """What is said between the host and a worker while a program runs.

    The thread of the run says it, but for `STOP`, which the ticker says when the host wants an end: the thread may
    just stand behind a door, and the worker wait for it.

    Attributes:
        stopped: whether the host has wanted an end.
    """

    def __init__(self, worker: Worker, host: Host, free: Callable[[], None]) -> None:
        self._worker = worker
        self._host = host
        self._free = free
        self._lock = threading.Lock()  # who holds it may send
        self._since: float | None = None
        self._begun = False  # whether `RUN` was sent
        self._told = False  # whether `STOP` was sent
        self._inside = False  # whether the thread of the run is behind a door
        self._left = False  # whether it was left there
        ticker.__enter__()
        _talks.add(self)
        self._most = {
            CALL: AT.size + 2 * host.asked,
            WAIT: PAUSE.size + host.asked,
            WRITE: LINE.size + host.told,
            NOW: 0,
            MONOTONIC: 0,
            DONE: END.size + host.told,
            TRAP: CAUSE.size + DETAIL,
        }

    @property
    def stopped(self) -> bool:
        return self._since is not None

    def run(self, *request: bytes) -> tuple[bytes, bytes]:
        """From the request to the frame that ends the run."""
        self._say(RUN, *request)
        while True:
            kind, body = self._worker.channel.receive(self._most)
            if kind in {DONE, TRAP}:
                return kind, body
            self._serve(kind, body)

    def fail(self) -> None:
        """Be of no more use, and the worker neither, unless it was taken from this run already."""
        if not self._left:
            self._worker.kill()

    def end(self) -> None:
        """The thread of the run has come to its end."""
        if not self._left:
            self._over()

    def _serve(self, kind: bytes, body: bytes) -> None:
        """Do what the guest asks for, and answer it."""
        if self._host.stopped():
            self._say(STOP)
            return
        self._inside = True
        try:
            answer = _DOORS[kind](self._host, body)
        finally:
            with self._lock:
                self._inside = False
        if self._left:
            raise Trap(STOPPED)
        if self._host.stopped():
            self._say(STOP)
        else:
            self._say(ANSWER, answer)

    def _say(self, kind: bytes, *parts: bytes) -> None:
        with self._lock:
            if self._told:  # the worker has what it needs, and would take more for the next answer
                return
            self._told = kind == STOP
            self._worker.channel.send(kind, *parts)
            self._begun = True

    def look(self) -> None:
        """See whether the host wants an end, and that it comes."""
        if self._since is None:
            if not self._host.stopped():
                return
            self._since = time.monotonic()
        late = time.monotonic() - self._since
        if late > STUCK:
            self._worker.kill()
        elif self._lock.acquire(blocking=False):  # otherwise something is just being sent
            try:
                self._press(late)
            finally:
                self._lock.release()

    def _press(self, late: float) -> None:
        if not self._begun:  # the worker would take it for what it does not run
            return
        if not self._told:
            self._told = True
            try:
                self._worker.channel.send_now(STOP)
            except OSError:  # dead, or it does not read
                self._worker.kill()
        elif self._inside and not self._left and late > LATE:
            self._left = True
            threading.Thread(target=self._finish, name="codeact-finish", daemon=True).start()

    def _finish(self) -> None:
        """Take the end of a run whose thread has been left behind a door."""
        try:
            self._worker.channel.receive({DONE: self._most[DONE], TRAP: self._most[TRAP]})
        except (EOFError, Malformed):
            self._worker.kill()
        finally:
            self._over()

    def _over(self) -> None:
        _talks.discard(self)
        ticker.__exit__()
        self._free()


def _call(host: Host, body: bytes) -> bytes:
    (line, size), rest = cut(body, AT)
    name, arguments = rest[:size], rest[size:]
    if len(name) != size or max(size, len(arguments)) > host.asked:
        msg = "a call whose parts are not as long as they may be"
        raise Malformed(msg)
    return host.call(name.decode(), arguments.decode(), line).encode()


def _wait(host: Host, body: bytes) -> bytes:
    (line, nanoseconds), sent = cut(body, PAUSE)
    return host.wait(sent.decode(), nanoseconds, line).encode()


def _write(host: Host, body: bytes) -> bytes:
    (line,), text = cut(body, LINE)
    host.write(text.decode(), line)
    return b""


_DOORS: dict[bytes, Callable[[Host, bytes], bytes]] = {
    CALL: _call,
    WAIT: _wait,
    WRITE: _write,
    NOW: lambda host, _body: CLOCK.pack(host.now()),
    MONOTONIC: lambda host, _body: CLOCK.pack(host.monotonic()),
}


_workers: weakref.WeakSet[Worker] = weakref.WeakSet()
_talks: set[_Talk] = set()


def _look() -> None:
    for talk in _talks.copy():
        try:
            talk.look()
        except Exception:
            log.exception("a run in a worker could not be looked after")  # the others must be


ticker = Ticker(_look)
"""The clock by which the process looks after the runs in its workers."""


def _disown() -> None:
    _talks.clear()
    for worker in list(_workers):
        worker.disown()
    _workers.clear()


os.register_at_fork(after_in_child=_disown)
