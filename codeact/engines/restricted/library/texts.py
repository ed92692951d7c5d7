"""The standard library's own texts, to be run once more in a world: they tick as a program does.

A module that is written in Python runs with the world's builtins, and with imports of the world's choosing. So its
classes, caches and registries belong to one world; it prints and opens files where the world does.
"""

from __future__ import annotations

import ast
import builtins
import io
import sysconfig
from collections.abc import Callable
from functools import cache
from importlib.machinery import PathFinder
from types import CodeType
from typing import Any

from codeact.engines.restricted.library.parts import Parts
from codeact.engines.restricted.meter import Stopped

_TICK, _CHARGED = ".tick", ".charged"
"""Names that no text can write."""

_WITHHELD = frozenset({"breakpoint", "compile", "eval", "exec", "exit", "help", "input", "quit"})


def package_of(module: str) -> str:
    """The package that a module's relative imports begin at."""
    return module if _text(module)[1] else module.rpartition(".")[0]


def run_text(module: str, names: dict[str, Any]) -> None:
    """Run a module's text.

    Args:
        module: its name.
        names: what it begins with, and where it leaves what it defines; `__builtins__` are `builtins_for` a world.

    Raises:
        ModuleNotFoundError: this interpreter has it without its text.
    """
    names.update(__name__=module, __package__=package_of(module))
    exec(_text(module)[0], names)  # noqa: S102 - the library's own
    for kind in [kind for kind in names.values() if isinstance(kind, type) and kind.__module__ == module]:
        _tame(kind)


def builtins_for(parts: Parts, importing: Callable[..., Any]) -> dict[str, Any]:
    """The builtins of texts that run in a world and import by this."""
    meter = parts.world.meter
    return {
        **{name: value for name, value in vars(builtins).items() if name not in _WITHHELD},
        "__import__": importing,
        "open": parts.world.builtins["open"],
        "print": parts.world.builtins["print"],
        _TICK: meter.tick,
        _CHARGED: meter.charged,
    }


@cache
def _text(module: str) -> tuple[CodeType, bool]:
    """The code of a module, and whether it is a package; compiled once a process."""
    spec = PathFinder.find_spec(module, [_directory(module)])
    source = getattr(spec.loader, "get_source", str)(module) if spec is not None else None
    if spec is None or not source:
        msg = f"this sandbox cannot make {module}: the text of the standard library is not at hand"
        raise ModuleNotFoundError(msg, name=module)
    tree = ast.fix_missing_locations(_Charging().visit(ast.parse(source)))
    # The real name of its file: records know the library by it.
    code = compile(tree, spec.origin or module, "exec", dont_inherit=True)
    return code, spec.submodule_search_locations is not None


def _directory(module: str) -> str:
    return "/".join((sysconfig.get_path("stdlib"), *module.split(".")[:-1]))


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
        changed["__del__"] = quiet(names["__del__"], BaseException)
    if issubclass(kind, io.IOBase) and "close" in names:
        changed["close"] = quiet(names["close"])
    for name, value in changed.items():
        setattr(kind, name, value)


def quiet(method: Callable[[Any], Any], kind: type[BaseException] = Stopped) -> Callable[[Any], Any]:
    """A method without an error that nobody could see: the collector calls it too, when the run may be over."""

    def call(self: Any) -> Any:
        try:
            return method(self)
        except kind:
            return None

    return call
