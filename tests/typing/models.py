"""Models of the providers are models, and typed as such."""

from __future__ import annotations

from typing import assert_type

from anthropic import AsyncAnthropic
from openai import AsyncOpenAI

from codeact.messages import Model, Reply, Request, Said
from codeact.models.anthropic import AnthropicModel
from codeact.models.openai import OpenAIModel

models: list[Model] = [
    AnthropicModel("m", client=AsyncAnthropic(), max_tokens=100, options={"thinking": {"type": "adaptive"}}),
    OpenAIModel("m", client=AsyncOpenAI(), tools=False, strict=False, stream=False, timeout=10),
]


async def work(model: AnthropicModel) -> None:
    assert_type(await model.complete(Request("s", (Said("t"),)), print), Reply)
    assert_type(model.name, str)
    assert_type(model.has_tools, bool)
