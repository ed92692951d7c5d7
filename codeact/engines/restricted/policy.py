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
from codeact.engines.restricted.refusals import refusal
from codeact.engines.restricted.rewriter import LOAD, at
from codeact.engines.restricted.scopes import bound_names, leaving

WIDTH = 1_000_000
"""The widest field that a format may ask for."""

_PARTS = 4
_N = TypeVar("_N", bound=ast.AST)
_LEAST_WIDTH = len(str(WIDTH))


class Policy(Operations, Accesses, Definitions):
    """Rewrites a parsed program in place, and collects what it must not say."""

    _stars = 0
    _repeats = False

    def judge(self, tree: _N) -> _N:
        """Rewrite a program; whether it may run is in `violations`."""
        self.taken.update(bound_names(tree))
        self.annotations_are_text = any(
            map(_makes_text, getattr(tree, "body", ())) if isinstance(tree, ast.Module) else ()
        )
        self.visit(tree)
        return tree

    def declare(self, tree: ast.Module) -> None:
        """Say of a judged program's names that they are global, which at the top of it is what they are.

        Said so, they are looked up where the interpreter has found them last, as in functions; otherwise in three dicts
        at every turn of a loop.
        """
        if not self._repeats or len(tree.body) == 1:
            return
        names = sorted(self.outer - self.annotated)  # a name cannot be both
        start = next(place for place, statement in enumerate(tree.body) if not _leads(statement))
        tree.body.insert(start, at(ast.Global(names), tree.body[start]))

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
                row = refusal("width")
                self.refuse(node, f"the format is wider than {WIDTH:,} characters: {row.why}", row.instead)
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
        self._repeats |= not self.scopes
        node = self.node_contents_visit(node)
        node.iter = self.charged(node.iter)
        return node

    def _visit_loop(self, node: _N) -> _N:
        self._repeats |= not self.scopes
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
        self._repeats |= not self.scopes
        self.comprehensions += 1
        node = self.node_contents_visit(node)
        self.comprehensions -= 1
        if isinstance(node, ast.DictComp):
            node.key = self._key(node.key)
        elif isinstance(node, ast.SetComp):
            node.elt = self._key(node.elt)
        return node

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
        """Exception groups are taken apart by the engine: some interpreters confuse types in it."""
        self._stars += 1
        caught, matched, raised = (f".{what}{self._stars}" for what in ("caught", "matched", "raised"))
        parts: list[ast.stmt] = [
            at(
                ast.Assign(
                    [at(ast.Name(caught, ast.Store()), node)], self.guard(".star", node, [self.name(caught, node)])
                ),
                node,
            )
        ]
        for handler in node.handlers:
            self.check_name(handler, handler.name)
            left = leaving(handler.body)
            if left is not None:
                self.refuse(
                    left, f"{type(left).__name__.lower()} cannot leave an except* block", "set a variable there"
                )
            group = self.name(caught, handler)
            match = self._method(group, "match", [self.visit(handler.type)])
            body: list[ast.stmt] = [self.visit(statement) for statement in handler.body]
            forget: list[ast.stmt] = []
            if handler.name is not None:
                own = at(ast.Name(handler.name, ast.Store()), handler)
                body.insert(0, at(ast.Assign([own], self.name(matched, handler)), handler))
                forget = [
                    at(ast.Assign([own], at(ast.Constant(None), handler)), handler),
                    at(ast.Delete([at(ast.Name(handler.name, ast.Del()), handler)]), handler),
                ]
            keep = self._method(group, "keep", [self.name(raised, handler)])
            begin = self._method(group, "begin", [self.name(matched, handler)])
            inner = at(ast.Try(body, [self._handler(raised, [keep], handler)], [], forget), handler)
            parts.append(at(ast.Try([match], [self._handler(matched, [begin, inner], handler)], [], []), handler))
        parts.append(self._method(self.name(caught, node), "finish", []))
        made = ast.Try(
            [self.visit(statement) for statement in node.body],
            [self._handler(caught, parts, node)],
            [self.visit(statement) for statement in node.orelse],
            [self.visit(statement) for statement in node.finalbody],
        )
        if made.finalbody:
            made.finalbody.insert(0, self.tick(made.finalbody[0]))
        return at(made, node)

    def _method(self, group: ast.Name, method: str, args: list[ast.expr]) -> ast.stmt:
        """The call of a method of the engine's own object."""
        return at(ast.Expr(at(ast.Call(at(ast.Attribute(group, method, LOAD), group), args, []), group)), group)

    def _handler(self, name: str, body: list[ast.stmt], near: Any) -> ast.ExceptHandler:
        return at(ast.ExceptHandler(self.name(".BaseException", near), name, body), near)

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

    visit_With = visit_AsyncWith = visit_withitem = visit_alias = _pass
    visit_Match = visit_match_case = _pass

    def _visit_type_param(self, node: _N) -> _N:
        self.check_name(node, getattr(node, "name", None))
        return self.node_contents_visit(node)

    visit_TypeVar = visit_TypeVarTuple = visit_ParamSpec = _visit_type_param
    visit_TypeAlias = _pass


def _wide(spec: str) -> bool:
    return any(int(digits) > WIDTH for digits in re.findall(rf"\d{{{_LEAST_WIDTH},}}", spec))


def _leads(statement: ast.stmt) -> bool:
    """Whether it has to come before everything else: a docstring, and what is imported from the future."""
    if isinstance(statement, ast.ImportFrom):
        return statement.module == "__future__"
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _makes_text(statement: ast.stmt) -> bool:
    """Whether it makes annotations text that is never evaluated: that text is to be what the program says."""
    return (
        isinstance(statement, ast.ImportFrom)
        and statement.module == "__future__"
        and any(alias.name == "annotations" for alias in statement.names)
    )
