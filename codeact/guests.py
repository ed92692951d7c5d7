"""Guests with packages of the host's choosing: what `codeact build` makes and `Sandbox(guest=…)` runs."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path

from codeact.extras import extra
from wasm_runtime.build import build
from wasm_runtime.packages import Package, PackagesUnavailable, gather


class GuestNotMade(RuntimeError):
    """A guest could not be made; the message says why, and names the package where it is one's fault."""


def make(requirements: Sequence[str], output: Path, say: Callable[[str], None]) -> None:
    """Make a guest that carries packages beside the standard library.

    Args:
        requirements: as for pip: names, with versions if need be; paths of wheels and projects; addresses.
        output: the file it becomes.
        say: takes a line about what is being done.

    Raises:
        GuestNotMade: pip or componentize-py failed, or a package does not work inside.
        MissingExtra: one of them is not installed.
    """
    began = time.monotonic()
    with extra("build", "making a guest"):
        for tool in ("componentize_py", "pip"):
            import_module(tool)
    with tempfile.TemporaryDirectory(prefix="codeact-packages-") as directory:
        say(f"gathering {', '.join(requirements)} with pip …")
        try:
            packages = gather(requirements, Path(directory))
        except PackagesUnavailable as error:
            raise GuestNotMade(str(error)) from error
        for package in packages:
            say(f"  {package.name} {package.version}{_without(package)}")
        say("making the guest with componentize-py, half a minute on two cores …")
        try:
            build(output, Path(directory))
        except OSError as error:
            msg = f"{error.filename or output}: {error.strerror or error}"
            raise GuestNotMade(msg) from error
        except RuntimeError as error:
            raise GuestNotMade(_explained(str(error), packages)) from error
    size, seconds = output.stat().st_size / 1e6, time.monotonic() - began
    say(f"made {output}: {size:.1f} MB in {seconds:.0f} s; use it: Sandbox(guest={str(output)!r})")


def _without(package: Package) -> str:
    count = len(package.native)
    return f", without its native code ({count} file{'s' if count > 1 else ''})" if count else ""


def _explained(failure: str, packages: Sequence[Package]) -> str:
    """The failure in words that name the native code, where that is what a package misses."""
    for package in packages:
        if package.native and f"{package.name} {package.version}: import" in failure:
            return f"{failure}. {package.name} needs its native code ({package.native[0]} …); a guest can run none"
    return failure
