"""How something of the interpreter's is replaced by something of ours, wherever it is held already."""

from __future__ import annotations

import gc
import sys
from types import FunctionType
from typing import Any


def replace(original: object, answer: object) -> None:
    """Put one object in the place of another in every module that holds it, except in ours."""
    # Static: a class that keeps a function as an attribute, as logging's Formatter keeps `time.localtime`, took a
    # builtin, which is not bound to instances; ours must not be either.
    substitute = staticmethod(answer) if isinstance(answer, FunctionType) else answer
    for module in [module for name, module in sys.modules.items() if name.partition(".")[0] != __package__]:
        names = getattr(module, "__dict__", {})
        for name in [name for name, value in names.items() if value is original]:
            names[name] = substitute


def amend(kind: type, **attributes: Any) -> None:
    """Give a type written in C other attributes. It takes none itself; the dictionary behind its proxy does."""
    (names,) = gc.get_referents(kind.__dict__)
    names.update(attributes)
    # Attributes found on types are cached, and such a change is not one the interpreter knows of.
    sys._clear_internal_caches()  # type: ignore[attr-defined]  # noqa: SLF001
    sys._clear_type_cache()  # noqa: SLF001
