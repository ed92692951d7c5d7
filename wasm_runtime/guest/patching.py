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


def replace_all(pairs: list[tuple[object, object]]) -> None:
    """The same for several, and where functions hold one as the default of a parameter."""
    for original, answer in pairs:
        replace(original, answer)
    answers = {id(original): answer for original, answer in pairs}
    for function in gc.get_objects():
        if type(function) is FunctionType:
            if function.__defaults__ and not answers.keys().isdisjoint(map(id, function.__defaults__)):
                function.__defaults__ = tuple(answers.get(id(value), value) for value in function.__defaults__)
            named = function.__kwdefaults__ or {}
            named.update((name, answers[id(value)]) for name, value in list(named.items()) if id(value) in answers)


def amend(kind: type, **attributes: Any) -> None:
    """Give a type written in C other attributes. It takes none itself; the dictionary behind its proxy does."""
    (names,) = gc.get_referents(kind.__dict__)
    names.update(attributes)
    # Attributes found on types are cached, and such a change is not one the interpreter knows of.
    sys._clear_internal_caches()  # type: ignore[attr-defined]  # noqa: SLF001
    sys._clear_type_cache()  # noqa: SLF001
