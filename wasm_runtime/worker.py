"""A worker: a process that runs guests for another one, which keeps everything that they may reach.

It is started with its end of the line as standard input, and with the guest, its host's number and the paths of its
modules as arguments; see `wasm_runtime.processes`. It ends with the line, and with its host.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import os
import resource
import signal
import socket
import sys
import threading
from pathlib import Path

from wasm_runtime import frames
from wasm_runtime.frames import Channel
from wasm_runtime.instance import Instance, Trap
from wasm_runtime.machine import STACK, GuestUnavailable, Machine

_ASKS = {frames.RUN: frames.LARGEST, frames.CLOSE: frames.WORLD.size, frames.STOP: 0}
_ANSWERS = {frames.ANSWER: frames.LARGEST, frames.STOP: 0}
_LEAST = 64 * 1024 * 1024
_SIGNAL_OF_DEATH, _NO_NEW_PRIVILEGES = 1, 38


class _Doors:
    """The doors of one run, all of which lead to the host; see `wasm_runtime.doors.Host`."""

    def __init__(self, channel: Channel, asked: int, told: int) -> None:
        self._channel = channel
        self._stopped = False
        self.asked = asked
        self.told = told

    def call(self, name: str, arguments: str, line: int) -> str:
        raw = name.encode()
        return self._ask(frames.CALL, frames.AT.pack(line, len(raw)), raw, arguments.encode()).decode()

    def wait(self, sent: str, nanoseconds: int, line: int) -> str:
        return self._ask(frames.WAIT, frames.PAUSE.pack(line, nanoseconds), sent.encode()).decode()

    def write(self, text: str, line: int) -> None:
        self._ask(frames.WRITE, frames.LINE.pack(line), text.encode())

    def now(self) -> int:
        return self._clock(frames.NOW)

    def monotonic(self) -> int:
        return self._clock(frames.MONOTONIC)

    def stopped(self) -> bool:
        if not self._stopped and self._channel.ready():
            _receive(self._channel, {frames.STOP: 0})
            self._stopped = True
        return self._stopped

    def _clock(self, kind: bytes) -> int:
        answer = self._ask(kind)
        return int(frames.CLOCK.unpack(answer)[0]) if answer else 0

    def _ask(self, kind: bytes, *parts: bytes) -> bytes:
        _send(self._channel, kind, *parts)
        answer, body = _receive(self._channel, _ANSWERS)
        self._stopped = answer == frames.STOP
        return body


def _send(channel: Channel, kind: bytes, *parts: bytes) -> None:
    try:
        channel.send(kind, *parts)
    except OSError:
        os._exit(0)  # the host is gone


def _receive(channel: Channel, most: dict[bytes, int]) -> tuple[bytes, bytes]:
    try:
        return channel.receive(most)
    except EOFError:
        os._exit(0)  # the host is gone


class Worlds:
    """The worlds of a worker, by the numbers that the host gives them, and one more, which is made ahead of demand."""

    def __init__(self, machine: Machine) -> None:
        """Make none yet.

        Args:
            machine: the machine they run on.
        """
        self._machine = machine
        self._there: dict[int, Instance] = {}
        self._next: Instance | None = None
        self._memory = 0  # bytes that the last one may have, and so the next one

    def get(self, number: int, memory: int) -> Instance:
        """The world of this number; it is made where there is none.

        Args:
            number: its number.
            memory: bytes that it may have, if it is made.

        Raises:
            Trap: it cannot be made.
        """
        world = self._there.get(number)
        if world is None:
            made, self._next = self._next, None
            if made is not None and memory != self._memory:
                made.close()
                made = None
            self._memory = memory
            world = self._there[number] = made or Instance(self._machine, memory=memory)
        return world

    def drop(self, number: int) -> None:
        """Destroy a world; harmless where there is none of this number."""
        world = self._there.pop(number, None)
        if world is not None:
            world.close()

    def prepare(self) -> None:
        """Make the next one already, in the expectation that it will be like the last one."""
        if self._next is None and self._memory:
            with contextlib.suppress(Trap):  # whoever needs it is told
                self._next = Instance(self._machine, memory=self._memory)


def _serve(machine: Machine, channel: Channel) -> None:
    """Do what the host says until it is gone."""
    worlds = Worlds(machine)
    while True:
        kind, body = _receive(channel, _ASKS)
        if kind == frames.RUN:
            _run(worlds, channel, body)
        elif kind == frames.CLOSE:
            worlds.drop(*frames.WORLD.unpack(body))
        if not channel.ready():  # the host works now
            worlds.prepare()


def _run(worlds: Worlds, channel: Channel, body: bytes) -> None:
    number, memory, fuel, asked, told, last = frames.PROGRAM.unpack_from(body)
    world: Instance | None = None
    try:
        world = worlds.get(number, memory)
        answer = world.run(body[frames.PROGRAM.size :].decode(), _Doors(channel, asked, told), fuel)
    except Trap as trap:
        spent = 0 if world is None else world.fuel
        detail = trap.detail.encode()[: frames.DETAIL]
        _send(channel, frames.TRAP, frames.CAUSE.pack(spent, frames.REASONS.index(trap.reason)), detail)
        worlds.drop(number)
        return
    spent = world.fuel  # to ask for the memory takes some, which is not the program's
    bytes_now = world.memory
    _send(channel, frames.DONE, frames.END.pack(spent, -1 if bytes_now is None else bytes_now), answer.encode())
    if last:
        worlds.drop(number)


def _machine(guest: Path, digest: str) -> Machine:
    machine = Machine(guest)
    if machine.digest != digest:
        msg = f"the wasm guest {guest} is no longer the one that the host has loaded; start the host again"
        raise GuestUnavailable(msg)
    with contextlib.suppress(Trap):
        Instance(machine, memory=_LEAST).close()  # the first one maps what all others share
    return machine


def _control(option: int, value: int) -> None:
    """Have Linux change something about this process.

    Raises:
        OSError: it does not.
    """
    if ctypes.CDLL(None, use_errno=True).prctl(option, *map(ctypes.c_ulong, (value, 0, 0, 0))):
        number = ctypes.get_errno()
        raise OSError(number, f"a worker process cannot be confined: prctl({option}): {os.strerror(number)}")


def _end_with(host: int) -> None:
    """End when the host does, even where nothing of this process runs then."""
    if sys.platform == "linux":
        _control(_SIGNAL_OF_DEATH, signal.SIGKILL)
    if os.getppid() != host:  # it ended before it could be asked for the signal
        os._exit(0)


def _confine() -> None:
    """Give up what a worker does not need."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError):  # where memory is short, a worker can be replaced and the host cannot
            Path("/proc/self/oom_score_adj").write_text("500", encoding="ascii")
        _control(_NO_NEW_PRIVILEGES, 1)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


def main(guest: str, digest: str, host: str) -> None:
    """Run guests until the host is gone.

    Args:
        guest: the file of the guest.
        digest: the SHA-256 that the host expects of it, hexadecimal.
        host: the host's process number.
    """
    os.chdir("/")
    channel = Channel(socket.socket(fileno=0))
    try:
        _end_with(int(host))
        machine = _machine(Path(guest), digest)
        _confine()
    except Exception as error:  # noqa: BLE001 - the host says why, or nobody does
        _send(channel, frames.FAILED, str(error).encode()[: frames.WORDS])
        return
    gc.freeze()  # what is there now stays
    _send(channel, frames.READY)
    threading.stack_size(2 * STACK)
    thread = threading.Thread(target=_serve, args=(machine, channel))
    thread.start()
    thread.join()
