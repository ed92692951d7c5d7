"""Packages of the host's choosing, carried inside beside the standard library.

They are laid into one directory while the component is made. What can be imported is; all modules are kept as
compressed code too, and other files in an archive in memory, for those that read data of theirs or versions.
"""

from __future__ import annotations

import importlib.metadata
import io
import os
import pkgutil
import re
import sys
import traceback
import zipfile
from collections.abc import Iterator
from importlib.resources.abc import Traversable, TraversableResources
from pathlib import Path

from .library import Shelf

DIRECTORY = f"{__file__.rpartition('/guest/')[0]}/packages"
"""Where they are while the component is made."""

UNFIT = "codeact: cannot be baked in: "
"""How the line begins that tells the host of a package that does not work here."""


class Packages(Shelf):
    """The shelf of the packages, with what they carry beside modules."""

    def __init__(self) -> None:
        super().__init__()
        self._archive = io.BytesIO()
        self._files = zipfile.ZipFile(self._archive, "w", zipfile.ZIP_DEFLATED)

    def keep_file(self, path: str) -> None:
        """Keep the file at this path."""
        with open(path, "rb") as file:  # noqa: PTH123  # plain texts, as everywhere in here
            entry = zipfile.ZipInfo(os.path.relpath(path, DIRECTORY))  # while the component is made it is 1970
            self._files.writestr(entry, file.read(), zipfile.ZIP_DEFLATED)

    def seal(self) -> None:
        """Nothing more is kept."""
        self._files.close()
        self._files = zipfile.ZipFile(self._archive)

    def get_data(self, path: str) -> bytes:
        """The content of a file of a package, by the path it had.

        Raises:
            FileNotFoundError: no package carries such a file.
        """
        try:
            return self._files.read(os.path.relpath(path, DIRECTORY))
        except KeyError:
            msg = f"no package carries this file: {path!r}"
            raise FileNotFoundError(msg) from None

    def get_resource_reader(self, name: str) -> TraversableResources:
        """How `importlib.resources` reads what a package carries."""
        return _Resources(zipfile.Path(self._files, f"{name.replace('.', '/')}/"))

    def find_distributions(
        self, context: importlib.metadata.DistributionFinder.Context
    ) -> Iterator[importlib.metadata.Distribution]:
        """How `importlib.metadata` finds what is installed."""
        wanted = None if context.name is None else _normal(context.name)
        for found in zipfile.Path(self._files).iterdir():
            name = found.name.partition("-")[0]
            if found.name.endswith(".dist-info") and wanted in {None, _normal(name)}:
                yield importlib.metadata.PathDistribution(found)


class _Resources(TraversableResources):
    def __init__(self, root: Traversable) -> None:
        self._root = root

    def files(self) -> Traversable:
        return self._root


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "_", name).lower()


def load() -> Packages:
    """Import the packages, and keep all that they carry.

    Raises:
        ImportError: packages do not work here; the text says which and why.
    """
    packages = Packages()
    if not os.path.isdir(DIRECTORY):  # noqa: PTH112  # as above
        packages.seal()
        return packages
    sys.path.append(DIRECTORY)
    _keep(packages)
    failures = [_failure(distribution) for distribution in importlib.metadata.distributions(path=[DIRECTORY])]
    if any(failures):
        raise ImportError(UNFIT + "; ".join(filter(None, failures)))
    for module in list(sys.modules.values()):
        spec = getattr(module, "__spec__", None)
        if spec is not None and spec.name in packages:
            # The loader it came by reads a disk.
            spec.loader = module.__loader__ = packages
    packages.seal()
    return packages


def _keep(packages: Packages) -> None:
    for directory, _, files in os.walk(DIRECTORY):
        for file in sorted(files):
            path = f"{directory}/{file}"
            name = os.path.relpath(path, DIRECTORY).removesuffix(".py").replace("/", ".")
            if not file.endswith(".py"):
                packages.keep_file(path)
            elif all(part.isidentifier() for part in name.split(".")):
                try:
                    packages.add(name.removesuffix(".__init__"), path, package=file == "__init__.py")
                except (SyntaxError, ValueError):
                    packages.keep_file(path)  # a template, or code of another Python


def _failure(distribution: importlib.metadata.Distribution) -> str | None:
    """Import what a distribution has at top level; says why none of it works, where none does."""
    name, reasons, worked = distribution.metadata["Name"], [], False
    for module in _tops(distribution):
        try:
            __import__(module)
            worked = True
        except BaseException as error:  # noqa: BLE001  # whatever it does, it is the host that must know
            reasons.append(f"import {module}: {''.join(traceback.format_exception_only(error)).strip()}")
    if worked or not reasons:
        return None
    return f"{name} {distribution.version}: {', '.join(reasons)}"


def _tops(distribution: importlib.metadata.Distribution) -> list[str]:
    """The modules and packages that a distribution installs at top level, the public ones first."""
    there = {module.name for module in pkgutil.iter_modules([DIRECTORY])}
    firsts = {Path(str(file)).parts[0].removesuffix(".py") for file in distribution.files or ()}
    return sorted(there & firsts, key=lambda name: (name.startswith("_"), name))
