"""What a guest writes to while it rehearses, found out by letting it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from wasmtime import Engine, Func, FuncType, Instance, Memory, Module, Store

from .linking import ENTRY, MEMORY, REALLOC

PAGE = 4096
"""Bytes that a processor maps together; on some it is more, and then some of what is found is said twice."""


def written(binary: bytes, request: str) -> list[int]:
    """The pages of its memory that are others after a guest has answered.

    Args:
        binary: the module that all core modules of the guest were linked to.
        request: what it is asked. It must not come to a door.

    Returns:
        The address of each.
    """
    engine = Engine()
    module, store = Module(engine, binary), Store(engine)
    doors = [Func(store, _function(one.type), _nobody) for one in module.imports]
    exports = Instance(store, module, doors).exports(store)
    memory: Any = exports[MEMORY]
    raw = request.encode()
    before = _content(memory, store)
    place = _called(exports[REALLOC], store, 0, 0, 1, len(raw))
    memory.write(store, raw, place)
    _called(exports[ENTRY], store, place, len(raw))
    after = _content(memory, store)
    # What the memory has grown by is not there yet when an instance begins.
    pages = range(0, len(before), PAGE)
    return [start for start in pages if before[start : start + PAGE] != after[start : start + PAGE]]


def _content(memory: Memory, store: Store) -> bytes:
    return bytes(memory.read(store, 0, memory.data_len(store)))


def _called(function: Any, store: Store, *arguments: int) -> int:
    call: Callable[..., int] = function
    return call(store, *arguments)


def _function(kind: object) -> FuncType:
    if not isinstance(kind, FuncType):
        msg = f"the module that was linked imports {kind!r}, which is no function"
        raise ValueError(msg)  # noqa: TRY004 - of what was linked, not of an argument
    return kind


def _nobody() -> int:
    """A clock that stands still."""
    return 0
