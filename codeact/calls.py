"""The one door: every call from inside goes through `Door.call`, and nothing else reaches a tool."""

from __future__ import annotations

import contextvars
import logging
import math
import os
import threading
import time
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from concurrent.futures import TimeoutError as FutureTimeout
from pathlib import Path
from typing import Any

from codeact import excerpts
from codeact.engines import Answer, Fault, Refusal, Reply, Stop
from codeact.limits import Limits
from codeact.portal import Contained, Portal
from codeact.result import Call, State
from codeact.tools import BadArguments, Tool, Toolset
from codeact.values import Uncrossable, digest_of, from_host
from codeact.workers import workers
from wasm_runtime.guest.names import shortened, unknown_tool

log = logging.getLogger("codeact")

DIGITS = 16
"""Hexadecimal digits of a digest that a receipt shows."""

MESSAGE = 1000
"""Characters of a host exception's text that the program sees."""


class Door:
    """The door of one run: it validates, counts, keeps the deadline, and records.

    `call` runs on the guest's thread; `expire` and `close` come from the thread that waits for the run. After
    either of these the door is shut: no call reaches a tool, and what a tool still gives is thrown away.
    """

    def __init__(self, tools: Toolset, limits: Limits, deadline: float, portal: Portal) -> None:
        self._tools = tools
        self._limits = limits
        self._deadline = deadline
        self._portal = portal
        self._lock = threading.Lock()
        self._made = 0
        self._under_way: dict[int, _UnderWay] = {}
        self._calls: list[Call] = []
        self.stop: Fault | None = None

    @property
    def calls(self) -> tuple[Call, ...]:
        """The receipts so far; a call still under way is `unfinished`."""
        with self._lock:
            pending = [call.receipt("unfinished") for call in self._under_way.values()]
            return tuple(sorted([*self._calls, *pending], key=lambda call: call.seq))

    def call(self, name: str, args: tuple[object, ...], kwargs: dict[str, object]) -> Reply:
        """Answer one call from inside. Never raises.

        Args:
            name: the tool asked for; anything a guest may send.
            args: positional arguments, plain values.
            kwargs: keyword arguments, plain values.
        """
        try:
            digest = digest_of(args, kwargs, self._limits.value_depth)[:DIGITS]
            return self._begin(name, digest, lambda begun: self._answer(name, args, kwargs, begun))
        except BaseException as error:  # noqa: BLE001 - a guest must never see our own frames
            return self.end(_broken(error))

    def refuse(self, name: str, reason: str) -> Reply:
        """Put a call on record whose arguments could not be read. Never raises."""
        try:
            return self._begin(name, "", lambda _: ("refused", Refusal("TypeError", f"{shortened(name)}: {reason}")))
        except BaseException as error:  # noqa: BLE001 - as in `call`
            return self.end(_broken(error))

    def interrupted(self) -> Fault | None:
        """Why the program must end; None while it may go on."""
        if self.stop is None and time.monotonic() >= self._deadline:
            return self.end(self._overdue()).fault
        return self.stop

    def end(self, fault: Fault) -> Stop:
        """Shut the door with a reason; the first reason stays."""
        with self._lock:
            if self.stop is None:
                self.stop = fault
            return Stop(self.stop)

    def expire(self) -> bool:
        """Shut the door at the deadline. Gives whether a tool is under way, and so nothing to wait for."""
        with self._lock:
            busy = bool(self._under_way)
            if self.stop is None:
                self.stop = self._overdue()
        self.close()
        return busy

    def close(self) -> None:
        """Shut the door for good; calls under way become `unfinished`."""
        with self._lock:
            if self.stop is None:
                self.stop = Fault("host", "RuntimeError", "the run is over")
            left = list(self._under_way.values())
            self._under_way.clear()
            self._calls.extend(call.receipt("unfinished") for call in left)
        for call in left:
            call.cancel()

    def _begin(self, name: str, digest: str, answer: Callable[[_UnderWay], tuple[State, Reply]]) -> Reply:
        stop = self.interrupted()
        if stop is not None:
            return Stop(stop)
        with self._lock:
            if self.stop is not None:
                return Stop(self.stop)
            self._made += 1
            begun = _UnderWay(self._made, shortened(name), digest)
            if begun.seq <= self._limits.calls:
                self._under_way[begun.seq] = begun
        if begun.seq > self._limits.calls:
            return self.end(_too_many(self._limits.calls))
        state, reply = answer(begun)
        with self._lock:
            if self._under_way.pop(begun.seq, None) is None:  # the door was shut meanwhile, and the receipt written
                return Stop(self.stop or Fault("host", "RuntimeError", "the run is over"))
            self._calls.append(begun.receipt(state))
        return reply

    def _answer(
        self, name: str, args: tuple[object, ...], kwargs: dict[str, object], begun: _UnderWay
    ) -> tuple[State, Reply]:
        tool = self._tools.get(name)
        if tool is None:
            return "refused", Refusal("AttributeError", unknown_tool(name, self._tools))
        try:
            bound = tool.bind(args, kwargs)
        except BadArguments as error:
            return "refused", Refusal("TypeError", str(error))
        except Exception as error:  # noqa: BLE001 - a validator of the host's own failed
            return "refused", Refusal("TypeError", f"{tool.name}(): {_told(error)}")
        return self._perform(tool, bound, begun, lambda: excerpts.call(tool.name, args, kwargs))

    def _perform(
        self,
        tool: Tool[..., Any],
        bound: tuple[tuple[Any, ...], dict[str, Any]],
        begun: _UnderWay,
        written: Callable[[], str],
    ) -> tuple[State, Reply]:
        args, kwargs = bound
        allowed = tool.timeout or self._limits.call_timeout
        left = self._deadline - time.monotonic()
        try:
            if tool.is_async:
                value = begun.wait(self._portal(tool.function(*args, **kwargs)), min(allowed or math.inf, left))
            elif allowed is not None:
                value = begun.wait(_start(lambda: tool.function(*args, **kwargs)), min(allowed, left))
            else:
                value = tool.function(*args, **kwargs)
            plain = from_host(value, depth=self._limits.value_depth, size=self._limits.value_bytes)
            if tool.shape is not None:
                plain = tool.shape(plain)
        except FutureTimeout as error:
            if not begun.timed_out:  # the tool's own TimeoutError
                return "failed", Refusal("ToolError", f"{written()} failed: {_told(error)}")
            if allowed is None or allowed >= left:
                return "unfinished", self.end(self._overdue())
            return "unfinished", Refusal("ToolError", f"{written()} did not answer within {allowed:g} s")
        except Uncrossable as error:
            return "failed", Refusal("ToolError", f"{written()} gave what cannot cross into the sandbox: {error}")
        except CancelledError:
            return "failed", Refusal("ToolError", f"{written()} was cancelled on the host")
        except Contained as contained:
            return "failed", Refusal("ToolError", f"{written()} failed: {_told(contained.error)}")
        except BaseException as error:  # noqa: BLE001 - errors are data, SystemExit of a tool included
            return "failed", Refusal("ToolError", f"{written()} failed: {_told(error)}")
        return "ok", Answer(plain)

    def _overdue(self) -> Fault:
        """What the deadline has met, whoever notices it first: a tool under way, or the program itself."""
        limit = f"{self._limits.timeout:g} s (limit timeout)"
        busy = list(self._under_way.values())
        if not busy:
            return Fault("timeout", "TimeoutError", f"the program was terminated after {limit}")
        return Fault(
            "timeout",
            "TimeoutError",
            f"the tool {busy[0].name} had not answered at the deadline of {limit}; the run ended without it",
        )


