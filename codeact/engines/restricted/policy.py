# ruff: noqa: N802, N815 - the visitor's methods are named after the nodes
"""The policy: what a program's text may say, and how it is rewritten to say it safely.

Refusal is the default: a syntax node without a `visit_` method does not pass. Guards are called by names that begin
with a dot, which no program can write, so nothing a program binds can stand in their place.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

from codeact.engines.restricted.names import (
    ASSIGNABLE,
    DEFINABLE,
    ENUM_HOOKS,
    HOSTED,
    SIZED,
    Sort,
    is_reserved,
    is_special,
    sort,
)
from codeact.engines.restricted.operations import Operations, at
from codeact.engines.restricted.scopes import bound_names, receiver_of

DEPTH = 40
"""Functions and classes nested in each other; the compiler's work grows with the square of it."""

WIDTH = 1_000_000
"""The widest field that a format may ask for."""

MISSING: dict[str, str] = {
    "__import__": "write an import statement",
    "breakpoint": "print what you want to see",
    "compile": "write the code itself",
    "eval": "write the expression itself, or parse data with json.loads",
    "exec": "write the code itself",
    "exit": "return, or call sys.exit()",
    "quit": "return, or call sys.exit()",
    "globals": "keep state in a dict of your own",
    "input": "nobody answers; the data comes from `tools`",
    "locals": "keep state in a dict of your own",
    "memoryview": "use bytes",
    "open": "there are no files; the data comes from `tools`",
}
"""Builtins that programs ask for and that do not exist, with what to do instead."""

_LOOK = 1000
_PARTS = 4
_CHAIN = 20
_N = TypeVar("_N", bound=ast.AST)
_REWRITTEN = frozenset({"str", "int", "bytes", "bytearray"})
_ALIASES = frozenset({"list", "dict", "tuple", "set", "frozenset"})
_LEAST_WIDTH = len(str(WIDTH))


@dataclass(frozen=True, slots=True)
class Violation:
    """One thing a program may not say."""

    line: int
    offset: int
    message: str
    hint: str | None


