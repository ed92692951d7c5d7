"""Processes, threads and signals: there is one thread of one process, and nobody else."""

from __future__ import annotations

import _thread
import asyncio
import concurrent.futures
import errno
import faulthandler
import os
import posix
import queue
import signal
import subprocess
import time
from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from types import ModuleType
from typing import Any, NoReturn

from . import world
from .advice import FOREVER, NO_THREADS
from .patching import amend, replace
from .refusals import refusing

_NO_PROCESSES = "there are no processes in the sandbox; do it in Python here, or call tools"
_NO_SIGNALS = "there are no signals and timers in the sandbox; use asyncio.timeout, or compare time.monotonic()"
_NO_USERS = "there are no users in the sandbox"
_NO_TERMINAL = "there is no terminal in the sandbox; use print"
_NO_END = "there is no process of the program's own to end here; return, or call sys.exit()"

no_process = refusing(OSError, errno.ENOSYS, _NO_PROCESSES)

_OF_OS: dict[Callable[..., NoReturn], str] = {
    no_process: "execl execle execlp execlpe execv execve execvp execvpe fork forkpty kill killpg nice pidfd_open popen "
    "posix_spawn posix_spawnp setpgid setsid spawnl spawnle spawnlp spawnlpe spawnv spawnve spawnvp spawnvpe system "
    "wait wait3 wait4 waitid waitpid",
    refusing(OSError, errno.ENOSYS, _NO_USERS): "chroot getlogin setegid seteuid setgid setuid",
    refusing(OSError, errno.ENOTTY, _NO_TERMINAL): "ctermid get_terminal_size openpty tcgetpgrp ttyname",
    refusing(OSError, errno.ENOSYS, "there is no machine to look at in the sandbox"): "getloadavg getppid sysconf",
    refusing(PermissionError, _NO_END): "_exit abort",
}
"""What `os` has elsewhere; here most of it is missing altogether, which says less."""

_USERS = frozenset({"getegid", "geteuid", "getgid", "getgroups", "getuid"})
"""Modules of the library look whether these are there, and do without."""

_OF_SIGNAL = "alarm getitimer pause pthread_kill setitimer sigpending sigtimedwait sigwait sigwaitinfo"


def install() -> None:
    """Answer in the place of an operating system."""
    for answer, names in _OF_OS.items():
        for module in (os, posix):
            _put(module, dict.fromkeys(names.split(), answer))
    _put(os, {"times": _times, "umask": lambda _mask: 0o022, "__getattr__": _of_os})
    _put(signal, dict.fromkeys(_OF_SIGNAL.split(), refusing(OSError, errno.ENOSYS, _NO_SIGNALS)))
    _put(signal, {"raise_signal": _raise_signal})
    subprocess.Popen.__init__ = no_process  # type: ignore[method-assign]
    asyncio.BaseEventLoop._make_subprocess_transport = _no_transport  # type: ignore[attr-defined]  # noqa: SLF001
    watch = refusing(RuntimeError, "there is no process to watch in the sandbox; use traceback")
    _put(faulthandler, dict.fromkeys(("dump_c_stack", "dump_traceback", "dump_traceback_later", "register"), watch))
    _put(faulthandler, {"enable": lambda *_, **_options: None})
    replace(_thread.start_new_thread, refusing(RuntimeError, NO_THREADS))
    replace(_thread.start_joinable_thread, refusing(RuntimeError, NO_THREADS))  # type: ignore[attr-defined]
    _patch_locks()
    # The queue written in C waits for other threads by itself, the one in Python by a lock.
    replace(queue.SimpleQueue, queue._PySimpleQueue)  # type: ignore[attr-defined]  # noqa: SLF001
    replace(ThreadPoolExecutor, InlineExecutor)
    concurrent.futures.ProcessPoolExecutor = InlineProcesses  # type: ignore[misc,assignment]
    # Nobody presses a key here: asyncio then leaves the handler alone.
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def _put(module: ModuleType, functions: dict[str, Any]) -> None:
    """Give a module these functions, in the place of what it has under their names or of nothing."""
    for name, function in functions.items():
        original = getattr(module, name, None)
        setattr(module, name, function)
        if original is not None:
            replace(original, function)


def _of_os(name: str) -> NoReturn:
    msg = f"module 'os' has no attribute {name!r}"
    raise AttributeError(f"{msg}: {_NO_USERS}" if name in _USERS else msg, name=name, obj=os)


async def _no_transport(*_: object, **_options: object) -> NoReturn:
    no_process()


def _times() -> os.times_result:
    seconds = world.monotonic() / 1_000_000_000
    return os.times_result((seconds, 0.0, 0.0, 0.0, seconds))


_raise_signal_to_handler = signal.raise_signal


def _raise_signal(number: int, /) -> None:
    handler = signal.getsignal(number)
    if callable(handler):
        _raise_signal_to_handler(number)
    elif handler == signal.SIG_DFL and number == signal.SIGINT:
        raise KeyboardInterrupt
    elif handler == signal.SIG_DFL:
        raise PermissionError(_NO_END)


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

    def __init__(
        self, max_workers: int | None = None, thread_name_prefix: str = "", initializer: Any = None, initargs: Any = ()
    ) -> None:
        del thread_name_prefix
        if max_workers is not None and max_workers <= 0:
            msg = "max_workers must be greater than 0"
            raise ValueError(msg)
        self._open = True
        self._initialize: Any = (lambda: initializer(*initargs)) if initializer else None

    def submit(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Call it; the future holds what came of it."""
        if not self._open:
            msg = "cannot schedule new futures after shutdown"
            raise RuntimeError(msg)
        if self._initialize is not None:
            initialize, self._initialize = self._initialize, None
            initialize()
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


class InlineProcesses(InlineExecutor):
    """The same for those who ask for processes."""

    def __init__(self, max_workers: int | None = None, *_: object, **options: Any) -> None:
        super().__init__(max_workers, "", options.get("initializer"), options.get("initargs", ()))


InlineProcesses.__name__ = InlineProcesses.__qualname__ = "ProcessPoolExecutor"
