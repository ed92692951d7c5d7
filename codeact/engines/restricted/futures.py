"""Futures and tasks of plain Python: they do what asyncio's own do, and lead to nothing of the host's.

asyncio's own show the host's files and frames, give away the loop and the context they run in, call what a program
claims to be a future, and keep every task in a registry of the process. These know their loop, which is one of ours,
and nothing else.
"""

from __future__ import annotations

import asyncio
from asyncio import CancelledError, InvalidStateError
from collections.abc import Callable, Generator
from contextvars import Context, copy_context
from typing import TYPE_CHECKING, Any, NoReturn

from codeact.engines.restricted.meter import Stopped
from codeact.engines.restricted.sealed import KEY

if TYPE_CHECKING:
    from codeact.engines.restricted.loop import Loop


class Closed:
    """Not for programs to derive from: what a subclass may see of its instances is meant for us."""

    __slots__ = ()

    def __init_subclass__(cls, *, key: object = None) -> None:
        if key is not KEY:  # where it is defined is what it says itself
            msg = f"{cls.__mro__[1].__name__} cannot be subclassed here"
            raise TypeError(msg)

    def __reduce_ex__(self, _protocol: object) -> NoReturn:
        msg = f"{type(self).__name__} objects cannot be copied"
        raise TypeError(msg)


class BaseLoop(Closed, key=KEY):
    """What a loop here derives from, and nothing else does."""

    __slots__ = ()


class Future(Closed, key=KEY):
    """A result that will be there later; see `asyncio.Future`."""

    __slots__ = ("__weakref__", "_asyncio_future_blocking", "_callbacks", "_error", "_loop", "_message", "_result", "_state", "_traceback", "_unheard")  # fmt: skip

    def __init__(self, *, loop: Loop | None = None) -> None:
        if loop is not None and not isinstance(loop, BaseLoop):
            msg = f"loop: expected a loop of this program, or none, got {type(loop).__name__}"
            raise TypeError(msg)
        self._loop: Loop = loop if loop is not None else asyncio.get_running_loop()  # type: ignore[assignment]
        self._asyncio_future_blocking = False
        self._callbacks: list[tuple[Callable[[Any], object], Context | None]] = []
        self._error: BaseException | None = None
        self._message: object = None
        self._result: object = None
        self._state = "pending"
        self._traceback: Any = None
        self._unheard = False

    def __del__(self) -> None:
        """Tell of an exception that nobody has asked for, while the loop runs that can."""
        # One that was refused when it was made has nothing.
        if getattr(self, "_unheard", False) and self._loop.in_this_thread():
            context = {
                "message": f"{type(self).__name__} exception was never retrieved",
                "exception": self._error,
                "future": self,
            }
            self._loop.call_soon(self._loop.call_exception_handler, context)

    def get_loop(self) -> Loop:
        """The loop it belongs to."""
        return self._loop

    def done(self) -> bool:
        """Whether there is nothing to wait for."""
        return self._state != "pending"

    def cancelled(self) -> bool:
        """Whether it was cancelled."""
        return self._state == "cancelled"

    def cancel(self, msg: object = None) -> bool:
        """Cancel it. Gives whether that had an effect."""
        if self._state != "pending":
            return False
        self._message = msg
        self._end("cancelled")
        return True

    def result(self) -> Any:
        """The result; raises the exception when there is one."""
        error = self.exception()
        if error is None:
            return self._result
        try:
            raise error.with_traceback(self._traceback)
        finally:
            del self, error  # the traceback keeps this frame, and would keep both for as long as there is the error

    def exception(self) -> BaseException | None:
        """The exception that was set; None when it has a result."""
        if self._state == "cancelled":
            raise self.cancellation()
        if self._state == "pending":
            msg = "Result is not ready."
            raise InvalidStateError(msg)
        self._unheard = False
        return self._error

    def cancellation(self) -> CancelledError:
        """The error of those who wait for it when it was cancelled."""
        return CancelledError() if self._message is None else CancelledError(self._message)

    def set_result(self, result: object) -> None:
        """Give it its result."""
        self._check_pending()
        self._result = result
        self._end("finished")

    def set_exception(self, exception: Any) -> None:
        """Let it fail."""
        self._check_pending()
        error = exception() if isinstance(exception, type) else exception
        if isinstance(error, StopIteration):
            error = RuntimeError("StopIteration interacts badly with generators and cannot be raised into a Future")
        if not isinstance(error, BaseException):
            msg = "invalid exception object"
            raise TypeError(msg)
        self._error = error
        self._traceback = error.__traceback__
        self._unheard = True
        self._end("finished")

    def add_done_callback(self, fn: Callable[[Any], object], *, context: Context | None = None) -> None:
        """Call a function with it when it is done."""
        context = copy_context() if context is None else context
        if self._state != "pending":
            self._loop.call_soon(fn, self, context=context)
        else:
            self._callbacks.append((fn, context))

    def remove_done_callback(self, fn: Callable[[Any], object]) -> int:
        """Forget a function; gives how often it was there."""
        left = [(known, context) for known, context in self._callbacks if known != fn]
        removed = len(self._callbacks) - len(left)
        if removed:
            self._callbacks[:] = left
        return removed

    def __await__(self) -> Generator[Any, Any, Any]:
        if self._state == "pending":
            self._asyncio_future_blocking = True
            yield self
        if self._state == "pending":
            msg = "await wasn't used with future"
            raise RuntimeError(msg)
        try:
            return self.result()
        finally:
            del self  # as in `result`

    __iter__ = __await__

    def __class_getitem__(cls, _kind: object) -> type:
        return cls

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._state}>"

    def _check_pending(self) -> None:
        if self._state != "pending":
            msg = f"{self._state}: {self!r}"
            raise InvalidStateError(msg)

    def _end(self, state: str) -> None:
        self._state = state
        callbacks, self._callbacks = self._callbacks, []
        for fn, context in callbacks:
            self._loop.call_soon(fn, self, context=context)


