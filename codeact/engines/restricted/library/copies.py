"""Private copies of modules of the standard library that are written in Python.

A copy is the module's own code, run once more in names of its own, with other builtins and imports. So its classes,
caches and registries belong to one world, its patterns are matched by the world's `re`, which knows when to give up,
and it prints where the world prints, and opens the world's files. Loops over numbers are charged.
"""

from __future__ import annotations

import builtins
import importlib
import importlib.util
from collections.abc import Mapping
from functools import cache
from types import CodeType, ModuleType
from typing import Any

from codeact.engines.restricted.lazy import LongRange
from codeact.engines.restricted.library.parts import Parts

_OWN = frozenset({"re", "sys", "threading", "time", "warnings"})
_GONE = ("breakpoint", "compile", "eval", "exec", "input", "open")
_HERE: dict[str, Any] = {name: value for name, value in vars(builtins).items() if name not in _GONE}


def copied(parts: Parts, module: str, replaced: Mapping[str, Any] | None = None, **guards: Any) -> dict[str, Any]:
    """Run a module's code once more.

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
    package = module if _code(module)[1] else module.rpartition(".")[0]

    def load(name: str, names: Any = None, _locals: Any = None, fromlist: Any = (), level: int = 0) -> Any:
        if level:
            name = importlib.util.resolve_name("." * level + name, package)
        if name in modules:
            if modules[name] is None:
                raise ModuleNotFoundError(name)
            return modules[name]
        return parts.load(name) if name in _OWN else builtins.__import__(name, names, None, fromlist)

    meter = parts.world.meter
    names: dict[str, Any] = {"__name__": module, "__package__": package, "__builtins__": dict(_HERE)}
    names["__builtins__"].update(
        __import__=load,
        open=parts.world.builtins["open"],
        print=parts.world.builtins["print"],
        range=lambda *bounds: LongRange(meter, range(*bounds)),
        **guards,
    )
    exec(_code(module)[0], names)  # noqa: S102 - the interpreter's own library
    return names


def as_module(name: str, names: Mapping[str, Any]) -> ModuleType:
    """Names as another copy imports them."""
    made = ModuleType(name)
    made.__dict__.update(names)
    return made


@cache
def _code(module: str) -> tuple[CodeType, bool]:
    """A module's code, and whether it is a package."""
    spec = importlib.util.find_spec(module)
    loader: Any = spec.loader if spec is not None else None
    code = loader.get_code(module) if loader is not None else None
    if code is None:
        msg = f"no module named {module!r} in this sandbox: this interpreter has it without its code"
        raise ModuleNotFoundError(msg, name=module)
    return code, bool(loader.is_package(module))
