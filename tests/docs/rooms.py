"""What some pages need that a reader has: files, a server, a key."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from importlib import import_module
from pathlib import Path

import pytest

from codeact import Journal, Outbox, Sandbox
from tests.models.server import serving
from tests.models.wires import KEY, AnthropicWire, OpenAIWire, call

Room = Callable[[pytest.MonkeyPatch], AbstractContextManager[None]]


@contextmanager
def _readme(_patch: pytest.MonkeyPatch) -> Iterator[None]:
    Path("program.py").write_text("tools.double(21)")
    Path("mypackage").mkdir()
    Path("mypackage/tools.py").write_text("def double(n: int) -> int:\n    return 2 * n\n\ngranted = [double]\n")
    Path("policy.toml").write_text('[policy]\nname = "desk"\nowner = "us"\nreview = 2099-01-01\n')
    yield


@contextmanager
def _policy(_patch: pytest.MonkeyPatch) -> Iterator[None]:
    Path("terms.txt").write_text("be kind")
    yield


@contextmanager
def _trace(_patch: pytest.MonkeyPatch) -> Iterator[None]:
    with Journal("agent.db") as journal:
        Sandbox(journal=journal).run("1 + 1", task="T-100")
    Outbox("agent.db").close()
    yield


@contextmanager
def _models(patch: pytest.MonkeyPatch) -> Iterator[None]:
    claude, gpt = AnthropicWire(True), OpenAIWire(True)
    with serving() as server:
        for name, path in {"ANTHROPIC": "", "OPENAI": "/v1"}.items():
            patch.setenv(f"{name}_API_KEY", KEY)
            patch.setenv(f"{name}_BASE_URL", server.url + path)
        server.say(gpt.answer("", [call("a", "6 * 7")]), gpt.answer("Six times seven is 42."))
        server.say(claude.answer("Let me see.", [call("a", "6 * 7")]), claude.answer("It is 42."))
        server.say(gpt.answer("First."), gpt.answer("Second."))
        yield
        assert server.refused == []
        assert server.script == []


@contextmanager
def _langgraph(_patch: pytest.MonkeyPatch) -> Iterator[None]:
    # Its checkpointer reads with a default that langchain-core is about to change, and that puts its warnings first.
    import_module("langchain_core")
    warnings.filterwarnings("ignore", message="The default value of `allowed_objects`")
    yield


ROOMS: dict[str, Room] = {
    "README.md": _readme,
    "docs/integrations/langgraph.md": _langgraph,
    "docs/models.md": _models,
    "docs/policy.md": _policy,
    "docs/trace.md": _trace,
}
"""By page. All others have an empty directory."""
