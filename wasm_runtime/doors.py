"""The doors as the binding calls them: one C callback a door, for all instances.

A callback finds the room it belongs to by its thread, because a guest runs on the thread that entered it. It
reads and writes the component's values directly and never raises: the binding keeps an exception in one
process-wide place, so that with threads the wrong run would raise, and a BaseException would kill the process.
What goes wrong here ends the guest with an error instead.
"""

from __future__ import annotations

import ctypes
import logging
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Protocol

from wasmtime import _ffi as ffi

log = logging.getLogger("codeact")

STOPPED = b"codeact: stopped by the host"
"""The text of the error that ends a guest."""


class Host(Protocol):
    """Who stands behind the doors of one room.

    Attributes:
        asked: bytes of one text that are read from what the guest asks for; what is longer arrives cut.
        told: the same for what it prints and what it answers.
    """

    asked: int
    told: int

    def call(self, name: str, arguments: str, line: int) -> str:
        """Answer a call from inside; see `world.wit`."""
        ...

    def wait(self, sent: str, nanoseconds: int, line: int) -> str:
        """Begin calls and wait for answers; see `world.wit`."""
        ...

    def write(self, text: str, line: int) -> None:
        """Take printed text."""
        ...

    def now(self) -> int:
        """The wall clock, nanoseconds since the epoch."""
        ...

    def monotonic(self) -> int:
        """A clock that never goes back, nanoseconds."""
        ...

    def stopped(self) -> bool:
        """Whether the guest must end: asked after every call and at every tick of the epoch."""
        ...


class _Room(threading.local):
    host: Host | None = None


room = _Room()
"""The room of this thread, set while its guest runs."""


def end() -> int:
    """The address of a new error, which ends the guest when it is given back to the binding."""
    error = ffi.wasmtime_error_new(ctypes.create_string_buffer(STOPPED))
    return ctypes.cast(error, ctypes.c_void_p).value or 0


def read(value: Any, longest: int) -> str:
    """The text in a component value of kind string, cut after so many bytes before anything is made of it."""
    text = value.of.string
    if text.size <= longest:
        return ctypes.string_at(text.data, text.size).decode() if text.size else ""
    return ctypes.string_at(text.data, longest).decode(errors="ignore")


def put(value: Any, text: str) -> None:
    """Make a component value a string; the binding owns its memory from then on."""
    raw = text.encode()
    value.kind = ffi.WASMTIME_COMPONENT_STRING
    ffi.wasm_byte_vec_new_uninitialized(ctypes.byref(value.of.string), len(raw))
    ctypes.memmove(value.of.string.data, raw, len(raw))


def _callback(answer: Callable[[Host, Any, Any], None]) -> Any:
    def door(_data: Any, _context: Any, _type: Any, arguments: Any, _n: int, results: Any, _m: int) -> int:
        try:
            host = room.host
            if host is None or host.stopped():
                return end()
            answer(host, arguments, results)
            return end() if host.stopped() else 0
        except BaseException:
            with suppress(BaseException):
                log.exception("a door of the wasm guest failed")
            return end()

    return ffi.wasmtime_component_func_callback_t(door)


def _call(host: Host, arguments: Any, results: Any) -> None:
    name, text = read(arguments[0], host.asked), read(arguments[1], host.asked)
    put(results[0], host.call(name, text, arguments[2].of.u32))


def _wait(host: Host, arguments: Any, results: Any) -> None:
    sent = read(arguments[0], host.asked)
    put(results[0], host.wait(sent, arguments[1].of.s64, arguments[2].of.u32))


def _write(host: Host, arguments: Any, _results: Any) -> None:
    host.write(read(arguments[0], host.told), arguments[1].of.u32)


def _now(host: Host, _arguments: Any, results: Any) -> None:
    results[0].kind = ffi.WASMTIME_COMPONENT_U64
    results[0].of.u64 = host.now()


def _monotonic(host: Host, _arguments: Any, results: Any) -> None:
    results[0].kind = ffi.WASMTIME_COMPONENT_U64
    results[0].of.u64 = host.monotonic()


DOORS = {
    "call": _callback(_call),
    "wait": _callback(_wait),
    "write": _callback(_write),
    "now": _callback(_now),
    "monotonic": _callback(_monotonic),
}
"""The import of each name in `world.wit`, as a C callback; kept here because C holds only their addresses."""


nothing = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda _data: None)
"""The finalizer of what owns nothing."""


_EpochCallback = ctypes.CFUNCTYPE(
    ctypes.c_size_t,
    ctypes.POINTER(ffi.wasmtime_context_t),
    ctypes.c_void_p,
    ctypes.POINTER(ctypes.c_uint64),
    ctypes.POINTER(ffi.wasmtime_update_deadline_kind_t),
)


def _at_tick(_context: Any, _data: Any, delta: Any, kind: Any) -> int:
    try:
        host = room.host
        if host is not None and host.stopped():  # while a world is made there is nobody to ask yet
            return end()
        delta[0] = 1
        kind[0] = 0  # go on until the next tick
    except BaseException:  # noqa: BLE001 - as in every callback
        return end()
    return 0


at_tick = _EpochCallback(_at_tick)
"""What happens to a guest when the epoch ticks."""
