"""A worker that was taken over: it says what a test wants."""

from __future__ import annotations

import itertools
import os
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from codeact import Limits, Sandbox
from codeact.engines import load
from codeact.engines.remote import RemoteEngine
from codeact.engines.wasm import WasmEngine
from codeact.engines.workerpool import WorkerPool
from wasm_runtime import frames
from wasm_runtime.frames import Channel
from wasm_runtime.processes import Worker

Script = Callable[[Channel, socket.socket], None]
"""What a worker does when it is told to run a program."""


HEADER = b'{"finished": true, "bound": [], "unbound": [], "unawaited": [], "exit": null, "fault": null}\n'


def frame(kind: bytes, body: bytes = b"", size: int | None = None) -> bytes:
    return frames.HEAD.pack(kind, len(body) if size is None else size) + body


def call(name: bytes, arguments: bytes, size: int | None = None) -> bytes:
    return frame(frames.CALL, frames.AT.pack(1, len(name) if size is None else size) + name + arguments)


def done(answer: bytes, fuel: int = 1, memory: int = 1) -> bytes:
    return frame(frames.DONE, frames.END.pack(fuel, memory) + answer)


class _Process:
    pid = 0
    returncode = 0


class Forger(Worker):
    """A worker that is a thread, and says what a test wants."""

    def __init__(self, script: Script) -> None:
        self._dead = False
        self._owner = os.getpid()
        self.worlds: set[int] = set()
        self._doomed: list[int] = []
        self._numbers = itertools.count()
        here, self.there = socket.socketpair()
        self.channel = Channel(here)
        self.process = _Process()  # type: ignore[assignment]
        self.ended = threading.Event()
        threading.Thread(target=self._act, args=(script,), daemon=True).start()

    def _act(self, script: Script) -> None:
        channel = Channel(self.there)
        with suppress(EOFError, OSError, frames.Malformed):
            self.there.sendall(frame(frames.READY))
            while True:
                kind, _ = channel.receive({frames.RUN: 2**31, frames.CLOSE: 8, frames.STOP: 0})
                if kind == frames.RUN:
                    script(channel, self.there)
        self.there.close()

    def kill(self) -> None:
        self._dead = True
        with suppress(OSError):
            self.there.shutdown(socket.SHUT_RDWR)
        self.ended.set()

    def wait(self) -> None:
        self.ended.wait()

    def ending(self) -> str:
        return "was killed"


def says(*said: bytes) -> Script:
    """A worker that says this, and hangs up."""

    def script(_channel: Channel, line: socket.socket) -> None:
        line.sendall(b"".join(said))
        line.shutdown(socket.SHUT_WR)

    return script


@contextmanager
def taken_over(script: Script, tools: object = (), **limits: float) -> Iterator[tuple[Sandbox, list[Forger]]]:
    """A sandbox whose one worker is a forger, and those that there have been."""
    made: list[Forger] = []

    def start() -> Forger:
        made.append(Forger(script))
        return made[-1]

    local = load("wasm")
    assert isinstance(local, WasmEngine)
    engine = RemoteEngine(local, 1)
    engine.pool = WorkerPool(1, start)
    sandbox = Sandbox(tools, engine=engine, limits=Limits(**{"timeout": 5.0, **limits}))  # type: ignore[arg-type]
    try:
        yield sandbox, made
    finally:
        engine.pool.close()
