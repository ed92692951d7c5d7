"""Whatever is done in whatever order, the outbox does what a model of it does that has no file, no rows and no locks."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest
from desk import Clock, refund_of
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, rule

from codeact.actions import Actions, action
from codeact.outbox import Allow, NothingHappened, Outbox, OutboxError, Refuse

AMOUNTS = st.integers(0, 12)
TASKS = st.sampled_from(["a", "b"])


@dataclass
class Twin:
    """What an entry should be."""

    amount: int
    task: str
    state: str = "proposed"
    expires: float | None = None
    effects: int = 0
    keyed: bool = False


@dataclass
class World:
    """What the function does, and who calls it."""

    error: BaseException | None = None
    effects: list[tuple[int, str | None]] = field(default_factory=list)


class Machine(RuleBasedStateMachine):
    ids = Bundle("ids")

    @initialize(keyed=st.booleans())
    def open(self, keyed: bool) -> None:
        self.clock = Clock()
        self.world = world = World()
        self.twins: dict[str, Twin] = {}
        self.keyed = keyed

        def happen(amount: int, key: str | None) -> int:
            world.effects.append((amount, key))
            if world.error is not None:
                raise world.error
            return amount

        @action(name="refund")
        def with_key(charge_id: str, amount: int, idempotency_key: str) -> int:
            return happen(amount, idempotency_key)

        @action(name="refund")
        def without(charge_id: str, amount: int) -> int:
            return happen(amount, None)

        rules = [Refuse("refund", where={"amount": 0}), Allow("refund", where={"amount": 1}, count=1)]
        rules += [Allow("refund", where={"amount": amount}, count=3) for amount in (2, 3, 4)]
        self.outbox = Outbox(
            ":memory:", actions=Actions([with_key if keyed else without]), rules=rules, clock=self.clock
        )

    def teardown(self) -> None:
        if hasattr(self, "outbox"):
            self.outbox.close()

    def _room(self, amount: int, task: str) -> bool:
        used = sum(twin.task == task and twin.state not in {"proposed", "refused"} for twin in self.twins.values())
        return used < (1 if amount == 1 else 3)

    def _look(self) -> None:
        for twin in self.twins.values():
            if twin.state == "approved" and twin.expires is not None and twin.expires <= self.clock.now:
                twin.state, twin.expires = "proposed", None

    @rule(target=ids, amount=AMOUNTS, task=TASKS)
    def submit(self, amount: int, task: str) -> str:
        (entry,) = self.outbox.submit([refund_of(amount)], task=task)
        if entry.id not in self.twins:
            # Rules count what the disk says: an approval that has lapsed and that nobody has looked at is one still.
            self.twins[entry.id] = twin = Twin(amount, task)
            if amount == 0:
                twin.state = "refused"
            elif amount <= 4 and self._room(amount, task):
                twin.state = "approved"
        return entry.id

    def _may(self, entry_id: str, sources: set[str], call: Any) -> bool:
        self._look()
        if self.twins[entry_id].state in sources:
            call()
            return True
        with pytest.raises(OutboxError):
            call()
        return False

    @rule(entry_id=ids, expires=st.sampled_from([None, 1, 10]))
    def approve(self, entry_id: str, expires: float | None) -> None:
        digest = self.outbox.get(entry_id).digest
        approve = lambda: self.outbox.approve(entry_id, digest=digest, by="p", expires=expires)  # noqa: E731
        if self._may(entry_id, {"proposed", "failed"}, approve):
            twin = self.twins[entry_id]
            twin.state, twin.expires = "approved", None if expires is None else self.clock.now + expires

    @rule(entry_id=ids)
    def approve_something_else(self, entry_id: str) -> None:
        self._may(entry_id, set(), lambda: self.outbox.approve(entry_id, digest="0" * 64, by="p"))

    @rule(entry_id=ids)
    def refuse(self, entry_id: str) -> None:
        if self._may(entry_id, {"proposed", "approved", "failed"}, lambda: self.outbox.refuse(entry_id, by="p")):
            self.twins[entry_id].state = "refused"

    @rule(entry_id=ids, outcome=st.sampled_from(["done", "failed", "again"]))
    def settle(self, entry_id: str, outcome: Any) -> None:
        sources = {"unknown"} if self.keyed or outcome != "again" else set()
        if self._may(entry_id, sources, lambda: self.outbox.settle(entry_id, outcome, by="p")):
            twin = self.twins[entry_id]
            twin.state, twin.expires = "approved" if outcome == "again" else outcome, None

    @rule(seconds=st.sampled_from([0.5, 1, 20]))
    def wait(self, seconds: float) -> None:
        self.clock.now += seconds

    @rule(
        task=st.none() | TASKS,
        error=st.sampled_from([None, ValueError, TimeoutError, NothingHappened, KeyboardInterrupt]),
    )
    def perform(self, task: str | None, error: type[BaseException] | None) -> None:
        self.world.error = None if error is None else error()
        self._look()
        ready = [one for one, twin in self.twins.items() if twin.state == "approved" and task in {None, twin.task}]
        before = len(self.world.effects)
        if error is KeyboardInterrupt and ready:
            with pytest.raises(KeyboardInterrupt):
                self.outbox.perform(task)
            ready = ready[:1]
        else:
            assert [entry.id for entry in self.outbox.perform(task)] == ready
        for entry_id in ready:
            twin = self.twins[entry_id]
            twin.effects += 1
            twin.state = (
                "done" if error is None else "unknown" if error in {TimeoutError, KeyboardInterrupt} else "failed"
            )
        keys = [self.outbox.get(one).key if self.keyed else None for one in ready]
        assert self.world.effects[before:] == [
            (self.twins[one].amount, key) for one, key in zip(ready, keys, strict=True)
        ]

    @invariant()
    def is_as_the_model_says(self) -> None:
        if not hasattr(self, "outbox"):
            return
        self._look()
        found = {entry.id: (entry.state, entry.expires) for entry in self.outbox.entries()}
        assert list(found) == list(self.twins)
        assert found == {
            one: (twin.state, twin.expires if twin.state == "approved" else found[one][1])
            for one, twin in self.twins.items()
        }


Machine.TestCase.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)
TestMachine = Machine.TestCase
