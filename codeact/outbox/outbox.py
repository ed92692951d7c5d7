"""The outbox itself: what hosts call."""

from __future__ import annotations

import inspect
import math
import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Any, Literal, Self

from codeact.actions import Action, Actions
from codeact.audit import Audit
from codeact.databases import NoPlace, place
from codeact.locks import FileLocks, ThreadLocks
from codeact.outbox.callbacks import Approver, ask, ask_async
from codeact.outbox.entries import (
    APPROVE,
    REFUSE,
    SETTLE_AGAIN,
    SETTLE_DONE,
    SETTLE_FAILED,
    STATES,
    Entry,
    OutboxError,
    State,
    Step,
    Verdict,
)
from codeact.outbox.ledger import Ledger
from codeact.outbox.performers import Performers
from codeact.outbox.performing import Held, call_of, perform, perform_async
from codeact.outbox.rules import Rule, checked
from codeact.outbox.store import Store
from codeact.outbox.texts import check_text, reason_of
from codeact.portal import inside_a_loop
from codeact.proposals import Proposal, digest_of
from codeact.result import Result
from codeact.tools import Granted

_SETTLEMENTS = {"done": SETTLE_DONE, "failed": SETTLE_FAILED, "again": SETTLE_AGAIN}


@dataclass(frozen=True, slots=True)
class _Begun:
    """An entry that is started, and what performs it."""

    entry: Entry
    action: Action[..., Any]
    call: Callable[[], Any]


