from __future__ import annotations

from typing import Any

import pytest

from codeact import Sandbox, Tool, stubs
from examples.support_ticket.data import Company
from examples.support_ticket.desk import LIMITS
from examples.support_ticket.knowledge import KnowledgeBase
from examples.support_ticket.tools import support_tools

REFUSED = {
    'tools.get_customer("cus_9999")': "LookupError: no customer 'cus_9999' among the accounts you may see",
    'tools.get_charges("nobody")': "LookupError: no customer 'nobody'",
    'tools.get_refunds("")': "find_customer(email) gives an id",
    'tools.find_customer("a@b.example")': "LookupError: no customer has the address 'a@b.example'",
    'tools.search_knowledge_base("refund", limit=0)': "ValueError: limit=0: ask for 1 to 10 articles",
    'tools.search_knowledge_base("refund", limit=11)': "ask for 1 to 10 articles",
}


@pytest.fixture(scope="module")
def tools(company: Company, knowledge: KnowledgeBase) -> dict[str, Tool[..., Any]]:
    return {tool.name: tool for tool in support_tools(company.book, knowledge)}


@pytest.mark.parametrize(("program", "message"), REFUSED.items())
def test_a_tool_says_what_is_wrong(desk: Sandbox, program: str, message: str) -> None:
    result = desk.run(program)
    assert result.error is not None
    assert result.error.type == "ToolError"
    assert message in result.error.message
    assert [call.state for call in result.calls] == ["failed"]


def test_arguments_of_the_wrong_type_never_reach_the_tool(desk: Sandbox) -> None:
    result = desk.run("tools.get_charges([1])")
    assert result.error is not None
    assert result.error.type == "TypeError"
    assert "get_charges(customer_id: str) -> list[Charge]" in result.error.message
    assert [call.state for call in result.calls] == ["refused"]


def test_records_arrive_whole(desk: Sandbox, company: Company) -> None:
    result = desk.run('tools.get_charges("cus_0001")[-1]')
    charge = company.book.charges["cus_0001"][-1]
    assert result.value == {name: getattr(charge, name) for name in charge.__slots__}


def test_an_address_is_found_in_any_case(tools: dict[str, Tool[..., Any]], company: Company) -> None:
    customer = company.book.customers["cus_0042"]
    assert tools["find_customer"](f" {customer.email.upper()} ") == customer


def test_the_model_is_told_the_shapes(desk: Sandbox) -> None:
    told = stubs(desk.tools)
    assert "invoice: str | None" in told
    assert "amount: Decimal" in told
    assert "def get_charges(self, customer_id: str) -> list[Charge]:" in told
    assert all(line.strip() in told for tool in desk.tools.values() for line in tool.doc.splitlines())


def test_tools_over_a_smaller_book_know_no_one_else(company: Company, knowledge: KnowledgeBase, engine: str) -> None:
    tools = support_tools(company.book.only(["cus_0005"]), knowledge)
    sandbox = Sandbox(tools, engine=engine, limits=LIMITS)
    assert sandbox.run('tools.get_customer("cus_0005").id').value == "cus_0005"
    assert not sandbox.run('tools.get_customer("cus_0006")').ok
    assert not sandbox.run(f'tools.find_customer("{company.book.customers["cus_0006"].email}")').ok
