"""Plain CPython behind the seam of the engines: what the other engines are compared with.

**It is no sandbox.** A program runs in this process with everything the process can do. It is there for programs
out of this package's own tables, and for nobody else's.
"""

from __future__ import annotations

import ast
import asyncio
import builtins
import decimal
import io
import linecache
import logging
import os
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Awaitable, Callable, Coroutine, Generator, Iterator, Mapping
from contextlib import ExitStack, chdir, contextmanager, redirect_stderr, redirect_stdout
from contextvars import copy_context
from dataclasses import replace
from inspect import CO_COROUTINE
from pathlib import Path
from types import CodeType, CoroutineType, ModuleType
from typing import Any, NoReturn
from unittest import mock

from codeact.engines import Answer, Doors, Face, Fault, Frame, Outcome, Program, Refusal, Reply, Stop
from codeact.limits import Limits
from codeact.values import Uncrossable, from_guest
from wasm_runtime.guest.awaits import forgiving
from wasm_runtime.guest.faults import ToolError, describe
from wasm_runtime.guest.names import explained, unknown_tool
from wasm_runtime.guest.program import FUNCTION, UNRETURNED, Compiled, compile_program, filename, lines_of

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
        self._tools = {face.name: _Tool(face, limits) for face in faces}
        granted = {"tools": _Tools(self._tools), "help": _help, "ToolError": ToolError}
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
        with _set_back(self._main, program, home, doors.write):
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


class _Tool:
    """A tool as a program sees it."""

    call: Callable[[str, tuple[object, ...], dict[str, object]], Reply]

    def __init__(self, face: Face, limits: Limits) -> None:
        self.__name__ = face.name
        self.__doc__ = face.doc
        self._face = face
        self._limits = limits

    def __call__(self, /, *args: Any, **named: Any) -> Any:
        """Call it through the door."""
        plain = tuple(self._plain(place, value) for place, value in enumerate(args, 1))
        plain_named = {name: self._plain(name, value) for name, value in named.items()}

        def call() -> object:
            return _opened(self.call(self._face.name, plain, plain_named))

        return UnawaitedCall(call) if self._face.awaitable else call()

    def _plain(self, place: object, value: object) -> object:
        try:
            return from_guest(value, depth=self._limits.value_depth, size=self._limits.value_bytes)
        except Uncrossable as error:
            msg = f"{self._face.name}() argument {place}{error.path}: {error.reason}"
            raise TypeError(msg) from None

    def __repr__(self) -> str:
        return f"<tool {self._face.signature}>"

    def __str__(self) -> str:
        """What `help` and `print` show."""
        return explained([self.told])

    @property
    def told(self) -> tuple[str, str, tuple[str, ...]]:
        """What there is to say of it."""
        return self._face.signature, self._face.doc, self._face.records


class UnawaitedCall(Coroutine[Any, Any, object]):
    """A call of an asynchronous tool; it is made when it is awaited, beside others."""

    def __init__(self, call: Callable[[], object]) -> None:
        self._call = call
        self._made: Coroutine[Any, Any, object] | None = None

    def _making(self) -> Coroutine[Any, Any, object]:
        if self._made is None:
            self._made = asyncio.to_thread(self._call)
        return self._made

    def send(self, value: Any, /) -> Any:
        """Go on with it."""
        return self._making().send(value)

    def throw(self, *error: Any) -> Any:
        """Give it up."""
        return self._making().throw(*error)

    def close(self) -> None:
        """Never make it."""
        if self._made is not None:
            self._made.close()

    def __await__(self) -> Generator[Any, Any, object]:
        return self._making().__await__()


_ERRORS: dict[str, type[Exception]] = {
    "ToolError": ToolError,
    "TypeError": TypeError,
    "ValueError": ValueError,
    "AttributeError": AttributeError,
}


def _opened(reply: Reply) -> object:
    match reply:
        case Answer():
            return reply.value
        case Refusal():
            raise _ERRORS[reply.type](reply.message)
        case Stop():
            raise SystemExit(reply.fault.message)


class _Tools(Mapping[str, _Tool]):
    """The tools by name, as attributes and as items."""

    def __init__(self, tools: dict[str, _Tool]) -> None:
        object.__setattr__(self, "_tools", tools)

    def __getitem__(self, name: str) -> _Tool:
        if name not in self._tools:
            raise KeyError(unknown_tool(str(name), self._tools))
        return self._tools[name]  # type: ignore[no-any-return]

    def __getattr__(self, name: str) -> Any:
        if name not in self._tools:
            raise AttributeError(unknown_tool(name, self._tools))
        return self._tools[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._tools)

    def __len__(self) -> int:
        return len(self._tools)

    def __dir__(self) -> list[str]:
        return list(self._tools)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        msg = "tools cannot be changed"
        raise AttributeError(msg)

    def __delattr__(self, name: str) -> NoReturn:
        msg = "tools cannot be changed"
        raise AttributeError(msg)

    def __setitem__(self, name: str, value: object) -> NoReturn:
        msg = "tools cannot be changed"
        raise TypeError(msg)

    def __delitem__(self, name: str) -> NoReturn:
        msg = "tools cannot be changed"
        raise TypeError(msg)

    def __repr__(self) -> str:
        return f"<tools: {', '.join(self._tools) or 'none'}>"

    def __str__(self) -> str:
        """What `help` and `print` show."""
        return explained(tool.told for tool in self._tools.values())


def _help(*subjects: object) -> None:
    if len(subjects) == 1 and isinstance(subjects[0], (_Tool, _Tools)):
        print(subjects[0])  # noqa: T201 - that is what it is for
    else:
        help(*subjects)


class _Console(io.TextIOBase):
    """A stream whose text leaves by the door."""

    def __init__(self, write: Callable[[str], Fault | None]) -> None:
        super().__init__()
        self._write = write

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        self._write(text)
        return len(text)


_alone = threading.Lock()


@contextmanager
def _set_back(main: ModuleType, program: Program, home: Path, write: Callable[[str], Fault | None]) -> Iterator[None]:
    """The surroundings of one run: a console, a directory of its own, UTC, and nobody's settings."""
    console = _Console(write)
    root = logging.getLogger()
    recursion = sys.getrecursionlimit()
    lines = [f"{line}\n" for line in lines_of(program.source)]
    name = filename(program.number)
    linecache.cache[name] = (len(program.source), None, lines, name)
    with ExitStack() as stack:
        stack.enter_context(_alone)
        stack.callback(sys.setrecursionlimit, recursion)
        stack.enter_context(chdir(home))
        stack.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore")
        stack.enter_context(mock.patch.multiple(root, handlers=[], level=logging.WARNING))
        stack.enter_context(mock.patch.dict(sys.modules, {"__main__": main}))
        stack.callback(time.tzset)
        stack.enter_context(mock.patch.dict(os.environ, {"TZ": "UTC"}))
        time.tzset()
        stack.enter_context(redirect_stdout(console))
        stack.enter_context(redirect_stderr(console))
        yield
