"""Warnings that are about programs, kept from the host: one look at the process's filters, and two of them are ours.

Setting the filters aside for the time of a run, as `catch_warnings` does, would need a lock that one slow program
holds against all others, and would take the host's own warnings along.
"""

from __future__ import annotations

import re
import sys
import warnings
from contextlib import suppress
from types import CoroutineType, FrameType
from typing import Any

from codeact.engines.restricted import library
from wasm_runtime import guest


class _Forgotten:
    """Judges the text of a warning: a coroutine was never awaited, and it came of a program.

    The interpreter takes such a warning to be about whatever runs while the coroutine is freed, which may be a module
    of the host's, and keeps the text there for good; and the name in it is the program's to choose.
    """

    def match(self, text: str) -> bool:
        """Whether the warning under way is one of these."""
        if not text.startswith("coroutine "):
            return False
        frame: FrameType | None = sys._getframe(1)  # noqa: SLF001 - as documented as it gets
        for _ in range(_FRAMES):
            if frame is None:
                break
            found: Any = frame.f_locals.get("coro") if frame.f_code.co_name == _WARNS else None
            if type(found) is CoroutineType:
                name = found.cr_code.co_filename
                return _ABOUT.fullmatch(name) is not None or name.startswith(_PARTS)
            frame = frame.f_back
        return False


_WARNS = "_warn_unawaited_coroutine"
"""The function of `warnings` by which the interpreter warns of a coroutine."""

_FRAMES = 5
"""Frames between the two at the most, where `warnings` is not the interpreter's own."""

_ABOUT = re.compile(r"<(program( \d+)?|evaluated)>")
"""The file names of programs' texts."""

_PARTS = (library.__path__[0], guest.__path__[0])
"""Where the functions are that programs are granted."""

_OURS: list[tuple[Any, ...]] = [
    ("ignore", None, Warning, _ABOUT, 0),
    ("ignore", _Forgotten(), RuntimeWarning, None, 0),
]


def keep() -> None:
    """Let no warning of the host's be about the texts of programs, or about what they leave lying."""
    filters: Any = warnings.filters
    if filters[: len(_OURS)] != _OURS:
        for ours in _OURS:
            with suppress(ValueError):
                filters.remove(ours)
        filters[:0] = _OURS
