"""The one door: every call from inside goes through `Door.call` or `Door.submit`, and nothing else reaches a tool."""

from __future__ import annotations

import logging
import math
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import CancelledError
from queue import Empty, SimpleQueue
from typing import Any

from codeact.audit import SILENT, Trail, Unrecorded, events
from codeact.engines import Answer, Fault, Refusal, Reply, Stop
from codeact.grant import Deadline
from codeact.limits import Limits
from codeact.offer import Offer
from codeact.pending import NOTHING, Arguments, Pending
from codeact.portal import Portal
from codeact.promise import Awaited
from codeact.proposals import Proposal
from codeact.renderings import digest_of
from codeact.result import DIGITS, Call, State
from codeact.threads import threads
from codeact.tools import Tool
from codeact.values import Uncrossable, from_host
from codeact.work import Work
from wasm_runtime.guest.names import shortened

log = logging.getLogger("codeact")

NAMED = 3
"""Names of tools that an error lists."""


class Door:
    """The door of one run: it validates, counts, keeps the deadline, and records.

    `call`, `submit`, `wait` and `cancel` run on the guest's thread; `expire` and `close` come from the thread that
    waits for the run. After either of these the door is shut: no call reaches a tool, and what a tool still gives is
    thrown away.

    Attributes:
        stop: why it is shut; None while it is not.
        unrecorded: why a call is not on record, which ends the run; None while all are.
    """

    def __init__(self, offer: Offer, limits: Limits, deadline: Deadline, portal: Portal, trail: Trail = SILENT) -> None:
        self._offer = offer
        self._limits = limits
        self._deadline = deadline
        self._portal = portal
        self._trail = trail
        self._lock = threading.Lock()
        # A call that is filed is on record before anybody can say that the run is over.
        self._telling = threading.RLock()
        self._made = 0
        self._under_way: dict[int, Pending] = {}
        self._submitted: dict[int, tuple[Pending, Work]] = {}
        self._done: SimpleQueue[Pending | None] = SimpleQueue()
        self._waiting = False
        self._calls: list[Call] = []
        self._spans: list[tuple[float, float]] = []
        self.stop: Fault | None = None
        self.unrecorded: Fault | None = None

    @property
    def calls(self) -> tuple[Call, ...]:
        """The receipts so far; a call still under way is `unfinished`."""
        with self._lock:
            pending = [call.receipt("unfinished") for call in self._under_way.values()]
            return tuple(sorted([*self._calls, *pending], key=lambda call: call.seq))

    @property
    def proposals(self) -> tuple[Proposal, ...]:
        """What the program has proposed so far, in order."""
        return self._offer.proposals

    @property
    def busy(self) -> float:
        """Seconds that at least one call was under way, of those that have ended."""
        total, last = 0.0, -math.inf
        for begin, end in sorted(self._spans):
            total += max(0.0, end - max(begin, last))
            last = max(last, end)
        return total

    def call(self, name: str, args: tuple[object, ...], kwargs: dict[str, object], line: int = 0) -> Reply:
        """Answer one call from inside. Never raises.

        Args:
            name: what is asked for; anything a guest may send.
            args: positional arguments, plain values.
            kwargs: keyword arguments, plain values.
            line: the program's line that calls; 0 where that is not known.
        """
        try:
            entered = self._enter(name, args, kwargs, line)
            return self._answered(*entered) if isinstance(entered, tuple) else entered
        except BaseException as error:  # noqa: BLE001 - a guest must never see our own frames
            return self.end(_broken(error))

    def submit(self, name: str, args: tuple[object, ...], kwargs: dict[str, object], line: int = 0) -> int | Reply:
        """Begin a call of an async tool and go on; see `call`. It is under way by the next `wait`. Never raises.

        Returns:
            Its ticket, by which `wait` tells its answer; or the answer itself, where there is nothing to wait for:
            it was refused, or the tool is not async.
        """
        try:
            entered = self._enter(name, args, kwargs, line)
            if not isinstance(entered, tuple):
                return entered
            call, work = entered
            if not work.tool.is_async:
                return self._answered(call, work)
            if len(self._submitted) >= self._limits.concurrency:
                return self._settle(call, "refused", _too_many_at_once(self._limits.concurrency))
            return self._follow(call, work)
        except BaseException as error:  # noqa: BLE001 - as in `call`
            return self.end(_broken(error))

    def wait(self, seconds: float | None) -> tuple[tuple[int, Reply], ...] | Stop:
        """What has been answered since it was last asked: tickets and replies. Never raises.

        Args:
            seconds: how long to wait for the first; None waits for as long as a call is under way.

        Returns:
            Nothing when the seconds have passed, and when there is nothing to wait for.
        """
        try:
            self._portal.wake()
            replies: list[tuple[int, Reply]] = []
            ended = self._ended(seconds)
            if isinstance(ended, Stop):
                return ended
            for call, work in ended:
                reply = self._settle(call, *self._outcome(call, work, call.result))
                if isinstance(reply, Stop):
                    return reply
                replies.append((call.seq, reply))
            return tuple(replies)
        except BaseException as error:  # noqa: BLE001 - as in `call`
            return self.end(_broken(error))

    def cancel(self, ticket: int) -> None:
        """Give a call up. A ticket that nothing is under way for is harmless. Never raises."""
        with self._telling:
            with self._lock:
                call, _ = self._submitted.pop(ticket, (None, None))
                if call is None or self._under_way.pop(ticket, None) is None:
                    return
                receipt = self._file(call, call.state())
            call.cancel()
            self._tell(call, receipt)

    def refuse(self, name: str, reason: str, line: int = 0) -> Reply:
        """Put a call on record whose arguments could not be read. Never raises."""
        try:
            call = self._begin(name, "", line)
            if isinstance(call, Stop):
                return call
            return self._settle(call, "refused", Refusal("TypeError", f"{shortened(name)}: {reason}"))
        except BaseException as error:  # noqa: BLE001 - as in `call`
            return self.end(_broken(error))

    def interrupted(self) -> Fault | None:
        """Why the program must end; None while it may go on."""
        if self.stop is None and time.monotonic() >= self._deadline.at:
            return self.end(self._overdue()).fault
        return self.stop

    def end(self, fault: Fault) -> Stop:
        """Shut the door with a reason; the first reason stays."""
        with self._lock:
            if self.stop is None:
                self.stop = fault
            return Stop(self.stop)

    def expire(self) -> bool:
        """Shut the door at the deadline. Gives whether the guest stands still in a tool, and so nothing to wait for."""
        with self._lock:
            stuck = bool(self._held())
            if self.stop is None:
                self.stop = self._overdue()
        self.close()
        return stuck

    def close(self) -> None:
        """Shut the door for good; calls under way are given up."""
        with self._telling:
            with self._lock:
                if self.stop is None:
                    self.stop = Fault("host", "RuntimeError", "the run is over")
                left = [(call, self._file(call, call.state())) for call in self._under_way.values()]
                self._under_way.clear()
            for call, _ in left:
                call.cancel()
            self._done.put(None)
            for call, receipt in left:
                self._tell(call, receipt)

    def _begin(self, name: str, digest: str, line: int, said: Arguments | None = None) -> Pending | Stop:
        stop = self.interrupted()
        if stop is not None:
            return Stop(stop)
        known = events.arguments(self._trail, said)
        with self._lock:
            if self.stop is not None:
                return Stop(self.stop)
            self._made += 1
            call = Pending(self._made, shortened(name), digest, line, known)
            if call.seq <= self._limits.calls:
                self._under_way[call.seq] = call
                return call
        return self.end(_too_many(self._limits.calls))

    def _enter(
        self, name: str, args: tuple[object, ...], kwargs: dict[str, object], line: int
    ) -> tuple[Pending, Work] | Reply:
        """Begin a call, and see that it fits what it asks for; otherwise what is answered at once."""
        call = self._begin(name, digest_of(args, kwargs, self._limits.value_depth)[:DIGITS], line, (args, kwargs))
        if isinstance(call, Stop):
            return call
        work = self._offer.work(name, args, kwargs, line)
        return self._settle(call, "refused", work) if isinstance(work, Refusal) else (call, work)

    def _answered(self, call: Pending, work: Work) -> Reply:
        """Carry a call out while the guest stands still, and answer it."""
        return self._settle(call, *self._outcome(call, work, lambda: self._perform(call, work)))

    def _settle(self, call: Pending, state: State, reply: Reply) -> Reply:
        answer = events.answer(self._trail, reply)  # a large one takes its time, and nobody has to wait for that
        with self._telling:
            with self._lock:
                self._submitted.pop(call.seq, None)
                if self._under_way.pop(call.seq, None) is None:  # the door was shut meanwhile, and the receipt written
                    return Stop(self.stop or Fault("host", "RuntimeError", "the run is over"))
                receipt = self._file(call, state)
            self._tell(call, receipt, answer)
        return reply if self.unrecorded is None else Stop(self.unrecorded)

    def _file(self, call: Pending, state: State) -> Call:
        receipt = call.receipt(state)
        self._calls.append(receipt)
        self._spans.append((call.started, call.started + receipt.duration))
        return receipt

    def _tell(self, call: Pending, receipt: Call, answer: Mapping[str, object] = NOTHING) -> None:
        """Put a call on record; where that fails the run ends."""
        if self._trail.audit is None:
            return
        fault = events.recorded(events.call, self._trail, receipt, {**call.said, **answer})
        if fault is not None:
            self._end_unrecorded(fault)

    def _end_unrecorded(self, fault: Fault) -> Stop:
        self.unrecorded = fault
        return self.end(fault)

    def _perform(self, call: Pending, work: Work) -> object:
        """Carry a call out while the guest stands still."""
        allowed = self._allowed(work.tool)
        if work.tool.is_async:
            promise = Awaited()
            self._portal.begin(work.tool.name, work.function, promise)
            self._portal.wake()
            return call.stand_still(promise, min(allowed, self._deadline.left()))
        if allowed < math.inf:
            promise = Awaited()
            threads.call(work.function, promise)
            return call.stand_still(promise, min(allowed, self._deadline.left()))
        return work.function()

    def _follow(self, call: Pending, work: Work) -> int:
        """Carry a call out while the guest goes on."""
        self._submitted[call.seq] = call, work
        call.until = time.monotonic() + self._allowed(work.tool)
        self._portal.begin(work.tool.name, work.function, call.followed(self._done.put))
        return call.seq

    def _outcome(self, call: Pending, work: Work, obtain: Callable[[], object]) -> tuple[State, Reply]:
        try:
            plain = from_host(obtain(), depth=self._limits.value_depth, size=self._limits.value_bytes)
            if work.tool.shape is not None:
                plain = work.tool.shape(plain)
        except TimeoutError as error:
            if not call.timed_out:  # the tool's own TimeoutError
                return "failed", work.failed(error)
            allowed = self._allowed(work.tool)
            if allowed == math.inf or time.monotonic() >= self._deadline.at:
                return "unfinished", self.end(self._overdue())
            whose = " (limit call_timeout)" if work.tool.timeout is None else ""
            return "unfinished", Refusal("ToolError", f"{work.written()} did not answer within {allowed:g} s{whose}")
        except Unrecorded as error:
            return "failed", self._end_unrecorded(events.unrecorded(error))
        except Uncrossable as error:
            return "failed", Refusal("ToolError", f"{work.written()} gave what cannot cross into the sandbox: {error}")
        except CancelledError:
            return "failed", Refusal("ToolError", f"{work.written()} was cancelled on the host")
        except BaseException as error:  # noqa: BLE001 - errors are data, SystemExit of a tool included
            return "failed", work.failed(error)
        return "ok", Answer(plain)

    def _ended(self, seconds: float | None) -> list[tuple[Pending, Work]] | Stop:
        """The submitted calls that need no more waiting, their own time being over included."""
        until = math.inf if seconds is None else time.monotonic() + (seconds if seconds > 0 else 0.0)
        pause = 0.0
        self._waiting = seconds is None or seconds > 0
        try:
            while True:
                ended = self._arrived(pause)
                stop = self.interrupted()
                if stop is not None:
                    return Stop(stop)
                submitted = list(self._submitted.values())
                now = time.monotonic()
                ended += [each for each in submitted if each[0].until <= now and each not in ended]
                if ended or now >= until or (seconds is None and not submitted):
                    return ended
                pause = min(until, self._deadline.at, *(call.until for call, _ in submitted)) - now
        finally:
            self._waiting = False

    def _arrived(self, pause: float) -> list[tuple[Pending, Work]]:
        arrived: list[tuple[Pending, Work]] = []
        while True:
            try:
                call = self._done.get(timeout=pause) if pause > 0 else self._done.get_nowait()
            except Empty:
                return arrived
            pause = 0.0
            found = self._submitted.get(call.seq) if call is not None else None
            if found is not None:
                arrived.append(found)

    def _allowed(self, tool: Tool[..., Any]) -> float:
        """Seconds that a call may take."""
        return tool.timeout or self._limits.call_timeout or math.inf

    def _held(self) -> list[Pending]:
        """The calls that the guest stands still for."""
        return [call for seq, call in list(self._under_way.items()) if seq not in self._submitted]

    def _overdue(self) -> Fault:
        """What the deadline has met, whoever notices it first: tools under way, or the program itself."""
        limit, hint = self._deadline.limit, self._deadline.hint
        busy = self._held() or (list(self._under_way.values()) if self._waiting else [])
        if self._deadline.waits:
            return Fault("timeout", "TimeoutError", f"the program's turn did not come within {limit}", hint=hint)
        if not busy:
            return Fault("timeout", "TimeoutError", f"the program was terminated after {limit}", hint=hint)
        names = list(dict.fromkeys(call.name for call in busy))
        named = ", ".join(names[:NAMED]) + (" and others" if len(names) > NAMED else "")
        who, them = (f"the tool {named}", "it") if len(busy) == 1 else (f"{len(busy)} calls of {named}", "them")
        return Fault(
            "timeout",
            "TimeoutError",
            f"{who} had not answered at the deadline of {limit}; the run ended without {them}",
            hint=hint,
        )


def _too_many(limit: int) -> Fault:
    return Fault(
        "calls",
        "RuntimeError",
        f"the program made more than {limit:,} tool calls (limit calls)",
        hint="call a tool once for many things where it can, and stop when you have what you need",
    )


def _too_many_at_once(limit: int) -> Refusal:
    return Refusal("ToolError", f"{limit:,} calls are under way already (limit concurrency)")


def _broken(error: BaseException) -> Fault:
    log.error("the door failed", exc_info=error)
    return Fault(
        "host", type(error).__name__, "the door failed, which is a fault of the sandbox; the host's log says why"
    )
