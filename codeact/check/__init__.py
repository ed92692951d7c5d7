"""Type-checking a program against the tools before it runs, by `ty` (the extra `check`).

The checker and what judges its findings are processes of their own, without this one's environment, in a directory
that is private and gone afterwards, and under limits. What they read was written by a model, what they say is data.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from codeact.actions import Actions
from codeact.catalogue import Catalogue
from codeact.check import judge
from codeact.check.findings import fault_of
from codeact.check.interface import interface, kinds_of
from codeact.declarations import Declarations
from codeact.engines import Fault
from codeact.extras import extra
from codeact.notation import StrictNotation
from codeact.tools import Toolset

SECONDS = 10.0
"""Seconds that a check may take, however long the run may."""

MEMORY = 2 << 20
"""KiB of address space that each process of a check gets."""

OUTPUT = 16 << 10
"""Blocks of 512 bytes that it may write into one file."""

ANSWER = 1 << 20
"""Bytes of an answer that are read."""

_LIMITED = f'ulimit -c 0; ulimit -f {OUTPUT}; ulimit -v {MEMORY} 2>/dev/null; ulimit -t {int(SECONDS) + 1}; exec "$@"'


class Unchecked(RuntimeError):
    """A program could not be checked; the text says why."""


class Checker:
    """Checks programs against the tools of one sandbox.

    Raises:
        MissingExtra: `ty` is not installed.
    """

    def __init__(
        self, toolset: Toolset, actions: Actions, version: tuple[int, int], catalogue: Catalogue | None = None
    ) -> None:
        """Prepare what does not depend on the program.

        Args:
            toolset: the tools.
            actions: what can be proposed.
            version: of the Python that will run the programs.
            catalogue: finds tools, where there are many.
        """
        self._catalogue = catalogue
        self._offered = {"Tools": toolset, **({"Actions": actions.inside} if actions else {})}
        members = [member for offered in self._offered.values() for member in offered.values()]
        declarations = Declarations(members, StrictNotation())
        self._interface = interface(self._offered, declarations)
        self._declarations = declarations
        self._kinds = (*self._offered, *kinds_of(declarations))
        self._command = [
            _binary(), "check", "--python-version", "{}.{}".format(*version), "--python-platform", "linux",
            "--output-format", "concise", "--color", "never", "--no-progress", "--exit-zero", "program.py",
        ]  # fmt: skip

    def check(self, source: str, earlier: Sequence[str], seconds: float) -> Fault | None:
        """What is sure to fail in a program; None where nothing is, or where the text is no Python.

        Args:
            source: the text of the program.
            earlier: the texts of the programs whose names it finds.
            seconds: how long this may take.

        Raises:
            Unchecked: the checker has failed, or was too slow.
        """
        until = time.monotonic() + min(seconds, SECONDS)
        try:
            with tempfile.TemporaryDirectory(prefix="codeact-check-") as name:
                where = Path(name)
                (where / "__builtins__.pyi").write_text(self._interface, "utf-8")
                (where / "ty.toml").write_text("", "utf-8")
                (where / "program.py").write_text(source, "utf-8", newline="")
                _finish(self._command, where, until)
                if not _may_be_wrong(_read(where / "output")):
                    return None
                request = {"source": source, "earlier": list(earlier), "kinds": self._kinds, "command": self._command}
                (where / "request").write_text(json.dumps(request), "utf-8")
                _finish([sys.executable, "-I", "-S", judge.__file__, "request", "answer"], where, until)
                findings = _read(where / "answer")
        except OSError as error:
            msg = f"its files cannot be written: {error.strerror}"
            raise Unchecked(msg) from error
        try:
            return fault_of(_listed(findings), self._offered, self._declarations, self._catalogue)
        except (LookupError, TypeError, ValueError) as error:
            msg = "its answer is no answer"
            raise Unchecked(msg) from error


def _binary() -> str:
    with extra("check", "check=True"):
        from ty import find_ty_bin  # noqa: PLC0415 - an extra
    try:
        return str(find_ty_bin())
    except FileNotFoundError as error:
        msg = f"check=True: the package ty has no program here ({error}): reinstall 'codeact[check]'"
        raise ImportError(msg) from error


def _finish(command: list[str], where: Path, until: float) -> None:
    """Run a process to its end."""
    with (where / "output").open("wb") as output:
        process = subprocess.Popen(  # noqa: S603 - the program is a file to it, and no part of the command
            ["/bin/sh", "-c", _LIMITED, "sh", *command],
            cwd=where,
            env={"HOME": str(where), "TY_MAX_PARALLELISM": "2"},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            code = process.wait(max(until - time.monotonic(), 0.0))
        except subprocess.TimeoutExpired:
            msg = "it was not done in time"
            raise Unchecked(msg) from None
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    if code != 0:
        msg = f"it ended with the code {code}"
        raise Unchecked(msg)


def _may_be_wrong(output: bytes) -> bool:
    return any(f"error[{rule}]".encode() in output for rule in judge.RULES)


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(ANSWER)
    except FileNotFoundError:
        return b""


def _listed(answer: bytes) -> list[dict[str, Any]]:
    """What the judge has found, as far as it has the right shape; nothing of a text that it could not read."""
    findings = json.loads(answer)
    return [finding for finding in findings or () if isinstance(finding, dict)]
