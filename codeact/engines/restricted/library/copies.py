"""Private copies of modules of the standard library: their own texts, run once more for one world.

Their patterns are matched by the world's `re`, which knows when to give up, and they tick as a program does.
"""

from __future__ import annotations

import builtins
from collections.abc import Mapping
from importlib.util import resolve_name
from types import ModuleType
from typing import Any

from codeact.engines.restricted.library.parts import Parts
from codeact.engines.restricted.library.texts import builtins_for, package_of, run_text

_OWN = frozenset({"re", "sys", "threading", "time", "warnings"})


def copied(parts: Parts, module: str, replaced: Mapping[str, Any] | None = None, **guards: Any) -> dict[str, Any]:
    """Run a module's text once more.

    Args:
        parts: the world that it is for.
        module: its name.
        replaced: what it gets where it imports other modules, beside those that are always the world's; None stands
            for one that is not there.
        guards: what stands in for builtins.

    Returns:
        Its names. Nothing else of the process knows of them.
    """
    modules = replaced or {}
    package = package_of(module)

    def load(name: str, names: Any = None, _locals: Any = None, fromlist: Any = (), level: int = 0) -> Any:
        if level:
            name = resolve_name("." * level + name, package)
        if name in modules:
            if modules[name] is None:
                raise ModuleNotFoundError(name)
            return modules[name]
        return parts.load(name) if name in _OWN else builtins.__import__(name, names, None, fromlist)

    names: dict[str, Any] = {"__builtins__": builtins_for(parts, load) | guards}
    run_text(module, names)
    return names


def as_module(name: str, names: Mapping[str, Any]) -> ModuleType:
    """Names as another copy imports them."""
    made = ModuleType(name)
    made.__dict__.update(names)
    return made
