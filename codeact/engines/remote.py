"""The wasm engine in worker processes: the same worlds, and the same doors, with one more wall between.

Tools, limits, records and everything that is read of what a program says stay in this process; only the machine
and its guests are in the others.
"""

from __future__ import annotations

import weakref
from contextvars import ContextVar
from functools import partial

from codeact.engines import Doors, Face, Fault, Outcome, Program
from codeact.engines.wasm import WasmEngine, WasmInstance
from codeact.engines.workerpool import Lease, WorkerPool
from codeact.limits import Limits
from wasm_runtime.processes import Worker
from wasm_runtime.remote import Remote


class RemoteEngine:
    """Makes worlds in worker processes.

    Attributes:
        pool: the processes. They end with the engine.
        local: the engine of this process.
    """

    name = WasmEngine.name

    def __init__(self, local: WasmEngine, workers: int) -> None:
        """Make one; the processes are started with the first run.

        Args:
            local: the engine of this process, which has seen to it that the guest is there and compiled.
            workers: how many processes.
        """
        self.default_fuel = local.default_fuel
        self.local = local
        self.pool = WorkerPool(workers, partial(Worker, local.guest, local.machine.digest))
        weakref.finalize(self, self.pool.drop)

    def close(self) -> None:
        """End the workers. Harmless when called twice."""
        self.pool.close()

    def open(self, faces: tuple[Face, ...], limits: Limits) -> RemoteInstance:
        """Make a fresh world."""
        return RemoteInstance(self.pool, faces, limits, limits.fuel or self.default_fuel)


_held: ContextVar[tuple[Lease, ...]] = ContextVar("held", default=())
"""What the runs have leased whose tools have led here: none of it is free before this run is over."""


def _nested(workers: int) -> Fault:
    text = (
        f"a tool runs a program itself, and the runs that called it hold the workers that it needs (workers={workers})"
    )
    hint = "nothing was run; call such tools from one program, and not from those that they run"
    return Fault("host", "WorkersBusy", text, hint=hint)


class RemoteInstance:
    """One world, which comes to be with its first program and stays with the worker that ran that."""

    def __init__(self, pool: WorkerPool, faces: tuple[Face, ...], limits: Limits, fuel: int) -> None:
        self._pool = pool
        self._patience = limits.timeout
        self._unmade = partial(WasmInstance, self._make, faces, limits, fuel)
        self._lease: Lease | None = None
        self._worker: Worker | None = None
        self._instance: WasmInstance | None = None
        self._remote: Remote | None = None
        self._lost = False

    @property
    def alive(self) -> bool:
        """Whether it can run another program."""
        return not self._lost and (self._instance is None or self._instance.alive)

    def run(self, program: Program, doors: Doors) -> Outcome:
        """Run a program; see `codeact.engines.Instance`."""
        if self._waits_for_itself():
            return Outcome(fault=_nested(self._pool.size), begun=False)
        lease = self._pool.lease(self._worker, self._patience, doors)
        if isinstance(lease, Fault):
            self._lost = self._worker is not None and self._worker.dead
            return Outcome(fault=lease, begun=self._lost)  # its session has to learn that there is no world any more
        self._lease, self._worker = lease, lease.worker
        inside = _held.set((*_held.get(), lease))
        try:
            instance = self._instance = self._instance or self._unmade()
            if self._remote is not None:
                self._remote.last, self._remote.left = program.last, False
            return instance.run(program, doors)
        finally:
            left = self._remote is not None and self._remote.left  # then the worker is free when it comes to its end
            if program.last:
                self._instance = self._remote = self._worker = None
            _held.reset(inside)
            if not left:
                lease.end()

    def _waits_for_itself(self) -> bool:
        held = {lease.worker for lease in _held.get() if lease.pool is self._pool and not lease.over}
        return bool(held) and (self._worker in held or len(held) >= self._pool.size)

    def _make(self, memory: int) -> Remote:
        if self._worker is None:
            msg = "no worker was leased"
            raise RuntimeError(msg)
        self._remote = Remote(self._worker, memory=memory, free=self._free)
        return self._remote

    def _free(self) -> None:
        """The worker has done its part; what is read of its answer needs it no more."""
        if self._lease is not None:
            self._lease.end()

    def close(self) -> None:
        """Destroy the world. Harmless when called twice."""
        self._lost = True
        if self._instance is not None and self._worker is not None:
            self._instance.close()
            if not self._worker.dead:
                self._pool.tidy(self._worker)
