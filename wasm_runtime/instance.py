"""One guest: a fresh CPython whose only ways out are its doors."""

from __future__ import annotations

import contextlib
import ctypes
import re
from collections.abc import Iterator
from typing import Literal, NoReturn, cast

from wasmtime import Store, WasmtimeError
from wasmtime import _ffi as ffi

from wasm_runtime import REHEARSAL
from wasm_runtime.doors import STOPPED, Host, at_tick, nothing, put, read, room
from wasm_runtime.machine import Machine

Reason = Literal["stopped", "fuel", "stack", "memory", "unmade", "absent", "crash", "lost"]
"""Why a guest ended without an answer: the host stopped it; its fuel or stack was used up; it could not get the
memory it needs, or not even what its interpreter begins with; it asked libc for what does not exist in the room;
CPython itself gave up; or the worker that ran it has gone."""


_CRASH: Reason = "crash"

_TO_START = 1_000_000
"""Units of fuel for making a world; it takes almost none."""

_PAGE = 65536
"""Bytes of a page of linear memory."""


class Trap(Exception):
    """A guest ended without an answer, and its instance is dead.

    Attributes:
        reason: see `Reason`.
        detail: the guest function it ended in, where that says more; otherwise empty.
    """

    def __init__(self, reason: Reason, detail: str = "") -> None:
        super().__init__(f"{reason}: {detail}" if detail else reason)
        self.reason = reason
        self.detail = detail


class _Nobody:
    """The host of a guest that has not been given a program yet."""

    asked = told = 1000

    def stopped(self) -> bool:
        return False

    def __getattr__(self, name: str) -> NoReturn:
        msg = f"a guest that rehearses is at the door {name}"
        raise RuntimeError(msg)


_NOBODY = cast("Host", _Nobody())
_TO_REHEARSE = 1_000_000_000
"""Units of fuel for a rehearsal; it takes half a million."""


class Instance:
    """One world. It is used by one thread at a time, and dead after a trap."""

    def __init__(self, machine: Machine, *, memory: int) -> None:
        """Make a world.

        Args:
            machine: the machine it runs on.
            memory: bytes of linear memory it may have, its own interpreter included.

        Raises:
            Trap: `memory` is less than the interpreter itself needs.
        """
        self._machine = machine
        self._fuel = _TO_START
        self._store = Store(machine.engine)
        try:
            self._store.set_limits(memory_size=memory, memories=8, tables=16, instances=64, table_elements=200_000)
            self._store.set_fuel(_TO_START)
            self._store.set_epoch_deadline(1)
            ffi.wasmtime_store_epoch_deadline_callback(self._store.ptr(), at_tick, None, nothing)
            with self._entered(None):
                instance = machine.linker.instantiate(self._store, machine.component)
            entry = instance.get_func(self._store, machine.entry)
            size = instance.get_func(self._store, machine.memory)
        except WasmtimeError as error:
            self._store.close()
            trap = _trap(error)
            raise (Trap("unmade") if trap.reason == "memory" else trap) from None
        if entry is None or size is None:
            self._store.close()
            raise Trap(_CRASH, "the guest has no entry")
        self._size = size._func  # noqa: SLF001 - as below
        self._function = entry._func  # noqa: SLF001 - the public call reads every type again, 60 us a call

    def run(self, request: str, host: Host, fuel: int) -> str:
        """Hand a request to the guest and wait for its answer.

        Args:
            request: what the guest is asked.
            host: who stands behind its doors meanwhile.
            fuel: units it may spend.

        Raises:
            Trap: it gave none.
        """
        parameter = (ffi.wasmtime_component_val_t * 1)()
        result = ffi.wasmtime_component_val_t()
        self._fuel = fuel
        self._store.set_fuel(fuel)
        try:
            put(ctypes.addressof(parameter), request)
            with self._entered(host):
                error = ffi.wasmtime_component_func_call(
                    ctypes.byref(self._function),
                    self._store._context(),  # noqa: SLF001 - see __init__
                    parameter,
                    1,
                    ctypes.byref(result),
                    1,
                )
            if error:
                raise _trap(WasmtimeError._from_ptr(error))  # noqa: SLF001 - the binding's only way to take an error
            answer = read(ctypes.addressof(result), host.told)
            ffi.wasmtime_component_val_delete(ctypes.byref(result))
            return answer
        finally:
            ffi.wasmtime_component_val_delete(ctypes.byref(parameter[0]))

    def rehearse(self) -> None:
        """Let the guest run a program of its own and forget it: what it will write to is then its own already.

        Raises:
            Trap: it could not.
        """
        self.run(REHEARSAL, _NOBODY, _TO_REHEARSE)

    @contextlib.contextmanager
    def _entered(self, host: Host | None) -> Iterator[None]:
        outer, room.host = room.host, host
        try:
            with self._machine.ticker:
                yield
        finally:
            room.host = outer

    @property
    def fuel(self) -> int:
        """Units spent since the last run began."""
        return self._fuel - self._store.get_fuel()

    @property
    def memory(self) -> int | None:
        """Bytes of linear memory, which only grows; None once the instance is dead."""
        result = ffi.wasmtime_component_val_t()
        with self._entered(None):
            error = ffi.wasmtime_component_func_call(
                ctypes.byref(self._size),
                self._store._context(),  # noqa: SLF001 - see __init__
                None,
                0,
                ctypes.byref(result),
                1,
            )
        if error:
            ffi.wasmtime_error_delete(error)
            return None
        return int(result.of.u32) * _PAGE

    def close(self) -> None:
        """Destroy the world. Harmless when called twice."""
        self._store.close()


_FUNCTION = re.compile(r"!([\w:$.]+)$")
_ABSENT = re.compile(
    r"^__wasi_|^wasi_|^__imported_wasi|^(filesystem|clocks?|monotonic_clock|wall_clock|random|poll|io|streams|tcp|udp|sockets?|environment|exit|terminal|stdin|stdout|cli)_"
)


def _trap(error: WasmtimeError) -> Trap:
    text = str(error)
    if STOPPED.decode() in text:
        return Trap("stopped")
    if "all fuel consumed" in text:
        return Trap("fuel")
    if "call stack exhausted" in text or "out of bounds memory access" in text:  # the guest's own stack has no guard
        return Trap("stack")
    if "memory minimum size" in text or "exceeds memory limits" in text or "handle_alloc_error" in text:
        return Trap("memory")
    functions = [found.group(1) for line in text.splitlines() if (found := _FUNCTION.search(line))]
    if any(function.startswith("stderr_") for function in functions):  # its last words; there is nobody to hear them
        return Trap("crash", "abort")
    for function in functions:
        if _ABSENT.match(function):
            return Trap("absent", function)
    return Trap("crash", functions[0] if functions else text.splitlines()[-1].strip())
