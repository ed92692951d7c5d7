"""Retail support: the reads of each task as calls and as programs, its writes as calls in both."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from benchmarks.roundtrips.bills import Bill, Pace, bill, total
from benchmarks.roundtrips.conversation import Ask, Calls, Episode, Programs, Script, converse, program
from benchmarks.roundtrips.grid import AnswersDiffer
from benchmarks.roundtrips.needs import Needs
from benchmarks.roundtrips.prompts import calling, programming
from benchmarks.roundtrips.retail_tools import OUTSIDE, Shop, reads
from benchmarks.roundtrips.tokens import Tokenizer
from benchmarks.roundtrips.workloads import OPPONENTS
from codeact import Limits, Sandbox

SYSTEM = "You work at the support desk of a shop. Do what the customer asks for, and say so in one short sentence."

LAST = "It is done as you asked."
"""The model's last words, in every form."""


@dataclass(frozen=True, slots=True)
class Arm:
    """All tasks, done one way.

    Attributes:
        name: the way.
        bills: the bill of each task, by the name of the tokenizer.
        waits: how many times tools are waited for in each, one after another.
        engine: seconds of the engine for all of them, measured.
    """

    name: str
    bills: Mapping[str, tuple[Bill, ...]]
    waits: tuple[int, ...]
    engine: float = 0.0

    def seconds(self, tokenizer: str, pace: Pace) -> float:
        """How long all of them take."""
        return pace.seconds(total(self.bills[tokenizer]), sum(self.waits), self.engine)


Choose = Callable[[Needs], list[str]]
"""The programs that read what a task needs."""


def whole(needs: Needs) -> list[str]:
    """Programs that give all that the calls would have given."""
    return _programs(needs, '"user": user', '"orders": orders', '"products": products')


def selected(needs: Needs) -> list[str]:
    """Programs that give what such tasks need, and leave the rest where it is."""
    user = '"user": user_id, "pays": list(user.payment_methods)' + ', "address": user.address' * needs.addresses
    address = ", order.address" * needs.addresses
    orders = f"""\
"orders": {{order.order_id: [order.status{address}, [payment.payment_method_id for payment in order.payment_history],
        [[i.name, i.item_id, i.product_id, i.price, i.options] for i in order["items"]]] for order in orders}}"""
    products = """\
"variants": {product.name: [[v.item_id, v.price, v.options] for v in product.variants.values() if v.available]
        for product in products}"""
    return _programs(needs, user, orders, products)


def _programs(needs: Needs, user: str, orders: str, products: str) -> list[str]:
    """One program where it can pick the products by their names, or else two; in both, one for each pattern of reads."""
    gather = "await asyncio.gather(*[tools.get_{0}_details({1}) for {1} in {2}])"
    arguments = ", ".join(json.dumps(value) for value in needs.user.arguments.values())
    found = list(needs.orders) if needs.named else "user.orders"
    lines = [
        "import asyncio",
        f"user_id = await tools.{needs.user.name}({arguments})",
        "user = await tools.get_user_details(user_id)",
        f"orders = {gather.format('order', 'o', json.dumps(found) if needs.named else found)}",
    ]
    shown = [user, orders]
    then = [key for key in (*needs.products, *needs.others) if needs.words is None]
    if needs.words is not None and needs.products:
        lines += [
            f"words = {json.dumps(needs.words)}",
            'wanted = {i.product_id for o in orders for i in o["items"] if i.name.lower() in words}',
            f"products = {gather.format('product', 'p', 'sorted(wanted)')}",
        ]
        shown.append(products)
    if needs.others:
        shown.append('"types": await tools.list_all_product_types()')
        then = then or list(needs.others)
    code = "\n".join(lines) + "\n{" + ",\n    ".join(shown) + "}"
    if not then:
        return [code]
    return [code, f"import asyncio\nproducts = {gather.format('product', 'p', json.dumps(then))}\n{{{products}}}"]


def _calls(needs: Needs, batch: int) -> Script:
    for level in needs.levels():
        for begin in range(0, len(level), batch):
            yield tuple(level[begin : begin + batch])
    yield from _writes(needs)
    return LAST


def _written(needs: Needs, choose: Choose, failures: int) -> Script:
    *first, last = choose(needs)
    failing = last.replace("_details(", "_record(")
    for code in (*first, *[failing] * failures, last):
        yield program(code)
    yield from _writes(needs)
    return LAST


def _writes(needs: Needs) -> Iterator[tuple[Ask, ...]]:
    for write in needs.writes:
        yield (write,)


def arms(tasks: Sequence[Needs], shop: Shop, tokenizers: Sequence[Tokenizer]) -> list[Arm]:
    """Carry all tasks out, each way.

    Raises:
        AnswersDiffer: a program failed, or kept something back that a write of its task needs.
    """
    tools = reads(shop)
    call, write = calling(SYSTEM, (*tools, *OUTSIDE)), programming(SYSTEM, tools, OUTSIDE)
    host = Calls((*tools, *OUTSIDE))
    found = []
    told: list[str] = []
    for name, batch in OPPONENTS.items():
        episodes = [converse(call, needs.question, _calls(needs, batch), host) for needs in tasks]
        told = told or [_told(episode) for episode in episodes]
        waits = tuple(episode.turns - 1 for episode in episodes)
        found.append(_arm(name, episodes, waits, tokenizers))
    sandbox = Sandbox(tools, limits=Limits(shown=1_000_000))
    waits = tuple(len(needs.levels()) + len(needs.writes) for needs in tasks)
    for name, (choose, failures) in PROGRAMS.items():
        episodes, engine = [], 0.0
        for needs, seen in zip(tasks, told, strict=True):
            programs = Programs(sandbox, OUTSIDE)
            episode = converse(write, needs.question, _written(needs, choose, failures), programs)
            _check(needs, seen, episode, sum(not result.ok for result in programs.results) - failures)
            engine += sum(result.usage.wall for result in programs.results)
            episodes.append(episode)
        found.append(_arm(name, episodes, waits, tokenizers, engine))
    return found


PROGRAMS: dict[str, tuple[Choose, int]] = {
    "programs that give everything": (whole, 0),
    "programs that select": (selected, 0),
    "programs that select, one failed": (selected, 1),
    "programs that select, two failed": (selected, 2),
}
"""The ways to do it with programs: what they give, and how many fail first in each task."""


def _arm(
    name: str, episodes: Sequence[Episode], waits: tuple[int, ...], tokenizers: Sequence[Tokenizer], engine: float = 0.0
) -> Arm:
    bills = {one.name: tuple(bill(episode, one.count) for episode in episodes) for one in tokenizers}
    return Arm(name, bills, waits, engine)


def _told(episode: Episode) -> str:
    """All that a model has read."""
    return "\n".join(message.text for message in episode.messages if message.role == "tool")


def _check(needs: Needs, told: str, episode: Episode, surplus: int) -> None:
    """Whether the model has seen all that its writes are made of and that calls would have shown it."""
    seen = _told(episode)
    missing = [leaf for ask in needs.writes for leaf in _leaves(ask.arguments) if leaf in told and leaf not in seen]
    if surplus or missing:
        msg = f"{needs.question[:80]}: {surplus} programs too many failed, not seen: {missing}; {seen[:600]}"
        raise AnswersDiffer(msg)


def _leaves(value: object) -> Iterator[str]:
    if isinstance(value, Mapping):
        for part in value.values():
            yield from _leaves(part)
    elif isinstance(value, list):
        for part in value:
            yield from _leaves(part)
    else:
        yield str(value)
