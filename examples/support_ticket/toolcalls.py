"""The same questions asked the usual way: one tool call after another, every result read by the model.

Nothing here is estimated. Each conversation is carried out against the same tools, and its value is compared with
the program's. It is the best case of that way of working: the model asks for nothing twice and never miscounts,
because plain Python does its thinking. What the model has to read is what the tools gave, as JSON.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, is_dataclass
from datetime import date
from decimal import Decimal
from typing import Any

from codeact import Tool

from .records import repeats
from .tickets import Ticket

_YEAR = 2024


@dataclass(frozen=True, slots=True)
class Tally:
    """What one conversation by tool calls took.

    Attributes:
        value: what was found out.
        calls: tool calls made, those of actions included.
        turns: replies of the model when it makes one call a reply, the final answer included.
        batched: replies when it makes every call at once whose arguments it already knows.
        read: characters of the results, as JSON.
    """

    value: object
    calls: int
    turns: int
    batched: int
    read: int


class Caller:
    """Carries out tool calls as a tool-calling model asks for them, and keeps count."""

    def __init__(self, tools: Iterable[Tool[..., Any]]) -> None:
        self._tools = {tool.name: tool for tool in tools}
        self.calls = 0
        self.batches = 0
        self.read = 0

    def ask(self, *calls: tuple[str, *tuple[Any, ...]]) -> list[Any]:
        """Make calls that do not depend on each other."""
        self.batches += 1
        results = []
        for name, *arguments in calls:
            results.append(self._tools[name](*arguments))
            self.calls += 1
            self.read += len(json.dumps(results[-1], default=_plain, ensure_ascii=False))
        return results


def converse(ticket: Ticket, tools: Iterable[Tool[..., Any]], proposed: int) -> Tally | None:
    """Work on a ticket by tool calls; None for a ticket that has no such conversation.

    Args:
        ticket: what was asked.
        tools: what may be called.
        proposed: actions that the programs have proposed. Here they would be calls too, which go out at once.
    """
    if ticket.id not in _CONVERSATIONS:
        return None
    caller = Caller(tools)
    value = _CONVERSATIONS[ticket.id](ticket, caller)
    calls, batches = caller.calls + proposed, caller.batches + bool(proposed)
    return Tally(value, calls, calls + 1, batches + 1, caller.read)


def _charged_twice(ticket: Ticket, caller: Caller) -> object:
    _, customer = caller.ask(("search_knowledge_base", "duplicate charge", 1), ("find_customer", ticket.sender))
    charges, refunds = caller.ask(("get_charges", customer.id), ("get_refunds", customer.id))
    found = repeats(charges, {refund.charge_id for refund in refunds})
    owed = sum(charge.amount for charge in found)
    return {"duplicates": sorted(charge.id for charge in found), "owed": f"{owed} {customer.currency}"}


def _several_seats(ticket: Ticket, caller: Caller) -> object:
    (customer,) = caller.ask(("find_customer", ticket.sender))
    (charges,) = caller.ask(("get_charges", customer.id))
    seats = [charge for charge in charges if charge.kind == "seat"]
    last = sorted((c for c in seats if c.invoice == seats[-1].invoice), key=lambda c: (c.seat, c.created))
    times = Counter(charge.seat for charge in last)
    return {
        "charges": [f"seat {charge.seat} is {charge.id}" for charge in last],
        "repeated": sorted(seat for seat, count in times.items() if count > 1),
    }


def _refund(ticket: Ticket, caller: Caller) -> object:
    question = "how long a refund takes to arrive"
    customer, articles = caller.ask(("find_customer", ticket.sender), ("search_knowledge_base", question))
    charges, refunds = caller.ask(("get_charges", customer.id), ("get_refunds", customer.id))
    last = refunds[-1]
    (charge,) = (charge for charge in charges if charge.id == last.charge_id)
    return {
        "refund": last.id,
        "amount": f"{last.amount} {last.currency}",
        "charge": charge.id,
        "of": charge.amount,
        "sent": last.created.date(),
        "arrives": articles[0].text,
    }


def _price(ticket: Ticket, caller: Caller) -> object:
    customer, *found = caller.ask(
        ("find_customer", ticket.sender),
        ("search_knowledge_base", "price of the Business plan", 1),
        ("search_knowledge_base", "paying for a whole year", 1),
        ("search_knowledge_base", "price of extra seats", 1),
    )
    articles = {article.title: article.text for (article,) in found}
    return {"plan": customer.plan, "seats": customer.seats, "articles": articles}


def _statement(ticket: Ticket, caller: Caller) -> object:
    addresses = ticket.body.rpartition("\n\n")[2].split()
    customers = caller.ask(*(("find_customer", address) for address in addresses))
    pairs = [(tool, customer.id) for customer in customers for tool in ("get_charges", "get_refunds")]
    rows = iter(caller.ask(*pairs))
    statement = {}
    for customer in customers:
        paid, back = (sum(row.amount for row in next(rows) if row.created.year == _YEAR) for _ in range(2))
        statement[customer.email] = {"paid": paid, "refunded": back, "net": f"{paid - back} {customer.currency}"}
    return statement


def _usage(ticket: Ticket, caller: Caller) -> object:
    (customer,) = caller.ask(("find_customer", ticket.sender))
    (charges,) = caller.ask(("get_charges", customer.id))
    spent = dict.fromkeys((1, 2, 3, 4), Decimal(0))
    for charge in charges:
        if charge.kind in {"usage", "topup"} and charge.created.year == _YEAR:
            spent[(charge.created.month + 2) // 3] += charge.amount
    return [f"Q{quarter}: {amount} {customer.currency}" for quarter, amount in spent.items()]


_CONVERSATIONS: Mapping[str, Callable[[Ticket, Caller], object]] = {
    "T-1": _charged_twice,
    "T-2": _several_seats,
    "T-3": _refund,
    "T-4": _price,
    "T-5": _statement,
    "T-7": _usage,
}


def _plain(value: Any) -> object:
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    return value.isoformat() if isinstance(value, date) else str(Decimal(value))
