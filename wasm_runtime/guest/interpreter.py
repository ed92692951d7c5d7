"""Runs programs, one after the other, in one set of globals."""

from __future__ import annotations

import ast
import builtins
import linecache
import sys
from dataclasses import dataclass, field
from inspect import CO_COROUTINE
from types import CodeType, ModuleType

from . import awaits, loop, program, world
from .program import FUNCTION, UNRETURNED

_OWN_FRAMES = 12
"""Frames of Python that stand below a program's first one."""

_UNRETURNED = "__unreturned__"

_NAMED = 1000
"""Names that a host is told of."""

_NAME = 200
"""Characters of a name that a host is told."""


@dataclass
class Ending:
    """How a program ended.

    Attributes:
        value: what it gave.
        error: what it raised; None when it finished.
        unreadable: whether `error` is about the text and nothing was run.
        finished: whether it said what its value is: by an expression, a `return` or `sys.exit`.
        bound: the names it bound at top level.
        unbound: the names of earlier programs that it deleted.
        exit_code: what it gave to `sys.exit`.
    """

    value: object = None
    error: BaseException | None = None
    unreadable: bool = False
    finished: bool = False
    bound: list[str] = field(default_factory=list)
    unbound: list[str] = field(default_factory=list)
    exit_code: int | None = None


texts: dict[str, str] = {}
"""The texts of the programs, by their file names."""

_main = ModuleType("__main__")
_globals = _main.__dict__


def install() -> None:
    """Make the programs' globals the module `__main__`, so that pickle, dataclasses and typing find their classes."""
    _globals.clear()
    _globals.update(__name__="__main__", __builtins__=builtins, __doc__=None, __file__=program.FILENAME)
    sys.modules["__main__"] = _main
    setattr(builtins, _UNRETURNED, UNRETURNED)
    awaits.install()


def limit(stack: int) -> None:
    """Let programs recurse so many frames deep."""
    sys.setrecursionlimit(stack + _OWN_FRAMES)


def run(source: str, number: int) -> Ending:
    """Run a program. Whatever it raises is part of how it ended.

    Args:
        source: its text.
        number: its place among the programs of this world, from 1.
    """
    ending = Ending()
    name = program.filename(number)
    world.begin(name)
    # An entry without a modification time is kept as it is: tracebacks inside show the program's lines.
    linecache.cache[name] = (len(source), None, [f"{line}\n" for line in program.lines_of(source)], name)
    texts[name] = source
    _globals["__file__"] = name
    before = dict(_globals)
    try:
        code = _compile(source, name)
    except BaseException as error:  # noqa: BLE001  # the host must be told of everything
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
    except BaseException as error:  # noqa: BLE001  # the host must be told of everything
        ending.error = error
    ending.bound = [name[:_NAME] for name in _bound(before)[:_NAMED]]
    ending.unbound = [name for name in before if name not in _globals and name[:1] != "_"][:_NAMED]
    return ending


def _bound(before: dict[str, object]) -> list[str]:
    """The public names that were bound since, whatever else the program has put among its globals."""
    return [
        name
        for name, value in list(_globals.items())
        if type(name) is str
        and before.get(name, _globals) is not value
        and name[:1] != "_"
        and type(value) is not ModuleType
    ]


def _compile(source: str, name: str) -> program.Compiled:
    if "\n" not in source and "await" not in source:
        # Most programs of one line are expressions, and need no tree: that is a third of what a run of one costs.
        try:
            return program.Compiled(program.NOTHING, compile(source, name, "eval", dont_inherit=True), function=False)
        except SyntaxError:
            pass
    tree = ast.parse(source, name)
    if "await" in source:
        tree = awaits.forgiving(tree)
    return program.compile_program(tree, source, _UNRETURNED, name)


def _execute(code: program.Compiled, ending: Ending) -> None:
    if _awaits(code.body) or (code.tail and _awaits(code.tail)):
        # One coroutine for both parts: what the body starts, the last expression may wait for.
        loop.complete(_execute_awaiting(code, ending))
        return
    eval(code.body, _globals)  # noqa: S307  # running programs is what this is for
    if code.function:
        own = program.as_module(_globals.pop(FUNCTION).__code__)
        value = eval(own, _globals)  # noqa: S307
        _end(ending, loop.complete(value) if _awaits(own) else value)
    elif code.tail is not None:
        _end(ending, eval(code.tail, _globals))  # noqa: S307


async def _execute_awaiting(code: program.Compiled, ending: Ending) -> None:
    body = eval(code.body, _globals)  # noqa: S307
    if _awaits(code.body):
        await body
    if code.tail is not None:
        value = eval(code.tail, _globals)  # noqa: S307
        _end(ending, await value if _awaits(code.tail) else value)


def _awaits(code: CodeType) -> bool:
    return bool(code.co_flags & CO_COROUTINE)


def _end(ending: Ending, value: object) -> None:
    ending.finished = value is not UNRETURNED
    ending.value = value if ending.finished else None


def _exit_code(leaving: SystemExit) -> int:
    if leaving.code is None:
        return 0
    return int(leaving.code) if isinstance(leaving.code, int) else 1
