"""A model of Anthropic's, by its client, with an answer that never leaves this process."""

import asyncio
import json

from codeact.messages import Reply, Request, Said
from codeact.models.anthropic import AnthropicModel

ANSWER = {
    "id": "msg_1", "type": "message", "role": "assistant", "model": "m", "stop_reason": "end_turn", "stop_sequence": None,
    "content": [{"type": "text", "text": "done"}], "usage": {"input_tokens": 1, "output_tokens": 1},
}  # fmt: skip

AnthropicModel("m", api_key="none")

import anthropic  # noqa: E402 - codeact is to say first that it is missing
import httpx2  # noqa: E402 - as above

transport = httpx2.MockTransport(lambda _: httpx2.Response(200, content=json.dumps(ANSWER)))
client = anthropic.AsyncAnthropic(api_key="none", http_client=httpx2.AsyncClient(transport=transport))
model = AnthropicModel("m", client=client, stream=False)
reply = asyncio.run(model.complete(Request("", (Said("hello"),)), print))
assert isinstance(reply, Reply), reply
assert reply.text == "done", reply
