"""What happened, as events: for each run, call, session, request that left the sandbox and step of the outbox.

An audit that has holes proves nothing. So a sink that cannot take an event stops what the event is about: the
run ends with an error of kind `host`, and a run whose beginning cannot be recorded is not begun.
"""

from __future__ import annotations

import logging
import os
import secrets
import threading
import time
import weakref
from collections import deque
from collections.abc import Iterable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field, fields
from typing import Literal, Protocol

__all__ = ["Audit", "Event", "EventName", "Sink", "Unrecorded"]

log = logging.getLogger("codeact")

EventName = Literal[
    "sandbox_spawn",
    "sandbox_exit",
    "tool_call_executed",
    "tool_call_denied",
    "action_proposed",
    "session_open",
    "session_close",
    "egress",
    "outbox_proposed",
    "outbox_approved",
    "outbox_refused",
    "outbox_started",
    "outbox_done",
    "outbox_failed",
    "outbox_unknown",
]
"""What an event is about."""


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened.

    Attributes:
        name: what it is.
        audit: the id of the audit: each that is made has another, and in a forked child it has another too.
        seq: its place among all events of that audit, from 1. A gap is an event that a sink did not take.
        process: the process's number.
        time: seconds since the epoch.
        run: the run's id; None where there is none.
        session: the session's id; None where there is none.
        tenant: whose run or session it is; None where nobody was named.
        data: what else is known, ready for JSON; see `codeact.audit.events`. Never a secret: arguments and results
            are digests, unless the audit was told to keep them.
    """

    name: EventName
    audit: str
    seq: int
    process: int
    time: float
    run: str | None
    session: str | None
    tenant: str | None
    data: Mapping[str, object] = field(default_factory=dict)

    def to_dict(self) -> dict[str, object]:
        """The event as one flat mapping: the names of `data` beside the event's own."""
        own = {field: getattr(self, field) for field in _OWN}
        return {"event": self.name, **own, **self.data}


_OWN = tuple(field.name for field in fields(Event) if field.name not in {"name", "data"})


class Sink(Protocol):
    """Where events go. It may be called from any thread, by one at a time."""

    def write(self, event: Event) -> None:
        """Take an event. What it raises ends the run that the event is about."""
        ...


class Unrecorded(RuntimeError):
    """A sink did not take an event; its cause says why."""


class Audit:
    """Numbers events and hands them to every sink, in order. Sandboxes may share one."""

    _writing: bool

    def __init__(self, sinks: Iterable[Sink], *, content: bool = False) -> None:
        """Make an audit.

        Args:
            sinks: where events go.
            content: whether events also carry the arguments and results of calls and the text of programs, which
                may hold secrets and people's data. Otherwise they carry digests and sizes.

        Raises:
            TypeError: `sinks` is no collection of objects with a method `write`.
            ValueError: there is no sink: nothing would be on record.
        """
        if not isinstance(sinks, Iterable) or isinstance(sinks, str):
            msg = f"sinks={sinks!r:.200}: expected a list of sinks, such as [JsonLines('audit.jsonl')]"
            raise TypeError(msg)
        self.content = content
        self._sinks = tuple(sinks)
        for sink in self._sinks:
            if not callable(getattr(sink, "write", None)) or isinstance(sink, type):
                msg = f"sinks: {sink!r:.200} is no sink: expected an object with a method write(event)"
                raise TypeError(msg)
        if not self._sinks:
            msg = "sinks: there is none, and nothing would be on record; leave the audit out for that"
            raise ValueError(msg)
        self._reset()
        _audits.add(self)

    def emit(self, name: EventName, trail: Trail, data: Mapping[str, object]) -> None:
        """Put one event on record, with every sink that takes it.

        Raises:
            Unrecorded: a sink did not take it; it may be on record with others.
        """
        failed: Unrecorded | None = None
        own = (name, trail, time.time(), data)
        with self._lock:
            self._waiting.append(own)
            # The collector may end a session in the middle of this, on this thread: what that says comes after.
            while self._waiting and not self._writing:
                self._writing = True
                try:
                    while self._waiting:
                        event = self._waiting.popleft()
                        lost = self._write(*event)
                        if lost is not None and event is own:
                            failed = lost
                        elif lost is not None:  # whoever said it has gone on
                            log.error("%s", lost)
                finally:
                    self._writing = False
        if failed is not None:
            raise failed

    def _write(self, name: EventName, trail: Trail, at: float, data: Mapping[str, object]) -> Unrecorded | None:
        self._last += 1
        event = Event(name, self._id, self._last, self._process, at, trail.run, trail.session, trail.tenant, data)
        failed = None
        for sink in self._sinks:
            try:
                sink.write(event)
            except Exception as error:  # noqa: BLE001 - the other sinks, which may wait for it, get it all the same
                msg = f"{type(sink).__name__} did not take the event {name}: {type(error).__name__}: {error}"
                failed = Unrecorded(msg)
                failed.__cause__ = error
        return failed

    def _reset(self) -> None:
        self._lock = threading.RLock()
        self._waiting: deque[tuple[EventName, Trail, float, Mapping[str, object]]] = deque()
        self._writing = False
        self._last = 0
        self._id = secrets.token_hex(8)
        self._process = os.getpid()


_audits: weakref.WeakSet[Audit] = weakref.WeakSet()


def _after_fork() -> None:
    for audit in list(_audits):
        audit._reset()  # noqa: SLF001 - its lock may have been held by a thread that is not in the child


os.register_at_fork(after_in_child=_after_fork)


@dataclass(frozen=True, slots=True)
class Trail:
    """What ties events together: whose they are, and where they go.

    Attributes:
        audit: where they go; None when nobody listens.
        run: the run's id.
        session: the session's id.
        tenant: whose run or session it is.
    """

    audit: Audit | None = None
    run: str | None = None
    session: str | None = None
    tenant: str | None = None

    def emit(self, name: EventName, data: Mapping[str, object]) -> None:
        """Put one event on record, if there is an audit."""
        if self.audit is not None:
            self.audit.emit(name, self, data)

    @property
    def content(self) -> bool:
        """Whether events carry what was said, and not only digests of it."""
        return self.audit is not None and self.audit.content


SILENT = Trail()
"""Of what nobody listens to."""

trail: ContextVar[Trail] = ContextVar("codeact_trail", default=SILENT)
"""The trail of the run that calls a tool; seen by the tool, in its thread or its coroutine."""
