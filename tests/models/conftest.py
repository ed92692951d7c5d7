from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator

import pytest

pytest.importorskip("anthropic")
pytest.importorskip("openai")

from codeact.messages import Model, Reply, Request, Said
from tests.models.server import Server, serving
from tests.models.wires import AnthropicWire, OpenAIWire, Wire


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as told:
        yield told


@pytest.fixture(params=[AnthropicWire, OpenAIWire], ids=["anthropic", "openai"])
def speech(request: pytest.FixtureRequest) -> type[Wire]:
    return request.param


@pytest.fixture(params=[True, False], ids=["stream", "whole"])
def wire(request: pytest.FixtureRequest, speech: type[Wire]) -> Wire:
    return speech(request.param)


TASK = Request("You are careful.", (Said("Do it."),))


class Talk:
    """One request, and the texts that were given on meanwhile."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def __call__(self, model: Model, request: Request = TASK) -> Reply:
        return asyncio.run(model.complete(request, self.texts.append))


@pytest.fixture
def talk() -> Callable[..., Reply]:
    return Talk()
