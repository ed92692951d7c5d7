"""What has to be read before a task's writes can be made: derived from the task by one rule, for both ways alike."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.roundtrips.conversation import Ask
from benchmarks.roundtrips.retail_tools import OUTSIDE, Shop

CHOOSING = frozenset({"exchange_delivered_order_items", "modify_pending_order_items"})
"""Writes that name other variants, for which the products' variants must be seen."""

ADDRESSES = frozenset({"modify_pending_order_address", "modify_user_address"})
"""Writes for which addresses must be seen."""


@dataclass(frozen=True, slots=True)
class Needs:
    """What a task needs.

    Attributes:
        question: what the customer says.
        user: the call that finds out who it is.
        user_id: whom it finds.
        orders: the orders to be read.
        named: whether the customer names all of those; if not, they are all the customer's, known from the profile.
        products: the products of ordered items that are to be read.
        words: the names by which a program can pick those out of the orders, as the customer says them; None where
            the customer says it otherwise, so that the model must read the orders before it can ask for products.
        others: products to be read that were not ordered: their ids come from the list of all products.
        addresses: whether addresses matter.
        writes: the calls that come after.
    """

    question: str
    user: Ask
    user_id: str
    orders: tuple[str, ...]
    named: bool
    products: tuple[str, ...]
    words: tuple[str, ...] | None
    others: tuple[str, ...]
    addresses: bool
    writes: tuple[Ask, ...]

    def levels(self) -> list[list[Ask]]:
        """The reads as calls, those at once whose arguments are known by then."""
        profile = Ask("get_user_details", {"user_id": self.user_id})
        orders = [Ask("get_order_details", {"order_id": key}) for key in self.orders]
        products = [Ask("get_product_details", {"product_id": key}) for key in self.products]
        others = [Ask("get_product_details", {"product_id": key}) for key in self.others]
        types = [Ask("list_all_product_types", {})] if self.others else []
        if self.named:
            levels = [[self.user, *types, *orders], [profile, *products, *others]]
        else:
            levels = [[self.user, *types], [profile, *others], orders, products]
        return [level for level in levels if level]


def needs(task: Mapping[str, Any], shop: Shop) -> Needs:
    """What a task needs.

    The customer is found, by e-mail where the task does so and else by name and zip code, and their profile is read.
    Of the orders, those are read that the task's calls name, where the customer says their ids; else all of the
    customer's. Products are read for the items that a write exchanges, and where the task itself does.
    """
    said = task["instruction"]
    actions = [Ask(action["name"], action["kwargs"]) for action in task["actions"]]
    wanted = dict.fromkeys(str(ask.arguments["order_id"]) for ask in actions if "order_id" in ask.arguments)
    # A few tasks name another customer than the one whose orders they are about.
    owners = [shop.orders[order]["user_id"] for order in wanted if order in shop.orders]
    key = owners[0] if owners else task["user_id"]
    user = shop.users[key]
    wanted = dict.fromkeys(order for order in wanted if order in user["orders"])
    named = all(order in said for order in wanted)
    orders = tuple(wanted) if named else tuple(user["orders"])
    ordered = [item for order in orders for item in shop.orders[order]["items"]]
    products = dict.fromkeys(_chosen(actions, ordered))
    asked = dict.fromkeys(str(ask.arguments["product_id"]) for ask in actions if ask.name == "get_product_details")
    asked = dict.fromkeys(product for product in asked if product in shop.products)  # one task asks for none there is
    within = {item["product_id"] for item in ordered}
    products |= dict.fromkeys(product for product in asked if product in within)
    words = tuple(shop.products[product]["name"].lower() for product in products)
    outside = {tool.name for tool in OUTSIDE}
    return Needs(
        question=said,
        user=_finding(actions, user),
        user_id=key,
        orders=orders,
        named=named,
        products=tuple(products),
        words=words if all(word in said.lower() for word in words) else None,
        others=tuple(product for product in asked if product not in products),
        addresses=any(ask.name in ADDRESSES for ask in actions),
        writes=tuple(ask for ask in actions if ask.name in outside),
    )


def _finding(actions: Iterable[Ask], user: Mapping[str, Any]) -> Ask:
    if any(ask.name == "find_user_id_by_email" for ask in actions):
        return Ask("find_user_id_by_email", {"email": user["email"]})
    name = user["name"]
    named = {"first_name": name["first_name"], "last_name": name["last_name"], "zip": user["address"]["zip"]}
    return Ask("find_user_id_by_name_zip", named)


def _chosen(actions: Iterable[Ask], ordered: Sequence[Mapping[str, Any]]) -> Iterable[str]:
    for ask in actions:
        if ask.name in CHOOSING:
            ids: Any = ask.arguments["item_ids"]
            yield from (item["product_id"] for item in ordered if item["item_id"] in ids)
