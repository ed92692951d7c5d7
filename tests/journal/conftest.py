"""Fixtures for journals: one in a file, and sandboxes that keep one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from codeact import Journal, Limits, Sandbox
from codeact.tools import Granted

Keep = Callable[..., Sandbox]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where a journal may be."""
    return tmp_path / "journal.sqlite"


@pytest.fixture
def journal(path: Path) -> Iterator[Journal]:
    """A journal in a file."""
    with Journal(path) as journal:
        yield journal


@pytest.fixture
def keep(engine: str, journal: Journal) -> Keep:
    """Makes sandboxes on the engine in turn that keep the journal; keyword arguments beside these are limits."""

    def keep(
        tools: Granted = (), *, actions: Any = (), inputs: Any = None, check: bool = False, **limits: Any
    ) -> Sandbox:
        most = Limits(**{"timeout": 20.0, **limits})
        return Sandbox(tools, actions=actions, engine=engine, limits=most, inputs=inputs, check=check, journal=journal)

    return keep
