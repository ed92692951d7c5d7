"""What is fuzzed: what is sent, and what must hold when it arrives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from tests.fuzz import canaries, doors, letters
from tests.fuzz.grammar import programs


@dataclass(frozen=True, repr=False)  # a strategy shows all that it is made of
class Target:
    """One place that hostile input comes to.

    Attributes:
        name: what it is called.
        sent: what comes there.
        check: takes it; raises where something does not hold.
        examples: how many the suite tries.
    """

    name: str
    sent: st.SearchStrategy[Any]
    check: Callable[[Any], None]
    examples: int = 200


TARGETS = (
    Target("restricted", programs, canaries.check_restricted, 150),
    Target("wasm", programs, canaries.check_wasm, 80),
    Target("door: values", st.one_of(*[letters.nearly(letters.values)] * 9, letters.heavy), doors.check_value, 300),
    Target("door: files", letters.nearly(letters.parcels()), doors.check_parcel),
    Target("door: messages", st.lists(letters.messages, max_size=8), doors.check_room, 100),
    Target(
        "door: answers", st.one_of(letters.answers, letters.answers, letters.answers, letters.heavy), doors.check_end
    ),
    Target("door: calls", st.tuples(letters.names, letters.plain_args, letters.plain_kwargs), doors.check_call),
    Target("door: programs", letters.diggers, doors.check_digger, 40),
)
