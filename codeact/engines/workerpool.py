"""The worker processes of one engine: who runs on which, and who waits."""

from __future__ import annotations

import logging
import os
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue

from codeact.engines import Doors, Fault
from wasm_runtime.processes import Worker, WorkerUnavailable

log = logging.getLogger("codeact")

WAITING = 64
"""Runs that may wait for each worker; what comes then is refused at once."""

MOMENT = 0.1
"""Seconds between two looks whether somebody who waits still wants to."""

_PAUSES = (0.1, 0.5, 2.0, 10.0)
"""Seconds before another try where no worker can be started."""

_LEAVING = 2.0
"""Seconds that workers get to be gone when they are closed."""

_LATER = "nothing was run; run it again later"


class Lease:
    """A worker that somebody has to himself."""

    def __init__(self, pool: WorkerPool, worker: Worker) -> None:
        self.pool = pool
        self.worker = worker
        self._release: Callable[[Worker], None] | None = pool.take_back
        self._lock = threading.Lock()

    @property
    def over(self) -> bool:
        """Whether it was given back."""
        return self._release is None

    def end(self) -> None:
        """Give it back. Harmless when called twice, and from any thread."""
        with self._lock:
            release, self._release = self._release, None
        if release is not None:
            release(self.worker)


@dataclass(slots=True, eq=False)
class _Waiter:
    """Somebody who waits.

    Attributes:
        wanted: the worker that it must be; None for any.
        answer: where what it has come to arrives.
    """

    wanted: Worker | None
    answer: SimpleQueue[Lease | Fault] = field(default_factory=SimpleQueue)