class Task(Future, key=KEY):
    """A coroutine that runs by itself; see `asyncio.Task`."""

    __slots__ = ("_cancelling", "_context", "_coroutine", "_fut_waiter", "_must_cancel", "_name")

    def __init__(self, coroutine: Any, *, loop: Loop, name: str, context: Context | None = None) -> None:
        super().__init__(loop=loop)
        self._coroutine = coroutine
        self._context = copy_context() if context is None else context
        self._name = name
        self._fut_waiter: Future | None = None
        self._must_cancel = False
        self._cancelling = 0
        loop.call_soon(self._step, context=self._context)

    def get_name(self) -> str:
        """Its name."""
        return self._name

    def set_name(self, value: object) -> None:
        """Give it another name."""
        self._name = str(value)

    def set_result(self, _result: object) -> NoReturn:
        """Refused: its coroutine does that."""
        msg = "Task does not support set_result operation"
        raise RuntimeError(msg)

    def set_exception(self, _exception: object) -> NoReturn:
        """Refused: its coroutine does that."""
        msg = "Task does not support set_exception operation"
        raise RuntimeError(msg)

    def cancel(self, msg: object = None) -> bool:
        """Let a CancelledError be raised where its coroutine waits. Gives whether it was still going on."""
        if self._state != "pending":
            return False
        self._cancelling += 1
        waited, self._fut_waiter = self._fut_waiter, None  # not again, where tasks wait for each other in a circle
        if waited is None or not waited.cancel(msg):
            self._must_cancel = True
            self._message = msg
        self._fut_waiter = waited
        return True

    def cancelling(self) -> int:
        """How often it was cancelled without being uncancelled."""
        return self._cancelling

    def uncancel(self) -> int:
        """Take one cancellation back; gives how many are left."""
        if self._cancelling > 0:
            self._cancelling -= 1
            if self._cancelling == 0:
                self._must_cancel = False
        return self._cancelling

    def abandon(self) -> None:
        """Let go of its coroutine, which has no more steps to make."""
        self._coroutine.close()

    def _end(self, state: str) -> None:
        super()._end(state)
        self._loop._tasks.discard(self)  # noqa: SLF001 - it is the loop's

    def __repr__(self) -> str:
        return f"<Task {self._state} name={self._name!r}>"

    def _step(self, error: BaseException | None = None) -> None:
        if self._state != "pending":
            return
        if self._must_cancel:
            if not isinstance(error, CancelledError):
                error = self.cancellation()
            self._must_cancel = False
        self._fut_waiter = None
        asyncio.tasks._enter_task(self._loop, self)  # type: ignore[arg-type]  # noqa: SLF001 - made for tasks of others
        try:
            waited = self._coroutine.send(None) if error is None else self._coroutine.throw(error)
        except StopIteration as end:
            if self._must_cancel:
                self._must_cancel = False
                super().cancel(self._message)
            else:
                super().set_result(end.value)
        except CancelledError:
            super().cancel(self._message)
        except Stopped:
            raise
        except (SystemExit, KeyboardInterrupt) as leaving:
            super().set_exception(leaving)
            raise
        except BaseException as failure:  # noqa: BLE001 - it is for whoever awaits the task
            super().set_exception(failure)
        else:
            self._wait_for(waited)
        finally:
            asyncio.tasks._leave_task(self._loop, self)  # type: ignore[arg-type]  # noqa: SLF001
            del self  # as in `result`

    def _wait_for(self, waited: object) -> None:
        if waited is None:
            self._again(None)
        elif not isinstance(waited, Future):
            self._again(RuntimeError("a task can await coroutines, tasks, futures and calls of tools"))
        elif waited.get_loop() is not self._loop:
            self._again(RuntimeError(f"{self!r} waits for {waited!r}, which belongs to a different loop"))
        elif not waited._asyncio_future_blocking:  # noqa: SLF001 - a future of ours, as a task is
            self._again(RuntimeError("yield was used instead of yield from in a task"))
        elif waited is self:
            self._again(RuntimeError("a task cannot await itself"))
        else:
            waited._asyncio_future_blocking = False  # noqa: SLF001
            waited.add_done_callback(self._wake, context=self._context)
            self._fut_waiter = waited
            if self._must_cancel and waited.cancel(self._message):
                self._must_cancel = False

    def _again(self, error: BaseException | None) -> None:
        self._loop.call_soon(self._step, error, context=self._context)

    def _wake(self, _waited: Future) -> None:
        self._step()  # the coroutine asks what it has waited for itself
        del self  # as in `result`
