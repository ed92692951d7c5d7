# ruff: noqa: N802, N815 - the visitor's methods are named after the nodes
"""Definitions: functions, classes, and the patterns that look into their objects."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TypeVar

from codeact.engines.restricted.names import ADDABLE, JUDGED, SIZED, in_pattern, is_special
from codeact.engines.restricted.refusals import refusal
from codeact.engines.restricted.rewriter import Rewriter, at
from codeact.engines.restricted.scopes import bound_names, reads, receiver_of, returns_of

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
        returns = node.returns
        if self.annotations_are_text:
            node.returns = None
        node = self.node_contents_visit(node)
        node.returns = node.returns or returns
        outer = self.known
        inside_class = self.in_class
        if inside_class and node.name in JUDGED:
            self._judge_method(node, body)
        node.body = body
        receiver = receiver_of(node) if inside_class else None
        self.known = outer - bound_names(node) | ({receiver} if receiver else set())
        self._inside(node, lambda: self._visit_body(node))
        self.known = outer
        entry: list[ast.stmt] = [self.tick(node)]
        if inside_class and node.name == "__new__":
            for found in returns_of(node):
                found.value = self.guard(".made", found, [found.value or at(ast.Constant(None), found)])
        if inside_class and node.name == "__getattr__":
            asked = [self.name(parameter.arg, node) for parameter in node.args.args]
            entry.append(at(ast.Expr(self.guard(".asked", node, [*asked])), node))
        if receiver is not None:
            kind = self.guard(".type", node, [self.name(receiver, node)])
            test = at(ast.Compare(kind, [ast.NotIn()], [self.name(".classes", node)]), node)
            judge = at(ast.Expr(self.guard(".receiver", node, [self.name(receiver, node)])), node)
            entry.append(at(ast.If(test, [judge], []), node))
        node.body[1 if with_docstring else 0 : 1 if with_docstring else 0] = entry
        return node

    visit_FunctionDef = visit_AsyncFunctionDef = _visit_function

    def _judge_method(self, node: ast.FunctionDef | ast.AsyncFunctionDef, body: list[ast.stmt]) -> None:
        """What answers for names, or makes objects, must be seen whole where it is written."""
        arguments = node.args
        plain = isinstance(node, ast.FunctionDef) and not node.decorator_list
        if node.name == "__getattr__":
            simple = len(arguments.args) == 2 and not (  # noqa: PLR2004 - object and name
                arguments.posonlyargs
                or arguments.kwonlyargs
                or arguments.vararg
                or arguments.kwarg
                or arguments.defaults
            )
            plain = plain and simple and any(reads(statement, arguments.args[1].arg) for statement in body)
        if not plain:
            row = refusal(node.name)
            self.refuse(
                (*node.decorator_list, node)[0], f"{node.name} cannot be defined like this: {row.why}", row.instead
            )

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
        self.classes.append(node.name)
        outer, self.known = self.known, set()
        self._inside(node, lambda: self.node_contents_visit(node))
        self.classes.pop()
        self.known = outer
        own = self.name(".own", node)
        node.decorator_list = [self.name(".still_own", node), *node.decorator_list, own]
        return node

    def _visit_assignment(self, node: ast.Assign | ast.AnnAssign) -> ast.AST:
        """A class may bind special methods by assignment: `__radd__ = __add__`."""
        if not self.scopes and isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            self.annotated.add(node.target.id)
        if self.in_class:
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                if isinstance(target, ast.Name) and is_special(target.id):
                    self._judge_binding(node, target)
        if self.annotations_are_text and isinstance(node, ast.AnnAssign):
            node.target = self.visit(node.target)
            node.value = node.value and self.visit(node.value)
            return node
        return self.node_contents_visit(node)

    visit_Assign = visit_AnnAssign = _visit_assignment

    def _judge_binding(self, node: ast.Assign | ast.AnnAssign, target: ast.Name) -> None:
        if target.id in ADDABLE:
            self.judged.add(target)
        elif target.id == "__getattr__" and len(getattr(node, "targets", ())) == 1 and self.builtin("dict"):
            match node.value:
                case ast.Attribute(value=ast.Name(id="dict"), attr="get" | "__getitem__" as method):
                    self.judged.add(target)
                    node.value = self.name(".dict_" + method.strip("_"), node)
        elif target.id == "__match_args__" and len(getattr(node, "targets", (target,))) == 1:
            self.judged.add(target)
            items = node.value.elts if isinstance(node.value, ast.Tuple) else [None]
            if not all(map(_plain, items)):
                row = refusal(target.id)
                self.refuse(node, f"__match_args__ cannot be computed: {row.why}", row.instead)

    def _inside(self, node: ast.AST, visit: Callable[[], object]) -> None:
        if len(self.scopes) >= DEPTH:
            row = refusal("depth")
            self.refuse(node, f"functions and classes nested more than {DEPTH} levels deep: {row.why}", row.instead)
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
        for name, pattern in zip(node.kwd_attrs, node.kwd_patterns, strict=True):
            if not in_pattern(name) and not (name in SIZED and _only_looks(pattern)):
                row = refusal("pattern")
                self.refuse(node, f"the attribute {name} cannot be read by a pattern: {row.why}", row.instead)
        return self._visit_pattern(node)


def _only_looks(pattern: ast.pattern) -> bool:
    """Whether what a pattern is held against stays unnamed."""
    if isinstance(pattern, ast.MatchAs):
        return pattern.name is None
    if isinstance(pattern, ast.MatchOr):
        return all(map(_only_looks, pattern.patterns))
    return True


def _plain(item: ast.expr | None) -> bool:
    """Whether it is the name of an attribute that is read without a guard."""
    return isinstance(item, ast.Constant) and isinstance(item.value, str) and in_pattern(item.value)
