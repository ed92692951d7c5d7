"""Plain CPython: the program as it stands, in this interpreter. What others are compared with, and no sandbox at all."""

from __future__ import annotations

import ast
import asyncio
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from inspect import CO_COROUTINE
from types import CodeType, SimpleNamespace
from typing import Any

from benchmarks.arms import CannotError, Run, Tools
from benchmarks.arms.shop import granted

VALUE = "_value"


class Plain:
    """Compiles and executes programs in namespaces of their own."""

    @contextmanager
    def fresh(self, tools: Tools) -> Iterator[Run]:
        """See `Arm`."""
        functions = SimpleNamespace(**granted(tools))
        with asyncio.Runner() as runner:

            def run(program: str) -> object:
                return _run(runner, program, {"__name__": "__main__", "tools": functions})

            yield run

    @contextmanager
    def session(self, tools: Tools) -> Iterator[Run]:
        """See `Arm`."""
        names: dict[str, Any] = {"__name__": "__main__", "tools": SimpleNamespace(**granted(tools))}
        with asyncio.Runner() as runner:
            yield lambda program: _run(runner, program, names)

    def idle(self) -> AbstractContextManager[object]:
        """See `Arm`."""
        msg = "an instance is a dict"
        raise CannotError(msg)


def valued(program: str) -> ast.Module:
    """The program with the value of its last expression bound to a name."""
    tree = ast.parse(program)
    if tree.body and isinstance(last := tree.body[-1], ast.Expr):
        tree.body[-1] = ast.fix_missing_locations(
            ast.copy_location(ast.Assign([ast.Name(VALUE, ast.Store())], last.value), last)
        )
    return tree


def _run(runner: asyncio.Runner, program: str, names: dict[str, Any]) -> object:
    code: CodeType = compile(valued(program), "<program>", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    if code.co_flags & CO_COROUTINE:
        runner.run(eval(code, names))
    else:
        exec(code, names)
    return names.pop(VALUE, None)


def arm() -> Plain:
    """The arm."""
    return Plain()
