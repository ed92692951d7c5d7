"""Plain RestrictedPython: its policy and its own guards, and no limits of any kind."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from types import SimpleNamespace
from typing import Any

from RestrictedPython.compile import compile_restricted
from RestrictedPython.Eval import default_guarded_getitem, default_guarded_getiter
from RestrictedPython.Guards import (
    full_write_guard,
    guarded_iter_unpack_sequence,
    guarded_unpack_sequence,
    safe_builtins,
    safer_getattr,
)
from RestrictedPython.Utilities import utility_builtins

from benchmarks.arms import CannotError, Run, Tools
from benchmarks.arms.shop import granted
from benchmarks.peers.texts import VALUE, bound

MODULES = frozenset({"json", "re"})
OPERATIONS: dict[str, Any] = {
    "+=": lambda left, right: left + right,
    "-=": lambda left, right: left - right,
    "*=": lambda left, right: left * right,
}


def _imported(name: str, *_: Any, **__: Any) -> Any:
    if name not in MODULES:
        raise ImportError(name)
    return __import__(name)


BUILTINS = {
    **safe_builtins,
    **utility_builtins,
    **{
        each.__name__: each
        for each in (dict, list, set, range, sorted, sum, min, max, enumerate, map, filter, any, all, type, super)
    },
    "__import__": _imported,
}


class RestrictedPython:
    """Compiles with its policy, executes with its guards."""

    @contextmanager
    def fresh(self, tools: Tools) -> Iterator[Run]:
        """See `Arm`."""
        functions = _tools(tools)
        yield lambda program: _run(program, _world(functions))

    @contextmanager
    def session(self, tools: Tools) -> Iterator[Run]:
        """See `Arm`."""
        names = _world(_tools(tools))
        yield lambda program: _run(program, names)

    def idle(self) -> AbstractContextManager[object]:
        """See `Arm`."""
        msg = "an instance is a dict"
        raise CannotError(msg)


def _tools(tools: Tools) -> SimpleNamespace:
    if tools == "later":
        msg = "no async: await is refused"
        raise CannotError(msg)
    return SimpleNamespace(**granted(tools))


def _world(functions: SimpleNamespace) -> dict[str, Any]:
    return {
        "__builtins__": BUILTINS,
        "__name__": "program",
        "__metaclass__": type,
        "_getattr_": safer_getattr,
        "_getitem_": default_guarded_getitem,
        "_getiter_": default_guarded_getiter,
        "_iter_unpack_sequence_": guarded_iter_unpack_sequence,
        "_unpack_sequence_": guarded_unpack_sequence,
        "_write_": full_write_guard,
        "_inplacevar_": lambda operator, left, right: OPERATIONS[operator](left, right),
        "tools": functions,
    }


def _run(program: str, names: dict[str, Any]) -> object:
    exec(compile_restricted(bound(program, NAME), "<program>", "exec"), names)
    return names.pop(NAME, None)


NAME = VALUE.lstrip("_")
"""Names that begin with an underscore are refused."""


def arm() -> RestrictedPython:
    """The arm."""
    return RestrictedPython()
