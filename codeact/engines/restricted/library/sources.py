"""Modules of the standard library that work on files, made for a world from the library's own text.

The real ones would work on the host's files. Here the same text is run once more, in the world: `open` is the
world's, and all that it imports is, so nothing leads out that its functions, classes and objects lead to. Where the
library loops or is called it ticks as a program does.
"""

from __future__ import annotations

import ast
import builtins
import io
import sysconfig
from collections.abc import Callable
from importlib.machinery import PathFinder
from importlib.util import resolve_name
from types import CodeType, ModuleType
from typing import Any

from codeact.engines.restricted.library.internals import INTERNALS, PRUNED
from codeact.engines.restricted.library.parts import Parts
from codeact.engines.restricted.meter import Stopped

TEXTS = frozenset(
    [
        "_compression",
        "compression",
        "configparser",
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
_WITHHELD = frozenset(
    {"__build_class__", "__import__", "breakpoint", "compile", "eval", "exec", "exit", "help", "input", "open", "quit"}
)


class Sources:
    """The modules of one world that are made from text. They are for each other: a program gets names of them."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._modules: dict[str, ModuleType] = {}
        meter = parts.world.meter

        def tick() -> None:
            meter.tick()

        self._builtins: dict[str, Any] = {
            **{name: value for name, value in vars(builtins).items() if name not in _WITHHELD},
            "__build_class__": builtins.__build_class__,
            "__import__": self._import,
            "open": parts.world.files.open,
            "print": parts.world.builtins["print"],
            _TICK: tick,
            _CHARGED: meter.charged,
        }

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
        code, package = _text(name)
        module = self._modules[name] = ModuleType(name)
        names = module.__dict__
        names.update(__builtins__=self._builtins, __package__=name if package else name.rpartition(".")[0])
        if package:
            names["__path__"] = ()
        try:
            exec(code, names)  # noqa: S102 - the library's own
        except BaseException:
            del self._modules[name]
            raise
        outer, _, inner = name.rpartition(".")
        if outer in self._modules:
            setattr(self._modules[outer], inner, module)
        for needless in PRUNED.get(name, ()):
            names.pop(needless, None)
        for kind in [kind for kind in names.values() if isinstance(kind, type) and kind.__module__ == name]:
            _tame(kind)
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


_TICK, _CHARGED = ".tick", ".charged"
"""Names that no text can write."""

_codes: dict[str, tuple[CodeType, bool]] = {}


def _text(name: str) -> tuple[CodeType, bool]:
    """The code of a module, and whether it is a package; compiled once a process."""
    found = _codes.get(name)
    if found is None:
        spec = PathFinder.find_spec(name, [_directory(name)])
        source = getattr(spec.loader, "get_source", str)(name) if spec is not None else None
        if not source:
            msg = f"this sandbox cannot make {name}: the text of the standard library is not at hand"
            raise ModuleNotFoundError(msg, name=name)
        tree = ast.fix_missing_locations(_Charging().visit(ast.parse(source)))
        package = spec is not None and spec.submodule_search_locations is not None
        found = _codes[name] = (compile(tree, f"<{name}>", "exec", dont_inherit=True), package)
    return found


def _directory(name: str) -> str:
    return "/".join((sysconfig.get_path("stdlib"), *name.split(".")[:-1]))


class _Charging(ast.NodeTransformer):
    """Puts a tick into every function and every loop."""

    def _visit_function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.AST:
        self.generic_visit(node)
        documented = isinstance(node.body[0], ast.Expr) and isinstance(node.body[0].value, ast.Constant)
        node.body.insert(1 if documented else 0, _tick())
        return node

    visit_FunctionDef = visit_AsyncFunctionDef = _visit_function  # noqa: N815 - ast's names

    def _visit_loop(self, node: ast.For | ast.AsyncFor | ast.While) -> ast.AST:
        self.generic_visit(node)
        node.body.insert(0, _tick())
        return node

    visit_For = visit_AsyncFor = visit_While = _visit_loop  # noqa: N815 - ast's names

    def visit_comprehension(self, node: ast.comprehension) -> ast.AST:
        """Comprehensions too."""
        self.generic_visit(node)
        if not node.is_async:
            node.iter = ast.Call(ast.Name(_CHARGED, ast.Load()), [node.iter], [])
        return node


def _tick() -> ast.Expr:
    return ast.Expr(ast.Call(ast.Name(_TICK, ast.Load()), [], []))


def _tame(kind: type) -> None:
    """Take from a class what would run unseen, or escape what the guards judge."""
    names = vars(kind)
    changed: dict[str, Any] = {}
    if "__class_getitem__" in names:
        changed["__class_getitem__"] = classmethod(lambda cls, _: cls)  # the real one nests without end
    if "__del__" in names:
        changed["__del__"] = _quiet(names["__del__"], BaseException)
    if issubclass(kind, io.IOBase) and "close" in names:
        changed["close"] = _quiet(names["close"], Stopped)
    for name, value in changed.items():
        setattr(kind, name, value)


def _quiet(method: Callable[[Any], Any], kind: type[BaseException]) -> Callable[[Any], Any]:
    """The method without an error that nobody could see: the collector calls it too, when the run may be over."""

    def call(self: Any) -> Any:
        try:
            return method(self)
        except kind:
            return None

    return call
