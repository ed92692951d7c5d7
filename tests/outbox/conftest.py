from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from desk import Clock, Open, Till

from codeact.outbox import Outbox


@pytest.fixture
def till() -> Till:
    return Till()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(params=["file", "memory"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return ":memory:" if request.param == "memory" else str(tmp_path / "outbox.db")


@pytest.fixture
def make(place: str, till: Till, clock: Clock) -> Iterator[Open]:
    """Opens outboxes with the actions of the till."""
    opened: list[Outbox] = []

    def make(**settings: Any) -> Outbox:
        opened.append(Outbox(place, **{"actions": till.actions, "clock": clock, **settings}))
        return opened[-1]

    yield make
    for outbox in opened:
        outbox.close()


@pytest.fixture
def outbox(make: Open) -> Outbox:
    return make()
