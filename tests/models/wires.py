"""Answers in each provider's words, whole and as a stream, from one description."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from codeact.messages import Model
from codeact.models.anthropic import AnthropicModel
from codeact.models.openai import OpenAIModel
from tests.models.server import Answer, Server

KEY = "sk-loopback-0123456789abcdef"
EVENTS = {"content-type": "text/event-stream; charset=utf-8"}


@dataclass(frozen=True)
class Call:
    """A call of a tool: `arguments` is the text that the model wrote."""

    id: str | None
    arguments: str
    name: str = "run_python"


def call(name: str, code: str) -> Call:
    """A call whose id is `name`, as the model should write it."""
    return Call(name, json.dumps({"code": code}))


def pieces(text: str, size: int) -> list[str]:
    size = max(size, len(text) // 100)
    return [text[at : at + size] for at in range(0, len(text), size)]


def chopped(events: bytes, size: int) -> tuple[bytes, ...]:
    return tuple(events[at : at + size] for at in range(0, len(events), size))


def dumped(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


class Wire(ABC):
    name: str
    path: str
    endings: ClassVar[dict[str, str]]

    def __init__(self, stream: bool) -> None:
        self.stream = stream

    @abstractmethod
    def model(self, server: Server, **settings: Any) -> Model: ...

    @abstractmethod
    def whole(self, text: str, calls: Sequence[Call], ending: str) -> dict[str, Any]: ...

    @abstractmethod
    def events(self, text: str, calls: Sequence[Call], ending: str) -> bytes: ...

    def answer(
        self, text: str = "", calls: Sequence[Call] = (), ending: str = "", *, size: int = 11, **settings: Any
    ) -> Answer:
        """A reply of the model's.

        Args:
            text: what it says.
            calls: of tools.
            ending: in the provider's word; empty for the one that fits.
            size: bytes of a piece of a stream.
            settings: of the `Answer`.
        """
        ending = ending or self.endings["calls" if calls else "done"]
        if self.stream:
            return Answer(chopped(self.events(text, calls, ending), size), headers=EVENTS, **settings)
        return Answer((json.dumps(self.whole(text, calls, ending)).encode(),), **settings)


class AnthropicWire(Wire):
    name = "anthropic"
    path = "/v1/messages"
    endings: ClassVar = {"done": "end_turn", "calls": "tool_use", "length": "max_tokens", "refused": "refusal"}

    def model(self, server: Server, **settings: Any) -> Model:
        given = {"base_url": server.url, "api_key": KEY, "stream": self.stream} | settings
        return AnthropicModel("claude-test", **given)

    def whole(self, text: str, calls: Sequence[Call], ending: str) -> dict[str, Any]:
        content: list[dict[str, Any]] = [{"type": "text", "text": text}] if text else []
        for made in calls:
            try:
                given = json.loads(made.arguments)
            except (ValueError, RecursionError):
                given = {}  # what could not be decoded, the API leaves out
            content.append({"type": "tool_use", "id": made.id, "name": made.name, "input": given})
        return {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": "claude-test",
            "content": content,
            "stop_reason": ending,
            "stop_sequence": None,
            "usage": {"input_tokens": 7, "cache_read_input_tokens": 4, "output_tokens": 5},
        }

    def events(self, text: str, calls: Sequence[Call], ending: str) -> bytes:
        start = self.whole("", (), ending) | {"stop_reason": None}
        start["usage"] = {"input_tokens": 7, "cache_read_input_tokens": 4, "output_tokens": 1}
        told: list[dict[str, Any]] = [{"type": "message_start", "message": start}, {"type": "ping"}]
        index = 0
        if text:
            told.append({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}})
            told += [
                {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": piece}}
                for piece in pieces(text, 3)
            ]
            told += [{"type": "content_block_stop", "index": 0}, {"type": "of_the_future", "index": 0}]
            index = 1
        for at, made in enumerate(calls, index):
            block = {"type": "tool_use", "id": made.id, "name": made.name, "input": {}}
            told.append({"type": "content_block_start", "index": at, "content_block": block})
            told += [
                {"type": "content_block_delta", "index": at, "delta": {"type": "input_json_delta", "partial_json": p}}
                for p in ["", *pieces(made.arguments, 5)]
            ]
            told.append({"type": "content_block_stop", "index": at})
        told.append(
            {
                "type": "message_delta",
                "delta": {"stop_reason": ending, "stop_sequence": None},
                "usage": {"output_tokens": 5},
            }
        )
        told.append({"type": "message_stop"})
        return self.sent(told)

    @staticmethod
    def sent(events: Sequence[dict[str, Any]]) -> bytes:
        return b": a comment\n\n" + b"".join(
            f"event: {event['type']}\r\ndata: {dumped(event)}\r\n\r\n".encode() for event in events
        )


class OpenAIWire(Wire):
    name = "openai"
    path = "/v1/chat/completions"
    endings: ClassVar = {"done": "stop", "calls": "tool_calls", "length": "length", "refused": "content_filter"}

    def model(self, server: Server, **settings: Any) -> Model:
        given = {"base_url": server.url + "/v1", "api_key": KEY, "stream": self.stream} | settings
        return OpenAIModel("gpt-test", **given)

    def whole(self, text: str, calls: Sequence[Call], ending: str) -> dict[str, Any]:
        message: dict[str, Any] = {"role": "assistant", "content": text or None}
        if calls:
            message["tool_calls"] = [
                {"id": made.id, "type": "function", "function": {"name": made.name, "arguments": made.arguments}}
                for made in calls
            ]
        return self.completion({"index": 0, "message": message, "finish_reason": ending})

    def completion(self, *choices: object) -> dict[str, Any]:
        return {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1,
            "model": "gpt-test",
            "choices": list(choices),
            "usage": {"prompt_tokens": 11, "completion_tokens": 5, "total_tokens": 16},
        }

    def events(self, text: str, calls: Sequence[Call], ending: str) -> bytes:
        deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
        deltas += [{"content": piece} for piece in pieces(text, 3)]
        for at, made in enumerate(calls):
            function = {"name": made.name, "arguments": ""}
            deltas.append({"tool_calls": [{"index": at, "id": made.id, "type": "function", "function": function}]})
            deltas += [
                {"tool_calls": [{"index": at, "function": {"arguments": piece}}]} for piece in pieces(made.arguments, 5)
            ]
        return self.sent(deltas, ending)

    def sent(self, deltas: Sequence[dict[str, Any]], ending: str | None) -> bytes:
        chunks: list[dict[str, Any]] = [{"choices": [{"index": 0, "delta": delta}]} for delta in deltas]
        chunks.append({"choices": [{"index": 0, "delta": {}, "finish_reason": ending}]})
        chunks.append(self.completion())
        same = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "gpt-test"}
        told = b"".join(f"data: {dumped({'usage': None} | chunk | same)}\n\n".encode() for chunk in chunks)
        return b": a comment\n\n" + told + b"data: [DONE]\n\n"
