"""The virtual environments of peers, made once and kept."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks.contestant import Entry
from benchmarks.peers import Peer

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "codeact-benchmarks"
NEWEST = (3, 14)


def entry(peer: Peer) -> Entry:
    """The peer, ready to be started, or the reason why it cannot be."""
    module, *names = peer.arm
    arm = (f"benchmarks.peers.{module}", *names)
    if peer.program and shutil.which(peer.program) is None:
        return Entry(peer.name, arm, cannot=f"there is no {peer.program} here")
    if not peer.requirement:
        return Entry(peer.name, arm)
    try:
        python = _installed(peer)
    except _NotInstalledError as error:
        return Entry(peer.name, arm, cannot=str(error))
    return Entry(peer.name, arm, python=str(python), version=f"{peer.requirement}, Python {_version(python)}")


class _NotInstalledError(Exception):
    """Why."""


def _installed(peer: Peer) -> Path:
    """The interpreter of the peer's environment, which is made where it is missing."""
    base = next(filter(_works, _pythons(peer.python)), None)
    if base is None:
        msg = f"it needs Python {peer.python[0]}.{peer.python[1]}, and there is none here"
        raise _NotInstalledError(msg)
    home = CACHE / f"{peer.requirement}-{_version(base)}"
    python, done = home / "bin" / "python", home / "installed"
    if not done.exists():
        shutil.rmtree(home, ignore_errors=True)
        _do([str(base), "-m", "venv", str(home)])
        _do([str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", peer.requirement])
        done.touch()
    return python


def _pythons(oldest: tuple[int, int]) -> Iterator[Path]:
    """Interpreters that are not too old, this one first."""
    if sys.version_info >= oldest:
        yield Path(sys.executable)
    for minor in range(oldest[1], NEWEST[1] + 1):
        if found := shutil.which(f"python3.{minor}"):
            yield Path(found)
    for minor in range(oldest[1], NEWEST[1] + 1):
        yield from sorted((Path.home() / ".pyenv" / "versions").glob(f"3.{minor}.*/bin/python"))


def _works(python: Path) -> bool:
    """Whether it is one: what is on the path may only stand for a version that is not there."""
    try:
        return bool(_version(python))
    except _NotInstalledError:
        return False


def _version(python: Path) -> str:
    return _do([str(python), "-c", "import platform; print(platform.python_version())"]).strip()


def _do(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        lines = [line.strip() for line in done.stderr.splitlines()]
        said = [line for line in lines if line.lower().startswith("error")] or lines or [f"code {done.returncode}"]
        msg = f"it cannot be installed: {said[0]}"
        raise _NotInstalledError(msg)
    return done.stdout
