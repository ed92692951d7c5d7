"""The tasks of the grid, each as a model would do it with calls and with programs, for the same answer."""

from __future__ import annotations

import ast
import json
import sys
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.roundtrips.catalogue import COMPLAINT, IDS
from benchmarks.roundtrips.conversation import Ask, Asks, Script, program

OPPONENTS = {"all calls at once": sys.maxsize, "10 calls a turn": 10, "one call a turn": 1}
"""What programs are compared with: how many calls that do not depend on each other a model makes in one turn."""


@dataclass(frozen=True, slots=True)
class Workload:
    """A task, with both ways to do it.

    Attributes:
        kind: what sort of task it is.
        size: how many items it is about, or how deep the chain is.
        question: what the user asks.
        calls: the model that makes calls, by how many it makes in one turn. It makes none in vain, errs never and
            reckons in its head for nothing.
        programs: the programs of the other model, in order; the last one's value holds the answer.
        failing: what it writes instead of the last one when it errs.
        answer: its last words for the last value.
        waits: how many times tools are waited for, one after another, when programs call them.
    """

    kind: str
    size: int
    question: str
    calls: Callable[[int], Script]
    programs: tuple[str, ...]
    failing: str
    answer: Callable[[Any], str]
    waits: int

    def written(self, failures: int) -> Script:
        """The model that writes programs, the last of which fails so many times at first."""
        *looks, last = self.programs
        for code in (*looks, *[self.failing] * failures):
            yield program(code)
        (observed,) = yield program(last)
        return self.answer(value(observed))


def value(observed: str) -> Any:
    """The value that an observation shows.

    Raises:
        ValueError: it shows none.
    """
    status, _, rest = observed.partition("\nvalue: ")
    if not status.startswith("ok") or not rest:
        msg = f"the program gave no value: {observed[:300]}"
        raise ValueError(msg)
    return ast.literal_eval(rest)


def fan_out(size: int) -> Workload:
    """Items by their ids, and one figure over all of them: what code can reduce."""
    ids = IDS[:size]

    def calls(batch: int) -> Script:
        found = yield from fetch("get_item", "item_id", ids, batch)
        return f"{sum(item['amount'] for item in found if item['open'])} cents are open."

    code = f"""
import asyncio
ids = {_quoted(ids)}
items = await asyncio.gather(*[tools.get_item(i) for i in ids])
sum(item.amount for item in items if item.open)
"""
    return Workload(
        kind="fan-out",
        size=size,
        question=f"What do those of these items that are open come to? {' '.join(ids)}",
        calls=calls,
        programs=(code,),
        failing=code.replace("item.open", "item.is_open"),
        answer=lambda found: f"{found} cents are open.",
        waits=1,
    )


def unknown_shape(size: int) -> Workload:
    """The same over records whose shape no declaration tells: a model must look at one before it can write."""
    ids = IDS[:size]

    def calls(batch: int) -> Script:
        found = yield from fetch("get_record", "record_id", ids, batch)
        return f"{sum(one['rec']['amount'] for one in found if one['rec']['open'])} cents are open."

    look = f"""await tools.get_record("{ids[0]}")"""
    code = f"""
import asyncio
ids = {_quoted(ids)}
found = await asyncio.gather(*[tools.get_record(i) for i in ids])
sum(one["rec"]["amount"] for one in found if one["rec"]["open"])
"""
    return Workload(
        kind="unknown shape",
        size=size,
        question=f"What do those of these records that are open come to? {' '.join(ids)}",
        calls=calls,
        programs=(look, code),
        failing=code.replace('if one["rec"]["open"]', 'if one["open"]'),
        answer=lambda found: f"{found} cents are open.",
        waits=2,
    )


def to_read(size: int) -> Workload:
    """Items that only a reader can judge: a program fetches them, and the model must read them whole all the same."""
    ids = IDS[:size]

    def calls(batch: int) -> Script:
        found = yield from fetch("get_item", "item_id", ids, batch)
        return _odd(found)

    code = f"""
import asyncio
ids = {_quoted(ids)}
await asyncio.gather(*[tools.get_item(i) for i in ids])
"""
    return Workload(
        kind="to be read",
        size=size,
        question=f"Which of these items do you find odd? {' '.join(ids)}",
        calls=calls,
        programs=(code,),
        failing=code.replace("get_item(", "get_items("),
        answer=_odd,
        waits=1,
    )


