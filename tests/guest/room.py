"""A bare host for the component: real doors, no limits beyond a stack, nothing of codeact's own host side."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import threading
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import wasmtime
from wasmtime import _ffi
from wasmtime.component import Component, Linker

from wasm_runtime import build
from wasm_runtime.guest import codec

WASM_STACK = 32 * 1024 * 1024
THREAD_STACK = 64 * 1024 * 1024
SEED = bytes(range(32))
NOW = 1_767_323_045_678_901_234
"""2026-01-02 03:04:05.678901234 UTC."""


def engine() -> wasmtime.Engine:
    config = wasmtime.Config()
    _ffi.wasmtime_config_async_stack_size_set(config.ptr(), 2 * WASM_STACK)  # must exceed the other
    _ffi.wasmtime_config_max_wasm_stack_set(config.ptr(), WASM_STACK)
    return wasmtime.Engine(config)


def component(engine: wasmtime.Engine) -> Component:
    """The component, compiled once for each content."""
    build.ensure()
    key = hashlib.sha256(build.COMPONENT.read_bytes() + version("wasmtime").encode()).hexdigest()[:32]
    directory = Path(tempfile.gettempdir()) / f"codeact-guest-tests-{os.getuid()}"
    directory.mkdir(mode=0o700, exist_ok=True)
    cached = directory / f"{key}.cwasm"
    if not cached.exists():
        made = Component.from_file(engine, str(build.COMPONENT))
        fresh = directory / f"{key}.{os.getpid()}"
        fresh.write_bytes(made.serialize())
        fresh.rename(cached)
    return Component.deserialize_file(engine, str(cached))


class Reply:
    """What a run gave back."""

    def __init__(self, text: str) -> None:
        head, _, self.text = text.partition("\n")
        fields = json.loads(head)
        self.finished: bool = fields["finished"]
        self.bound: list[str] = fields["bound"]
        self.exit: int | None = fields["exit"]
        self.fault: dict[str, Any] | None = fields["fault"]

    @property
    def value(self) -> Any:
        assert self.fault is None, self.fault
        return codec.decode(self.text)


class Room:
    """One instance, with doors that record what passes."""

    def __init__(self, engine: wasmtime.Engine, component: Component, tools: dict[str, Callable[..., object]]) -> None:
        self.printed = ""
        self.calls: list[tuple[str, Any]] = []
        self.clock = 0
        self._tools = tools
        self._faces = [
            [name, f"{name}(...)", tool.__doc__ or "", name.startswith("async_")] for name, tool in tools.items()
        ]
        self._store = wasmtime.Store(engine)
        linker = Linker(engine)
        with linker.root() as root:
            root.add_func("call", self._call)
            root.add_func("write", self._write)
            root.add_func("now", lambda _: NOW)
            root.add_func("monotonic", self._monotonic)
        instance = linker.instantiate(self._store, component)
        self._run = instance.get_func(self._store, instance.get_export_index(self._store, "run"))

    def run(self, source: str, *, stack: int = 1000, seed: bytes = SEED) -> Reply:
        """Run a program on a thread with room for a deep stack. A trap is a `wasmtime.Trap` or `WasmtimeError`."""
        request = json.dumps({"source": source, "tools": self._faces, "seed": seed.hex(), "stack": stack, "depth": 100})
        outcome: list[Any] = []

        def work() -> None:
            try:
                outcome.append(self._run(self._store, request))
                self._run.post_return(self._store)
            except BaseException as error:  # noqa: BLE001  # carried to the caller's thread
                outcome.append(error)

        before = threading.stack_size(THREAD_STACK)
        try:
            thread = threading.Thread(target=work)
            thread.start()
        finally:
            threading.stack_size(before)
        thread.join()
        if isinstance(outcome[0], BaseException):
            raise outcome[0]
        return Reply(outcome[0])

    def _call(self, _store: object, name: str, arguments: str) -> str:
        args, kwargs = codec.decode(arguments)
        self.calls.append((name, (args, kwargs)))
        try:
            value = self._tools[name](*args, **kwargs)
        except Exception as error:  # noqa: BLE001  # travels as data
            if type(error) in {TypeError, ValueError, AttributeError}:
                return "-" + json.dumps([type(error).__name__, str(error)])
            return "-" + json.dumps(["ToolError", f"{type(error).__name__}: {error}"])
        return "+" + codec.encode(value, 100)

    def _write(self, _store: object, text: str) -> None:
        self.printed += text

    def _monotonic(self, _store: object) -> int:
        self.clock += 1_000_000
        return self.clock


def timed(room: Callable[[], Room], runs: int = 200) -> float:
    """Milliseconds of a fresh instance and `1+1`, the median of many."""
    took = []
    for _ in range(runs):
        start = time.perf_counter()
        room().run("1+1")
        took.append(time.perf_counter() - start)
    return sorted(took)[runs // 2] * 1000
