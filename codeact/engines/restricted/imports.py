"""Imports: every module that a program may have, as a module that holds only the names granted.

The modules are made here, one for each world, of a real module's names; a program never meets the real one. Writing to one is refused by the guard of attributes.
"""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches
from importlib import import_module
from types import ModuleType
from typing import Any

from codeact.engines.restricted.library import MODULES, PACKAGES, SHARED, Parts, make
from codeact.engines.restricted.library.elsewhere import INSTEAD, NAMES
from codeact.engines.restricted.supply import Supply
from wasm_runtime.guest.advice import no_module


def importable() -> set[str]:
    """The names of the modules that a program may have."""
    return {*SHARED, *MODULES}


def make_importer(supply: Supply) -> Callable[..., Any]:
    """The `__import__` of one world."""
    world = supply.world

    def load(name: str) -> ModuleType:
        module = world.modules.get(name)
        if module is None:
            names = make(name, parts)
            if names is None:
                raise ModuleNotFoundError(_missing(name), name=name)
            module = world.modules[name] = _module(name, names, load)
        return module

    def find(name: str, _globals: Any = None, _locals: Any = None, fromlist: Any = (), level: int = 0) -> Any:
        if type(fromlist) is list:
            # The interpreter's own C code imports through the program's `__import__` and takes the module from
            # `sys.modules` whatever this gives; an import statement never passes a list.
            return import_module(name)
        if level or type(name) is not str:
            msg = "relative imports do not exist here"
            raise ImportError(msg)
        outer, _, inner = name.partition(".")
        first = found = load(outer)
        while inner:
            step, _, inner = inner.partition(".")
            outer = f"{outer}.{step}"
            found = load(outer)
        if not fromlist:
            return first
        for wanted in fromlist:
            if wanted != "*" and not hasattr(found, wanted):
                msg = f"cannot import name {wanted!r} from {found.__name__!r}"
                raise ImportError(msg, name=name)
        return found

    parts = Parts(world, supply, supply.sizes, supply.text, load)
    return find


def _module(name: str, names: dict[str, Any], load: Callable[[str], ModuleType]) -> ModuleType:
    module = ModuleType(name)
    public = tuple(key for key in names if key[0] != "_")
    inner = PACKAGES.get(name, ())

    def missing(key: str) -> Any:
        if key == "__all__":
            return public
        if key in inner:
            return load(f"{name}.{key}")
        reason = NAMES.get(f"{name}.{key}")
        meant = f"; {reason}" if reason else _meant(key, (*public, *inner))
        msg = f"module {name!r} has no {key!r} in this sandbox{meant}"
        raise AttributeError(msg, name=key)

    module.__dict__.update(names, __getattr__=missing)
    return module


def _meant(name: str, there: Any) -> str:
    near = get_close_matches(name, there, n=3)
    return f"; did you mean {' or '.join(near)}?" if near else f"; it has {', '.join(there)}"[:400]


def _missing(name: str) -> str:
    known = sorted(importable())
    return no_module(name[:100], known, INSTEAD, f"there are the tools, and: {', '.join(known)}")
