"""A world built from plain functions: no sandbox, no host side, only the doors."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from codeact.engines import Answer, Doors, Face, Fault, Outcome, Program, Refusal, Reply, Stop
from codeact.engines.restricted.engine import RestrictedEngine, RestrictedInstance
from codeact.limits import Limits

FACES = (
    Face("get_charges", "get_charges(customer_id: str) -> list[Charge]", "Charges of a customer.", awaitable=False),
    Face("search_kb", "search_kb(query: str) -> list[str]", "Help articles.", awaitable=False),
    Face("fetch", "async fetch(key: str) -> str", "Fetch, slowly.", awaitable=True),
    Face("broken", "broken() -> None", "Always fails.", awaitable=False),
)
NOW = 1_767_323_045_000_000_000  # 2026-01-02 03:04:05 UTC


@dataclass
class House:
    """The host's side of one world."""

    limits: Limits
    seconds: float
    faces: tuple[Face, ...] = FACES
    calls: list[tuple[str, tuple[object, ...], dict[str, object]]] = field(default_factory=list)
    printed: list[str] = field(default_factory=list)
    until: float = 0.0
    clock: int = 7

    def open(self) -> RestrictedInstance:
        return RestrictedEngine().open(self.faces, self.limits)

    def run(self, instance: RestrictedInstance, source: str, number: int = 1) -> Outcome:
        self.until = time.monotonic() + self.seconds
        doors = Doors(
            call=self.call,
            submit=self.call,
            wait=self.wait,
            cancel=lambda _ticket: None,
            refuse=self.refuse,
            write=self.write,
            interrupted=self.interrupted,
            now=lambda: NOW,
            monotonic=lambda: self.clock,
            seed=bytes(range(32)),
        )
        return instance.run(Program(source, number), doors)

    @property
    def text(self) -> str:
        return "".join(self.printed)

    def interrupted(self) -> Fault | None:
        return Fault("timeout", "TimeoutError", "too late (limit timeout)") if time.monotonic() > self.until else None

    def write(self, text: str) -> Fault | None:
        if len(self.text) + len(text) > self.limits.output:
            return Fault("output", "OutputLimit", f"more than output={self.limits.output} characters")
        self.printed.append(text)
        return None

    def wait(self, seconds: float | None) -> tuple[tuple[int, Reply], ...] | Stop:
        left = self.until - time.monotonic()
        time.sleep(max(0.0, min(seconds or 0.0, left)))
        self.clock += round((seconds or 0.0) * 1e9)
        fault = self.interrupted()
        return () if fault is None else Stop(fault)

    def refuse(self, name: str, reason: str) -> Reply:
        self.calls.append((name, (), {}))
        return Refusal("TypeError", reason)

    def call(self, name: str, args: tuple[object, ...], kwargs: dict[str, object], _line: int = 0) -> Reply:
        self.calls.append((name, args, kwargs))
        if len(self.calls) > self.limits.calls:
            return Stop(Fault("calls", "CallsLimit", f"more than calls={self.limits.calls}"))
        if name == "get_charges":
            if len(args) != 1 or kwargs or type(args[0]) is not str:
                return Refusal("TypeError", "get_charges(): customer_id must be a string")
            return Answer([{"id": "ch_1", "amount": 5}, {"id": "ch_2", "amount": 7}])
        if name == "broken":
            return Refusal("ToolError", "broken failed: ValueError: no luck")
        return Answer(f"{name}:{args[0]}")


@dataclass(frozen=True)
class Ran:
    """What came of a run."""

    outcome: Outcome
    house: House

    @property
    def value(self) -> object:
        assert self.outcome.fault is None, self.outcome.fault
        return self.outcome.value

    @property
    def fault(self) -> Fault:
        assert self.outcome.fault is not None, f"finished with {self.outcome.value!r}"
        return self.outcome.fault

    @property
    def text(self) -> str:
        return self.house.text


Run = Callable[..., Ran]


@pytest.fixture
def run() -> Run:
    def run_program(source: str, *, seconds: float = 20.0, faces: tuple[Face, ...] = FACES, **limits: Any) -> Ran:
        house = House(Limits(**limits), seconds, faces)
        instance = house.open()
        try:
            return Ran(house.run(instance, source), house)
        finally:
            instance.close()

    return run_program
