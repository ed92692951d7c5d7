"""Makes the component: the Python of `guest/` behind the doors of `world.wit`, snapshotted.

By hand: `python -m wasm_runtime.build`. Hatch calls it too, whenever a wheel is made or the project is installed.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.metadata
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Any

if importlib.util.find_spec("hatchling"):
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface

    Hook: Any = BuildHookInterface
else:  # by hand, hatchling is not needed
    Hook = object

HERE = Path(__file__).parent
COMPONENT = HERE / "guest.wasm"
STAMP = HERE / "guest.wasm.sources"
"""Holds the digest of what the component was made from."""


_UNFIT = "codeact: cannot be baked in: "
"""How the guest tells of a package that does not work inside; see `guest/packages.py`."""


def check_tools() -> None:
    """See whether a guest can be made here.

    Raises:
        RuntimeError: componentize-py is not installed.
    """
    if importlib.util.find_spec("componentize_py") is None:
        msg = (
            "making a guest needs componentize-py: pip install 'codeact[build]' (in a checkout, what [build-system] "
            "of pyproject.toml requires)"
        )
        raise RuntimeError(msg)


def build(out: Path, packages: Path | None = None) -> None:
    """Make the component.

    Args:
        out: the file it becomes.
        packages: a directory of packages that it carries beside the standard library.

    Raises:
        RuntimeError: componentize-py is not installed, or failed, or made what cannot be linked, or a package does not
            work inside; the message says which and why.
    """
    check_tools()
    with tempfile.TemporaryDirectory(prefix="codeact-build-") as directory:
        room = Path(directory)
        _stage(room, packages)
        command = (
            *(sys.executable, "-c", "import sys, componentize_py; sys.exit(componentize_py.script())"),
            *("--quiet", "--wit-path", "world.wit", "--world", "room"),
            *("componentize", "--stub-wasi", "guest.main", "--python-path", "app", "--output", "guest.wasm"),
        )
        # Without a virtual environment to look at, componentize-py would add this interpreter's packages to the room.
        environment = {**os.environ, "VIRTUAL_ENV": str(room / "venv")}
        done = subprocess.run(  # noqa: S603  # our own command
            command, cwd=room, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
        )
        if done.returncode:
            told = next((line for line in done.stdout.splitlines() if _UNFIT in line), None)
            if told is not None:
                raise RuntimeError(told.partition(_UNFIT)[2])
            # The Rust backtrace that follows is componentize-py's own and says nothing of the guest.
            msg = f"componentize-py failed with code {done.returncode}:\n{done.stdout.partition('Stack backtrace:')[0]}"
            raise RuntimeError(msg)
        out.parent.mkdir(parents=True, exist_ok=True)
        # Whoever reads it meanwhile sees the old one or the new one, whole.
        fresh = out.with_name(f"{out.name}.{os.getpid()}")
        fresh.write_bytes(_fused((room / "guest.wasm").read_bytes()))
        fresh.replace(out)


def _fused(component: bytes) -> bytes:
    # Hatch loads this file alone, with nothing of the project to import.
    sys.path.insert(0, str(HERE.parent))
    try:
        fused = importlib.import_module("wasm_runtime.fusion").fused
        rehearsal = importlib.import_module("wasm_runtime").REHEARSAL
    finally:
        sys.path.remove(str(HERE.parent))
    try:
        made: bytes = fused(component, rehearsal)
    except Exception as error:
        version = importlib.metadata.version("componentize-py")
        msg = (
            f"what componentize-py {version} made cannot be linked: {error}\n"
            "wasm_runtime/fusion knows what the version makes that [build-system] of pyproject.toml pins; use that one, "
            "or teach fusion what is new"
        )
        raise RuntimeError(msg) from error
    return made


def _stage(room: Path, packages: Path | None) -> None:
    """Lay out the directory that becomes the room's only source of modules."""
    (room / "venv" / "lib" / "site-packages").mkdir(parents=True)
    shutil.copyfile(HERE / "world.wit", room / "world.wit")
    shutil.copytree(HERE / "guest", room / "app" / "guest", ignore=_NOT_STAGED)
    shutil.copytree(_tzdata(), room / "app" / "tzdata", ignore=_NOT_STAGED)
    if packages is not None:
        shutil.copytree(packages, room / "app" / "packages", ignore=_NOT_STAGED)


_NOT_STAGED = shutil.ignore_patterns("__pycache__")


def _tzdata() -> Path:
    """Where the time zones of this environment are."""
    found = importlib.util.find_spec("tzdata")
    if found is None or found.origin is None:
        msg = "the guest is made with the time zones of the package tzdata; install it"
        raise RuntimeError(msg)
    return Path(found.origin).parent


def digest() -> str:
    """What the component depends on, as one hexadecimal number."""
    found = hashlib.sha256()
    alone = (HERE / name for name in ("world.wit", "build.py", "__init__.py"))
    sources = [*alone, *(HERE / "fusion").glob("*.py"), *(HERE / "guest").rglob("*.py")]
    for path in sorted(sources):
        found.update(f"{path.relative_to(HERE).as_posix()}\n".encode())
        found.update(hashlib.sha256(path.read_bytes()).digest())
    found.update(repr(_requirements()).encode())
    return found.hexdigest()


def _requirements() -> list[str]:
    """What the component is made with: the pinned build requirements of the project."""
    project = HERE.parent / "pyproject.toml"
    if not project.exists():  # an installed package, which carries its component
        return []
    requirements: list[str] = tomllib.loads(project.read_text(encoding="utf-8"))["build-system"]["requires"]
    return requirements


def ensure() -> bool:
    """Make the component next to this file unless it is there and up to date; says whether it was made."""
    wanted = digest()
    if COMPONENT.exists() and STAMP.exists() and STAMP.read_text() == wanted:
        return False
    STAMP.unlink(missing_ok=True)
    build(COMPONENT)
    STAMP.write_text(wanted)
    return True


class GuestBuildHook(Hook):  # type: ignore[misc]  # see above
    """Hatch's way to `ensure`."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002  # hatch's own signature
        """Make the component before a wheel, editable or not, is put together."""
        if self.target_name == "wheel":
            ensure()


if __name__ == "__main__":
    print("made" if ensure() else "up to date", COMPONENT)  # noqa: T201  # by hand
