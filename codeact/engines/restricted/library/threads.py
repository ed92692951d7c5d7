"""`threading`, `queue` and `concurrent.futures` where there is one thread: it does the work, and never waits for itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from codeact.engines.restricted.library.copies import as_module, copied
from codeact.engines.restricted.library.parts import Parts, pick
from wasm_runtime.guest.advice import FOREVER, NO_THREADS

Wait = Callable[[Any], bool]
"""Waits for another thread so many seconds: in vain, so it gives False. None is for ever, which it refuses."""


class _Lock:
    """A lock; whoever finds it taken would wait for themselves."""

    def __init__(self, wait: Wait, most: int = 1, error: str = "release unlocked lock") -> None:
        self._wait = wait
        self._most = most
        self._free = most
        self._error = error

    def acquire(self, blocking: bool = True, timeout: Any = -1) -> bool:
        """Take it."""
        if self._free > 0:
            self._wait(0)
            self._free -= 1
            return True
        return bool(blocking) and self._wait(None if timeout is None or timeout < 0 else timeout)

    def release(self, n: int = 1) -> None:
        """Give it back."""
        if self._free + n > self._most:
            raise (RuntimeError if self._most == 1 else ValueError)(self._error)
        self._free += n

    def locked(self) -> bool:
        """Whether it is taken."""
        return self._free <= 0

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(self, *_: object) -> None:
        self.release()


class _Again(_Lock):
    """A lock that its holder may take again."""

    def acquire(self, blocking: bool = True, timeout: Any = -1) -> bool:
        """Take it once more."""
        del blocking, timeout
        self._wait(0)
        self._free -= 1
        return True

    def release(self, n: int = 1) -> None:
        """Give it back once."""
        if self._free >= self._most:
            msg = "cannot release un-acquired lock"
            raise RuntimeError(msg)
        self._free += n


class _Event:
    """A flag that others would wait for."""

    def __init__(self, wait: Wait) -> None:
        self._wait = wait
        self._flag = False

    def is_set(self) -> bool:
        """Whether it is set."""
        return self._flag

    def set(self) -> None:
        """Set it."""
        self._flag = True

    def clear(self) -> None:
        """Reset it."""
        self._flag = False

    def wait(self, timeout: Any = None) -> bool:
        """True at once when it is set; nobody else sets it."""
        return self._flag or self._wait(timeout)


class _Condition:
    """A lock with a meeting point."""

    def __init__(self, wait: Wait, lock: Any = None) -> None:
        self._wait = wait
        self._lock = _Again(wait) if lock is None else lock
        self.acquire, self.release = self._lock.acquire, self._lock.release

    def __enter__(self) -> Any:
        return self._lock.__enter__()

    def __exit__(self, *problem: object) -> None:
        self._lock.__exit__(*problem)

    def wait(self, timeout: Any = None) -> bool:
        """Nobody else gives notice."""
        return self._wait(timeout)

    def wait_for(self, predicate: Callable[[], Any], timeout: Any = None) -> Any:
        """What the predicate says; it does not change while one waits."""
        found = predicate()
        if not found:
            self._wait(timeout)
            found = predicate()
        return found

    def notify(self, n: int = 1) -> None:
        """Nobody waits."""

    def notify_all(self) -> None:
        """Nobody waits."""


class _Local:
    """The data of the one thread."""


class _Thread:
    """A thread as far as it goes without being started; `run` can be called."""

    def __init__(
        self,
        group: None = None,
        target: Any = None,
        name: str | None = None,
        args: Any = (),
        kwargs: Any = None,
        *,
        daemon: Any = None,
    ) -> None:
        del group
        self.name = name or "Thread-1"
        self.daemon = bool(daemon)
        self.ident = None
        self._call = target, args, kwargs or {}

    def run(self) -> None:
        """Do the work, in the thread that there is."""
        target, args, kwargs = self._call
        if target is not None:
            target(*args, **kwargs)

    def start(self) -> NoReturn:
        """There is no other thread."""
        raise RuntimeError(NO_THREADS)

    def join(self, timeout: Any = None) -> NoReturn:
        """It never ran."""
        del timeout
        msg = "cannot join thread before it is started"
        raise RuntimeError(msg)

    def is_alive(self) -> bool:
        """It is not."""
        return False


def make_threading(parts: Parts) -> dict[str, Any]:
    """The names of `threading`: locks that work, and threads that do not start."""

    def named(name: str, kind: type) -> Any:
        own = type(name, (kind,), {"__module__": "threading", "__qualname__": name})
        parts.world.setters[own] = lambda target: target
        return own

    def wait(timeout: Any) -> bool:
        parts.world.meter.tick()
        if timeout is None:
            raise RuntimeError(FOREVER)
        if timeout > 0:
            parts.load("time").sleep(timeout)
        return False

    def made(kind: type) -> Callable[..., Any]:
        return lambda *args, **named: kind(wait, *args, **named)

    def semaphore(value: int = 1) -> _Lock:
        if value < 0:
            msg = "semaphore initial value must be >= 0"
            raise ValueError(msg)
        lock = _Lock(wait, _UNBOUNDED)
        lock._free = value  # noqa: SLF001 - one concept
        return lock

    def bounded(value: int = 1) -> _Lock:
        return _Lock(wait, value, "Semaphore released too many times")

    thread = named("Thread", _Thread)
    main = thread(name="MainThread")
    return {
        "BoundedSemaphore": bounded,
        "Condition": made(_Condition),
        "Event": made(_Event),
        "Lock": made(_Lock),
        "RLock": made(_Again),
        "Semaphore": semaphore,
        "TIMEOUT_MAX": _FAR,
        "Thread": thread,
        "active_count": lambda: 1,
        "current_thread": lambda: main,
        "enumerate": lambda: [main],
        "get_ident": lambda: 1,
        "local": named("local", _Local),
        "main_thread": lambda: main,
    }


_UNBOUNDED = 1 << 60
_FAR = 1e9


def make_queue(parts: Parts) -> dict[str, Any]:
    """The names of `queue`."""
    others = {"_queue": None}
    return pick(copied(parts, "queue", others), "Empty Full LifoQueue PriorityQueue Queue ShutDown SimpleQueue")


def make_concurrent_futures(parts: Parts) -> dict[str, Any]:
    """The names of `concurrent.futures`, with one executor, whose worker is the caller."""
    base: Any = copied(parts, "concurrent.futures._base", {"logging": as_module("logging", _LOG)})

    class ThreadPoolExecutor(base["Executor"]):  # type: ignore[misc, name-defined]  # a copy
        """What is submitted has been done when `submit` returns."""

        def __init__(self, *_: object, **__: object) -> None:
            self._open = True

        def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
            """Call it; the future holds what came of it."""
            if not self._open:
                msg = "cannot schedule new futures after shutdown"
                raise RuntimeError(msg)
            future = base["Future"]()
            future.set_running_or_notify_cancel()
            try:
                future.set_result(fn(*args, **kwargs))
            except Exception as error:  # noqa: BLE001 - the future carries it
                future.set_exception(error)
            return future

        def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
            """Take nothing more."""
            del wait, cancel_futures
            self._open = False

    ThreadPoolExecutor.__module__ = "concurrent.futures"
    return {
        **pick(
            base,
            "ALL_COMPLETED BrokenExecutor CancelledError Executor FIRST_COMPLETED FIRST_EXCEPTION Future "
            "InvalidStateError TimeoutError as_completed wait",
        ),
        "ThreadPoolExecutor": ThreadPoolExecutor,
    }


class _Silent:
    """Where the futures complain about callbacks that fail."""

    def __getattr__(self, _name: str) -> Callable[..., None]:
        return lambda *_, **__: None


_LOG = {"getLogger": lambda _name: _Silent()}
