"""MCP both ways: programs call the tools of a server, and a client runs programs in a sandbox.

Needs `pip install 'codeact[mcp]'`. The server is the SDK's own, in this process, so that this runs offline; give `Client` a URL, or
`StdioServerParameters`, for one elsewhere.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from mcp import Client
from mcp.server.mcpserver import MCPServer
from mcp.types import ToolAnnotations

from codeact import Allow, Outbox, Sandbox
from codeact.integrations.mcp import server, tools_from_mcp

shop = MCPServer("shop")


@dataclass
class Charge:
    """What a customer was charged."""

    id: str
    cents: int


@shop.tool(name="list-charges", annotations=ToolAnnotations(read_only_hint=True))
def list_charges(customer: str) -> list[Charge]:
    """The charges of a customer, oldest first."""
    return [Charge("ch_1", 1200), Charge("ch_2", 1900), Charge("ch_3", 1200)] if customer == "c1" else []


@shop.tool()
def refund(charge: str, cents: int) -> str:
    """Give a charge back."""
    print(f"  the shop gives {charge} back: {cents} cents")
    return f"re_{charge}"


FINDS = """\
seen = {}
for charge in await tools.list_charges("c1"):
    seen.setdefault(charge.cents, []).append(charge.id)
twice = {cents: ids for cents, ids in seen.items() if len(ids) > 1}
twice"""
PROPOSES = """\
for cents, ids in twice.items():
    actions.refund(ids[-1], cents)"""


async def main() -> None:
    """Take the shop's tools, serve a sandbox that has them, and let a client run two programs there."""
    async with Client(shop) as to_shop:
        found = await tools_from_mcp(to_shop, trusted=True)
        print("tools:", [one.signature_line for one in found.tools])
        print("actions:", [one.signature_line for one in found.actions])

        sandbox = Sandbox(found.tools, actions=found.actions)
        with Outbox(":memory:", actions=found.actions, rules=[Allow("refund", count=1)]) as outbox:
            async with Client(server(sandbox, outbox=outbox, task="T-1")) as client:
                for program in (FINDS, PROPOSES):
                    answer = await client.call_tool("run_python", {"code": program})
                    for block in answer.content:
                        print(block.text if block.type == "text" else block.type)
            for entry in await outbox.perform_async():
                print(f"{entry.state}: {entry} gave {entry.value!r}")


if __name__ == "__main__":
    asyncio.run(main())
