from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from room import Room, component, engine


@pytest.fixture(scope="session")
def compiled() -> tuple[Any, Any]:
    made = engine()
    return made, component(made)


@pytest.fixture
def room(compiled: tuple[Any, Any]) -> Callable[..., Room]:
    """Makes a fresh world with these tools."""

    def fresh(*tools: Callable[..., object]) -> Room:
        return Room(*compiled, {tool.__name__: tool for tool in tools})

    return fresh


@pytest.fixture
def run(room: Callable[..., Room]) -> Callable[..., Any]:
    """Runs a program in a fresh world without tools."""
    return lambda source, **options: room().run(source, **options)
