"""Names: which ones a piece of program binds, and by which one a method knows its object."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

_BINDING = frozenset({"name", "asname", "rest", "arg"})
_NAMING = frozenset({ast.Global, ast.Nonlocal})


def bound_names(tree: ast.AST) -> set[str]:
    """Every name the program binds, anywhere."""
    found: set[str] = set()
    pending: list[Any] = [tree]
    while pending:
        node = pending.pop()
        kind = type(node)
        if kind is list:
            pending += node
        elif kind is ast.Name:
            if type(node.ctx) is not ast.Load:
                found.add(node.id)
        elif kind is not ast.Constant and isinstance(node, ast.AST):
            if kind in _NAMING:
                found.update(node.names)  # type: ignore[attr-defined]
            for field, value in node.__dict__.items():
                held = type(value)
                if held is list or isinstance(value, ast.AST):
                    pending.append(value)
                elif held is str and field in _BINDING:
                    found.add(value.partition(".")[0])
    return found


def receiver_of(node: ast.FunctionDef | ast.AsyncFunctionDef) -> str | None:
    """The name that a method knows its object by, where it is judged once on entry for all that follows.

    That needs a name that is bound nowhere else in the method, and is worth it where private names or
    assignments of attributes follow.
    """
    parameters = [*node.args.posonlyargs, *node.args.args]
    if not parameters:
        return None
    name = parameters[0].arg
    if node.name == "__new__" or any(
        isinstance(found, ast.Name) and found.id == "staticmethod" for found in node.decorator_list
    ):
        return None
    rest: list[Any] = [*parameters[1:], *node.args.kwonlyargs, *node.body]
    if node.args.vararg or node.args.kwarg:
        rest += [node.args.vararg, node.args.kwarg]
    if any(name in bound_names(part) for part in rest if part is not None):
        return None
    return name if _relies(node, name) else None


def returns_of(node: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[ast.Return]:
    """The `return` statements of a function itself."""
    pending: list[Any] = list(node.body)
    while pending:
        found = pending.pop()
        if isinstance(found, ast.Return):
            yield found
        elif not isinstance(found, _SCOPES):
            pending += ast.iter_child_nodes(found)


def leaving(body: list[ast.stmt]) -> ast.stmt | None:
    """A statement that leaves these statements other than by an error."""
    pending: list[tuple[Any, bool]] = [(statement, False) for statement in body]
    while pending:
        found, in_loop = pending.pop()
        if isinstance(found, ast.Return) or (isinstance(found, (ast.Break, ast.Continue)) and not in_loop):
            return found
        if isinstance(found, (ast.For, ast.AsyncFor, ast.While)):
            pending += [(inner, True) for inner in found.body] + [(inner, in_loop) for inner in found.orelse]
        elif not isinstance(found, _SCOPES):
            pending += [(inner, in_loop) for inner in ast.iter_child_nodes(found)]
    return None


def reads(node: ast.AST, name: str) -> bool:
    """Whether a name is read anywhere in it."""
    return any(
        isinstance(found, ast.Name) and found.id == name and isinstance(found.ctx, ast.Load) for found in ast.walk(node)
    )


_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


def _relies(node: ast.AST, name: str) -> bool:
    """Whether it uses private names of an object, or assigns its attributes."""
    return any(
        isinstance(found, ast.Attribute)
        and isinstance(found.value, ast.Name)
        and found.value.id == name
        and (found.attr[0] == "_" or not isinstance(found.ctx, ast.Load))
        for found in ast.walk(node)
    )
