"""Fixtures for tests of what is built on codeact: `sandbox` on each engine in turn, and `fake_tools`.

def test_counts(sandbox, fake_tools):
    tools = fake_tools(get_charges=[1200, 1900])
    assert sandbox(tools).run("len(tools.get_charges('c1'))").value == 2

pytest loads this with every run of whoever has codeact installed, so nothing of codeact is imported before a test asks.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from codeact.limits import Limits
    from codeact.sandbox import Sandbox
    from codeact.testing.fakes import Fakes
    from codeact.tools import Granted

__all__ = ["Sandboxes", "fake_tools", "sandbox"]

OPTION = "--codeact-engine"
ENGINES = ("wasm", "restricted")
"""Those that tests are run on where the option does not say."""

_ENGINE = "codeact_engine"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Know the option."""
    parser.getgroup("codeact").addoption(
        OPTION,
        metavar="NAME",
        action="append",
        help=f"run tests with the fixture sandbox on this engine; may be given several times (default: {', '.join(ENGINES)})",
    )


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test that asks for an engine on each one."""
    if _ENGINE not in metafunc.fixturenames:
        return
    marks = metafunc.definition.iter_markers("parametrize")
    if not any(_ENGINE in mark.args[0] for mark in marks if mark.args):
        metafunc.parametrize(_ENGINE, _engines(metafunc.config), indirect=True)


def _engines(config: pytest.Config) -> tuple[str, ...]:
    given: list[str] = config.getoption(OPTION) or []
    if not given:
        return ENGINES
    from codeact.engines import engine_names  # noqa: PLC0415 - see the module's docstring

    for name in given:
        if name not in engine_names():
            msg = f"{OPTION}={name}: no such engine; choose one of {', '.join(engine_names())}"
            raise pytest.UsageError(msg)
    return tuple(dict.fromkeys(given))


@pytest.fixture(scope="session", name=_ENGINE)
def codeact_engine(request: pytest.FixtureRequest) -> str:
    """The name of each engine in turn."""
    return str(request.param)


class Sandboxes:
    """Makes sandboxes on one engine.

    Attributes:
        engine: its name.
    """

    def __init__(self, engine: str, stack: ExitStack) -> None:
        """Make them; the stack closes them."""
        self.engine = engine
        self._stack = stack

    def __call__(
        self, tools: Granted = (), *, actions: Granted = (), limits: Limits | None = None, **settings: Any
    ) -> Sandbox:
        """A sandbox, which is closed after the test.

        Args:
            tools: see `codeact.Sandbox`, as for the others; without them it has none.
            actions: what programs may propose.
            limits: what one run may use.
            settings: all else that `codeact.Sandbox` takes, but the engine.
        """
        from codeact.sandbox import Sandbox  # noqa: PLC0415 - see the module's docstring

        return self._stack.enter_context(Sandbox(tools, actions=actions, limits=limits, engine=self.engine, **settings))


@pytest.fixture
def sandbox(codeact_engine: str) -> Iterator[Sandboxes]:
    """Makes sandboxes, `sandbox(tools)`, on each engine in turn."""
    with ExitStack() as stack:
        yield Sandboxes(codeact_engine, stack)


@pytest.fixture
def fake_tools() -> Fakes:
    """Makes fake tools, `fake_tools(get_charges=[…])`; see `codeact.testing.fakes`."""
    from codeact.testing.fakes import fake_tools  # noqa: PLC0415 - see the module's docstring

    return fake_tools
