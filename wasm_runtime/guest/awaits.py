"""Awaiting what needs no waiting: `await tools.sync_tool()` gives the value."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Awaitable, Generator
from typing import Any

_HELPER = "__awaitable__"


class _Settled:
    """An awaitable that is there already."""

    __slots__ = ("_value",)

    def __init__(self, value: object) -> None:
        self._value = value

    def __await__(self) -> Generator[Any, Any, object]:
        return self._value
        yield  # unreachable: it makes this a generator


def awaitable(value: object) -> Awaitable[object]:
    """The value itself, where it can be awaited; otherwise what gives it when it is."""
    return value if isinstance(value, Awaitable) else _Settled(value)


async def settled(value: object) -> object:
    """A coroutine that gives a value that is there already."""
    return value


class _Rewrite(ast.NodeTransformer):
    """Sends every operand of `await` through the helper."""

    def visit_Await(self, node: ast.Await) -> ast.Await:
        self.generic_visit(node)
        helper = ast.copy_location(ast.Name(_HELPER, ast.Load()), node.value)
        node.value = ast.copy_location(ast.Call(helper, [node.value], []), node.value)
        return node


def forgiving(tree: ast.Module) -> ast.Module:
    """The same program, where awaiting a plain value is harmless."""
    return _Rewrite().visit(tree)  # type: ignore[no-any-return]


def install() -> None:
    """Make the helper known to every program."""
    setattr(builtins, _HELPER, awaitable)
