"""Imports: every module that a program may have, as a module that holds only the names granted.

The modules are made here, one for each world, of a real module's names; a program never meets the real one. Writing to one is refused by the guard of attributes.
"""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches
from importlib import import_module
from types import ModuleType
from typing import Any

from codeact.engines.restricted.library import MODULES, SHARED, Parts
from codeact.engines.restricted.sizes import Sizes
from codeact.engines.restricted.text import Text
from codeact.engines.restricted.world import World


def make_importer(world: World, guards: dict[str, Any], sizes: Sizes, text: Text) -> Callable[..., Any]:
    """The `__import__` of one world."""

    def load(name: str) -> ModuleType:
        module = world.modules.get(name)
        if module is None:
            if name in SHARED:
                names = _shared.get(name)
                if names is None:
                    names = _shared[name] = SHARED[name]()
                module = _module(name, names)
            elif name in MODULES:
                module = _module(name, MODULES[name](Parts(world, guards, sizes, text)))
            elif name in PACKAGES:
                module = _module(name, {})
            else:
                raise ModuleNotFoundError(_missing(name), name=name)
            for inner in PACKAGES.get(name, ()):
                module.__dict__[inner] = load(f"{name}.{inner}")
            world.modules[name] = module
        return module

    def find(name: str, _globals: Any = None, _locals: Any = None, fromlist: Any = (), level: int = 0) -> Any:
        if type(fromlist) is list:
            # The interpreter's own C code imports through the program's `__import__` and takes the module from
            # `sys.modules` whatever this gives; an import statement never passes a list.
            return import_module(name)
        if level or type(name) is not str:
            msg = "relative imports do not exist here"
            raise ImportError(msg)
        found = load(name)
        return found if fromlist else load(name.partition(".")[0])

    return find


PACKAGES = {"collections": ("abc",), "urllib": ("parse",)}
"""Modules that hold others."""

_shared: dict[str, dict[str, Any]] = {}


def _module(name: str, names: dict[str, Any]) -> ModuleType:
    module = ModuleType(name)
    public = tuple(key for key in names if key[0] != "_")

    def missing(key: str) -> Any:
        if key == "__all__":
            return public
        near = get_close_matches(key, public, n=3)
        meant = f"; did you mean {' or '.join(near)}?" if near else f"; it has {', '.join(public)}"[:400]
        msg = f"module {name!r} has no {key!r} in this sandbox{meant}"
        raise AttributeError(msg, name=key)

    module.__dict__.update(names, __getattr__=missing)
    return module


def _missing(name: str) -> str:
    known = sorted({*SHARED, *MODULES})
    near = get_close_matches(name, known, n=3, cutoff=0.8)
    there = f"did you mean {' or '.join(near)}?" if near else f"there are: {', '.join(known)}"
    return f"no module named {name[:100]!r} in this sandbox; {there}"
