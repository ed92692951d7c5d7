"""What providers refuse in a request, as strictly as they do or more so."""

from __future__ import annotations

import json
import re
from typing import Any

ANTHROPIC_KEYS = {"model", "max_tokens", "messages", "system", "tools", "stream", "thinking", "metadata"}
OPENAI_KEYS = {"model", "messages", "tools", "stream", "stream_options", "reasoning_effort", "max_completion_tokens"}


class InvalidError(ValueError):
    """A provider would answer 400."""


def check(holds: object, what: object) -> None:
    if not holds:
        raise InvalidError(str(what))


def decoded(body: bytes) -> dict[str, Any]:
    """A request's body, which must be an object in UTF-8 without halves of characters."""
    found = json.loads(body.decode("utf-8"))
    json.dumps(found, ensure_ascii=False).encode("utf-8")
    check(isinstance(found, dict), "an object is expected")
    return found


def schema(found: dict[str, Any], *, strict: bool) -> None:
    check(found["type"] == "object", "schema: object")
    if strict:
        check(found["additionalProperties"] is False, "strict: additionalProperties must be false")
        check(found["required"] == list(found["properties"]), "strict: all properties must be required")
    check(found["properties"] == {"code": found["properties"]["code"]}, "one property")
    check(found["properties"]["code"]["type"] == "string", "code is a string")


def anthropic(body: dict[str, Any]) -> None:
    check(set(body) <= ANTHROPIC_KEYS, f"unknown: {set(body) - ANTHROPIC_KEYS}")
    check(isinstance(body["model"], str) and body["model"], "model")
    check(type(body["max_tokens"]) is int and body["max_tokens"] > 0, "max_tokens")
    for block in body.get("system", ()):
        check(block["type"] == "text" and block["text"].strip(), "system: text must not be blank")
    for tool in body.get("tools", ()):
        check(re.fullmatch(r"[a-zA-Z0-9_-]{1,128}", tool["name"]), "tools.name")
        schema(tool["input_schema"], strict=tool.get("strict", False))
    marks = json.dumps(body).count('"cache_control"')
    check(marks <= 4, "at most four cache marks")
    messages = body["messages"]
    check(messages and messages[0]["role"] == "user" and messages[-1]["role"] == "user", "begins and ends with user")
    ids: set[str] = set()
    awaited: list[str] = []
    for number, message in enumerate(messages):
        check(set(message) == {"role", "content"}, message)
        check(message["role"] == ("assistant" if number % 2 else "user"), f"messages.{number}: roles must alternate")
        content = message["content"]
        check(isinstance(content, list) and content, f"messages.{number}: content must not be empty")
        if message["role"] == "user":
            results = [block["tool_use_id"] for block in content if block["type"] == "tool_result"]
            check(results == awaited, f"messages.{number}: results {results} for {awaited}")
            check(
                [block["type"] for block in content][: len(results)] == ["tool_result"] * len(results), "results first"
            )
        awaited = [_anthropic_block(block, message["role"], ids) for block in content]
        awaited = [made for made in awaited if made]


def _anthropic_block(block: dict[str, Any], role: str, ids: set[str]) -> str:
    kind = block["type"]
    allowed = {"user": {"text", "tool_result"}, "assistant": {"text", "tool_use", "thinking", "redacted_thinking"}}
    check(kind in allowed[role], f"{kind} of {role}")
    if kind == "text":
        check(set(block) <= {"type", "text", "cache_control"}, block)
        check(block["text"].strip(), "text content blocks must contain non-whitespace text")
    if kind == "tool_result":
        check(set(block) <= {"type", "tool_use_id", "content", "is_error", "cache_control"}, block)
        check(isinstance(block["content"], str) and block["content"], "tool_result content")
    if kind == "thinking":
        check(isinstance(block["signature"], str) and block["signature"].startswith("signed:"), "signature")
        check(block["signature"] == "signed:" + block["thinking"], "thinking was changed")
    if kind == "tool_use":
        check(set(block) == {"type", "id", "name", "input"}, block)
        check(re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", block["id"]), f"id {block['id']!r}")
        check(block["id"] not in ids, "tool_use ids must be unique")
        check(block["name"] == "run_python" and isinstance(block["input"], dict), block)
        ids.add(block["id"])
        return str(block["id"])
    return ""


def openai(body: dict[str, Any]) -> None:
    check(set(body) <= OPENAI_KEYS, f"unknown: {set(body) - OPENAI_KEYS}")
    check(isinstance(body["model"], str) and body["model"], "model")
    check("stream_options" not in body or body.get("stream"), "stream_options without stream")
    check(body.get("tools") != [], "tools must not be empty")
    for tool in body.get("tools", ()):
        check(tool["type"] == "function", tool)
        schema(tool["function"]["parameters"], strict=tool["function"].get("strict", False))
    messages = body["messages"]
    check(messages and messages[-1]["role"] in {"user", "tool"}, "the last is the host's")
    ids: set[str] = set()
    awaited: list[str] = []
    for number, message in enumerate(messages):
        role = message["role"]
        if role == "tool":
            check(set(message) == {"role", "tool_call_id", "content"}, message)
            check(awaited and message["tool_call_id"] == awaited.pop(0), "tool messages answer the calls before them")
            check(isinstance(message["content"], str) and message["content"], "content")
            continue
        check(not awaited, f"messages.{number}: no tool message for {awaited}")
        check(role in {"user", "assistant"} or (role == "system" and number == 0), f"role {role}")
        if role != "assistant":
            check(isinstance(message["content"], str) and message["content"].strip(), "content")
            continue
        check(set(message) <= {"role", "content", "tool_calls", "reasoning_content"}, message)
        check(message.get("tool_calls") != [], "tool_calls must not be empty")
        check(message["content"] is None or message["content"].strip(), "content must not be blank")
        check(message["content"] or message.get("tool_calls"), "neither content nor calls")
        for call in message.get("tool_calls", ()):
            check(set(call) <= {"id", "type", "function", "extra_content"} and call["type"] == "function", call)
            check(0 < len(call["id"]) <= 40 and call["id"] not in ids, f"id {call['id']!r}")
            check(call["function"]["name"] == "run_python", call)
            check(isinstance(decoded(call["function"]["arguments"].encode()), dict), "arguments")
            ids.add(call["id"])
            awaited.append(call["id"])
    check(not awaited, "calls without answers")
