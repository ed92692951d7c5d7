"""What does not exist here says so, and what to use instead."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

from . import advice


class Missing(ModuleNotFoundError):
    """How `find_spec` of importlib.util tells our refusal from a failure."""


Missing.__name__ = Missing.__qualname__ = "ModuleNotFoundError"
Missing.__module__ = "builtins"


class Absent(MetaPathFinder):
    """The last finder: it says why there is no such module, and what there is.

    Args:
        standard: the names of the standard library's modules.
    """

    def __init__(self, standard: frozenset[str]) -> None:
        self._standard = standard
        finding = importlib.util._find_spec  # type: ignore[attr-defined]  # noqa: SLF001  # to ask is not to import

        def find(name: str, *rest: object) -> ModuleSpec | None:
            try:
                return finding(name, *rest)  # type: ignore[no-any-return]
            except Missing:
                return None

        importlib.util._find_spec = find  # type: ignore[attr-defined]  # noqa: SLF001

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, _target: ModuleType | None = None, /
    ) -> ModuleSpec | None:
        """None for what another module may miss in peace; otherwise the refusal."""
        if path is not None and fullname not in advice.MODULES:
            return None
        msg = advice.no_module(fullname, {*self._standard, *sys.modules})
        raise Missing(msg, name=fullname)
