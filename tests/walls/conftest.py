"""Policies whose walls are attacked."""

from __future__ import annotations

import pytest

from codeact.policy import Policy

TEXT = """
[policy]
name = "support agent"
owner = "the platform team"
review = 2999-01-01

[boundary]
engine = "{engine}"

[workspace]
bytes = 4_000_000
files = 100

[limits]
timeout = 1.0
memory = 100_000_000
output = 10_000

[[network.destinations]]
origin = "https://api.example.com"
methods = ["GET"]
path = "/v1/**"
account = "support"

[[network.destinations]]
origin = "https://help.example.com"
"""


@pytest.fixture
def text(engine: str) -> str:
    """A policy for the engine in turn."""
    return TEXT.format(engine=engine)


@pytest.fixture
def policy(text: str) -> Policy:
    """The same, read."""
    return Policy.parse(text) if "wasm" in text else _quiet(text)


def _quiet(text: str) -> Policy:
    with pytest.warns(UserWarning, match="no security boundary"):
        return Policy.parse(text)
