"""A provider's model in the place of the script, by the name that the command line gives."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass

from codeact.messages import Model, ModelError, Reply, Request

_KEYS = {
    "anthropic": ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"),
    "openai": ("OPENAI_API_KEY",),
}
"""Where each provider's client looks for a key."""


@dataclass(frozen=True, slots=True)
class Heard:
    """A model whose failures are told as they happen, because an agent that asks again may do so for minutes.

    Attributes:
        model: who replies.
        tell: is given why there is no reply yet.
    """

    model: Model
    tell: Callable[[str], None]

    @property
    def name(self) -> str:
        """What the provider calls it."""
        return self.model.name

    @property
    def has_tools(self) -> bool:
        """Whether it asks for programs by calling `run_python`."""
        return self.model.has_tools

    async def complete(self, request: Request, on_text: Callable[[str], None]) -> Reply:
        """The next reply."""
        try:
            return await self.model.complete(request, on_text)
        except ModelError as error:
            if error.passing:
                self.tell(str(error))
            raise


def named(name: str, base_url: str | None = None) -> Model:
    """The model of a name such as `anthropic:claude-opus-5-5`.

    Args:
        name: `anthropic:` or `openai:`, and what the provider calls the model.
        base_url: another endpoint that speaks like that provider. It is sent no key.

    Raises:
        ValueError: there is no such provider, or no key; the text says what to do.
        MissingExtra: the provider's client is not installed; the text names the extra.
    """
    provider, _, model = name.partition(":")
    if provider not in _KEYS or not model:
        msg = f"{name}: expected anthropic:NAME or openai:NAME"
        raise ValueError(msg)
    keys = _KEYS[provider]
    if base_url is None and not any(os.environ.get(key) for key in keys):
        msg = f"{name}: set {keys[0]}, or give the --base-url of an endpoint that asks for no key"
        raise ValueError(msg)
    if provider == "anthropic":
        from codeact.models.anthropic import AnthropicModel  # noqa: PLC0415 - an extra, and only where it is asked for

        return AnthropicModel(model, base_url=base_url)
    from codeact.models.openai import OpenAIModel  # noqa: PLC0415 - as above

    return OpenAIModel(model, base_url=base_url)
