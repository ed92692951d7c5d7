"""A folder with tools of its own, and the command run in it as a process."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from shelf import TOOLS, Command

from codeact.engines import load


@pytest.fixture(scope="session")
def compiled() -> None:
    """See that the guest is compiled: a command that has to would say so."""
    load("wasm")


@pytest.fixture
def folder(tmp_path: Path, compiled: None) -> Path:
    """A folder that holds the module `mytools`."""
    (tmp_path / "mytools.py").write_text(TOOLS, encoding="utf-8")
    return tmp_path


@pytest.fixture
def command(folder: Path) -> Command:
    """Runs `codeact` in the folder; `given` is its standard input, `env` is added to the environment."""

    def command(
        *arguments: str, given: str = "", env: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "codeact", *arguments],
            cwd=folder,
            env={**os.environ, **(env or {})},
            input=given,
            text=True,
            encoding="utf-8",
            capture_output=True,
            timeout=120,
            check=False,
        )

    return command