class Outbox:
    """Consequences in one SQLite file, each decided before it is performed, and performed once.

    Many threads and processes of one machine may use one file at the same time, each process with an outbox of its own.
    """

    def __init__(  # noqa: PLR0913 - what an outbox is made of
        self,
        path: str | os.PathLike[str],
        *,
        actions: Granted = (),
        rules: Iterable[Rule] = (),
        approve: Approver | None = None,
        audit: Audit | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Open an outbox, or make it.

        Args:
            path: the file, which is made so that only its owner may read it; ":memory:" for one that ends with this.
            actions: what can be performed here; see `codeact.Sandbox`. Without it, entries can only be decided.
            rules: what is decided without asking, in the order in which they are asked; see `codeact.outbox.rules`.
            approve: is asked about what no rule decides, once, when it is submitted; see `submit`.
            audit: where every step is put on record. One that cannot be recorded is not taken; what a function has
                done stays done.
            clock: seconds since the epoch, for what expires.

        Raises:
            OutboxError: the file cannot be opened, is no database, or is of another version.
            TypeError: `path` is no path, or an action, a rule or the callback is none.
            ValueError: two actions have one name, or a rule is about an action or a parameter that does not exist.
        """
        if not isinstance(path, (str, os.PathLike)):
            msg = f"path={path!r:.200}: expected the path of a file, or ':memory:'"
            raise TypeError(msg)
        self._actions = actions if isinstance(actions, Actions) else Actions(actions)
        self._rules = checked(rules, self._actions)
        if approve is not None and not callable(approve):
            msg = f"approve={approve!r}: expected a function that takes an Entry and gives True, False or None"
            raise TypeError(msg)
        if audit is not None and not isinstance(audit, Audit):
            msg = f"audit={audit!r}: expected an Audit"
            raise TypeError(msg)
        self._approve = approve
        try:
            file = None if path == ":memory:" else place(path)
        except NoPlace as error:
            raise OutboxError(*error.args) from error
        performers = Performers(ThreadLocks() if file is None else FileLocks(file, "performer"))
        self._ledger = Ledger(Store(file), performers, audit, clock)
        performers.sweep()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file. Harmless when called twice."""
        self._ledger.store.close()

    # --- what comes in --------------------------------------------------------------------------------------------

    def submit(self, proposals: Result | Iterable[Proposal], task: str | None = None) -> list[Entry]:
        """Take proposals in, and let the rules and the callback decide.

        The same action with the same arguments is one entry in a task, however often it is submitted: what is there
        already is given back as it is, and nothing is decided again; only where nobody was ever asked about it, because
        the process died first or there was no callback, the callback is asked now. Of several that ask at the same time,
        the first answer counts.

        Where the callback raises an exception, or gives something else than a bool, a `Verdict` or None, a person decides:
        why is the entry's reason, and is logged; and the callback is asked about the next one. What is no `Exception`,
        such as a `KeyboardInterrupt`, goes on.

        Args:
            proposals: what a program has proposed, or the result of its run; of a run that failed nothing is taken.
            task: what it is for, such as the number of a ticket; the run by default, where a result was given.

        Returns:
            An entry for each proposal, in their order.

        Raises:
            OutboxError: it cannot be put on the disk; nothing has been taken in.
            TypeError: something else than proposals was given, or the callback is async.
            ValueError: there is no task, or a proposal's digest is not that of its arguments.
            Unrecorded: the audit did not take it. Nothing has been taken in; or it was what the callback said of one, which
                is asked again at the next submission.
        """
        if inspect.iscoroutinefunction(self._approve):
            msg = "submit(): the callback `approve` is async; use `await outbox.submit_async(…)`"
            raise TypeError(msg)
        ids, unasked = self._take(proposals, task)
        if self._approve is not None:
            for entry in unasked:
                self._heed(entry, ask(self._approve, entry))
        return [self._ledger.one(entry_id) for entry_id in ids]

    async def submit_async(self, proposals: Result | Iterable[Proposal], task: str | None = None) -> list[Entry]:
        """See `submit`; the callback may be async."""
        ids, unasked = self._take(proposals, task)
        if self._approve is not None:
            for entry in unasked:
                self._heed(entry, await ask_async(self._approve, entry))
        return [self._ledger.one(entry_id) for entry_id in ids]

    # --- what is there --------------------------------------------------------------------------------------------

    def entries(self, state: State | None = None, task: str | None = None) -> list[Entry]:
        """Entries in the order in which they came in.

        Args:
            state: those of one state; None for all.
            task: those of one task; None for all.

        Raises:
            ValueError: there is no such state.
        """
        if state is not None and state not in STATES:
            msg = f"state={state!r}: expected one of {', '.join(STATES)}"
            raise ValueError(msg)
        self._ledger.look()
        return self._ledger.store.read(state, task)

    def get(self, entry_id: str) -> Entry:
        """The entry of an id, which may be shortened as far as it is the only one.

        Raises:
            OutboxError: there is none, or there are several.
        """
        self._ledger.look()
        return self._ledger.one(entry_id)

    def history(self, entry_id: str) -> tuple[Step, ...]:
        """All that has happened to an entry since it came in, in its order.

        An entry says how it is; its history says also who approved it before it failed, and that it was ever unknown.

        Raises:
            OutboxError: there is no such entry, or there are several; see `get`.
        """
        return self._ledger.store.history(self.get(entry_id).id)

    # --- what a person decides ------------------------------------------------------------------------------------

    def approve(self, entry_id: str, *, digest: str, by: str, expires: float | None = None) -> Entry:
        """Approve an entry that is proposed, or has failed: it may be performed, once.

        Args:
            entry_id: the entry's.
            digest: the entry's, as it was seen: what is approved is this call and no other.
            by: who approves it, for the record.
            expires: seconds that the approval holds; None for ever. What was not begun by then is proposed again.

        Raises:
            OutboxError: there is no such entry, its digest is another one, or it is in a state that cannot be approved.
            ValueError: `by` is empty, or `expires` is not above zero.
            Unrecorded: the audit did not take it; nothing has changed.
        """
        check_text("by", by)
        if expires is not None and not (isinstance(expires, (int, float)) and 0 < expires < math.inf):
            msg = f"expires={expires!r}: expected a number of seconds above zero"
            raise ValueError(msg)
        now = self._ledger.clock()
        with self._ledger.changing(entry_id) as entry:
            # Both are looked at: what the database says it was, and what it would do.
            if digest != entry.digest or digest_of(entry.name, entry.arguments) != digest:
                msg = f"entry {entry.id[:8]}, {entry}, has the digest {entry.digest}, and {digest!r} was given; look at it again"
                raise OutboxError(msg)
            until = None if expires is None else now + expires
            return self._ledger.move(entry, APPROVE, decided=now, by=by, expires=until, reason=None, keyed=None)

    def refuse(self, entry_id: str, *, by: str, reason: str | None = None) -> Entry:
        """Refuse an entry that is proposed or has failed, or that is approved and not begun. That is final.

        Args:
            entry_id: the entry's.
            by: who refuses it, for the record.
            reason: why, for the record.

        Raises:
            OutboxError: there is no such entry, or it is in a state that cannot be refused.
            ValueError: `by` is empty.
            Unrecorded: the audit did not take it; nothing has changed.
        """
        check_text("by", by)
        with self._ledger.changing(entry_id) as entry:
            return self._ledger.move(
                entry, REFUSE, decided=self._ledger.clock(), by=by, expires=None, reason=reason_of(reason)
            )

    def settle(
        self, entry_id: str, outcome: Literal["done", "failed", "again"], *, by: str, note: str | None = None
    ) -> Entry:
        """Say what became of an entry that is unknown, for somebody has looked.

        Args:
            entry_id: the entry's.
            outcome: "done", it has happened; "failed", it has not; "again", it is to be performed again with the same key,
                where the function takes one, so that whoever is asked for it can tell that it was asked before.
            by: who says so, for the record.
            note: how that is known, for the record.

        Raises:
            OutboxError: there is no such entry, it is not unknown, or it was begun by a function that takes no key.
            ValueError: `by` is empty, or there is no such outcome.
            Unrecorded: the audit did not take it; nothing has changed.
        """
        check_text("by", by)
        if outcome not in _SETTLEMENTS:
            msg = f"outcome={outcome!r}: expected one of {', '.join(_SETTLEMENTS)}"
            raise ValueError(msg)
        with self._ledger.changing(entry_id) as entry:
            if outcome == "again" and entry.state == "unknown" and not entry.keyed:
                msg = (
                    f"entry {entry.id[:8]}, {entry}, was begun by a function that takes no idempotency_key: performed again,"
                    " it could happen twice; find out whether it happened, and settle it as done or failed"
                )
                raise OutboxError(msg)
            told = {"decided": self._ledger.clock(), "by": by, "expires": None, "reason": reason_of(note)}
            return self._ledger.move(entry, _SETTLEMENTS[outcome], error=None, owner=None, **told)

    # --- what happens ---------------------------------------------------------------------------------------------

    def perform(self, task: str | None = None) -> list[Entry]:
        """Perform what is approved, one entry after the other, in the order in which they came in.

        Each is on the disk as started before its function is called, and nothing that is started is ever started again.
        Several may perform at the same time: each entry is performed by one of them.

        Args:
            task: what is approved for one task; None for all.

        Returns:
            What was performed, as it is now. What is approved and cannot be performed here stays approved, and is among
            them with the reason.

        Raises:
            OutboxError: the database fails. What was being performed will be found unknown.
            OSError: files cannot be made or locked beside the database; nothing is begun.
            Unrecorded: the audit did not take an event. What it was to begin is not begun; what had ended is kept.
            RuntimeError: there are async actions, and an event loop runs in this thread: use `perform_async`.
        """
        if inside_a_loop() and any(action.is_async for action in self._actions.values()):
            msg = "perform(): an event loop runs in this thread; use `await outbox.perform_async()`"
            raise RuntimeError(msg)
        ended = []
        with self._performing(task) as (owner, waiting):
            for entry in waiting:
                match self._begin(entry, owner):
                    case _Begun(begun, _, call):
                        ended.append(self._ledger.end(begun, perform(call)))
                    case Entry() as held:
                        ended.append(held)
        return ended

    async def perform_async(self, task: str | None = None) -> list[Entry]:
        """See `perform`. Functions that are not async are called on threads."""
        ended = []
        with self._performing(task) as (owner, waiting):
            for entry in waiting:
                match self._begin(entry, owner):
                    case _Begun(begun, action, call):
                        ended.append(self._ledger.end(begun, await perform_async(call, action)))
                    case Entry() as held:
                        ended.append(held)
        return ended

    @contextmanager
    def _performing(self, task: str | None) -> Iterator[tuple[str, list[Entry]]]:
        self._ledger.look()
        waiting = self._ledger.store.read("approved", task)
        if not waiting:
            yield "", []
            return
        self._ledger.performers.sweep()
        with self._ledger.performers.work() as owner:
            yield owner, waiting

    def _begin(self, entry: Entry, owner: str) -> _Begun | Entry | None:
        call = call_of(entry, self._actions)
        if isinstance(call, Held):
            return replace(entry, reason=call.reason)
        action = self._actions[entry.name]
        begun = self._ledger.begin(entry, owner, keyed=action.takes_key)
        return begun if begun is None or begun.state != "started" else _Begun(begun, action, call)

    def _take(self, proposals: Result | Iterable[Proposal], task: str | None) -> tuple[list[str], list[Entry]]:
        run = None
        if isinstance(proposals, Result):
            run = proposals.run or None
            proposals = proposals.proposals if proposals.ok else ()
        whose = task if task is not None else run
        if whose is None:
            msg = "submit(): whose are they? Give the task, such as the number of a ticket: task=…"
            raise ValueError(msg)
        check_text("task", whose)
        return self._ledger.take(proposals, whose, run, self._rules)

    def _heed(self, entry: Entry, verdict: Verdict) -> None:
        with self._ledger.changing(entry.id) as now:
            if not self._ledger.untouched(now.id):  # somebody was faster
                return
            if verdict.approved is None:
                self._ledger.leave(now, verdict.reason)
            else:
                told = {"decided": self._ledger.clock(), "by": "callback", "reason": verdict.reason}
                self._ledger.move(now, APPROVE if verdict.approved else REFUSE, **told)
