"""The doors as the binding calls them: one C callback a door, for all instances.

A callback finds the room it belongs to by its thread, because a guest runs on the thread that entered it. It
reads and writes the component's values directly and never raises: the binding keeps an exception in one
process-wide place, so that with threads the wrong run would raise, and a BaseException would kill the process.
What goes wrong here ends the guest with an error instead.
"""

from __future__ import annotations

import ctypes
import logging
import struct
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from ctypes import memmove, memset, string_at
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


_VALUE = ffi.wasmtime_component_val_t
_WIDTH, _CONTENT = ctypes.sizeof(_VALUE), _VALUE.of.offset


def _layout(*contents: str) -> struct.Struct:
    """How values of these contents lie one after the other, in the letters of `struct`."""
    parts = (f"{_CONTENT}x{content}{_WIDTH - _CONTENT - struct.calcsize(f'@{content}')}x" for content in contents)
    return struct.Struct(f"@{''.join(parts)}")


_TEXT, _LINE, _SPAN = "NP", "I", "q"
"""A text is its size and its address."""

_ONE_TEXT = _layout(_TEXT)
_OF_CALL = _layout(_TEXT, _TEXT, _LINE)
_OF_WAIT = _layout(_TEXT, _SPAN, _LINE)
_OF_WRITE = _layout(_TEXT, _LINE)

# The interpreter is not let go for this: it takes no time, and to get it back would.
_new_text = ctypes.PYFUNCTYPE(None, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p)(("wasm_byte_vec_new", ffi.dll))


def read(value: int, longest: int) -> str:
    """The text in a component value of kind string, cut after so many bytes before anything is made of it.

    Args:
        value: its address. Here as everywhere below: objects of the binding for the same would take most of the time
            of a call.
        longest: bytes of it that are read.
    """
    size, place = _ONE_TEXT.unpack(string_at(value, _WIDTH))
    return _text(size, place, longest)


def _text(size: int, place: int, longest: int) -> str:
    if size <= longest:
        return string_at(place, size).decode() if size else ""
    return string_at(place, longest).decode(errors="ignore")


def put(value: int, text: str) -> None:
    """Make a component value a string; the binding owns its memory from then on."""
    raw = text.encode()
    memset(value, _STRING, 1)
    _new_text(value + _CONTENT, len(raw), raw)


def _put_time(value: int, nanoseconds: int) -> None:
    memset(value, _U64, 1)
    memmove(value + _CONTENT, nanoseconds.to_bytes(8, sys.byteorder), 8)


_STRING, _U64 = ffi.WASMTIME_COMPONENT_STRING.value, ffi.WASMTIME_COMPONENT_U64.value

_Address = ctypes.c_void_p
_Callback = ctypes.CFUNCTYPE(
    ctypes.c_size_t, _Address, _Address, _Address, _Address, ctypes.c_size_t, _Address, ctypes.c_size_t
)
"""The binding's own type of a door, but for addresses where it has objects."""


def _callback(answer: Callable[[Host, int, int], None]) -> Any:
    def door(_data: Any, _context: Any, _type: Any, arguments: int, _n: int, results: int, _m: int) -> int:
        try:
            host = room.host
            if host is None:
                return end()
            answer(host, arguments, results)
            return end() if host.stopped() else 0
        except BaseException:
            with suppress(BaseException):
                log.exception("a door of the wasm guest failed")
            return end()

    return _Callback(door)


def _call(host: Host, arguments: int, results: int) -> None:
    size, name, length, text, line = _OF_CALL.unpack(string_at(arguments, _OF_CALL.size))
    put(results, host.call(_text(size, name, host.asked), _text(length, text, host.asked), line))


def _wait(host: Host, arguments: int, results: int) -> None:
    size, sent, nanoseconds, line = _OF_WAIT.unpack(string_at(arguments, _OF_WAIT.size))
    put(results, host.wait(_text(size, sent, host.asked), nanoseconds, line))


def _write(host: Host, arguments: int, _results: int) -> None:
    size, text, line = _OF_WRITE.unpack(string_at(arguments, _OF_WRITE.size))
    host.write(_text(size, text, host.told), line)


def _now(host: Host, _arguments: int, results: int) -> None:
    _put_time(results, host.now())


def _monotonic(host: Host, _arguments: int, results: int) -> None:
    _put_time(results, host.monotonic())


_KEPT = {
    "call": _callback(_call),
    "wait": _callback(_wait),
    "write": _callback(_write),
    "now": _callback(_now),
    "monotonic": _callback(_monotonic),
}
"""Kept here because C holds only their addresses."""

DOORS = {name: ctypes.cast(callback, ffi.wasmtime_component_func_callback_t) for name, callback in _KEPT.items()}
"""The import of each name in `world.wit`, as a C callback."""


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
