"""A model of OpenAI's, by its client, with an answer that never leaves this process."""

import asyncio
import json

from codeact.messages import Reply, Request, Said
from codeact.models.openai import OpenAIModel

ANSWER = {
    "id": "1", "object": "chat.completion", "created": 1, "model": "m",
    "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "done"}}],
    "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
}  # fmt: skip

OpenAIModel("m", api_key="none")

import httpx2  # noqa: E402 - codeact is to say first that it is missing
import openai  # noqa: E402 - as above

transport = httpx2.MockTransport(lambda _: httpx2.Response(200, content=json.dumps(ANSWER)))
client = openai.AsyncOpenAI(api_key="none", http_client=httpx2.AsyncClient(transport=transport))
model = OpenAIModel("m", client=client, stream=False)
reply = asyncio.run(model.complete(Request("", (Said("hello"),)), print))
assert isinstance(reply, Reply), reply
assert reply.text == "done", reply
