from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from codeact.engines import load
from codeact.engines.wasm import WasmEngine
from tests.guest.room import Room
from wasm_runtime.machine import Machine


@pytest.fixture(scope="session")
def machine() -> Machine:
    engine = load("wasm")
    assert isinstance(engine, WasmEngine)
    return engine.machine


@pytest.fixture
def room(machine: Machine) -> Callable[..., Room]:
    """Makes a fresh world with these tools."""

    def fresh(*tools: Callable[..., object]) -> Room:
        return Room(machine, {tool.__name__: tool for tool in tools})

    return fresh


@pytest.fixture
def run(room: Callable[..., Room]) -> Callable[..., Any]:
    """Runs a program in a fresh world without tools."""
    return lambda source, **options: room().run(source, **options)
