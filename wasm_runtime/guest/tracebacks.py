"""Tracebacks that a program prints show its own frames: those of the library and of the room say nothing to it."""

from __future__ import annotations

import json
import traceback
from collections.abc import Iterable, Iterator
from types import FrameType
from typing import Any

_INSIDE = (json.__file__.rpartition("json")[0], __file__.rpartition("guest")[0])
"""How the file names of the library and of the room begin."""


def install() -> None:
    """Let `traceback`, and all who print through it, leave out frames that are not the program's."""
    summary = traceback.StackSummary
    whole = summary._extract_from_extended_frame_gen.__func__  # type: ignore[attr-defined]  # noqa: SLF001  # all ways lead through it

    def extract(cls: type, /, frames: Iterable[tuple[FrameType, Any]], **options: Any) -> Any:
        return whole(cls, _own(frames), **options)

    summary._extract_from_extended_frame_gen = classmethod(extract)  # type: ignore[attr-defined]  # noqa: SLF001


def _own(frames: Iterable[tuple[FrameType, Any]]) -> Iterator[tuple[FrameType, Any]]:
    return (found for found in frames if not found[0].f_code.co_filename.startswith(_INSIDE))
