"""Retail support: what a task needs, and both ways to read it, over a shop of one customer."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.roundtrips import retail
from benchmarks.roundtrips.conversation import Ask
from benchmarks.roundtrips.grid import AnswersDiffer
from benchmarks.roundtrips.needs import needs
from benchmarks.roundtrips.retail_tools import Shop
from benchmarks.roundtrips.tokens import Tokenizer
from benchmarks.roundtrips.workloads import OPPONENTS

HOME = {"address1": "1 Elm St", "address2": "", "city": "Troy", "country": "USA", "state": "NY", "zip": "12180"}


def _order(key: str, product: str) -> dict[str, Any]:
    item = {
        "name": "Desk Lamp",
        "product_id": product,
        "item_id": f"{key}-i",
        "price": 9.5,
        "options": {"color": "red"},
    }
    paid = {"transaction_type": "payment", "amount": 9.5, "payment_method_id": "card_1"}
    return {
        "order_id": key,
        "user_id": "ann_1",
        "address": HOME,
        "items": [item],
        "fulfillments": [],
        "status": "pending",
        "payment_history": [paid],
    }


SHOP = Shop(
    orders={"#W1": _order("#W1", "p1"), "#W2": _order("#W2", "p1")},
    users={
        "ann_1": {
            "name": {"first_name": "Ann", "last_name": "Lee"},
            "address": HOME,
            "email": "ann@example.com",
            "payment_methods": {"card_1": {"source": "card", "id": "card_1"}},
            "orders": ["#W1", "#W2"],
        }
    },
    products={
        "p1": {
            "name": "Desk Lamp",
            "product_id": "p1",
            "variants": {
                "v1": {"item_id": "v1", "options": {"color": "blue"}, "available": True, "price": 10.0},
                "v2": {"item_id": "v2", "options": {"color": "grey"}, "available": False, "price": 8.0},
            },
        }
    },
)


def _task(said: str, *actions: tuple[str, dict[str, object]]) -> dict[str, object]:
    told = [{"name": name, "kwargs": arguments} for name, arguments in actions]
    return {"user_id": "ann_1", "instruction": said, "actions": told}


def _exchange(variant: str) -> tuple[str, dict[str, object]]:
    return "modify_pending_order_items", {
        "order_id": "#W1",
        "item_ids": ["#W1-i"],
        "new_item_ids": [variant],
        "payment_method_id": "card_1",
    }


def _names(level: list[Ask]) -> list[str]:
    return [ask.name.removeprefix("get_").removesuffix("_details") for ask in level]


def test_orders_that_the_customer_names_are_read_at_once() -> None:
    found = needs(_task("Ann Lee: another desk lamp for #W1", _exchange("v1")), SHOP)
    assert [_names(level) for level in found.levels()] == [
        ["find_user_id_by_name_zip", "order"],
        ["user", "product"],
    ]
    assert (found.orders, found.products, found.words) == (("#W1",), ("p1",), ("desk lamp",))
    assert [ask.name for ask in found.writes] == ["modify_pending_order_items"]


def test_all_orders_are_read_where_the_customer_names_none() -> None:
    by_mail = ("find_user_id_by_email", {"email": "ann@example.com"})
    found = needs(_task("ann@example.com: another lamp", by_mail, _exchange("v1")), SHOP)
    assert [_names(level) for level in found.levels()] == [
        ["find_user_id_by_email"],
        ["user"],
        ["order", "order"],
        ["product"],
    ]
    assert found.words is None
    assert len(retail.whole(found)) == 2


def test_products_that_nobody_ordered_are_found_in_the_list_of_all() -> None:
    found = needs(_task("How many lamps are there?", ("get_product_details", {"product_id": "p1"})), SHOP)
    assert [_names(level) for level in found.levels()] == [
        ["find_user_id_by_name_zip", "list_all_product_types"],
        ["user", "product"],
    ]


@pytest.mark.parametrize("said", ["another desk lamp for #W1", "another desk lamp", "another lamp"])
def test_both_ways_are_carried_out_and_counted(said: str) -> None:
    tasks = [needs(_task(said, _exchange("v1")), SHOP)]
    arms = {arm.name: arm for arm in retail.arms(tasks, SHOP, [Tokenizer("letters", len)])}
    assert list(arms) == [*OPPONENTS, *retail.PROGRAMS]
    turns = {name: arm.bills["letters"][0].turns for name, arm in arms.items()}
    reads = sum(map(len, tasks[0].levels()))
    programs = 2 if said == "another lamp" else 1
    assert turns["one call a turn"] == reads + 1 + 1
    assert turns["all calls at once"] == len(tasks[0].levels()) + 1 + 1
    assert turns["programs that select"] == turns["programs that give everything"] == programs + 1 + 1
    assert turns["programs that select, two failed"] == programs + 2 + 1 + 1


def test_what_a_write_needs_must_have_been_seen() -> None:
    """The variant is there, and programs that select leave it out, since it cannot be had."""
    tasks = [needs(_task("another desk lamp for #W1", _exchange("v2")), SHOP)]
    with pytest.raises(AnswersDiffer, match=r"not seen: \['v2'\]"):
        retail.arms(tasks, SHOP, [Tokenizer("letters", len)])
