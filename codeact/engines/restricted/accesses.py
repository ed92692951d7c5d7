# ruff: noqa: N802, N815 - the visitor's methods are named after the nodes
"""Accesses: the names, attributes, items and calls of a program, and what becomes of them."""

from __future__ import annotations

import ast

from codeact.engines.restricted.names import HOSTED, SIZED, Sort, is_special, sort
from codeact.engines.restricted.rewriter import Rewriter, special_hint

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
}
"""Builtins that programs ask for and that do not exist, with what to do instead."""

_REWRITTEN = frozenset({"str", "int", "bytes", "bytearray"})
_ALIASES = frozenset({"list", "dict", "tuple", "set", "frozenset"})


class Accesses(Rewriter):
    """The part of the policy that is about what a program reaches for."""

    _aliasing = False

    # --- names -----------------------------------------------------------------------------------------------

    def visit_Name(self, node: ast.Name) -> ast.AST:
        """Names are the program's own; the builtins among them are those that were granted."""
        if isinstance(node.ctx, ast.Load) and node.id in MISSING and self.builtin(node.id):
            self.refuse(node, f"{node.id} does not exist in this sandbox", MISSING[node.id])
        elif node not in self.match_args:
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
        if node.attr in HOSTED and not self.in_pattern:
            kind = Sort.GUARDED
        if kind is Sort.REFUSED:
            self.refuse(node, f"the attribute {node.attr} cannot be used", special_hint(node.attr))
            return node
        judged = isinstance(node.value, ast.Name) and node.value.id in self.known
        if not isinstance(node.ctx, ast.Load):
            if kind is Sort.SPECIAL:
                self.refuse(node, f"the attribute {node.attr} cannot be changed")
            if judged:
                return node
            node = self.node_contents_visit(node)
            node.value = self.guard(".writable", node.value, [node.value, self.text(node.attr, node)])
            return node
        if self.in_pattern and kind is not Sort.FREE:
            self.refuse(node, f"the attribute {node.attr} cannot be used in a pattern")
            return node
        if node.attr == "__name__" and isinstance(node.value, ast.Attribute) and node.value.attr == "__class__":
            return self.guard(".class_name", node, [self.visit(node.value.value)])
        node = self.node_contents_visit(node)
        if kind is Sort.FREE or (kind is Sort.PRIVATE and judged):
            return node
        return self.guard("." + kind.value, node, [node.value, self.text(self.mangled(node.attr), node)])

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
