"""Programs judged by a type checker before they run, against the stubs of their tools.

The checker is `ty`, a program of its own: it reads the program's text on the host, in a private directory, and runs
nothing of it. Only what is sure to fail counts: names that nobody has bound, arguments that a tool does not take,
attributes that a record or the tools do not have, results that were not awaited. What depends on the way a program
takes is left to the run.
"""

from __future__ import annotations

import ast
import json
import logging
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from codeact.engines import Fault, Frame

try:
    from ty import find_ty_bin
except ImportError as error:
    msg = "check=True needs the package ty: pip install 'codeact[check]'"
    raise ImportError(msg) from error

log = logging.getLogger("codeact")

PATIENCE = 5.0
"""Seconds that the checker gets at the most; a program that it does not get through is run unchecked."""

SHOWN = 3
"""Findings that an error names."""

VERSION = "3.13"
"""The language that it reads: of what wasm has beyond it, it only says that it does not know the syntax."""

_PRELUDE = "from granted import ToolError as ToolError, tools as tools\n"
_ERROR = '\n\nclass ToolError(Exception):\n    """A tool failed."""\n'

_SURE = frozenset(
    {
        "invalid-argument-type",
        "missing-argument",
        "missing-attribute",
        "not-iterable",
        "not-subscriptable",
        "parameter-already-assigned",
        "too-many-positional-arguments",
        "unknown-argument",
        "unresolved-attribute",
        "unresolved-reference",
    }
)
_OF_TOOLS = "bound method `Tools."
_UNAWAITED = "`CoroutineType["
_DYNAMIC = ("exec(", "globals(", "locals(", "vars(", "setattr(", "import *")


@dataclass(frozen=True, slots=True)
class Checker:
    """Checks programs against the stubs of some tools.

    Attributes:
        stubs: the tools as Python; see `codeact.stubs`.
        binary: the checker's program.
    """

    stubs: str
    binary: str

    def fault(self, source: str, seconds: float, *, alone: bool) -> Fault | None:
        """What is sure to fail in a program; None where there is nothing, or it is not known in time.

        Args:
            source: its text.
            seconds: how long it may take.
            alone: whether all its names are its own, and none are of earlier programs of a session.
        """
        if not _readable(source):
            return None  # the engine says better what is wrong, or knows a newer language
        found = [
            finding
            for finding in self._findings(source, min(seconds, PATIENCE))
            if _is_sure(finding, source, alone=alone)
        ]
        return _fault(found) if found else None

    def _findings(self, source: str, seconds: float) -> list[dict[str, Any]]:
        with tempfile.TemporaryDirectory(prefix="codeact-check-") as directory:
            Path(directory, "granted.pyi").write_text(self.stubs + _ERROR, encoding="utf-8")
            Path(directory, "program.py").write_text(_PRELUDE + source, encoding="utf-8")
            command = [self.binary, "check", "--output-format", "gitlab", "--python-version", VERSION, "program.py"]
            alone = {"HOME": directory, "XDG_CONFIG_HOME": directory, "PATH": ""}
            try:
                done = subprocess.run(  # noqa: S603 - our own command; the program is a file that it reads
                    command, cwd=directory, env=alone, capture_output=True, timeout=max(seconds, 0.01), check=False
                )
                found = json.loads(done.stdout or b"[]")
            except (OSError, ValueError, subprocess.TimeoutExpired) as error:
                log.warning("a program was not type-checked: %s", type(error).__name__)
                return []
        return found if isinstance(found, list) else []


def checker(stubs: str) -> Checker:
    """A checker against these stubs.

    Raises:
        FileNotFoundError: the package is there and its program is not.
    """
    return Checker(stubs, find_ty_bin())


def _readable(source: str) -> bool:
    try:
        ast.parse(source)
        source.encode()
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _is_sure(finding: dict[str, Any], source: str, *, alone: bool) -> bool:
    rule, text = finding["check_name"], finding["description"]
    if rule not in _SURE:
        return False
    match rule:
        case "unresolved-reference":
            return alone and not any(word in source for word in _DYNAMIC)
        case "missing-attribute" | "unresolved-attribute":
            return "in union" not in text and not any(word in source for word in _DYNAMIC)
        case "not-iterable" | "not-subscriptable":
            return _UNAWAITED in text
        case _:
            return _OF_TOOLS in text


def _fault(found: list[dict[str, Any]]) -> Fault:
    told = [f"{_text(finding)} (line {_line(finding)})" for finding in found[1:SHOWN]]
    more = [f"and {len(found) - SHOWN} more"] if len(found) > SHOWN else []
    first = found[0]
    message = "; ".join([_text(first), *told, *more])
    hint = "put `await` before the call" if _UNAWAITED in first["description"] else None
    return Fault("denied", "TypeCheckError", message, (Frame(_line(first), "<module>"),), hint=hint)


def _text(finding: dict[str, Any]) -> str:
    text = str(finding["description"]).partition(": ")[2]
    return text.replace("bound method `Tools.", "tool `").replace("of type `Tools`", "`tools`")[:300]


def _line(finding: dict[str, Any]) -> int:
    return max(1, int(finding["location"]["positions"]["begin"]["line"]) - 1)
