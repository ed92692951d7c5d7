"""The rewriter: how a program's text is walked, what is noted against it, and what guards are spelled like.

Guards are called by names that begin with a dot, which no program can write, so nothing a program binds can stand in
their place.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

from RestrictedPython.transformer import RestrictingNodeTransformer

from codeact.engines.restricted.names import (
    ASSIGNABLE,
    DEFINABLE,
    RESERVED,
    VARIABLES,
    is_special,
)
from codeact.engines.restricted.refusals import refusal

_LOOK = 1000
_CHAIN = 20
_STRINGING = frozenset({ast.BinOp, ast.Call, ast.If})
_BARE = frozenset(
    kind
    for family in (ast.expr_context, ast.boolop, ast.operator, ast.unaryop, ast.cmpop)
    for kind in family.__subclasses__()
    if hasattr(RestrictingNodeTransformer, f"visit_{kind.__name__}")
)
"""Nodes that hold nothing, and are passed."""

LOAD = ast.Load()
_N = TypeVar("_N", bound=ast.AST)


def at(made: _N, near: Any) -> _N:
    """A node of ours, where the program's own node is."""
    new: Any = made
    new.lineno = near.lineno
    new.col_offset = near.col_offset
    new.end_lineno = near.end_lineno
    new.end_col_offset = near.end_col_offset
    return made


@dataclass(frozen=True, slots=True)
class Violation:
    """One thing a program may not say."""

    line: int
    offset: int
    message: str
    hint: str | None


class Rewriter(RestrictingNodeTransformer):
    """What the parts of the policy have in common.

    Attributes:
        violations: empty when the program may run.
        outer: names that are read or bound outside functions and classes, guards included.
        annotated: those of them that are annotated.
        numeric: conditional expressions of the policy's own whose first part gives a number.
        plain: those that give a number or a text either way.
        steady: whether a name that is read twice is the same both times.
    """

    steady = True

    def __init__(self, source: str = "", taken: Iterable[str] = (), look: Callable[[], object] = bool) -> None:
        super().__init__()
        self.source = source
        self.violations: list[Violation] = []
        self.taken = set(taken)
        self.scopes: list[ast.AST] = []
        self.classes: list[str] = []
        self.known: set[str] = set()
        self.in_pattern = False
        self.judged: set[ast.Name] = set()
        self.annotations_are_text = False
        self.outer: set[str] = set()
        self.annotated: set[str] = set()
        self.numeric: set[ast.expr] = set()
        self.plain: set[ast.expr] = set()
        self._look = look
        self._visited = 0
        self._ready: set[ast.AST] = set()

    # --- order -----------------------------------------------------------------------------------------------

    def visit(self, node: ast.AST) -> Any:
        """Visit a node; what the text strings together (`a + b + c`, `elif`, `x.f().g()`) does not nest here."""
        kind = type(node)
        if kind in _BARE or (self._ready and node in self._ready):
            return node
        self._visited += 1
        if self._visited % _LOOK == 0:
            self._look()
        if kind not in _STRINGING:
            return self._visit(node)
        chain: list[ast.AST] = []
        inner: Any = _strung(node)
        while inner is not None and inner not in self._ready:
            chain.append(node)
            node, inner = inner, _strung(inner)
        if len(chain) < _CHAIN:
            return self._visit(chain[0] if chain else node)
        made = self._visit(node)
        for outer in reversed(chain):
            _restring(outer, made)
            self._ready.add(made)
            made = self._visit(outer)
        return made

    def _visit(self, node: ast.AST) -> Any:
        return getattr(self, "visit_" + type(node).__name__, self.generic_visit)(node)

    def node_contents_visit(self, node: _N) -> _N:
        """Visit what a node holds, as the base class does, which asks for more and takes twice as long."""
        visit = self.visit
        inside = node.__dict__
        for field in node._fields:
            held = inside.get(field)
            if type(held) is list:
                kept: list[Any] = []
                for each in held:
                    made = visit(each) if isinstance(each, ast.AST) else each
                    if isinstance(made, list):
                        kept += made
                    elif made is not None or each is None:
                        kept.append(made)
                held[:] = kept
            elif isinstance(held, ast.AST) and type(held) not in _BARE:
                made = visit(held)
                if made is None:
                    delattr(node, field)
                elif made is not held:
                    setattr(node, field, made)
        return node

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
        return name not in self.taken

    def check_name(self, node: ast.AST, name: str | None, allow_magic_methods: bool = False) -> None:
        """Refuse to bind names that belong to the interpreter or to machinery."""
        if name is None or name[:1] != "_":
            return
        if is_special(name):
            own = (DEFINABLE if allow_magic_methods else ASSIGNABLE) if self.in_class else VARIABLES
            if name not in own and name != "__name__":
                self.refuse_name(node, name)
        elif name in RESERVED:
            row = refusal("_x_")
            self.refuse(node, f"{name}: {row.why}", row.instead)

    def refuse_name(self, node: ast.AST, name: str) -> None:
        """Note that a special name may not be used as the program does."""
        row = refusal(name)
        how = "defined" if row.kind == "method" else "used here"
        self.refuse(node, f"{name} cannot be {how}: {row.why}", row.instead)

    @property
    def in_class(self) -> bool:
        """Whether the names bound here are a class's."""
        return bool(self.scopes) and isinstance(self.scopes[-1], ast.ClassDef)

    def mangled(self, name: str) -> str:
        """A private name as the compiler will spell it inside the class."""
        if self.classes and name.startswith("__") and not name.endswith("__"):
            return f"_{self.classes[-1].lstrip('_')}{name}"
        return name

    # --- guards ----------------------------------------------------------------------------------------------

    def name(self, guard: str, near: ast.AST) -> ast.Name:
        """The name of a guard."""
        if not self.scopes:
            self.outer.add(guard)
        return at(ast.Name(guard, LOAD), near)

    def guard(self, guard: str, near: ast.AST, args: list[ast.expr]) -> ast.Call:
        """The call of a guard."""
        return at(ast.Call(self.name(guard, near), args, []), near)

    def text(self, value: str, near: ast.AST) -> ast.Constant:
        """A text for a guard."""
        return at(ast.Constant(value), near)

    def ticking(self, near: ast.AST) -> ast.Call:
        """The expression that counts one unit of work; it is always true."""
        return self.guard(".next", near, [self.name(".stream", near)])

    def tick(self, near: ast.AST) -> ast.Expr:
        """The statement that counts one unit of work."""
        return at(ast.Expr(self.ticking(near)), near)

    def charged(self, items: ast.expr) -> ast.Call:
        """The same items, a unit of work each: cheaper than a statement in the loop's body."""
        return self.guard(".compress", items, [items, self.name(".stream", items)])


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
