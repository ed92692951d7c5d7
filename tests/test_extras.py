"""Without its extra, what needs one says which it is: one plain error, wherever it is."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from codeact.extras import MissingExtra, extra

ROOT = Path(__file__).parent.parent
SMOKES = ROOT / ".ci" / "smokes"
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"].keys() - {
    "dev"
}

ELSEWHERE = {"benchmarks", "docs"}
"""Extras for what is in a checkout only: no module of the package needs them."""

PACKAGES = {
    "agent-framework": "agent_framework",
    "anthropic": "anthropic",
    "build": "componentize_py",
    "check": "ty",
    "demo": "bm25s",
    "dspy": "dspy",
    "http": "httpx",
    "inspect-ai": "inspect_ai",
    "langchain": "langchain_core",
    "langgraph": "langgraph_codeact",
    "mcp": "mcp",
    "openai": "openai",
    "openai-agents": "agents",
    "otel": "opentelemetry",
    "pydantic-ai": "pydantic_ai",
    "smolagents": "smolagents",
}
"""The package that each extra brings, by the name of its import."""

_RUN_ALL = """
import json, os, runpy, sys
packages = json.loads(sys.argv[1])
sys.modules.update(dict.fromkeys(packages.values()))  # as if it were not installed
told = {}
with open(os.devnull, "w") as sys.stdout:
    for name in packages:
        try:
            runpy.run_path(f"{sys.argv[2]}/{name}.py")
            told[name] = "", "nothing was missing"
        except BaseException as error:
            told[name] = type(error).__name__, str(error)
json.dump(told, sys.__stdout__)
"""


@pytest.fixture(scope="module")
def told() -> dict[str, tuple[str, str]]:
    """What each extra's smoke test ends in where none of their packages is installed."""
    command = [sys.executable, "-I", "-c", _RUN_ALL, json.dumps(PACKAGES), str(SMOKES)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    return dict(json.loads(done.stdout))


def test_every_extra_has_a_smoke_test_and_a_package() -> None:
    assert {path.stem for path in SMOKES.glob("*.py")} == EXTRAS
    assert PACKAGES.keys() == EXTRAS - ELSEWHERE


@pytest.mark.parametrize("name", sorted(EXTRAS - ELSEWHERE))
def test_a_missing_extra_is_named(told: dict[str, tuple[str, str]], name: str) -> None:
    kind, message = told[name]
    assert kind == "MissingExtra", message
    assert message.endswith(f"pip install 'codeact[{name}]'")
    package = message.partition(" needs the package ")[2].partition(", which is not installed")[0]
    assert package in PACKAGES.values()


def test_what_is_missing_of_codeact_itself_is_no_extra() -> None:
    with pytest.raises(ModuleNotFoundError) as met, extra("http", "a test"):
        import codeact.nothing  # type: ignore[import-not-found] # noqa: F401, PLC0415 - that is the point
    assert type(met.value) is ModuleNotFoundError


def test_an_import_inside_of_one_that_names_its_extra_keeps_its_words() -> None:
    with pytest.raises(MissingExtra, match=r"codeact\[inner\]"), extra("outer", "a test"), extra("inner", "another"):
        import no_such_package  # type: ignore[import-not-found] # noqa: F401, PLC0415 - that is the point
