"""Programs in the words of each peer: how it is given a value back, and how its tools are called.

A text is rewritten once and kept, so that none of this is in what is timed.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

VALUE = "_value"


@cache
def bound(program: str, name: str = VALUE) -> str:
    """The program with the value of its last expression bound to a name, for those that give no value back."""
    tree = ast.parse(program)
    if tree.body and isinstance(last := tree.body[-1], ast.Expr):
        tree.body[-1] = ast.Assign([ast.Name(name, ast.Store())], last.value)
    return ast.unparse(ast.fix_missing_locations(tree))


@cache
def printed(program: str) -> str:
    """The program, printing its value as JSON, for those that give back what was printed."""
    return f"{bound(program)}\nimport json as _json\nprint(_json.dumps({VALUE}))"


@cache
def bare(program: str) -> str:
    """The program calling `name(…)` where it says `tools.name(…)`, for those that know functions only."""
    return ast.unparse(ast.fix_missing_locations(_Bare({}).visit(ast.parse(program))))


def awaiting(program: str, functions: Mapping[str, Callable[..., Any]]) -> str:
    """As `bare`, with arguments by name, and awaited where the function is none that is awaited already."""
    return _awaiting(program, tuple(functions.items()))


@cache
def _awaiting(program: str, functions: tuple[tuple[str, Callable[..., Any]], ...]) -> str:
    return ast.unparse(ast.fix_missing_locations(_Bare(dict(functions)).visit(ast.parse(program))))


class _Bare(ast.NodeTransformer):
    def __init__(self, functions: Mapping[str, Callable[..., Any]]) -> None:
        self._functions = functions

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.func, ast.Name) or node.func.id not in self._functions:
            return node
        function = self._functions[node.func.id]
        named = zip(inspect.signature(function).parameters, node.args, strict=False)
        node.keywords[:0] = [ast.keyword(name, value) for name, value in named]
        node.args = []
        return node if inspect.iscoroutinefunction(function) else ast.Await(node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.value, ast.Name) and node.value.id == "tools":
            return ast.Name(node.attr, node.ctx)
        return node
