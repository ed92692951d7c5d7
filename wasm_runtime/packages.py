"""Gathers packages that a guest shall carry, with pip: as files, without what is native code."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

PYTHON = "3.14"
"""The version of the interpreter inside."""

_NATIVE = ("*.so", "*.so.*", "*.pyd", "*.dylib", "*.dll", "*.a")


class PackagesUnavailable(RuntimeError):
    """The packages cannot be had; the message is what pip said, or what is wrong with its answer."""


@dataclass(frozen=True, slots=True)
class Package:
    """A package that was gathered.

    Attributes:
        name: as its metadata has it.
        version: likewise.
        native: files of native code that were left out: inside, nothing runs them. Many packages do without.
    """

    name: str
    version: str
    native: tuple[str, ...]


def gather(requirements: Sequence[str], target: Path) -> list[Package]:
    """Install packages, and all they depend on, into an empty directory.

    Args:
        requirements: as for pip: names, with versions if need be; paths of wheels and projects; addresses.
        target: the directory.

    Returns:
        What is there, by name.

    Raises:
        PackagesUnavailable: there is no pip, or it failed.
    """
    if importlib.util.find_spec("pip") is None:
        msg = "packages are gathered with pip, and this environment has none: python -m ensurepip"
        raise PackagesUnavailable(msg)
    command = (
        *(sys.executable, "-m", "pip", "install", "--quiet", "--no-input", "--disable-pip-version-check"),
        *("--no-compile", "--no-warn-conflicts", "--only-binary=:all:", "--python-version", PYTHON),
        *("--target", str(target), "--", *requirements),
    )
    done = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)  # noqa: S603  # a fixed command; requirements cannot be options after --
    if done.returncode:
        msg = f"pip failed with code {done.returncode}:\n{done.stdout.strip()}"
        raise PackagesUnavailable(msg)
    return sorted(
        (_stripped(distribution, target) for distribution in importlib.metadata.distributions(path=[str(target)])),
        key=lambda package: package.name.lower(),
    )


def _stripped(distribution: importlib.metadata.Distribution, target: Path) -> Package:
    """The package, once its native code is gone."""
    native = [file for file in distribution.files or () if any(file.match(pattern) for pattern in _NATIVE)]
    for file in native:
        path = Path(str(distribution.locate_file(file)))
        if path.resolve().is_relative_to(target.resolve()):
            path.unlink(missing_ok=True)
    return Package(distribution.metadata["Name"], distribution.version, tuple(map(str, native)))
