"""A request that a program makes by the host, which is answered in this process."""

import asyncio

from codeact import Sandbox
from codeact.egress import Allow, http_tool

import httpx  # isort: skip - codeact is to say first that it is missing


async def resolve(_host: str, _port: int) -> list[str]:
    """An address that is public, and never asked."""
    await asyncio.sleep(0)
    return ["93.184.216.34"]


transport = httpx.MockTransport(lambda _: httpx.Response(200, stream=httpx.ByteStream(b"hello")))
tool = http_tool([Allow("https://shop.example")], resolver=resolve, transport=transport)
result = Sandbox([tool]).run("(await tools.http('GET', 'https://shop.example/')).text")
assert result.value == "hello", result.observation()
