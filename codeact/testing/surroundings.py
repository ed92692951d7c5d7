"""What is around a program on plain CPython, and what is set back after it."""

from __future__ import annotations

import io
import linecache
import logging
import os
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, chdir, contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from types import ModuleType
from unittest import mock

from codeact.engines import Fault, Program
from wasm_runtime.guest.program import filename, lines_of


class _Console(io.TextIOBase):
    """A stream whose text leaves by the door."""

    def __init__(self, write: Callable[[str], Fault | None]) -> None:
        super().__init__()
        self._write = write

    def writable(self) -> bool:
        """It is."""
        return True

    def write(self, text: str) -> int:
        """Let text leave."""
        self._write(text)
        return len(text)


_alone = threading.Lock()


@contextmanager
def surroundings(
    main: ModuleType, program: Program, home: Path, write: Callable[[str], Fault | None]
) -> Iterator[None]:
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
        # Loggers remember the levels that an earlier program has set, and what these let through.
        stack.enter_context(mock.patch.multiple(root, handlers=[], level=logging.WARNING, _cache={}))
        stack.enter_context(mock.patch.object(logging.Logger, "manager", logging.Manager(root)))  # type: ignore[arg-type]
        # Not by `patch.dict`, which would also take away what the program imports.
        stack.callback(sys.modules.__setitem__, "__main__", sys.modules["__main__"])
        sys.modules["__main__"] = main
        stack.callback(time.tzset)
        stack.enter_context(mock.patch.dict(os.environ, {"TZ": "UTC"}))
        time.tzset()
        stack.enter_context(redirect_stdout(console))
        stack.enter_context(redirect_stderr(console))
        yield
