"""Worlds in worker processes, seen from the host.

A worker reaches nothing: each door of its guests leads back here, where the same host as ever stands behind it.
Whatever a worker says may be forged, because its guest may have taken it over.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable

from wasm_runtime import frames
from wasm_runtime.doors import Host
from wasm_runtime.frames import Malformed, cut
from wasm_runtime.instance import Reason, Trap
from wasm_runtime.processes import Worker
from wasm_runtime.ticker import Ticker

log = logging.getLogger("codeact")

LATE = 0.2
"""Seconds after the end of a run that a door may hold its worker; then the worker is taken from it."""

STUCK = 2.0
"""Seconds after the end of a run that a worker may take to stop its guest; then it is killed."""

MOMENT = 0.05
"""Seconds that others who are looked after wait for one."""

STOPPED: Reason = "stopped"
LOST: Reason = "lost"


class Remote:
    """One world in a worker; see `wasm_runtime.instance.Instance`, whose twin it is.

    Attributes:
        last: whether the next run is the last one, after which there is nothing to close.
        left: whether the last run was left behind a door, and its worker may not have come to its end.
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
        self.left = False
        self.fuel = 0
        self.memory: int | None = None

    def run(self, request: str, host: Host, fuel: int) -> str:
        """Hand a request to the guest and wait for its answer; see `Instance.run`.

        Raises:
            Trap: it gave none. Where the reason is `lost`, the worker has gone, and all its worlds.
        """
        self.fuel = 0
        read = (min(most, frames.LARGEST) for most in (host.asked, host.told))
        program = frames.PROGRAM.pack(self._number, self._most, fuel, *read, self.last)
        talk = _Talk(self._worker, host, self._free)
        try:
            kind, body = talk.run(program, request.encode())
            return self._answer(body, fuel) if kind == frames.DONE else self._trap(body, fuel)
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
                self._worker.worlds.discard(self._number)
            self.left = talk.end()

    def _answer(self, body: bytes, fuel: int) -> str:
        (spent, memory), answer = cut(body, frames.END)
        self.fuel = _within(spent, fuel)
        self.memory = _within(memory, self._most) if memory >= 0 else None
        return answer.decode()

    def _trap(self, body: bytes, fuel: int) -> str:
        (spent, reason), words = cut(body, frames.CAUSE)
        self.fuel = _within(spent, fuel)
        detail = words.decode(errors="ignore")
        raise Trap(frames.REASONS[_within(reason, len(frames.REASONS) - 1)], "".join(filter(str.isprintable, detail)))

    def close(self) -> None:
        """Destroy the world, when the worker next has nothing to do; to be called once."""
        if not self.last:
            self._worker.worlds.discard(self._number)
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
        self._ended = False  # whether the worker is another one's by now
        ticker.__enter__()
        _talks.add(self)
        self._most = {
            frames.CALL: frames.AT.size + 2 * host.asked,
            frames.WAIT: frames.PAUSE.size + host.asked,
            frames.WRITE: frames.LINE.size + host.told,
            frames.NOW: 0,
            frames.MONOTONIC: 0,
            frames.DONE: frames.END.size + host.told,
            frames.TRAP: frames.CAUSE.size + frames.DETAIL,
        }

    @property
    def stopped(self) -> bool:
        return self._since is not None

    def run(self, *request: bytes) -> tuple[bytes, bytes]:
        """From the request to the frame that ends the run."""
        self._say(frames.RUN, *request)
        while True:
            kind, body = self._worker.channel.receive(self._most)
            if kind in {frames.DONE, frames.TRAP}:
                return kind, body
            self._serve(kind, body)

    def fail(self) -> None:
        """Be of no more use, and the worker neither, unless it was taken from this run already."""
        if not self._left:
            self._worker.kill()

    def end(self) -> bool:
        """The thread of the run has come to its end. Gives whether it was left behind a door."""
        if not self._left:
            self._over()
        return self._left

    def _serve(self, kind: bytes, body: bytes) -> None:
        """Do what the guest asks for, and answer it."""
        if self._host.stopped():
            self._say(frames.STOP)
            return
        self._inside = True
        try:
            answer = _DOORS[kind](self._host, body)
        finally:
            with self._lock:  # from now on it cannot be left any more
                self._inside = False
        if self._left:
            raise Trap(STOPPED)
        if self._host.stopped():
            self._say(frames.STOP)
        else:
            self._say(frames.ANSWER, answer)

    def _say(self, kind: bytes, *parts: bytes) -> None:
        with self._lock:
            if self._told:  # the worker has what it needs, and would take more for the next answer
                return
            self._told = kind == frames.STOP
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
            # Whoever is sending to a worker that does not read has the lock for as long as that lives.
            held = self._lock.acquire(timeout=MOMENT)
            try:
                if not self._ended:
                    self._worker.kill()
            finally:
                if held:
                    self._lock.release()
        elif self._lock.acquire(blocking=False):  # otherwise something is just being sent
            try:
                self._press()
                left = self._inside and self._told and not self._left and late > LATE
                self._left = self._left or left
            finally:
                self._lock.release()
            if left:
                self._leave()

    def _press(self) -> None:
        if self._told or self._ended or not self._begun:  # the worker would take it for what it does not run
            return
        self._told = True
        try:
            self._worker.channel.send_now(frames.STOP)
        except OSError:  # dead, or it does not read
            self._worker.kill()

    def _leave(self) -> None:
        """Let another thread take the end of a run whose own one is left behind a door."""
        try:
            threading.Thread(target=self._finish, name="codeact-finish", daemon=True).start()
        except RuntimeError:  # the process can have no more threads, and this one has others to look after
            self._worker.kill()
            self._over()

    def _finish(self) -> None:
        try:
            self._worker.channel.receive({frames.DONE: self._most[frames.DONE], frames.TRAP: self._most[frames.TRAP]})
        except (EOFError, Malformed):
            self._worker.kill()
        finally:
            self._over()

    def _over(self) -> None:
        with self._lock:
            self._ended = True
        _talks.discard(self)
        ticker.__exit__()
        self._free()


def _call(host: Host, body: bytes) -> bytes:
    (line, size), rest = cut(body, frames.AT)
    name, arguments = rest[:size], rest[size:]
    if len(name) != size or max(size, len(arguments)) > host.asked:
        msg = "a call whose parts are not as long as they may be"
        raise Malformed(msg)
    return host.call(name.decode(), arguments.decode(), line).encode()


def _wait(host: Host, body: bytes) -> bytes:
    (line, nanoseconds), sent = cut(body, frames.PAUSE)
    return host.wait(sent.decode(), nanoseconds, line).encode()


def _write(host: Host, body: bytes) -> bytes:
    (line,), text = cut(body, frames.LINE)
    host.write(text.decode(), line)
    return b""


_DOORS: dict[bytes, Callable[[Host, bytes], bytes]] = {
    frames.CALL: _call,
    frames.WAIT: _wait,
    frames.WRITE: _write,
    frames.NOW: lambda host, _body: frames.CLOCK.pack(host.now()),
    frames.MONOTONIC: lambda host, _body: frames.CLOCK.pack(host.monotonic()),
}


_talks: set[_Talk] = set()


def _look() -> None:
    for talk in _talks.copy():
        try:
            talk.look()
        except Exception:
            log.exception("a run in a worker could not be looked after")  # the others must be


ticker = Ticker(_look)
"""The clock by which the process looks after the runs in its workers."""

os.register_at_fork(after_in_child=_talks.clear)
