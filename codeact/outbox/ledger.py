"""The ledger: every step that entries take, on the disk and on record.

A step and its event are one: where the event cannot be recorded the step is not taken. What is only found out, that an
approval has lapsed or a performer has died, and what a function has done, is kept in any case.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid5

from codeact.audit import Audit, Unrecorded
from codeact.outbox import records
from codeact.outbox.entries import APPROVE, EXPIRE, LEAVE, LOSE, REFUSE, START, Entry, Move, OutboxError, impossible
from codeact.outbox.performers import Performers
from codeact.outbox.performing import Ended
from codeact.outbox.rules import Allow, Rule, first
from codeact.outbox.store import Store
from codeact.proposals import Proposal, digest_of

log = logging.getLogger("codeact")

_NAMESPACE = UUID("6f1b7c52-98f3-5b0e-9d53-4c6f0a8e2b17")
"""Of the ids of entries. It must never change: another one would make a second entry of each consequence."""

_ID = re.compile(r"[0-9a-f]{1,32}")


def id_of(task: str, name: str, digest: str) -> str:
    """The id of a consequence: the same in every outbox."""
    return uuid5(_NAMESPACE, json.dumps([task, name, digest])).hex


@dataclass(frozen=True)
class Ledger:
    """Entries, and the steps that they take.

    Attributes:
        store: where they are.
        performers: who performs them.
        audit: where their steps are put on record; None for nowhere.
        clock: seconds since the epoch.
    """

    store: Store
    performers: Performers
    audit: Audit | None
    clock: Callable[[], float]

    def take(
        self, proposals: Iterable[Proposal], task: str, run: str | None, rules: tuple[Rule, ...]
    ) -> tuple[list[str], list[Entry]]:
        """Take proposals in, all or none, and let the rules decide about those that are new.

        Returns:
            The ids of their entries; and those of the entries to which nothing has happened since they came in: no rule
            speaks about them, and nobody was asked.
        """
        self.look()
        ids = []
        with self.store.change():
            for proposal in proposals:
                entry = self._entry(proposal, task, run)
                ids.append(entry.id)
                if self.store.add(entry) is None:
                    records.emit(self.audit, entry)
                    self._rule(entry, rules)
            return ids, [self.one(entry_id) for entry_id in dict.fromkeys(ids) if self.untouched(entry_id)]

    def untouched(self, entry_id: str) -> bool:
        """Whether nothing has happened to an entry since it came in."""
        return [step.state for step in self.store.history(entry_id)] == ["proposed"]

    def one(self, entry_id: str) -> Entry:
        """The entry whose id begins so.

        Raises:
            OutboxError: there is none, or there are several.
        """
        begins = _ID.fullmatch(entry_id)
        found = self.store.find("WHERE id BETWEEN :id AND :id || 'g' LIMIT 2", id=entry_id) if begins else []
        if len(found) == 1:
            return found[0]
        msg = (
            f"there is no entry {entry_id!r}"
            if not found
            else f"there are several entries {entry_id}…; give more of the id"
        )
        raise OutboxError(msg)

    @contextmanager
    def changing(self, entry_id: str) -> Iterator[Entry]:
        """An entry that nobody else changes until the end of the block; see `one`."""
        self.look()
        with self.store.change():
            yield self.one(entry_id)

    def move(self, entry: Entry, move: Move, **changes: Any) -> Entry:
        """Take an entry that nobody else changes to another state, and put that on record.

        Raises:
            OutboxError: it is in a state from which it cannot come there.
            Unrecorded: the audit did not take it.
        """
        moved = self.store.move(entry, move, self.clock(), **changes)
        if moved is None:
            raise impossible(entry, move)
        records.emit(self.audit, moved)
        return moved

    def leave(self, entry: Entry, reason: str | None) -> None:
        """Leave an entry that nobody else changes to a person. It is no event: it stays proposed, as the audit has it."""
        self.store.move(entry, LEAVE, self.clock(), reason=reason)

    def look(self) -> None:
        """Find out which approvals have lapsed, and which performers have died."""
        lapsed = self.store.find("WHERE state = 'approved' AND expires <= :now", now=self.clock())
        lost = [one for one in self.store.read("started") if not self.performers.lives(one.owner or "")]
        if not lapsed and not lost:
            return
        with self.store.change():
            moved = [self._lapse(self.one(entry.id)) for entry in lapsed]
            moved += [self._lose(self.one(entry.id), entry.owner) for entry in lost]
        for entry in filter(None, moved):
            self._mention(entry)

    def begin(self, entry: Entry, owner: str, *, keyed: bool) -> Entry | None:
        """Put on the disk that an approved entry is started, before anything of it is.

        Args:
            entry: as it was read.
            owner: who performs it.
            keyed: whether the function takes the key.

        Returns:
            The entry as it is now, started or with an approval that has lapsed; None where another was faster.
        """
        with self.store.change():
            now = self.clock()
            held = self.one(entry.id)
            if held.state != "approved":
                return None
            if held.expires is not None and held.expires <= now:
                return self.move(held, EXPIRE, **_lapsed(held))
            begun = {"started": now, "ended": None, "value": None, "error": None, "keyed": keyed, "owner": owner}
            return self.move(held, START, **begun)

    def end(self, entry: Entry, ended: Ended) -> Entry:
        """Put on the disk what came of an entry, and go on with what must go on.

        Args:
            entry: as it was begun.
            ended: what came of it.

        Raises:
            Unrecorded: the audit did not take it; it is on the disk.
            BaseException: what ends more than the function.
        """
        with self.store.change():
            held = self.one(entry.id)
            now = self.clock()
            told = {"ended": now, "value": ended.value, "error": ended.error, "owner": None}
            moved = self.store.move(held, ended.move, now, **told) if held.owner == entry.owner else None
        if moved is None:  # it was taken for lost, and settled meanwhile by somebody who looked
            log.warning("entry %s ended as %s after it had been settled as %s", held.id, ended.move.to, held.state)
        if ended.raised is not None:
            if moved is not None:
                self._mention(moved)
            raise ended.raised
        if moved is not None:
            records.emit(self.audit, moved)
        return moved or held

    def _entry(self, proposal: Proposal, task: str, run: str | None) -> Entry:
        if not isinstance(proposal, Proposal):
            msg = f"submit(): {proposal!r:.200} is no Proposal; give a Result, or the proposals of one"
            raise TypeError(msg)
        arguments = dict(proposal.arguments)
        if digest_of(proposal.name, arguments) != proposal.digest:
            msg = f"submit(): {proposal}: its digest is not that of its arguments"
            raise ValueError(msg)
        return Entry(
            id=id_of(task, proposal.name, proposal.digest),
            task=task,
            run=run,
            seq=proposal.seq,
            name=proposal.name,
            arguments=arguments,
            digest=proposal.digest,
            line=proposal.line,
            state="proposed",
            created=self.clock(),
        )

    def _rule(self, entry: Entry, rules: tuple[Rule, ...]) -> None:
        now = self.clock()

        def has_room(rule: Allow) -> bool:
            return rule.has_room(self.store, entry.task, now)

        rule = first(rules, entry.name, entry.arguments, has_room)
        if rule is not None:
            move = APPROVE if isinstance(rule, Allow) else REFUSE
            self.move(entry, move, decided=now, by="rule", reason=rule.reason or str(rule))

    def _lapse(self, entry: Entry) -> Entry | None:
        now = self.clock()
        if entry.expires is None or entry.expires > now:
            return None
        return self.store.move(entry, EXPIRE, now, **_lapsed(entry))

    def _lose(self, entry: Entry, owner: str | None) -> Entry | None:
        if entry.owner != owner:
            return None
        error = "whoever performed it ended before it did: nobody knows whether it happened"
        now = self.clock()
        return self.store.move(entry, LOSE, now, ended=now, error=error)

    def _mention(self, entry: Entry) -> None:
        try:
            records.emit(self.audit, entry)
        except Unrecorded:
            log.exception("entry %s is %s, and the audit did not take it", entry.id, entry.state)


def _lapsed(entry: Entry) -> dict[str, object]:
    reason = f"the approval by {entry.by} has expired, and nothing had been begun"
    return {"decided": None, "by": None, "expires": None, "reason": reason}