class Policy(Operations):
    """Rewrites a parsed program in place, and collects what it must not say.

    Attributes:
        violations: empty when the program may run.
    """

    def __init__(self, taken: Iterable[str] = (), look: Callable[[], object] = bool) -> None:
        super().__init__()
        self._look = look
        self._visited = 0
        self._ready: set[ast.AST] = set()
        self.violations: list[Violation] = []
        self._taken = set(taken)
        self._scopes: list[ast.AST] = []
        self._classes: list[str] = []
        self._in_pattern = False
        self._aliasing = False
        self._known: set[str] = set()
        self._match_args: set[ast.Name] = set()

    def judge(self, tree: ast.Module) -> ast.Module:
        """Rewrite a program; whether it may run is in `violations`."""
        self._taken.update(bound_names(tree))
        self.visit(tree)
        return tree

    # --- order -----------------------------------------------------------------------------------------------

    def visit(self, node: ast.AST) -> Any:
        """Visit a node; what the text strings together (`a + b + c`, `elif`, `x.f().g()`) does not nest here."""
        if node in self._ready:
            return node
        self._visited += 1
        if self._visited % _LOOK == 0:
            self._look()
        chain: list[ast.AST] = []
        inner: Any = _strung(node)
        while inner is not None and inner not in self._ready:
            chain.append(node)
            node, inner = inner, _strung(inner)
        if len(chain) < _CHAIN:
            return super().visit(chain[0] if chain else node)
        made = super().visit(node)
        for outer in reversed(chain):
            _restring(outer, made)
            self._ready.add(made)
            made = super().visit(outer)
        return made

    # --- refusals --------------------------------------------------------------------------------------------

    def refuse(self, node: ast.AST, message: str, hint: str | None = None) -> None:
        """Note a violation."""
        line = getattr(node, "lineno", 1)
        offset = getattr(node, "col_offset", 0) + 1
        self.violations.append(Violation(line, offset, message, hint))

    def error(self, node: ast.AST, info: str) -> None:
        """Note a violation that the base class has found."""
        self.refuse(node, info)

    def not_allowed(self, node: ast.AST) -> None:
        """Refuse a kind of syntax."""
        self.refuse(node, f"{type(node).__name__} syntax is not known to this sandbox")

    def builtin(self, name: str) -> bool:
        """Whether a name means the builtin everywhere in the program."""
        return name not in self._taken

    def check_name(self, node: ast.AST, name: str | None, allow_magic_methods: bool = False) -> None:
        """Refuse names that belong to the interpreter or to machinery."""
        if name is None or name[:1] != "_":
            return
        in_class = bool(self._scopes) and isinstance(self._scopes[-1], ast.ClassDef)
        if is_special(name):
            allowed = DEFINABLE if allow_magic_methods else ASSIGNABLE
            if name == "__name__" or (in_class and name in allowed):
                return
            self.refuse(node, f"the name {name} cannot be used here", _special_hint(name))
        elif is_reserved(name) and not (in_class and name in ENUM_HOOKS):
            self.refuse(node, f"names of the form {name} are reserved", f"call it {name.strip('_')}")

    # --- names -----------------------------------------------------------------------------------------------

    def visit_Name(self, node: ast.Name) -> ast.AST:
        """Names are the program's own; the builtins among them are those that were granted."""
        if isinstance(node.ctx, ast.Load) and node.id in MISSING and self.builtin(node.id):
            self.refuse(node, f"{node.id} does not exist in this sandbox", MISSING[node.id])
        elif node not in self._match_args:
            self.check_name(node, node.id, allow_magic_methods=self._aliasing)
        return node

    def visit_arg(self, node: ast.arg) -> ast.AST:
        """Parameters, however they are passed."""
        self.check_name(node, node.arg)
        return self.node_contents_visit(node)

    def visit_keyword(self, node: ast.keyword) -> ast.AST:
        """Keywords of a call."""
        if node.arg is not None and is_special(node.arg):
            self.refuse(node.value, f"the name {node.arg} cannot be used here")
        return self.node_contents_visit(node)

    def visit_Global(self, node: ast.Global) -> ast.AST:
        """Names of the module."""
        for name in node.names:
            self.check_name(node, name)
        return node

    def visit_Nonlocal(self, node: ast.Nonlocal) -> ast.AST:
        """Names of the function around."""
        for name in node.names:
            self.check_name(node, name)
        return node

    def _visit_import(self, node: ast.Import | ast.ImportFrom) -> ast.AST:
        if getattr(node, "is_lazy", 0):
            self.refuse(node, "lazy imports are not known to this sandbox")
        for alias in node.names:
            for name in (alias.asname, *alias.name.split(".")):
                if name is not None and name.startswith("_") and name != "__future__":
                    self.check_name(node, name)
                    if isinstance(node, ast.ImportFrom) and name == alias.name:
                        self.refuse(node, f"the private name {name} cannot be imported")
        return node

    visit_Import = visit_ImportFrom = _visit_import

    # --- attributes ------------------------------------------------------------------------------------------

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        """Attribute names are judged here; those for which the object decides are read by a guard."""
        kind = sort(node.attr)
        if node.attr in HOSTED and not self._in_pattern:
            kind = Sort.GUARDED
        if kind is Sort.REFUSED:
            self.refuse(node, f"the attribute {node.attr} cannot be used", _special_hint(node.attr))
            return node
        judged = isinstance(node.value, ast.Name) and node.value.id in self._known
        if not isinstance(node.ctx, ast.Load):
            if kind is Sort.SPECIAL:
                self.refuse(node, f"the attribute {node.attr} cannot be changed")
            if judged:
                return node
            node = self.node_contents_visit(node)
            node.value = self.guard(".writable", node.value, [node.value, self.text(node.attr, node)])
            return node
        if self._in_pattern and kind is not Sort.FREE:
            self.refuse(node, f"the attribute {node.attr} cannot be used in a pattern")
            return node
        if node.attr == "__name__" and isinstance(node.value, ast.Attribute) and node.value.attr == "__class__":
            return self.guard(".class_name", node, [self.visit(node.value.value)])
        node = self.node_contents_visit(node)
        if kind is Sort.FREE or (kind is Sort.PRIVATE and judged):
            return node
        return self.guard("." + kind.value, node, [node.value, self.text(self.mangled(node.attr), node)])

    def mangled(self, name: str) -> str:
        """The name as the compiler will spell it inside the class."""
        if self._classes and name.startswith("__") and not name.endswith("__"):
            return f"_{self._classes[-1].lstrip('_')}{name}"
        return name

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        """Items need no guard; a type with arguments is bounded in depth."""
        value = node.value
        node = self.node_contents_visit(node)
        if (
            isinstance(node.ctx, ast.Load)
            and isinstance(value, ast.Name)
            and value.id in _ALIASES
            and self.builtin(value.id)
        ):
            return self.guard(".alias", node, [value, node.slice])
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """Calls of builtins and methods that grow with the size of a number go through their guard."""
        func = node.func
        if isinstance(func, ast.Attribute) and func.attr in SIZED:
            if func.attr == "join":
                node.func = self.name(".join", func)
                node.args.insert(0, func.value)
            else:
                node.func = self.name(".sized", func)
                node.args[:0] = [self.text(func.attr, func), func.value]
            return self.node_contents_visit(node)
        if isinstance(func, ast.Name) and func.id in _REWRITTEN and self.builtin(func.id):
            node.func = self.name("." + func.id, func)
        return self.node_contents_visit(node)

    # --- text ------------------------------------------------------------------------------------------------

    def visit_FormattedValue(self, node: ast.FormattedValue) -> ast.AST:
        """A field of an f-string: what it shows is bounded, and how wide it is."""
        constant = isinstance(node.value, ast.Constant)
        node = self.node_contents_visit(node)
        spec = node.format_spec
        if node.conversion != -1:
            node.value = self.guard(
                {114: ".repr", 115: ".str", 97: ".ascii"}[node.conversion], node.value, [node.value]
            )
            node.conversion = -1
        elif spec is None and not constant:
            node.value = self.guard(".text", node.value, [node.value])
        if spec is not None:
            parts = spec.values if isinstance(spec, ast.JoinedStr) else [spec]
            if not all(isinstance(part, ast.Constant) and "%s" not in str(part.value) for part in parts):
                node.value = self.guard(".format", node.value, [node.value, spec])
                node.format_spec = None
            elif any(_wide(str(part.value)) for part in parts if isinstance(part, ast.Constant)):
                self.refuse(node, f"the format is wider than {WIDTH:,} characters")
        return node

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        """An f-string of many parts is joined by the guard, which sums them up."""
        node = self.node_contents_visit(node)
        if sum(isinstance(part, ast.FormattedValue) for part in node.values) <= _PARTS:
            return node
        parts: list[ast.expr] = [
            at(ast.JoinedStr([part]), node) if isinstance(part, ast.FormattedValue) else part for part in node.values
        ]
        return self.guard(".join", node, [self.text("", node), at(ast.Tuple(parts, ast.Load()), node)])

    # --- loops -----------------------------------------------------------------------------------------------

    def visit_For(self, node: ast.For) -> ast.AST:
        """Every turn of a loop is a tick."""
        node = self.node_contents_visit(node)
        node.iter = self.charged(node.iter)
        return node

    def _visit_loop(self, node: _N) -> _N:
        loop: Any = self.node_contents_visit(node)
        loop.body.insert(0, self.tick(loop))
        return node

    visit_AsyncFor = visit_While = _visit_loop

    def visit_comprehension(self, node: ast.comprehension) -> ast.AST:
        """Every turn of a comprehension is a tick."""
        node = self.node_contents_visit(node)
        if node.is_async:
            node.ifs.insert(0, self.ticking(node.iter))
        else:
            node.iter = self.charged(node.iter)
        return node

    def _visit_comp(self, node: _N) -> _N:
        return self.node_contents_visit(node)

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _visit_comp

    # --- handlers --------------------------------------------------------------------------------------------

    def visit_Try(self, node: ast.Try) -> ast.AST:
        """A stop that is met on the way out is met again before anything else runs."""
        node = self.node_contents_visit(node)
        if node.finalbody:
            node.finalbody.insert(0, self.tick(node.finalbody[0]))
        return node

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> ast.AST:
        """See `visit_Try`."""
        self.check_name(node, node.name)
        node = self.node_contents_visit(node)
        node.body.insert(0, self.tick(node))
        return node

    def visit_TryStar(self, node: Any) -> Any:
        """Refused: some interpreters confuse types in it."""
        self.refuse(
            node.handlers[0],
            "except* cannot be used",
            "write `except ExceptionGroup as group:` and look at group.exceptions",
        )
        return node

    # --- definitions -----------------------------------------------------------------------------------------

    def _visit_function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.AST:
        self.check_name(node, node.name, allow_magic_methods=True)
        first = node.body[0]
        with_docstring = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
        # Defaults, decorators and annotations belong to the scope around: the receiver's name may be another's there.
        body, node.body = node.body, []
        node = self.node_contents_visit(node)
        outer = self._known
        inside_class = bool(self._scopes) and isinstance(self._scopes[-1], ast.ClassDef)
        node.body = body
        receiver = receiver_of(node) if inside_class else None
        self._known = outer - bound_names(node) | ({receiver} if receiver else set())
        self._inside(node, lambda: self._visit_body(node))
        self._known = outer
        entry: list[ast.stmt] = [self.tick(node)]
        if receiver is not None:
            kind = self.guard(".type", node, [self.name(receiver, node)])
            test = at(ast.Compare(kind, [ast.NotIn()], [self.name(".classes", node)]), node)
            judge = at(ast.Expr(self.guard(".receiver", node, [self.name(receiver, node)])), node)
            entry.append(at(ast.If(test, [judge], []), node))
        node.body[1 if with_docstring else 0 : 1 if with_docstring else 0] = entry
        return node

    visit_FunctionDef = visit_AsyncFunctionDef = _visit_function

    def _visit_body(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        node.body = [self.visit(statement) for statement in node.body]

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        """A lambda's call is a tick."""
        outer, self._known = self._known, self._known - bound_names(node.args)
        self._inside(node, lambda: self.node_contents_visit(node))
        self._known = outer
        node.body = at(ast.BoolOp(ast.And(), [self.ticking(node.body), node.body]), node.body)
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        """Classes are registered as the program's own: their private names are open to it."""
        self.check_name(node, node.name)
        for statement in node.body:
            self._check_match_args(statement)
        self._classes.append(node.name)
        outer, self._known = self._known, set()
        self._inside(node, lambda: self.node_contents_visit(node))
        self._classes.pop()
        self._known = outer
        own = self.name(".own", node)
        node.decorator_list = [self.name(".still_own", node), *node.decorator_list, own]
        return node

    def _check_match_args(self, statement: ast.stmt) -> None:
        """Positional patterns read the attributes that a class lists as text."""
        match statement:
            case ast.Assign(targets=[ast.Name(id="__match_args__") as target], value=value):
                pass
            case ast.AnnAssign(target=ast.Name(id="__match_args__") as target, value=value):
                pass
            case _:
                return
        self._match_args.add(target)
        items = value.elts if isinstance(value, ast.Tuple) else [None]
        for item in items:
            if not (isinstance(item, ast.Constant) and isinstance(item.value, str) and sort(item.value) is Sort.FREE):
                self.refuse(statement, "__match_args__ must be a tuple of plain attribute names")
                return

    def _inside(self, node: ast.AST, visit: Callable[[], object]) -> None:
        if len(self._scopes) >= DEPTH:
            self.refuse(node, f"functions and classes are nested more than {DEPTH} levels deep")
            return
        self._scopes.append(node)
        visit()
        self._scopes.pop()

    def visit_Await(self, node: ast.Await) -> ast.AST:
        """Awaiting what needs no waiting is harmless."""
        node = self.node_contents_visit(node)
        node.value = self.guard(".awaitable", node.value, [node.value])
        return node

    def visit_Module(self, node: ast.Module) -> ast.AST:
        """The program itself."""
        return self.node_contents_visit(node)

    # --- patterns --------------------------------------------------------------------------------------------

    def _visit_pattern(self, node: _N) -> _N:
        before, self._in_pattern = self._in_pattern, True
        for name in ("name", "rest"):
            self.check_name(node, getattr(node, name, None))
        node = self.node_contents_visit(node)
        self._in_pattern = before
        return node

    visit_MatchValue = visit_MatchSingleton = visit_MatchSequence = visit_MatchMapping = _visit_pattern
    visit_MatchStar = visit_MatchAs = visit_MatchOr = _visit_pattern

    def visit_MatchClass(self, node: ast.MatchClass) -> ast.AST:
        """Keywords of a class pattern are attributes that are read."""
        for name in node.kwd_attrs:
            if sort(name) is not Sort.FREE:
                self.refuse(node, f"the attribute {name} cannot be used in a pattern")
        return self._visit_pattern(node)

    # --- what needs no more than its parts judged -------------------------------------------------------------

    def _pass(self, node: _N) -> _N:
        return self.node_contents_visit(node)

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        """A class may give a special method of its own a second name: `__radd__ = __add__`."""
        before, self._aliasing = self._aliasing, isinstance(node.value, ast.Name)
        node = self.node_contents_visit(node)
        self._aliasing = before
        return node

    visit_AnnAssign = visit_With = visit_AsyncWith = visit_withitem = visit_alias = _pass
    visit_Match = visit_match_case = _pass

    def _visit_type_param(self, node: _N) -> _N:
        self.check_name(node, getattr(node, "name", None))
        return self.node_contents_visit(node)

    visit_TypeVar = visit_TypeVarTuple = visit_ParamSpec = _visit_type_param
    visit_TypeAlias = _pass


def _strung(node: ast.AST) -> ast.AST | None:
    """What a node continues."""
    kind = type(node)
    if kind is ast.BinOp:
        left: Any = node.left  # type: ignore[attr-defined]
        return left if type(left) is ast.BinOp else None
    if kind is ast.Call:
        called: Any = node.func  # type: ignore[attr-defined]
        inner: Any = called.value if type(called) is ast.Attribute else None
        return inner if type(inner) is ast.Call else None
    if kind is ast.If:
        rest: Any = node.orelse  # type: ignore[attr-defined]
        return rest[0] if len(rest) == 1 and type(rest[0]) is ast.If else None
    return None


def _restring(node: Any, made: Any) -> None:
    """Put what became of it in its place."""
    if type(node) is ast.BinOp:
        node.left = made
    elif type(node) is ast.Call:
        called: Any = node.func
        called.value = made
    else:
        node.orelse = [made]


def _special_hint(name: str) -> str | None:
    hints = {
        "__class__": "type(x) gives the class; type(x).__name__ its name",
        "__dict__": "vars(x) gives the fields of your own objects",
        "__file__": "there are no files here",
        "__builtins__": "call the builtin by its name",
        "__getattr__": "keep the fields in a dict and define __getitem__",
        "__del__": "use a with statement, or try/finally",
        "__traceback__": "str(error) gives its message",
        "__cause__": "str(error) gives its message",
        "__context__": "str(error) gives its message",
        "with_traceback": "raise the error itself",
    }
    return hints.get(name)


def _wide(spec: str) -> bool:
    return any(int(digits) > WIDTH for digits in re.findall(rf"\d{{{_LEAST_WIDTH},}}", spec))
