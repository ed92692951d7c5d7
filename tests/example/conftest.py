"""The company of the demo's seed, its articles, and its tools on each engine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from codeact import Sandbox
from examples.support_ticket.actions import support_actions
from examples.support_ticket.canary import Canary, planted
from examples.support_ticket.data import Company, generate
from examples.support_ticket.desk import LIMITS
from examples.support_ticket.knowledge import KnowledgeBase, load
from examples.support_ticket.office import Office
from examples.support_ticket.tickets import Ticket
from examples.support_ticket.tools import support_tools


@pytest.fixture(scope="session")
def company() -> Company:
    return generate(7)


@pytest.fixture(scope="session")
def knowledge() -> KnowledgeBase:
    return load()


@pytest.fixture
def desk(company: Company, knowledge: KnowledgeBase, engine: str) -> Sandbox:
    """The tools and actions over every account, on the engine in turn."""
    actions = support_actions(Ticket("T-0", "a@b.example", "", "", ()), company.book, Office())
    return Sandbox(support_tools(company.book, knowledge), actions=actions, engine=engine, limits=LIMITS)


@pytest.fixture
def canary() -> Iterator[Canary]:
    with planted() as canary:
        yield canary


@pytest.fixture
def nowhere() -> Path:
    """A path for tickets that nobody will open."""
    return Path("/nowhere/credentials")
