"""The standard library, carried inside: there is no disk to import from.

Most modules are imported while the component is made, so that importing them in a program costs nothing. The
others are kept as compressed code on a shelf. What cannot exist here is not there at all, and says so.
"""

from __future__ import annotations

import importlib.machinery
import marshal
import pkgutil
import sys
import sysconfig
import zlib
from collections.abc import Iterable, Iterator, Sequence
from importlib.abc import Loader, MetaPathFinder
from types import ModuleType

from . import absent, advice

_AT_NEED = frozenset(
    [
        "__hello__",
        "__phello__",
        "_aix_support",
        "_android_support",
        "_apple_support",
        "_ios_support",
        "_osx_support",
        "_pydatetime",
        "_pydecimal",
        "_pyio",
        "_pyrepl",
        "_py_warnings",
        "antigravity",
        "bdb",
        "cmd",
        "code",
        "compileall",
        "dbm",
        "doctest",
        "ensurepip",
        "ftplib",
        "imaplib",
        "mailbox",
        "modulefinder",
        "nturl2path",
        "pdb",
        "poplib",
        "profile",
        "pstats",
        "pyclbr",
        "pydoc_data",
        "rlcompleter",
        "site",
        "smtplib",
        "socketserver",
        "sre_compile",
        "sre_constants",
        "sre_parse",
        "tabnanny",
        "this",
        "trace",
        "tracemalloc",
        "unittest",
        "wsgiref",
        "xmlrpc",
        "zipapp",
    ]
)
"""Top-level modules that wait on the shelf: seldom used, or with an effect when they are imported."""

_ENCODINGS = frozenset(
    [
        "aliases",
        "ascii",
        "base64_codec",
        "charmap",
        "cp1252",
        "cp437",
        "hex_codec",
        "idna",
        "iso8859_1",
        "iso8859_15",
        "latin_1",
        "punycode",
        "raw_unicode_escape",
        "rot_13",
        "unicode_escape",
        "utf_16",
        "utf_16_be",
        "utf_16_le",
        "utf_32",
        "utf_7",
        "utf_8",
        "utf_8_sig",
    ]
)
"""The encodings that are imported early; the others wait on the shelf."""


class Shelf(MetaPathFinder, Loader):
    """Modules as compressed code."""

    def __init__(self) -> None:
        self._codes: dict[str, bytes] = {}
        self._paths: dict[str, str] = {}
        self._packages: set[str] = set()
        self._early: dict[str, ModuleType] = {}
        self._amendments: dict[str, dict[str, object]] = {}

    def __contains__(self, name: str) -> bool:
        return name in self._codes or name in self._early

    def add(self, name: str, path: str, *, package: bool) -> None:
        """Compile the source at this path and keep it."""
        with open(path, "rb") as file:  # noqa: PTH123  # pathlib is not needed yet
            code = compile(file.read(), path, "exec", dont_inherit=True)
        self._codes[name] = zlib.compress(marshal.dumps(code), 9)
        self._paths[name] = path
        if package:
            self._packages.add(name)

    def amend(self, name: str, attributes: dict[str, object]) -> None:
        """Give a module these attributes as soon as it is imported."""
        self._amendments[name] = attributes

    def keep(self, names: Iterable[str]) -> None:
        """Remember modules that are imported by now: a program that forgets or reloads one is given it again."""
        self._early = {name: sys.modules[name] for name in names}

    def find_spec(
        self, fullname: str, _path: Sequence[str] | None, _target: ModuleType | None = None, /
    ) -> importlib.machinery.ModuleSpec | None:
        """The module's spec, if it is here."""
        if fullname not in self:
            return None
        early = self._early.get(fullname)
        package = fullname in self._packages if early is None else hasattr(early, "__path__")
        spec = importlib.machinery.ModuleSpec(fullname, self, origin=self._paths.get(fullname), is_package=package)
        spec.has_location = spec.origin is not None  # modules know where they came from, as elsewhere
        return spec

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType | None:
        """The module as it was imported before; None where a new one is to be made."""
        return self._early.get(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Run the module's code, unless it was run before."""
        name = module.__spec__.name if module.__spec__ else module.__name__
        if name in self._early:
            return
        code = marshal.loads(zlib.decompress(self._codes[name]))  # noqa: S302  # our own
        exec(code, module.__dict__)  # noqa: S102  # this is what importing is
        module.__dict__.update(self._amendments.get(name, {}))


def _standard() -> Iterator[tuple[str, str, bool]]:
    """Every module of the standard library that is written in Python: name, path of the source, is it a package."""
    pending = [("", sysconfig.get_path("stdlib")), ("", "/python")]
    seen: set[str] = set()
    while pending:
        prefix, directory = pending.pop()
        for found in sorted(pkgutil.iter_modules([directory], prefix), key=lambda found: found.name):
            name = found.name
            last = name.rpartition(".")[2]
            if name in seen or last == "__main__" or name.partition(".")[0] in advice.MODULES or name in advice.MODULES:
                continue
            seen.add(name)
            here = f"{directory}/{last}"
            yield name, f"{here}/__init__.py" if found.ispkg else f"{here}.py", found.ispkg
            if found.ispkg:
                pending.append((f"{name}.", here))


def _early(name: str) -> bool:
    top, _, rest = name.partition(".")
    if top == "encodings":
        return not rest or rest in _ENCODINGS
    return top not in _AT_NEED and not top.startswith("_sysconfigdata") and "windows" not in rest


def load() -> Shelf:
    """Import the library, and shelve the rest of it."""
    shelf = Shelf()
    late = []
    for name, path, package in list(_standard()):
        if _early(name):
            try:
                __import__(name)
                continue
            except ImportError:
                pass  # it needs what does not exist here; it will say so to the program that wants it
        late.append((name, path, package))
    for name, path, package in late:
        if name not in sys.modules:
            shelf.add(name, path, package=package)
    return shelf


def close(shelf: Shelf, others: Shelf) -> None:
    """From here on modules come from memory only, and what cannot work is gone.

    Args:
        shelf: the standard library's.
        others: that of packages beside it.
    """
    for name in list(sys.modules):
        if name in advice.MODULES or name.partition(".")[0] in advice.MODULES:
            del sys.modules[name]
    theirs = {name for name in sys.modules if name in others}
    others.keep(theirs)
    shelf.keep(sys.modules.keys() - theirs)
    present = (name for name in sys.stdlib_module_names if name in shelf or name in sys.builtin_module_names)
    sys.meta_path[:] = [
        importlib.machinery.BuiltinImporter,
        importlib.machinery.FrozenImporter,
        shelf,
        others,
        absent.Absent(frozenset(present)),
    ]
    sys.path.clear()
    sys.path_hooks.clear()
    sys.path_importer_cache.clear()
