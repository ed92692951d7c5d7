"""The machine: one wasmtime engine, with the guest compiled and its doors linked, for a whole process."""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import logging
import platform
import sys
from contextlib import AbstractContextManager
from functools import partial
from importlib.metadata import version
from pathlib import Path

from wasmtime import Config, Engine, WasmtimeError
from wasmtime import _ffi as ffi
from wasmtime.component import Component, ExportIndex, Linker

from wasm_runtime import cache, progress
from wasm_runtime.doors import DOORS, nothing
from wasm_runtime.ticker import Ticker

GUEST = Path(__file__).with_name("guest.wasm")
"""The component that the package carries."""

STACK = 32 * 1024 * 1024
"""Bytes of wasm stack. CPython stops its own recursion well before; what it does not watch, such as the
deallocation of a very deep structure, meets this as a trap. A guest's thread needs more than this of its own."""

_MARGIN = 4 * 1024 * 1024

log = logging.getLogger("codeact")


class GuestUnavailable(RuntimeError):
    """The guest or wasmtime cannot be set up; the message says why and what to do."""


class Machine:
    """Everything that instances of one guest share.

    Attributes:
        digest: the SHA-256 of the component, hexadecimal.
        cached: the file its compiled form was loaded from or written to; None where there is no cache.
        ticker: the epoch ticker; entered while a guest runs.
    """

    def __init__(self, guest: Path = GUEST) -> None:
        """Compile the guest, or load its compiled form.

        Raises:
            GuestUnavailable: there is no guest, it is no component for these doors, or wasmtime fails.
        """
        try:
            with guest.open("rb") as file:
                self.digest = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            mend = (
                "reinstall codeact, or in a checkout run: python -m wasm_runtime.build"
                if guest == GUEST
                else f"make it: codeact build --with PACKAGE --output {guest}"
            )
            msg = f"the wasm guest {guest} cannot be read ({error.strerror}); {mend}"
            raise GuestUnavailable(msg) from error
        self.cached: Path | None = None
        try:
            self.engine = Engine(_config())
            self.ticker = Ticker(self.engine.increment_epoch)
            self.component = self._component(guest)
            self.imports = tuple(sorted(self.component.type.imports(self.engine)))
            _check_doors(guest, self.imports)
            self.linker = _linked(self.engine)
            self.entry = _entry(self.component, "run")
            self.memory = _entry(self.component, "memory-size")
        except WasmtimeError as error:
            msg = f"the wasm guest {guest} cannot be set up: {str(error).splitlines()[0]}"
            raise GuestUnavailable(msg) from error
        for owner in (self.entry, self.memory, self.linker, self.component, self.engine):
            # A machine lives as long as its process. One more reference keeps it so: at exit the binding's
            # modules are taken apart first, its objects' `__del__` then complains, and a guest may be inside.
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(owner))

    def _component(self, guest: Path) -> Component:
        key = _key(self.digest)
        try:
            store = cache.Cache.open(cache.directory())
        except cache.CacheUnusable as error:
            return self._uncached(guest, error)
        found = self._load(store, key)
        if found is not None:
            return found
        try:
            with store.locked(
                key, partial(progress.waiting, "waiting for another process that compiles the wasm guest …")
            ):
                return self._load(store, key) or self._compile(store, key, guest)
        except OSError as error:
            return self._uncached(guest, f"{store.root}: {error.strerror or error}")

    def _uncached(self, guest: Path, why: object) -> Component:
        log.warning("no cache for the compiled wasm guest: %s; every process compiles it anew", why)
        with _compiling("without a cache"):
            return Component.from_file(self.engine, guest)

    def _load(self, store: cache.Cache, key: str) -> Component | None:
        entry = store.find(key)
        if entry is None:
            return None
        try:
            component = Component.deserialize_file(self.engine, str(entry))
        except WasmtimeError:  # made by another build of wasmtime under the same version
            with contextlib.suppress(OSError):
                entry.unlink(missing_ok=True)
            return None
        self.cached = entry
        return component

    def _compile(self, store: cache.Cache, key: str, guest: Path) -> Component:
        with _compiling("once on this machine"):
            component = Component.from_file(self.engine, guest)
            compiled = component.serialize()
        try:
            self.cached = store.store(key, compiled)
        except OSError as error:
            log.warning("the compiled wasm guest cannot be cached: %s", error)
        return component


def _config() -> Config:
    config = Config()
    config.consume_fuel = True
    config.epoch_interruption = True
    config.strategy = "cranelift"
    # wasmtime checks the one against the other, also where nothing is asynchronous.
    ffi.wasmtime_config_async_stack_size_set(config.ptr(), STACK + _MARGIN)
    ffi.wasmtime_config_max_wasm_stack_set(config.ptr(), STACK)
    return config


def _key(digest: str) -> str:
    """What the compiled form depends on: component, compiler, its settings, and this machine's processor."""
    parts = [
        digest,
        version("wasmtime"),
        f"fuel epoch cranelift {STACK}",
        sys.platform,
        platform.machine(),
        _processor(),
    ]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:32]


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next((line for line in lines if line.startswith(("flags", "Features"))), "")


def _linked(engine: Engine) -> Linker:
    linker = Linker(engine)
    with linker.root() as root:
        for name, callback in DOORS.items():
            raw = name.encode()
            error = ffi.wasmtime_component_linker_instance_add_func(
                root.ptr(), ctypes.create_string_buffer(raw), len(raw), callback, None, nothing
            )
            if error:
                raise WasmtimeError._from_ptr(error)  # noqa: SLF001 - the binding's only way to take an error
    return linker


def _check_doors(guest: Path, imports: tuple[str, ...]) -> None:
    """Refuse a guest that wants something else than our doors: there is nothing else to be had."""
    others = set(imports) - set(DOORS)
    if others:
        msg = f"the wasm guest {guest} imports {', '.join(sorted(others)[:3])}, which is no door here; {_AGAIN}"
        raise GuestUnavailable(msg)


_AGAIN = "it was made by another version of codeact: make it again"


def _entry(component: Component, name: str) -> ExportIndex:
    entry = component.get_export_index(name)
    if entry is None:
        msg = f"the wasm guest exports no function {name}; {_AGAIN}"
        raise GuestUnavailable(msg)
    return entry


def _compiling(why: str) -> AbstractContextManager[None]:
    """Tell that the guest is compiled, which takes its time."""
    what = f"compiling the wasm guest, {why}"
    log.info(what)
    return progress.announced(what, "5 to 20 s on two cores")
