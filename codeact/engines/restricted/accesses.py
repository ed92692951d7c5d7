# ruff: noqa: N802, N815 - the visitor's methods are named after the nodes
"""Accesses: the names, attributes, items and calls of a program, and what becomes of them."""

from __future__ import annotations

import ast

from codeact.engines.restricted.names import ADDABLE, HOSTED, JUDGED, LOADABLE, SIZED, WRITABLE, Sort, is_special, sort
from codeact.engines.restricted.refusals import EVALUATORS, MISSING, refusal
from codeact.engines.restricted.rewriter import Rewriter, at

_REWRITTEN = frozenset({"str", "int", "bytes", "bytearray", "list", "tuple", "set", "frozenset"})
_JUDGED_BY_TYPE = {"str": ".plain", "int": ".scalars", "type": None}
_LITERALS = (ast.Constant, ast.JoinedStr, ast.Tuple, ast.List, ast.Set, ast.Dict)
_ALIASES = frozenset({"list", "dict", "tuple", "set", "frozenset"})


class Accesses(Rewriter):
    """The part of the policy that is about what a program reaches for.

    Attributes:
        names_at_top: the guard that gives the names at the top of the text; a program that returns is a function.
        comprehensions: how many there are around what is visited.
    """

    names_at_top = ".names_of_module"
    comprehensions = 0

    # --- names -----------------------------------------------------------------------------------------------

    def visit_Name(self, node: ast.Name) -> ast.AST:
        """Names are the program's own; the builtins among them are those that were granted."""
        if not self.scopes:
            self.outer.add(node.id)
        if not isinstance(node.ctx, ast.Load):
            if node not in self.judged:
                self.check_name(node, node.id)
        elif node.id in MISSING and self.builtin(node.id):
            row = refusal(node.id)
            lacks = "cannot be a value" if node.id in EVALUATORS else "does not exist in this sandbox"
            self.refuse(node, f"{node.id} {lacks}: {row.why}", row.instead)
        elif is_special(node.id):
            if node.id not in LOADABLE:
                self.refuse_name(node, node.id)
        else:
            self.check_name(node, node.id)
        return node

    def visit_arg(self, node: ast.arg) -> ast.AST:
        """Parameters, however they are passed."""
        self.check_name(node, node.arg)
        return node if self.annotations_are_text else self.node_contents_visit(node)

    def visit_keyword(self, node: ast.keyword) -> ast.AST:
        """Keywords of a call."""
        if node.arg is not None and is_special(node.arg):
            self.refuse_name(node.value, node.arg)
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
                        row = refusal("import")
                        self.refuse(node, f"{name} cannot be imported: {row.why}", row.instead)
        return node

    visit_Import = visit_ImportFrom = _visit_import

    # --- attributes ------------------------------------------------------------------------------------------

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        """Attribute names are judged here; those for which the object decides are read by a guard."""
        kind = sort(node.attr)
        if node.attr in HOSTED and not self.in_pattern:
            kind = Sort.GUARDED
        if kind is Sort.REFUSED or (node.attr == "__class__" and isinstance(node.value, _LITERALS)):
            row = refusal(node.attr)
            self.refuse(node, f"the attribute {node.attr} cannot be used: {row.why}", row.instead)
            return node
        judged = isinstance(node.value, ast.Name) and node.value.id in self.known
        if not isinstance(node.ctx, ast.Load):
            return self._visit_written(node, kind, judged=judged)
        if self.in_pattern and kind is not Sort.FREE:
            row = refusal("pattern")
            self.refuse(node, f"the attribute {node.attr} cannot be read by a pattern: {row.why}", row.instead)
            return node
        if node.attr == "__name__" and isinstance(node.value, ast.Attribute) and node.value.attr == "__class__":
            return self.guard(".class_name", node, [self.visit(node.value.value)])
        node = self.node_contents_visit(node)
        if kind is Sort.FREE or (kind is Sort.PRIVATE and judged):
            return node
        return self.guard("." + kind.value, node, [node.value, self.text(self.mangled(node.attr), node)])

    def _visit_written(self, node: ast.Attribute, kind: Sort, *, judged: bool) -> ast.AST:
        guard = ".writable"
        if kind is Sort.SPECIAL:
            if isinstance(node.ctx, ast.Del) or node.attr not in WRITABLE | ADDABLE:
                row = refusal(node.attr if node.attr in JUDGED else "writing")
                self.refuse(node, f"the attribute {node.attr} cannot be changed: {row.why}", row.instead)
                return node
            guard = ".alterable"
        elif judged:
            return node
        node = self.node_contents_visit(node)
        node.value = self.guard(guard, node.value, [node.value, self.text(node.attr, node)])
        return node

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
        if isinstance(func, ast.Name) and func.id in EVALUATORS and self.builtin(func.id):
            return self._visit_evaluator(node, func)
        if isinstance(func, ast.Attribute) and func.attr in SIZED:
            if func.attr == "join":
                node.func = self.name(".join", func)
                node.args.insert(0, func.value)
            elif _in_turn(node):
                node.func = self.name(".sized_" + func.attr, func)
                node.args.insert(0, func.value)
            else:
                node.func = self.name(".sized", func)
                node.args[:0] = [self.text(func.attr, func), func.value]
        elif isinstance(func, ast.Name) and self.builtin(func.id):
            if func.id in _JUDGED_BY_TYPE and len(node.args) == 1 and _in_turn(node):
                return self._visit_conversion(node, func)
            if func.id in _REWRITTEN:
                node.func = self.name("." + func.id, func)
        node = self.node_contents_visit(node)
        if len(node.args) == 1 and isinstance(node.args[0], ast.Starred):
            node.args[0].value = self.guard(".spread", node, [node.args[0].value])
        return node

    def _visit_conversion(self, node: ast.Call, func: ast.Name) -> ast.expr:
        """What one value is made of one other: for most types of that, the builtin does it as it is."""
        types = _JUDGED_BY_TYPE[func.id]
        node = self.node_contents_visit(node)
        call = self.guard(".kind" if func.id == "type" else "." + func.id, node, node.args)
        value = node.args[0]
        if types is None or not self.steady or not isinstance(value, ast.Name):
            return call
        kind = self.guard(".type", value, [value])
        made = at(ast.IfExp(at(ast.Compare(kind, [ast.In()], [self.name(types, value)]), value), node, call), node)
        self.plain.add(made)
        return made

    def _visit_evaluator(self, node: ast.Call, func: ast.Name) -> ast.AST:
        """What sees the names of the place where it is called is given them."""
        if not self.source.isascii() and ast.get_source_segment(self.source, func) != func.id:
            self.refuse(func, f"{func.id} is written in other letters than its own", f"write {func.id}")
        node = self.node_contents_visit(at(ast.Call(self.name("." + func.id, func), node.args, node.keywords), node))
        if func.id != "compile":
            here = ".names_here" if self.scopes or self.comprehensions else self.names_at_top
            node.args[:0] = [self.guard(".names_of_module", node, []), self.guard(here, node, [])]
        return node


def _in_turn(node: ast.Call) -> bool:
    """Whether its arguments are given one by one, and without their names."""
    return not node.keywords and not any(isinstance(arg, ast.Starred) for arg in node.args)