class _UnderWay:
    """A call that has not been answered yet."""

    __slots__ = ("_cancelled", "_future", "digest", "name", "seq", "started", "timed_out")

    def __init__(self, seq: int, name: str, digest: str) -> None:
        self.seq = seq
        self.name = name
        self.digest = digest
        self.started = time.perf_counter()
        self.timed_out = False
        self._cancelled = False
        self._future: Future[object] | None = None

    def wait(self, future: Future[object], seconds: float) -> object:
        self._future = future
        if self._cancelled:  # the door was shut before there was anything to cancel
            future.cancel()
        try:
            return future.result(max(seconds, 0.0))
        except FutureTimeout:
            self.timed_out = not future.done()
            future.cancel()
            raise

    def cancel(self) -> None:
        self._cancelled = True
        if self._future is not None:
            self._future.cancel()

    def receipt(self, state: State) -> Call:
        return Call(self.seq, self.name, self.digest, state, time.perf_counter() - self.started)


def _too_many(limit: int) -> Fault:
    return Fault(
        "calls",
        "RuntimeError",
        f"the program made more than {limit:,} tool calls (limit calls)",
        hint="call a tool once for many things where it can, and stop when you have what you need",
    )


def _broken(error: BaseException) -> Fault:
    log.error("the door failed", exc_info=error)
    return Fault(
        "host", type(error).__name__, "the door failed, which is a fault of the sandbox; the host's log says why"
    )


def _told(error: BaseException) -> str:
    try:
        text = _text(error)
    except BaseException:  # noqa: BLE001 - the host's own __str__ failed
        text = ""
    if len(text) > MESSAGE:
        text = f"{text[:MESSAGE]}… ({len(text) - MESSAGE:,} more characters)"
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _text(error: BaseException) -> str:
    """An exception's text; of a file it names, the name without where on the host it is."""
    if (
        isinstance(error, OSError)
        and type(error).__str__ is OSError.__str__
        and isinstance(error.filename, (str, bytes))
    ):
        return f"{error.strerror}: {Path(os.fsdecode(error.filename)).name!r}"
    return str.__str__(str(error))


def _start(function: Callable[[], object]) -> Future[object]:
    """Call a function on a worker; a deadline can then pass without it."""
    future: Future[object] = Future()
    context = contextvars.copy_context()

    def job() -> None:
        if not future.set_running_or_notify_cancel():
            return
        try:
            future.set_result(context.run(function))
        except BaseException as error:  # noqa: BLE001 - it travels on in the future
            future.set_exception(error)

    workers.submit(job)
    return future