class WorkerPool:
    """So many worker processes. They start with the first lease, and one that ends is replaced.

    Attributes:
        size: how many.
    """

    def __init__(self, size: int, start: Callable[[], Worker]) -> None:
        """Make one; nothing is started yet.

        Args:
            size: workers.
            start: starts one; see `wasm_runtime.processes.Worker`.
        """
        self.size = size
        self._start = start
        self._reset()
        _pools.add(self)

    def _reset(self) -> None:
        self._lock = threading.RLock()  # a host's own finalizer may close a session, on a thread that is just in here
        self._closed = False
        self._supervisors: list[threading.Thread] = []
        self._idle: list[Worker] = []
        self._starting: set[Worker] = set()
        self._there: set[Worker] = set()
        self._leased: set[Worker] = set()
        self._waiters: deque[_Waiter] = deque()
        self._trouble = False

    @property
    def pids(self) -> tuple[int, ...]:
        """The processes that are set up now."""
        with self._lock:
            return tuple(sorted(worker.process.pid for worker in self._there))

    def lease(self, wanted: Worker | None, patience: float, doors: Doors) -> Lease | Fault:
        """Have a worker to oneself, or be told why not.

        Args:
            wanted: the one that it must be, because it holds the world; None for that with the fewest worlds.
            patience: seconds to wait for it, once any is set up. Until one is, that is waited for, which ends within
                `wasm_runtime.processes.STARTING`.
            doors: those of the run that wants it: they tell that it waits, and say when it is not to any more.
        """
        self._staff()
        with self._lock:
            found = self._found(wanted)
            if found is not None:
                return found
            if len(self._waiters) >= WAITING * self.size:
                text = f"all workers are busy and {len(self._waiters):,} runs wait already (workers={self.size})"
                return Fault("host", "WorkersBusy", text, hint=_LATER)
            waiter = _Waiter(wanted)
            self._waiters.append(waiter)
        with doors.waiting():
            answer = self._awaited(waiter, patience, doors)
            fault = doors.interrupted()
        if fault is None or isinstance(answer, Fault):
            return answer
        answer.end()
        return fault

    def _awaited(self, waiter: _Waiter, patience: float, doors: Doors) -> Lease | Fault:
        until = time.monotonic() + patience
        while True:
            try:
                return waiter.answer.get(timeout=max(0.0, min(MOMENT, until - time.monotonic())))
            except Empty:
                now = time.monotonic()
            if not self._there:  # the first one is just being started
                until = now + patience
            fault = doors.interrupted()
            if fault is None and now >= until:
                text = f"no worker was free for {patience:g} s (workers={self.size})"
                fault = Fault("host", "WorkersBusy", text, hint=_LATER)
            if fault is not None and self._withdrawn(waiter):
                return fault

    def _withdrawn(self, waiter: _Waiter) -> bool:
        """Whether somebody waits no more; otherwise there is an answer."""
        with self._lock:
            waits = waiter in self._waiters
            if waits:
                self._waiters.remove(waiter)
            return waits

    def _staff(self) -> None:
        """See that there is somebody to supervise each worker."""
        while len(self._supervisors) < self.size and not self._closed:
            supervisor = threading.Thread(target=self._supervise, name="codeact-supervisor", daemon=True)
            with self._lock:
                if len(self._supervisors) >= self.size or self._closed:
                    return
                self._supervisors.append(supervisor)
                self._trouble = False
            try:
                supervisor.start()  # holding no lock: it waits for the thread
            except RuntimeError:
                log.exception("there can be no thread to supervise a worker process")
                with self._lock:
                    self._supervisors.remove(supervisor)
                    self._trouble = True
                return

    def _found(self, wanted: Worker | None) -> Lease | Fault | None:
        """What can be said without waiting."""
        if self._closed:
            return _closed()
        if wanted is not None and wanted.dead:
            return _gone()
        for worker in sorted(self._idle, key=lambda worker: len(worker.worlds)):
            if wanted not in {None, worker}:
                continue
            self._idle.remove(worker)
            if worker.sound:
                return self._leased_to(worker)
            worker.kill()  # it ended, or said something that nobody had asked for
        if wanted is not None and wanted.dead:
            return _gone()
        return _unavailable() if self._trouble and not self._there else None

    def _leased_to(self, worker: Worker) -> Lease:
        self._leased.add(worker)
        return Lease(self, worker)

    def take_back(self, worker: Worker) -> None:
        """Have a worker again that was leased."""
        with self._lock:
            self._leased.discard(worker)
            if not worker.dead:
                worker.tidy()
            self._give(worker)

    def tidy(self, worker: Worker) -> None:
        """See that worlds that are doomed are destroyed, as soon as their worker has nothing to do."""
        with self._lock:
            if worker in self._idle:  # otherwise whoever gives it back does that
                worker.tidy()

    def _give(self, worker: Worker) -> None:
        """Give a worker that is free to whoever has waited longest for it."""
        if worker.dead:
            if worker not in self._there:  # otherwise its supervisor hangs up
                worker.channel.close()
            return
        for waiter in self._waiters:
            if waiter.wanted in {None, worker}:
                if not worker.sound:
                    worker.kill()
                    return
                self._waiters.remove(waiter)
                waiter.answer.put(self._leased_to(worker))
                return
        self._idle.insert(0, worker)  # whoever has just worked is warm

    def _refuse(self, fault: Fault, wanted: Worker | None = None) -> None:
        """Tell those that wait, for any worker or for this one, that it is in vain."""
        for waiter in [waiter for waiter in self._waiters if wanted is None or waiter.wanted is wanted]:
            self._waiters.remove(waiter)
            waiter.answer.put(fault)

    def _supervise(self) -> None:
        """See that there is one worker more."""
        failures = 0
        while not self._closed:
            try:
                worker = self._started()
            except WorkerUnavailable:
                self._rest(_PAUSES[min(failures, len(_PAUSES) - 1)])
                failures += 1
                continue
            failures = 0
            worker.wait()
            self._left(worker)

    def _rest(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while not self._closed and time.monotonic() < until:
            time.sleep(MOMENT)

    def _started(self) -> Worker:
        """One more worker, which is there."""
        try:
            worker = self._start()
            self._starting.add(worker)
            try:
                if self._closed:
                    worker.kill()
                worker.greet()
            except BaseException:
                worker.kill()
                worker.wait()
                worker.channel.close()
                raise
            finally:
                self._starting.discard(worker)
        except Exception as error:
            if not self._closed:
                log.exception("a worker process cannot be started")
            with self._lock:
                self._trouble = True
                if not self._there:
                    self._refuse(_unavailable())
            raise WorkerUnavailable from error
        with self._lock:
            self._trouble = False
            self._there.add(worker)
            if self._closed:
                worker.kill()
            self._give(worker)
        return worker

    def _left(self, worker: Worker) -> None:
        """A worker has ended."""
        if not self._closed:
            log.warning("the worker process %d %s; another one takes its place", worker.process.pid, worker.ending())
        with self._lock:
            self._there.discard(worker)
            self._refuse(_gone(), worker)
            if worker in self._idle:
                self._idle.remove(worker)
            if worker not in self._leased:  # otherwise whoever has it hangs up
                worker.channel.close()

    def close(self) -> None:
        """End the workers, and wait until they have ended. Harmless when called twice."""
        with self._lock:
            self.drop()
            self._refuse(_closed())
            supervisors = list(self._supervisors)
        until = time.monotonic() + _LEAVING
        for supervisor in supervisors:
            # It may be this thread: the collector closes pools anywhere.
            if supervisor.is_alive() and supervisor is not threading.current_thread():
                supervisor.join(max(0.0, until - time.monotonic()))

    def drop(self) -> None:
        """End the workers. The collector may call it, anywhere and at any time: it takes no lock, and waits for nothing."""
        self._closed = True
        for worker in (*self._there, *self._starting):
            worker.kill()

    def abandon(self) -> None:
        """Have no workers in this process, which is a forked child, until it needs its own."""
        closed = self._closed
        self._reset()
        self._closed = closed


def _closed() -> Fault:
    hint = "nothing was run, and nothing more will be: stop here"
    return Fault("host", "WorkersClosed", "the sandbox and its workers are closed", hint=hint)


def _gone() -> Fault:
    text = "the worker process that held this world has ended; the world is lost"
    hint = "nothing was run; run it again, with what it needs of earlier programs: it finds an empty world"
    return Fault("host", "WorkerDied", text, hint=hint)


def _unavailable() -> Fault:
    return Fault("host", "WorkerUnavailable", "no worker process can be started; the host's log says why", hint=_LATER)


_pools: weakref.WeakSet[WorkerPool] = weakref.WeakSet()


def _abandon() -> None:
    for pool in list(_pools):
        pool.abandon()


os.register_at_fork(after_in_child=_abandon)
