"""Worker processes, seen from the host: how they start, end, and are told what to forget. See `wasm_runtime.worker`."""

from __future__ import annotations

import itertools
import os
import signal
import socket
import subprocess
import sys
import threading
import weakref
from contextlib import suppress
from pathlib import Path

import wasmtime

from wasm_runtime import frames
from wasm_runtime.cache import VARIABLE
from wasm_runtime.frames import Channel, Malformed

STARTING = 120.0
"""Seconds that a worker may take to set its machine up; where nothing can be cached it compiles the guest."""

_PASSED_ON = ("HOME", "XDG_CACHE_HOME", VARIABLE, "LD_LIBRARY_PATH")
"""What a worker sees of the host's environment: where the compiled guest is, and the interpreter's own libraries."""

_START = "import sys; sys.path += sys.argv[4:]; from wasm_runtime.worker import main; main(*sys.argv[1:4])"


class WorkerUnavailable(Exception):
    """A worker cannot be set up; the message says why."""


class Worker:
    """A process that makes worlds and runs one program at a time.

    On Linux it ends with the thread that started it, at the latest, even where it is stopped or deaf; everywhere it ends
    when it finds that its line has.

    Attributes:
        worlds: the numbers of those that it holds.
        channel: the line to it. Whoever has the worker to himself may use it.
        process: the process itself.
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
        self.worlds: set[int] = set()
        self._doomed: list[int] = []
        self._numbers = itertools.count()
        paths = dict.fromkeys(
            str(Path(module.__file__ or "").parents[1]) for module in (sys.modules[__package__], wasmtime)
        )
        words = (str(guest.resolve()), digest, str(self._owner), *paths)
        try:
            here, there = socket.socketpair()
        except OSError as error:
            msg = f"there is no line to a worker process: {error.strerror or error}"
            raise WorkerUnavailable(msg) from error
        self.channel = Channel(here)
        _workers.add(self)
        try:
            self.process = subprocess.Popen(  # noqa: S603 - this interpreter, and our own module
                [sys.executable, "-I", "-S", "-c", _START, *words],
                stdin=there.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env={name: os.environ[name] for name in _PASSED_ON if name in os.environ},
                start_new_session=True,  # the terminal's signals are for the host
            )
        except BaseException as error:
            self.channel.close()
            if not isinstance(error, OSError):
                raise
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
            kind, words = self.channel.receive({frames.READY: 0, frames.FAILED: frames.WORDS})
        except (EOFError, Malformed):
            self.kill()
            msg = f"a worker process {self.ending()} before it was set up"
            raise WorkerUnavailable(msg) from None
        finally:
            overdue.cancel()
        if kind == frames.FAILED:
            raise WorkerUnavailable(words.decode(errors="replace"))

    def number(self) -> int:
        """A number for a new world, which no other one has."""
        number = next(self._numbers)
        self.worlds.add(number)
        return number

    def doom(self, world: int) -> None:
        """Let a world be destroyed with the next `tidy`."""
        self._doomed.append(world)

    def tidy(self) -> None:
        """Destroy what is doomed. Whoever calls it has the worker to himself."""
        while self._doomed:
            try:
                self.channel.send_now(frames.CLOSE, frames.WORLD.pack(self._doomed.pop()))
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


_workers: weakref.WeakSet[Worker] = weakref.WeakSet()


def _disown() -> None:
    for worker in list(_workers):
        worker.disown()
    _workers.clear()


os.register_at_fork(after_in_child=_disown)
