# ruff: noqa: N802, N815 - the visitor's methods are named after the nodes
"""The policy: what a program's text may say, and how it is rewritten to say it safely.

Refusal is the default: a syntax node without a `visit_` method does not pass.
"""

from __future__ import annotations

import ast
import re
from typing import Any, TypeVar

from codeact.engines.restricted.accesses import Accesses
from codeact.engines.restricted.definitions import Definitions
from codeact.engines.restricted.operations import Operations
from codeact.engines.restricted.rewriter import at
from codeact.engines.restricted.scopes import bound_names

WIDTH = 1_000_000
"""The widest field that a format may ask for."""

_PARTS = 4
_N = TypeVar("_N", bound=ast.AST)
_LEAST_WIDTH = len(str(WIDTH))


class Policy(Operations, Accesses, Definitions):
    """Rewrites a parsed program in place, and collects what it must not say."""

    def judge(self, tree: ast.Module) -> ast.Module:
        """Rewrite a program; whether it may run is in `violations`."""
        self.taken.update(bound_names(tree))
        self.visit(tree)
        return tree

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

    # --- the rest --------------------------------------------------------------------------------------------

    def visit_Await(self, node: ast.Await) -> ast.AST:
        """Awaiting what needs no waiting is harmless."""
        node = self.node_contents_visit(node)
        node.value = self.guard(".awaitable", node.value, [node.value])
        return node

    def visit_Module(self, node: ast.Module) -> ast.AST:
        """The program itself."""
        return self.node_contents_visit(node)

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


def _wide(spec: str) -> bool:
    return any(int(digits) > WIDTH for digits in re.findall(rf"\d{{{_LEAST_WIDTH},}}", spec))
