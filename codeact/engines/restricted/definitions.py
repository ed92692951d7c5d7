# ruff: noqa: N802, N815 - the visitor's methods are named after the nodes
"""Definitions: functions, classes, and the patterns that look into their objects."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TypeVar

from codeact.engines.restricted.names import Sort, sort
from codeact.engines.restricted.rewriter import Rewriter, at
from codeact.engines.restricted.scopes import bound_names, receiver_of

DEPTH = 40
"""Functions and classes nested in each other; the compiler's work grows with the square of it."""

_N = TypeVar("_N", bound=ast.AST)


class Definitions(Rewriter):
    """The part of the policy that is about what a program defines."""

    def _visit_function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.AST:
        self.check_name(node, node.name, allow_magic_methods=True)
        first = node.body[0]
        with_docstring = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
        # Defaults, decorators and annotations belong to the scope around: the receiver's name may be another's there.
        body, node.body = node.body, []
        node = self.node_contents_visit(node)
        outer = self.known
        inside_class = self.in_class
        node.body = body
        receiver = receiver_of(node) if inside_class else None
        self.known = outer - bound_names(node) | ({receiver} if receiver else set())
        self._inside(node, lambda: self._visit_body(node))
        self.known = outer
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
        outer, self.known = self.known, self.known - bound_names(node.args)
        self._inside(node, lambda: self.node_contents_visit(node))
        self.known = outer
        node.body = at(ast.BoolOp(ast.And(), [self.ticking(node.body), node.body]), node.body)
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        """Classes are registered as the program's own: their private names are open to it."""
        self.check_name(node, node.name)
        for statement in node.body:
            self._check_match_args(statement)
        self.classes.append(node.name)
        outer, self.known = self.known, set()
        self._inside(node, lambda: self.node_contents_visit(node))
        self.classes.pop()
        self.known = outer
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
        self.match_args.add(target)
        items = value.elts if isinstance(value, ast.Tuple) else [None]
        for item in items:
            if not (isinstance(item, ast.Constant) and isinstance(item.value, str) and sort(item.value) is Sort.FREE):
                self.refuse(statement, "__match_args__ must be a tuple of plain attribute names")
                return

    def _inside(self, node: ast.AST, visit: Callable[[], object]) -> None:
        if len(self.scopes) >= DEPTH:
            self.refuse(node, f"functions and classes are nested more than {DEPTH} levels deep")
            return
        self.scopes.append(node)
        visit()
        self.scopes.pop()

    # --- patterns --------------------------------------------------------------------------------------------

    def _visit_pattern(self, node: _N) -> _N:
        before, self.in_pattern = self.in_pattern, True
        for name in ("name", "rest"):
            self.check_name(node, getattr(node, name, None))
        node = self.node_contents_visit(node)
        self.in_pattern = before
        return node

    visit_MatchValue = visit_MatchSingleton = visit_MatchSequence = visit_MatchMapping = _visit_pattern
    visit_MatchStar = visit_MatchAs = visit_MatchOr = _visit_pattern

    def visit_MatchClass(self, node: ast.MatchClass) -> ast.AST:
        """Keywords of a class pattern are attributes that are read."""
        for name in node.kwd_attrs:
            if sort(name) is not Sort.FREE:
                self.refuse(node, f"the attribute {name} cannot be used in a pattern")
        return self._visit_pattern(node)
