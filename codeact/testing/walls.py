"""A pytest plugin that runs the sixteen walls against a policy: `pytest --codeact-policy=policy.toml`.

Each wall is a test of its own, beside the project's tests; a wall of which the policy says there is none is skipped
with the reason.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

__all__ = ["OPTION"]

OPTION = "--codeact-policy"
"""What says which policy."""

_LOOK_TWICE = pytest.StashKey[list[str]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Know the option."""
    parser.getgroup("codeact").addoption(
        OPTION, metavar="FILE", default=None, help="run codeact's walls against this policy, a TOML file"
    )


@pytest.hookimpl(trylast=True)  # after `-k` and the like have made their choice: they leave out no wall
def pytest_collection_modifyitems(session: pytest.Session, config: pytest.Config, items: list[pytest.Item]) -> None:
    """Add the walls to whatever else was collected."""
    path = config.getoption(OPTION)
    if path is not None:
        items.extend(_Walls.from_parent(session, path=Path(path), name="walls").collect())


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Say what a reviewer of the policy should look at twice."""
    for weakness in config.stash.get(_LOOK_TWICE, []):
        terminalreporter.line(f"look twice: {weakness}")


class _Walls(pytest.File):
    def collect(self) -> Iterator[pytest.Item]:
        from codeact.policy import Policy, PolicyError, PolicyWarning  # noqa: PLC0415 - pytest loads every plugin, used or not
        from codeact.walls import WALLS, Site  # noqa: PLC0415 - as above

        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", PolicyWarning)  # what is weak is said at the end, and no error
                policy = Policy.load(self.path)
                policy.check()
        except PolicyError as error:
            raise pytest.UsageError(str(error)) from None
        except OSError as error:
            msg = f"{OPTION}={self.path}: {error.strerror or error}"
            raise pytest.UsageError(msg) from None
        self.config.stash[_LOOK_TWICE] = list(policy.weaknesses())
        site = Site(policy)
        for wall in WALLS:
            yield _Wall.from_parent(self, name=f"{wall.number}: {wall.name}", site=site, wall=wall)


class _Wall(pytest.Item):
    def __init__(self, *, site: Any, wall: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._site = site
        self._wall = wall

    def runtest(self) -> None:
        """Attack it."""
        from codeact.walls import examine  # noqa: PLC0415 - see `_Walls`

        (verdict,) = examine(self._site, [self._wall])
        if verdict.outcome == "not applicable":
            pytest.skip(verdict.evidence)
        if verdict.outcome == "broken":
            pytest.fail(verdict.evidence, pytrace=False)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Where it is from."""
        return self.path, None, f"wall {self.name}"