def look_up(_size: int) -> Workload:
    """One record, which the user wants to be told of: nothing to reduce and nothing to fold."""
    (key,) = IDS[:1]

    def calls(batch: int) -> Script:
        (item,) = yield from fetch("get_item", "item_id", [key], batch)
        return f"It is {_state(item)}, over {item['amount']} cents. {item['notes'][:5]}"

    code = f"""await tools.get_item("{key}")"""
    return Workload(
        kind="look-up",
        size=1,
        question=f"What is the matter with {key}?",
        calls=calls,
        programs=(code,),
        failing=code.replace("get_item", "get_items"),
        answer=lambda item: f"It is {_state(item)}, over {item['amount']} cents. {item['notes'][:5]}",
        waits=1,
    )


def chain(depth: int) -> Workload:
    """Items each of which names the next: no two calls can be made at once."""
    first = IDS[0]

    def calls(_batch: int) -> Script:
        key = first
        for _ in range(depth):
            (text,) = yield (Ask("get_item", {"item_id": key}),)
            item = json.loads(text)
            key = item["next"]
        return f"The last one comes to {item['amount']} cents."

    code = f"""
item = await tools.get_item("{first}")
for _ in range({depth - 1}):
    item = await tools.get_item(item.next)
item.amount
"""
    if depth == 1:
        code = f"""(await tools.get_item("{first}")).amount"""
    return Workload(
        kind="chain",
        size=depth,
        question=f"Begin at {first} and follow the items to number {depth}. What does that one come to?",
        calls=calls,
        programs=(code,),
        failing=code.replace("item.next", "item.next_id") if depth > 1 else code.replace(".amount", ".total"),
        answer=lambda found: f"The last one comes to {found} cents.",
        waits=depth,
    )


def filter_join(size: int) -> Workload:
    """A list of which a fourth matters, and the people that those items belong to."""

    def calls(batch: int) -> Script:
        (text,) = yield (Ask("list_items", {"limit": size}),)
        owners = sorted({item["owner"] for item in json.loads(text) if item["open"]})
        found = yield from fetch("get_person", "person_id", owners, batch)
        return f"Write to {', '.join(sorted(person['mail'] for person in found))}."

    code = f"""
import asyncio
items = await tools.list_items({size})
owners = {{item.owner for item in items if item.open}}
people = await asyncio.gather(*[tools.get_person(o) for o in owners])
sorted(person.mail for person in people)
"""
    return Workload(
        kind="filter and join",
        size=size,
        question=f"Whom must we write to about the open ones among the {size} oldest items?",
        calls=calls,
        programs=(code,),
        failing=code.replace("person.mail", "person.email"),
        answer=lambda found: f"Write to {', '.join(found)}.",
        waits=2,
    )


def fetch(tool: str, parameter: str, keys: Sequence[str], batch: int) -> Generator[Asks, list[str], list[Any]]:
    """Call a tool once for each key, so many in a turn, and read the results."""
    found: list[Any] = []
    while len(found) < len(keys):
        some = keys[len(found) : len(found) + batch]
        texts = yield tuple(Ask(tool, {parameter: key}) for key in some)
        found.extend(map(json.loads, texts))
    return found


def _quoted(ids: Sequence[str]) -> str:
    """Keys as a model writes many of them, with as few signs as it can."""
    return f'"{" ".join(ids)}".split()'


def _odd(items: Sequence[dict[str, Any]]) -> str:
    return f"Late were: {', '.join(item['id'] for item in items if item['notes'].startswith(COMPLAINT))}."


def _state(item: dict[str, Any]) -> str:
    return "open" if item["open"] else "done"


WORKLOADS = tuple(
    make(size)
    for make, sizes in (
        (look_up, (1,)),
        (fan_out, (1, 5, 20, 100)),
        (unknown_shape, (1, 5, 20, 100)),
        (to_read, (1, 5, 20, 100)),
        (chain, (1, 3, 8)),
        (filter_join, (20, 100)),
    )
    for size in sizes
)
"""All tasks."""
