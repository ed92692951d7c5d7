"""Fixtures of workers: a pool for all tests of a process."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from codeact import engines
from codeact.engines.remote import RemoteEngine
from codeact.engines.wasm import WasmEngine
from tests.workers.scene import Gate


@pytest.fixture(scope="session")
def remote() -> Iterator[RemoteEngine]:
    """An engine with two workers."""
    local = engines.load("wasm")
    assert isinstance(local, WasmEngine)
    engine = RemoteEngine(local, 2)
    yield engine
    engine.close()


@pytest.fixture
def everywhere(remote: RemoteEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever asks for `wasm` gets the engine with workers."""
    monkeypatch.setitem(engines._loaded, "wasm", remote)


@pytest.fixture
def engine() -> str:
    """The one engine that has workers."""
    return "wasm"


@pytest.fixture
def gate() -> Iterator[Gate]:
    """Tools that hold their runs until the test opens it, or ends."""
    gate = Gate()
    yield gate
    gate.opened.set()
