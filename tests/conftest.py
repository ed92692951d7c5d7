"""Fixtures for every test: the engines, and ready sandboxes on each."""

from __future__ import annotations

import gc
import re
from collections.abc import Callable
from typing import Any

import pytest

from codeact import Limits, Sandbox, Toolset
from codeact.actions import Actions
from codeact.offer import Offer
from codeact.tools import Granted

ENGINES = ("wasm", "restricted")


def pytest_collection_finish() -> None:
    """Keep what was imported for all tests out of the collections that single tests ask for: frameworks are millions of objects."""
    gc.collect()
    gc.freeze()


MakeSandbox = Callable[..., Sandbox]


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> str:
    """The name of each engine in turn."""
    return str(request.param)


@pytest.fixture
def make(engine: str) -> MakeSandbox:
    """Makes sandboxes on the engine in turn; keyword arguments beside `tools` and `actions` are limits."""

    def make(tools: Granted = (), *, actions: Granted = (), **limits: Any) -> Sandbox:
        return Sandbox(tools, actions=actions, engine=engine, limits=Limits(**{"timeout": 20.0, **limits}))

    return make


def named(value: object) -> str:
    """The name of a case: its text without addresses, which are others in each process of a parallel run."""
    return re.sub(r" at 0x[0-9a-f]+", "", str(value))


def offer(tools: Granted, limits: Limits) -> Offer:
    """What a door has to offer where there are tools alone."""
    return Offer(Toolset(tools), Actions(), limits)


@pytest.fixture
def sandbox(make: MakeSandbox) -> Sandbox:
    """A sandbox without tools on the engine in turn."""
    return make()
