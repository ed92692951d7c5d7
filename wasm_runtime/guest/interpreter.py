"""Runs programs, one after the other, in one set of globals."""

from __future__ import annotations

import ast
import builtins
import linecache
import sys
from dataclasses import dataclass, field
from types import CodeType, CoroutineType, FunctionType, ModuleType

from . import awaits, program
from .program import FILENAME, FUNCTION

_OWN_FRAMES = 12
"""Frames of Python that stand below a program's first one."""

_UNRETURNED = "__unreturned__"


@dataclass
class Ending:
    """How a program ended.

    Attributes:
        value: what it gave.
        error: what it raised; None when it finished.
        unreadable: whether `error` is about the text and nothing was run.
        finished: whether it said what its value is: by an expression, a `return` or `sys.exit`.
        bound: the names it bound at top level.
        exit_code: what it gave to `sys.exit`.
    """

    value: object = None
    error: BaseException | None = None
    unreadable: bool = False
    finished: bool = False
    bound: list[str] = field(default_factory=list)
    exit_code: int | None = None


_main = ModuleType("__main__")
_globals = _main.__dict__


def install() -> None:
    """Make the programs' globals the module `__main__`, so that pickle, dataclasses and typing find their classes."""
    _globals.clear()
    _globals.update(__name__="__main__", __builtins__=builtins)
    sys.modules["__main__"] = _main
    setattr(builtins, _UNRETURNED, _unreturned)
    builtins.exit = builtins.quit = sys.exit
    awaits.install()


_unreturned = object()


def run(source: str, stack: int) -> Ending:
    """Run a program. Whatever it raises is part of how it ended."""
    ending = Ending()
    sys.setrecursionlimit(stack + _OWN_FRAMES)
    # An entry without a modification time is kept as it is: tracebacks inside show the program's lines.
    linecache.cache[FILENAME] = (len(source), None, source.splitlines(keepends=True), FILENAME)  # type: ignore[assignment]
    before = dict(_globals)
    try:
        code = _compile(source)
    except BaseException as error:
        ending.error = error
        ending.unreadable = True
        return ending
    try:
        _execute(code, ending)
    except SystemExit as leaving:
        ending.finished = True
        ending.exit_code = _exit_code(leaving)
        if ending.exit_code != 0:
            ending.error = leaving
    except BaseException as error:
        ending.error = error
    ending.bound = [
        name
        for name, value in _globals.items()
        if not (name.startswith("__") and name.endswith("__")) and (name not in before or before[name] is not value)
    ]
    return ending


def _compile(source: str) -> program.Compiled:
    tree = ast.parse(source, FILENAME)
    if "await" in source:
        tree = awaits.forgiving(tree)
    lifted = program.lift(tree)
    if lifted.function:
        _mark_end(lifted.body)
    return program.compile_lifted(lifted)


def _mark_end(body: ast.Module) -> None:
    """Let the function of a program that returns tell a `return` from falling off its end."""
    function = body.body[0]
    last = function.body[-1]  # type: ignore[attr-defined]
    if not isinstance(last, ast.Return):
        fell = ast.copy_location(ast.Return(ast.Name(_UNRETURNED, ast.Load())), last)
        function.body.append(ast.fix_missing_locations(fell))  # type: ignore[attr-defined]


def _execute(code: program.Compiled, ending: Ending) -> None:
    _evaluate(code.body)
    if code.function:
        function: FunctionType = _globals.pop(FUNCTION)
        value = _driven(function())
        ending.finished = value is not _unreturned
        ending.value = value if ending.finished else None
    elif code.tail is not None:
        ending.value = _evaluate(code.tail)
        ending.finished = True


def _evaluate(code: CodeType) -> object:
    return _driven(eval(code, _globals))  # noqa: S307  # running programs is what this is for


def _driven(value: object) -> object:
    """What a coroutine gives; anything else as it is."""
    if type(value) is not CoroutineType or value.cr_code.co_filename != FILENAME:
        return value
    try:
        value.send(None)
    except StopIteration as done:
        return done.value
    value.close()
    msg = "the program waits for something that nothing will ever do"
    raise RuntimeError(msg)


def _exit_code(leaving: SystemExit) -> int:
    if leaving.code is None:
        return 0
    return int(leaving.code) if isinstance(leaving.code, int) else 1
