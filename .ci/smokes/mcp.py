"""A program that an MCP client runs on a server, and one that calls a server's tool."""

import asyncio

from codeact import Sandbox
from codeact.integrations.mcp import server, tools_from_mcp

from mcp import Client  # isort: skip - codeact is to say first that it is missing


async def main() -> None:
    """Both ways, in one process."""
    async with Client(server(Sandbox())) as client:
        answer = await client.call_tool("run_python", {"code": "6 * 7"})
        assert "42" in answer.content[0].text, answer
        found = await tools_from_mcp(client, reads=["run_python"])
        result = await Sandbox(found.tools).run_async("str(await tools.run_python('6 * 7'))")
        assert "42" in result.value, result.observation()


asyncio.run(main())
