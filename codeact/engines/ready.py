"""The wasm engine with worlds that are made ready before they are asked for."""

from __future__ import annotations

import weakref
from functools import partial

from codeact.engines import Face
from codeact.engines.wasm import WasmEngine, WasmInstance
from codeact.limits import Limits
from codeact.threads import threads
from wasm_runtime.instance import Instance
from wasm_runtime.pool import Pool


class ReadyEngine:
    """Gives worlds that are ready, and has others made meanwhile.

    Attributes:
        pool: the guests that wait. They end with the engine.
        local: makes worlds that are not ready.
        rehearsed: a program in one of its worlds is counted a little otherwise than in another.
    """

    name = WasmEngine.name
    rehearsed = True

    def __init__(self, local: WasmEngine, ready: int, limits: Limits) -> None:
        """Make one, and begin to make guests.

        Args:
            local: the engine that makes them.
            ready: how many are kept ready.
            limits: what they are made with.
        """
        self.default_fuel = local.default_fuel
        self.pool = Pool(partial(Instance, local.machine, memory=limits.memory), ready, threads.submit)
        self._memory = limits.memory
        self.local = local
        weakref.finalize(self, self.pool.close)

    def close(self) -> None:
        """Destroy the guests that wait. Harmless when called twice."""
        self.pool.close()

    def open(self, faces: tuple[Face, ...], limits: Limits) -> WasmInstance:
        """Give a world, a fresh one as ever."""
        if limits.memory != self._memory:
            return self.local.open(faces, limits)
        return WasmInstance(self._take, faces, limits, limits.fuel or self.default_fuel)

    def _take(self, _memory: int) -> Instance:
        return self.pool.take()
