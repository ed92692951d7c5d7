"""What a program may call while it works on a ticket. All of it reads; nothing here writes, pays or sends."""

from __future__ import annotations

from typing import Any

from codeact import Tool, tool

from .knowledge import Article, KnowledgeBase
from .records import Book, Charge, Customer, Refund

MOST = 10
"""Articles that one search gives at most."""


def support_tools(book: Book, knowledge: KnowledgeBase) -> list[Tool[..., Any]]:
    """The tools over a book. To grant less, hand over less: `book.only(ids)` holds no other account."""

    @tool
    def find_customer(email: str) -> Customer:
        """Find the customer with this e-mail address; upper and lower case are the same."""
        wanted = email.strip().casefold()
        for customer in book.customers.values():
            if customer.email == wanted:
                return customer
        msg = f"no customer has the address {email!r} among the {len(book.customers)} accounts you may see"
        raise LookupError(msg)

    @tool
    def get_customer(customer_id: str) -> Customer:
        """Get a customer by id, like "cus_0042"."""
        return book.customers[_known(book, customer_id)]

    @tool
    def get_charges(customer_id: str) -> list[Charge]:
        """Get every charge of a customer, oldest first. Times are in UTC. Refunded charges are included."""
        return list(book.charges[_known(book, customer_id)])

    @tool
    def get_refunds(customer_id: str) -> list[Refund]:
        """Get every refund of a customer, oldest first. A refund may give back a part of its charge only."""
        return list(book.refunds[_known(book, customer_id)])

    @tool
    def search_knowledge_base(query: str, limit: int = 3) -> list[Article]:
        """Search the help articles by words; the best fit comes first, and nothing that fits is an empty list."""
        if not 1 <= limit <= MOST:
            msg = f"limit={limit}: ask for 1 to {MOST} articles"
            raise ValueError(msg)
        return knowledge.search(query, limit)

    return [find_customer, get_customer, get_charges, get_refunds, search_knowledge_base]


def _known(book: Book, customer_id: str) -> str:
    if customer_id in book.customers:
        return customer_id
    msg = f"no customer {customer_id!r} among the accounts you may see; find_customer(email) gives an id"
    raise LookupError(msg)
