"""Modules of the standard library that work on files, made for a world from the library's own text.

The real ones would work on the host's files. Here `open` is the world's, and all that they import is, so nothing leads
out that their functions, classes and objects lead to.
"""

from __future__ import annotations

from importlib.util import resolve_name
from types import ModuleType
from typing import Any

from codeact.engines.restricted.library.internals import INTERNALS, PRUNED
from codeact.engines.restricted.library.parts import Parts
from codeact.engines.restricted.library.texts import builtins_for, package_of, run_text

TEXTS = frozenset(
    [
        "_compression",
        "compression",
        "fnmatch",
        "genericpath",
        "glob",
        "gzip",
        "os",
        "pathlib",
        "posixpath",
        "shutil",
        "tarfile",
        "tempfile",
        "zipfile",
    ]
)
"""What is run from its text, and the modules inside."""

_ALIASES = {"os.path": "posixpath"}


class Sources:
    """The modules of one world that are made from text. They are for each other: a program gets names of them."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._modules: dict[str, ModuleType] = {}
        self._builtins = builtins_for(parts, self._import)

    def load(self, name: str) -> ModuleType:
        """A module, whole.

        Raises:
            ModuleNotFoundError: there is none for it.
        """
        name = _ALIASES.get(name, name)
        found = self._modules.get(name)
        if found is None:
            if name in INTERNALS:
                found = self._modules[name] = ModuleType(name)
                found.__dict__.update(INTERNALS[name](self._parts))
            elif name.partition(".")[0] in TEXTS:
                found = self._run(name)
            else:
                found = self._parts.load(name)
        return found

    def _run(self, name: str) -> ModuleType:
        module = self._modules[name] = ModuleType(name)
        names = module.__dict__
        names["__builtins__"] = self._builtins
        if package_of(name) == name:
            names["__path__"] = ()
        try:
            run_text(name, names)
        except BaseException:
            del self._modules[name]
            raise
        outer, _, inner = name.rpartition(".")
        if outer in self._modules:
            setattr(self._modules[outer], inner, module)
        for needless in PRUNED.get(name, ()):
            names.pop(needless, None)
        return module

    def _import(
        self, name: str, names: Any = None, _locals: Any = None, fromlist: Any = (), level: int = 0
    ) -> ModuleType:
        if level:
            name = resolve_name("." * level + name, names["__package__"])
        found = self.load(name)
        if not fromlist:
            return self.load(name.partition(".")[0])
        return found
