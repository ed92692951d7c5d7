"""Warnings that are about programs, kept from the host.

Setting the process's filters aside for the time of a run, as `catch_warnings` does, would need a lock that one slow
program holds against all others, and would take the host's own warnings along.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from codeact.engines.restricted import library
from wasm_runtime import guest

_ABOUT = re.compile(r"<(program( \d+)?|evaluated)>")
"""The file names of programs' texts."""

_PARTS = (library.__path__[0], guest.__path__[0])
"""Where the functions are that programs are granted."""

_OURS: tuple[Any, ...] = ("ignore", None, Warning, _ABOUT, 0)


def keep() -> None:
    """Let no warning of the host's be about the texts of programs: one look at the filters, and the first is ours."""
    filters: Any = warnings.filters
    if not filters or filters[0] is not _OURS:
        with suppress(ValueError):
            filters.remove(_OURS)
        filters.insert(0, _OURS)


_WARNS = "_warn_unawaited_coroutine"
"""The function of `warnings` by which the interpreter warns of a coroutine that is freed and was never awaited."""

_NO_FRAME = "<importlib._bootstrap: codeact>"
"""Where warnings look for the line that they are about, they pass over frames of such a name."""


def _but_programs(warn: Callable[[Any], object]) -> Callable[[Any], None]:
    """The function, without what it would say of programs' coroutines.

    These are freed at any time, in the end by the collector; the interpreter would take the warning to be about
    whatever runs just then, under whatever filters, and keep the text, which holds a name of the program's choosing.
    """

    def but_programs(coroutine: Any) -> None:
        name = coroutine.cr_code.co_filename
        if _ABOUT.fullmatch(name) is None and not name.startswith(_PARTS):
            warn(coroutine)

    but_programs.__code__ = but_programs.__code__.replace(co_filename=_NO_FRAME)
    return but_programs


if hasattr(warnings, _WARNS):
    setattr(warnings, _WARNS, _but_programs(getattr(warnings, _WARNS)))
