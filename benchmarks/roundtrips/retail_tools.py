"""A shop's support desk over the data of the retail tasks: real reads, and writes that are only taken down."""

# ruff: noqa: D101 - what their fields say needs no more words, and a model that writes programs pays for each

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from typing_extensions import TypedDict  # pydantic takes no other before Python 3.12

from codeact import Tool, tool

DIRECTORY = Path("tau_retail")
"""Where the data are, below the directory of all data."""


class Address(TypedDict):
    address1: str
    address2: str
    city: str
    country: str
    state: str
    zip: str


class User(TypedDict):
    name: dict[str, str]
    address: Address
    email: str
    payment_methods: dict[str, dict[str, Any]]
    orders: list[str]


class OrderedItem(TypedDict):
    name: str
    product_id: str
    item_id: str
    price: float
    options: dict[str, str]


class Payment(TypedDict):
    transaction_type: str
    amount: float
    payment_method_id: str


class Order(TypedDict):
    order_id: str
    user_id: str
    address: Address
    items: list[OrderedItem]
    fulfillments: list[dict[str, list[str]]]
    status: str
    payment_history: list[Payment]


class Variant(TypedDict):
    item_id: str
    options: dict[str, str]
    available: bool
    price: float


class Product(TypedDict):
    name: str
    product_id: str
    variants: dict[str, Variant]


@dataclass(frozen=True, slots=True)
class Shop:
    """The shop's data, by key."""

    orders: dict[str, Any]
    users: dict[str, Any]
    products: dict[str, Any]


def load(data: Path) -> tuple[Shop, list[dict[str, Any]]]:
    """The shop and the tasks of its support desk.

    Args:
        data: the directory that holds `tau_retail`.

    Raises:
        OSError: it does not.
    """
    orders, users, products, tasks = (
        json.loads(gzip.decompress((data / DIRECTORY / f"{name}.json.gz").read_bytes()))
        for name in ("orders", "users", "products", "tasks_test")
    )
    return Shop(orders, users, products), tasks


def reads(shop: Shop) -> tuple[Tool[..., Any], ...]:
    """What programs may call."""

    @tool
    async def find_user_id_by_email(email: str) -> str:
        """Find the id of the user with this e-mail address."""
        return next(key for key, user in shop.users.items() if user["email"] == email)

    @tool
    async def find_user_id_by_name_zip(first_name: str, last_name: str, zip: str) -> str:  # noqa: A002 - as in the data
        """Find the id of the user with this name and zip code."""
        return next(
            key
            for key, user in shop.users.items()
            if (user["name"]["first_name"], user["name"]["last_name"], user["address"]["zip"])
            == (first_name, last_name, zip)
        )

    @tool
    async def get_user_details(user_id: str) -> User:
        """Get the profile of a user, with the ids of their orders."""
        found: User = shop.users[user_id]
        return found

    @tool
    async def get_order_details(order_id: str) -> Order:
        """Get an order by its id, which begins with #."""
        found: Order = shop.orders[order_id]
        return found

    @tool
    async def get_product_details(product_id: str) -> Product:
        """Get a product with all its variants, by item id."""
        found: Product = shop.products[product_id]
        return found

    @tool
    async def list_all_product_types() -> dict[str, str]:
        """List the names of all products with their ids."""
        return {product["name"]: key for key, product in shop.products.items()}

    return (
        find_user_id_by_email,
        find_user_id_by_name_zip,
        get_user_details,
        get_order_details,
        get_product_details,
        list_all_product_types,
    )


@tool
def calculate(expression: str) -> str:
    """Reckon out an expression of numbers, + - * / and brackets."""
    return expression


@tool
def cancel_pending_order(order_id: str, reason: str) -> str:
    """Cancel an order that is pending: no longer needed, or ordered by mistake."""
    return f"{order_id} is cancelled: {reason}."


@tool
def exchange_delivered_order_items(
    order_id: str, item_ids: list[str], new_item_ids: list[str], payment_method_id: str
) -> str:
    """Exchange items of a delivered order for other variants of the same products."""
    return f"{order_id}: {len(item_ids)} for {len(new_item_ids)} by {payment_method_id}."


@tool
def modify_pending_order_address(  # noqa: PLR0913, PLR0917 - as in the data
    order_id: str,
    address1: str,
    address2: str,
    city: str,
    state: str,
    country: str,
    zip: str,  # noqa: A002
) -> str:
    """Send a pending order to another address."""
    return f"{order_id} goes to {address1}, {address2}, {city}, {state}, {country}, {zip}."


@tool
def modify_pending_order_items(
    order_id: str, item_ids: list[str], new_item_ids: list[str], payment_method_id: str
) -> str:
    """Take other variants of the same products in a pending order; this can be done once."""
    return f"{order_id}: {len(item_ids)} for {len(new_item_ids)} by {payment_method_id}."


@tool
def modify_pending_order_payment(order_id: str, payment_method_id: str) -> str:
    """Pay a pending order by another method."""
    return f"{order_id} is paid by {payment_method_id}."


@tool
def modify_user_address(  # noqa: PLR0913, PLR0917 - as in the data
    user_id: str,
    address1: str,
    address2: str,
    city: str,
    state: str,
    country: str,
    zip: str,  # noqa: A002
) -> str:
    """Change the address of a user."""
    return f"{user_id} lives at {address1}, {address2}, {city}, {state}, {country}, {zip}."


@tool
def return_delivered_order_items(order_id: str, item_ids: list[str], payment_method_id: str) -> str:
    """Take items of a delivered order back."""
    return f"{order_id}: {len(item_ids)} come back, paid to {payment_method_id}."


@tool
def transfer_to_human_agents(summary: str) -> str:
    """Hand the user over to a human, with a summary of the matter."""
    return f"Handed over: {summary}"


OUTSIDE: tuple[Tool[..., Any], ...] = (
    calculate,
    cancel_pending_order,
    exchange_delivered_order_items,
    modify_pending_order_address,
    modify_pending_order_items,
    modify_pending_order_payment,
    modify_user_address,
    return_delivered_order_items,
    transfer_to_human_agents,
)
"""What is called outside of programs, in both forms: what has consequences, and a sum that the model writes anyway."""
