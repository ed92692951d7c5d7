"""The operating system that is not there: what would need it is an ordinary error, or is done without.

The walls are elsewhere: the component imports nothing but its doors, and libc's way to anything else ends the
instance. This is comfort: a program meets an error it can read and handle.
"""

from __future__ import annotations

import _thread
import builtins
import errno
import os
import queue
import select
import signal
import sqlite3
import sys
import time
import warnings
from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from typing import Any, NoReturn

from . import files
from .advice import FOREVER, NO_THREADS
from .patching import amend, replace

_NETWORK = "there is no network in the sandbox; reach other systems through the tools"


def _no_network(*_: object) -> NoReturn:
    raise OSError(errno.ENETUNREACH, _NETWORK)


def _database(path: object, *_: object) -> None:
    if path != ":memory:":
        msg = "databases are in memory in the sandbox: connect(':memory:'), and write its serialize() to a file"
        raise PermissionError(errno.EACCES, msg, path)


_connecting = sqlite3.connect


def _connect(*args: Any, **options: Any) -> sqlite3.Connection:
    """Open a database in memory. It cannot attach another one, which could be a file that C code opens by itself."""
    connection: sqlite3.Connection = _connecting(*args, **options)
    connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
    return connection


_connect.__name__ = _connect.__qualname__ = "connect"


_AUDITED: dict[str, Callable[..., object]] = {
    # The parser too opens the file that a syntax error is in, to show its line, and is content if there is none.
    "open": files.refuse,
    "socket.__new__": _no_network,
    "socket.getaddrinfo": _no_network,
    "socket.gethostbyaddr": _no_network,
    "socket.gethostbyname": _no_network,
    "socket.getnameinfo": _no_network,
    "sqlite3.connect": _database,
}
"""What C code announces before it asks the operating system; an exception stops it."""


def _audit(event: str, arguments: tuple[Any, ...]) -> None:
    answer = _AUDITED.get(event)
    if answer is not None:
        answer(*arguments)


def _no_threads(*_: object, **_options: object) -> NoReturn:
    raise RuntimeError(NO_THREADS)


def _no_debugger(*_: object, **_options: object) -> NoReturn:
    msg = "breakpoint(): there is no debugger in the sandbox; use print"
    raise RuntimeError(msg)


def _leave(_status: int = 0, /) -> NoReturn:
    msg = "there is no process of the program's own to end here; return, or call sys.exit()"
    raise PermissionError(msg)


def _abort() -> NoReturn:
    _leave()


def _patch_locks() -> None:
    """Let a lock that nobody can release say so. With one thread, waiting for it would never end."""
    kind = type(_thread.allocate_lock())
    acquire_now = kind.acquire

    def acquire(self: Any, blocking: bool = True, timeout: float = -1) -> bool:
        """Acquire the lock; there is nobody else who could release it."""
        if acquire_now(self, False):
            return True
        if not blocking:
            return False
        if timeout < 0:
            raise RuntimeError(FOREVER)
        time.sleep(timeout)
        return False

    def enter(self: Any) -> bool:
        return acquire(self)

    amend(kind, acquire=acquire, acquire_lock=acquire, __enter__=enter)


class InlineExecutor(Executor):
    """An executor whose one worker is the caller: what is submitted has been done when `submit` returns."""

    def __init__(self, *_: object, **_options: object) -> None:
        self._open = True

    def submit(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Call it; the future holds what came of it."""
        if not self._open:
            msg = "cannot schedule new futures after shutdown"
            raise RuntimeError(msg)
        future: Future[Any] = Future()
        future.set_running_or_notify_cancel()
        try:
            future.set_result(function(*args, **kwargs))
        except Exception as error:  # noqa: BLE001  # the future carries it
            future.set_exception(error)
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: ARG002  # Executor's own
        """Take nothing more."""
        self._open = False


InlineExecutor.__name__ = InlineExecutor.__qualname__ = "ThreadPoolExecutor"


def install() -> None:
    """Answer in the place of the operating system. Nothing can be imported from a file afterwards."""
    files.install()
    replace(_connecting, _connect)
    replace(_thread.start_new_thread, _no_threads)
    replace(_thread.start_joinable_thread, _no_threads)  # type: ignore[attr-defined]
    replace(os._exit, _leave)
    replace(os.abort, _abort)
    replace(select.select, _no_network)
    replace(select.poll, _no_network)
    _patch_locks()
    # The queue written in C waits for other threads by itself, the one in Python by a lock.
    replace(queue.SimpleQueue, queue._PySimpleQueue)  # type: ignore[attr-defined]  # noqa: SLF001
    replace(ThreadPoolExecutor, InlineExecutor)
    # Nobody presses a key here: asyncio then leaves the handler alone.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.breakpointhook = _no_debugger
    # They are for people at a prompt; a program returns, or calls sys.exit().
    del builtins.exit, builtins.quit
    # Models write "\d" all day; the text means what they think it means.
    warnings.simplefilter("ignore", SyntaxWarning)
    sys.dont_write_bytecode = True
    os.environ.clear()
    sys.argv[:] = ["<program>"]
    sys.addaudithook(_audit)
