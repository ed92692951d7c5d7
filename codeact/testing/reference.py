"""Plain CPython behind the seam of the engines: what the other engines are compared with.

**It is no sandbox.** A program runs in this process with everything the process can do. It is there for programs
out of this package's own tables, and for nobody else's.
"""

from __future__ import annotations

import ast
import asyncio
import builtins
import decimal
import tempfile
from collections.abc import Awaitable, Iterator
from contextvars import copy_context
from dataclasses import replace
from inspect import CO_COROUTINE
from pathlib import Path
from types import CodeType, CoroutineType, ModuleType
from typing import Any

from codeact.engines import Doors, Face, Fault, Frame, Outcome, Program
from codeact.limits import Limits
from codeact.testing.granted import Tool, helped, tools_of
from codeact.testing.surroundings import surroundings
from codeact.values import Uncrossable, from_guest
from wasm_runtime.guest.awaits import forgiving
from wasm_runtime.guest.faults import ToolError, describe
from wasm_runtime.guest.program import FUNCTION, UNRETURNED, Compiled, compile_program, filename

_UNRETURNED = "__unreturned__"
_AWAITABLE = "__awaitable__"


class UnsafeCPython:
    """Runs programs in this process, unguarded and unlimited. Only for programs that you would run yourself."""

    name = "cpython"

    def __repr__(self) -> str:
        return "<plain CPython, which is no sandbox>"

    def open(self, faces: tuple[Face, ...], limits: Limits) -> UnsafeInstance:
        """Make a world that is none."""
        return UnsafeInstance(faces, limits)


class UnsafeInstance:
    """Names that stay from run to run; everything else is the process's own."""

    alive = True

    def __init__(self, faces: tuple[Face, ...], limits: Limits) -> None:
        self._limits = limits
        self._main = ModuleType("__main__")
        self._names = self._main.__dict__
        self._tools = {face.name: Tool(face, limits) for face in faces}
        granted = {**tools_of(self._tools), "help": helped, "ToolError": ToolError}
        self._workspace = tempfile.TemporaryDirectory()
        machinery = {_UNRETURNED: UNRETURNED, _AWAITABLE: _awaitable}
        self._names["__builtins__"] = {**vars(builtins), **granted, **machinery}

    def run(self, program: Program, doors: Doors) -> Outcome:
        """Run a program, and set back what the tables' programs change in the process."""
        for tool in self._tools.values():
            tool.call = doors.call
        home = Path(self._workspace.name)
        for path, content in program.files.items():
            (home / path).parent.mkdir(parents=True, exist_ok=True)
            (home / path).write_bytes(content)
        before = _contents(home)
        with surroundings(self._main, program, home, doors.write):
            outcome = copy_context().run(self._run, program)
        after = _contents(home)
        changed = {path: after.get(path) for path in sorted({*before, *after}) if before.get(path) != after.get(path)}
        return replace(outcome, files=changed)

    def close(self) -> None:
        """Forget the names and the files."""
        self._names.clear()
        self._workspace.cleanup()

    def _run(self, program: Program) -> Outcome:
        decimal.setcontext(decimal.DefaultContext.copy())
        name = filename(program.number)
        try:
            code = compile_program(forgiving(ast.parse(program.source, name)), program.source, _UNRETURNED, name)
        except SyntaxError as error:
            return Outcome(fault=_fault(error, program, "syntax"))
        before = dict(self._names)
        value, fault, exit_code = None, None, None
        try:
            value = self._execute(code)
            finished = value is not UNRETURNED and (code.function or code.tail is not None)
            value = self._plain(value) if finished else None
        except SystemExit as leaving:
            finished = True
            exit_code = 0 if leaving.code is None else int(leaving.code) if isinstance(leaving.code, int) else 1
            fault = _fault(leaving, program) if exit_code else None
        except Uncrossable as error:
            finished, fault = True, Fault("value", "TypeError", str(error))
        except BaseException as error:  # noqa: BLE001 - whatever the program does is an outcome
            finished, fault = False, _fault(error, program)
        return Outcome(
            value=value if fault is None else None,
            fault=fault,
            finished=finished,
            bound=tuple(name for name, value in self._public() if before.get(name, _ABSENT) is not value),
            unbound=tuple(name for name in before if name[0] != "_" and name not in self._names),
            exit_code=exit_code,
        )

    def _plain(self, value: object) -> object:
        return from_guest(value, depth=self._limits.value_depth, size=self._limits.value_bytes)

    def _public(self) -> Iterator[tuple[str, object]]:
        for name, value in self._names.items():
            if name[0] != "_" and type(value) is not ModuleType:
                yield name, value

    def _execute(self, code: Compiled) -> object:
        if _awaits(code.body) or (code.tail is not None and _awaits(code.tail)):
            return asyncio.run(self._execute_awaiting(code))
        exec(code.body, self._names)  # noqa: S102 - running programs is what this is for
        if code.function:
            value = self._names.pop(FUNCTION)()
            return asyncio.run(value) if isinstance(value, CoroutineType) and value.__name__ == FUNCTION else value
        return None if code.tail is None else eval(code.tail, self._names)  # noqa: S307 - as above

    async def _execute_awaiting(self, code: Compiled) -> object:
        body = eval(code.body, self._names)  # noqa: S307 - as above
        if _awaits(code.body):
            await body
        if code.tail is None:
            return None
        value = eval(code.tail, self._names)  # noqa: S307 - as above
        return await value if _awaits(code.tail) else value


_ABSENT = object()


def _contents(home: Path) -> dict[str, bytes]:
    return {path.relative_to(home).as_posix(): path.read_bytes() for path in home.rglob("*") if path.is_file()}


def _awaits(code: CodeType) -> bool:
    return bool(code.co_flags & CO_COROUTINE)


async def _settled(value: object) -> object:
    return value


def _awaitable(value: object) -> Awaitable[object]:
    return value if isinstance(value, Awaitable) else _settled(value)


def _fault(error: BaseException, program: Program, kind: Any = None) -> Fault:
    told: dict[str, Any] = describe(error)
    frames = tuple(
        Frame(line, function, 0 if number == program.number else number) for line, function, number in told["frames"]
    )
    return Fault(kind or told["kind"], told["type"], told["message"], frames, told["offset"], omitted=told["omitted"])
