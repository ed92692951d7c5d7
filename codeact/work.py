"""What a call asks for, and what the program is told where that fails."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from codeact.engines import Refusal
from codeact.tools import Tool

MESSAGE = 1000
"""Characters of a host exception's text that the program sees."""


@dataclass(slots=True, eq=False)  # not frozen, which would make making one, once a call, three times as slow
class Work:
    """What a call asks for.

    Attributes:
        tool: the tool.
        function: calls it with arguments that fit.
        written: the call as the program wrote it, short.
    """

    tool: Tool[..., Any]
    function: Callable[[], Any]
    written: Callable[[], str]

    def failed(self, error: BaseException) -> Refusal:
        """What the program meets where the tool has failed."""
        return Refusal("ToolError", f"{self.written()} failed: {told(error)}")


def told(error: BaseException) -> str:
    """An exception of the host's, in one line: its type and its text."""
    try:
        text = _text(error)
    except BaseException:  # noqa: BLE001 - the host's own __str__ failed
        text = ""
    if len(text) > MESSAGE:
        text = f"{text[:MESSAGE]}… ({len(text) - MESSAGE:,} more characters)"
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _text(error: BaseException) -> str:
    """An exception's text; of a file it names, the name without where on the host it is."""
    if (
        isinstance(error, OSError)
        and type(error).__str__ is OSError.__str__
        and isinstance(error.filename, (str, bytes))
    ):
        return f"{error.strerror}: {Path(os.fsdecode(error.filename)).name!r}"
    return str.__str__(str(error))
