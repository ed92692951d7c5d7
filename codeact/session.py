"""A session: one world for many programs."""

from __future__ import annotations

import uuid
import weakref
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from types import TracebackType
from typing import Self

from codeact.audit import Trail, events
from codeact.completion import complete, complete_async, refuse_in_a_loop
from codeact.errand import Errand, Past, checked_task, checked_tenant
from codeact.execution import Ended
from codeact.files import Content
from codeact.grant import Grant, Place
from codeact.lifecycle import Life, Reason, worlds
from codeact.notes import listed
from codeact.result import Error, Result, Usage
from codeact.tape import Recorder, Tape, kept
from codeact.world import PastRun, World

_OVER: dict[Reason, str] = {
    "closed": "is closed",
    "dropped": "is closed",
    "idle": "was idle for too long (limit session_idle)",
    "lifetime": "has lived as long as it may (limit session_lifetime)",
    "exit": "has ended with the process",
    "fork": "belongs to the process that this one was forked from",
}


class SessionExpired(RuntimeError):
    """A session has met a limit of its own: `session_idle` or `session_lifetime`."""


class Session:
    """One world for many programs: names, imports, functions, classes and files stay from run to run.

    It is a context manager, and closes at its end; it also ends when nobody holds it any more, with the process, and
    at the limits `session_idle` and `session_lifetime`: programs that come later fail with a `SessionExpired` that
    says so. It runs one program at a time. Where a program is ended so hard that its world goes with it, the result
    says what was lost, and the next program finds a fresh world. It belongs to the process that opened it: a forked
    child has none of its names and files.

    Attributes:
        id: tells it from all others.
        tenant: whose it is.
        task: what it is for, as the host calls it.
    """

    def __init__(
        self,
        grant: Grant,
        tenant: str | None,
        history: Iterable[PastRun] = (),
        *,
        files: Mapping[str, Content] | None = None,
        task: str | None = None,
    ) -> None:
        """Made by `Sandbox.session`."""
        self.id = uuid.uuid4().hex
        self.tenant = checked_tenant(tenant)
        self.task = checked_task(task)
        self._grant = grant
        self._given = grant.errand("", files).files
        self._life = Life(Trail(grant.audit, session=self.id, tenant=tenant), grant.limits)
        self._world = World(grant, self._life)
        self._history = list(history)
        self._answered = sum(past.tape.size for past in self._history)
        worlds.watch(self._life)
        try:
            events.session_open(self._life.trail, grant.engine.name)
        except BaseException:
            worlds.forget(self._life)
            raise
        weakref.finalize(self, worlds.drop, self._life).atexit = False  # the process's end is for `worlds` to see

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        state = "over" if self._life.over else f"with {', '.join(self._world.names) or 'no names'}"
        return f"<Session {self.id[:8]} on {self._grant.engine.name}, {state}>"

    @property
    def names(self) -> tuple[str, ...]:
        """The public names that its programs have bound and the next one will find."""
        return () if self._life.over else tuple(self._world.names)

    @property
    def history(self) -> tuple[PastRun, ...]:
        """The programs that made its world what it is; those that cost it its world are not among them."""
        return tuple(self._history)

    @property
    def lost(self) -> bool:
        """Whether the world that its history made is not there: a program has cost it, or it was an earlier session's."""
        return self._life.instance is None and bool(self._history)

    def run(self, code: str, *, files: Mapping[str, Content] | None = None) -> Result:
        """Run the next program; as `Sandbox.run`. What is put into the workspace stays there too.

        Raises:
            RuntimeError: the session is closed, or runs another program just now.
        """
        asked = self._grant.errand(code, files, task=self.task)
        refuse_in_a_loop()
        try:
            with self._turn():
                tape, asked = self._grant.tape(), self._furnished(asked)
                return self._after(asked, tape, complete(self._grant, asked, self._place(tape)))
        except SessionExpired:
            return self._expiry()

    async def run_async(self, code: str, *, files: Mapping[str, Content] | None = None) -> Result:
        """Run the next program; as `Sandbox.run_async`.

        Raises:
            RuntimeError: the session is closed, or runs another program just now.
        """
        asked = self._grant.errand(code, files, task=self.task)
        try:
            with self._turn():
                tape, asked = self._grant.tape(), self._furnished(asked)
                return self._after(asked, tape, await complete_async(self._grant, asked, self._place(tape)))
        except SessionExpired:
            return self._expiry()

    def restore(self) -> tuple[str, ...]:
        """Make its world anew from its history. No tool is called: their answers are on record.

        Returns:
            The names that are there again.

        Raises:
            RuntimeError: a program did not do what it did before, and the world is left fresh; or as `run`.
        """
        refuse_in_a_loop()
        with self._turn():
            for past in self._rewound():
                self._again(past, complete(self._grant, *self._world.again(past)))
        return self.names

    async def restore_async(self) -> tuple[str, ...]:
        """As `restore`, inside a running event loop."""
        with self._turn():
            for past in self._rewound():
                self._again(past, await complete_async(self._grant, *self._world.again(past)))
        return self.names

    def close(self) -> None:
        """Destroy its world. Harmless when called twice."""
        self._life.end("closed")

    @contextmanager
    def _turn(self) -> Iterator[None]:
        life = self._life
        life.expire()
        entered = life.over is None and life.enter()
        if life.over is None and not entered:
            msg = "this session runs another program just now; wait for it, or open a session for each"
            raise RuntimeError(msg)
        if life.over is not None:
            if entered:  # it was ended just now, by somebody who left the world to whoever is in it
                life.lose()
                life.busy.release()
            msg = f"this session {_OVER[life.over]}; open another one with sandbox.session()"
            raise (SessionExpired if life.over in {"idle", "lifetime"} else RuntimeError)(msg)
        settled = False
        try:
            yield
            settled = True
        finally:
            if life.over is not None or not settled:  # a run that was cancelled may still be in the world
                self._world.forget(close=settled)
            life.used()
            life.busy.release()
            life.expire()

    def _expiry(self) -> Result:
        """What a program is told that comes too late."""
        limits = self._grant.limits
        if self._life.over == "idle":
            why = f"it had no program for {limits.session_idle:g} s (limit session_idle)"
        else:
            why = f"it has lived {limits.session_lifetime:g} s (limit session_lifetime)"
        names = tuple(self._world.names)
        lost = f", with {_listed(names)}" if names else ""
        error = Error(
            kind="timeout",
            type="SessionExpired",
            message=f"this session is over, {why}; its world is destroyed{lost}",
            hint="begin again in a new session: nothing was run",
        )
        return Result(False, None, error, "", None, (), Usage(0.0, 0.0, 0, None, 0), shown=limits.shown)

    def _furnished(self, asked: Errand) -> Errand:
        """What is asked for, with the files that every fresh world of the session holds."""
        if not self._given or self._life.instance is not None:
            return asked
        return replace(asked, files={**self._given, **asked.files})

    def _place(self, tape: Tape) -> Place:
        return self._world.place(Recorder(tape, self._grant.limits))

    def _after(self, asked: Errand, tape: Tape, ended: Ended) -> Result:
        had = tuple(self._world.names)
        result = ended.result
        there = self._world.settle(asked, ended)
        if there and ended.instance is not None:
            run = "" if self._grant.recording is None else result.run
            self._history.append(PastRun(asked.source, result.ok, kept(tape, self._answered), asked.files, run))
            self._answered += tape.size
            self._world.past = Past((run,), whole=False)
        if result.ok:
            return ended.keep(result)
        if self._life.over is not None or self._life.expired() is not None:
            return ended.keep(noted(result, _over(had)))
        return ended.keep(noted(result, _kept(self.names) if there else _lost(had)))

    def _again(self, past: PastRun, ended: Ended) -> None:
        number = self._world.number
        why = self._world.settle_again(past, ended)
        if why is not None:
            self._world.forget()
            msg = f"the session cannot be restored: program {number} of its history ended otherwise: {why}"
            raise RuntimeError(msg)

    def _rewound(self) -> Iterator[PastRun]:
        self._world.forget()
        for number, past in enumerate(self._history, 1):
            if not past.tape.whole:
                self._world.forget()
                msg = f"the session cannot be restored: program {number} of its history read the clocks, or was answered, more than is kept"
                raise RuntimeError(msg)
            yield past


def noted(result: Result, note: str) -> Result:
    """The result with one more note."""
    return replace(result, note="; ".join(filter(None, (result.note, note))))


def _over(names: tuple[str, ...]) -> str:
    return f"the session is over{f', with {_listed(names)}' if names else ''}"


def _kept(names: tuple[str, ...]) -> str:
    return f"the session goes on, with {_listed(names)}" if names else "the session goes on; it has no names yet"


def _lost(names: tuple[str, ...]) -> str:
    gone = f"with {_listed(names)}" if names else "which had no names yet"
    return f"the session's world is lost, {gone}; unless it is restored, the next program begins in an empty one"


def _listed(names: tuple[str, ...]) -> str:
    return f"the name{'s' * (len(names) > 1)} {listed(names)}"
