"""smolagents' `LocalPythonExecutor`: an interpreter over the syntax tree, in the host's process."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from smolagents.local_python_executor import LocalPythonExecutor

from benchmarks.arms import CannotError, Run, Tools
from benchmarks.arms.shop import granted
from benchmarks.peers.texts import bare


class Smolagents:
    """Makes executors."""

    @contextmanager
    def fresh(self, tools: Tools) -> Iterator[Run]:
        """See `Arm`."""
        _refuse(tools)
        yield lambda program: _executor(tools)(bare(program)).output

    @contextmanager
    def session(self, tools: Tools) -> Iterator[Run]:
        """See `Arm`."""
        _refuse(tools)
        executor = _executor(tools)
        yield lambda program: executor(bare(program)).output

    @contextmanager
    def idle(self) -> Iterator[object]:
        """See `Arm`."""
        yield _executor("none")


def _refuse(tools: Tools) -> None:
    if tools == "later":
        msg = "no async: await is not supported"
        raise CannotError(msg)


def _executor(tools: Tools) -> LocalPythonExecutor:
    executor = LocalPythonExecutor(additional_authorized_imports=["json"], timeout_seconds=120)
    executor.send_tools(granted(tools))
    return executor


def arm() -> Smolagents:
    """The arm."""
    return Smolagents()
