"""What tests of the agent share: a tool, sandboxes with it, and a sleep that only takes note."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from codeact import Agent, Budget, Sandbox, tool
from codeact.agent import transport


@tool
def get_charges(customer_id: str) -> list[int]:
    """The amounts that a customer was charged, oldest first, in cents."""
    return [1200, 1900, 1200] if customer_id == "c1" else []


@pytest.fixture
def sandbox(make: Callable[..., Sandbox]) -> Sandbox:
    """A sandbox with a tool, on the engine in turn."""
    return make([get_charges])


@pytest.fixture
def fast() -> Sandbox:
    """A sandbox with a tool, for what has nothing to do with engines."""
    return Sandbox([get_charges], engine="restricted")


class Pauses(list[float]):
    """A sleep that takes no time, and the pauses that it was asked for."""

    async def __call__(self, seconds: float) -> None:
        self.append(seconds)


@pytest.fixture
def pauses() -> Pauses:
    return Pauses()


@pytest.fixture
def patient(fast: Sandbox, pauses: Pauses) -> Callable[..., Agent]:
    """Makes agents whose pauses take no time."""

    def make(model: object, **budget: object) -> Agent:
        limits = Budget(**budget)
        return Agent(model, fast, budget=limits, transport=transport(limits.attempts, sleep=pauses))

    return make
