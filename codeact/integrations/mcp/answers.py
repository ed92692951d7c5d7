"""What a server answers to a call, as plain values that programs can be given."""

from __future__ import annotations

import binascii
from base64 import b64decode
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from codeact.extras import extra

with extra("mcp", "codeact.integrations.mcp"):
    from mcp.types import (
        AudioContent,
        BlobResourceContents,
        CallToolResult,
        EmbeddedResource,
        ImageContent,
        ResourceLink,
        TextContent,
        TextResourceContents,
    )


class ServerError(RuntimeError):
    """A server's tool has failed. The text is the server's own."""


@dataclass(frozen=True, slots=True)
class Media:
    """An image or a sound that a server's tool gave.

    Attributes:
        kind: which of them.
        mime_type: such as `image/png`.
        data: the file.
    """

    kind: Literal["image", "audio"]
    mime_type: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Resource:
    """A resource that a server's tool gave, or pointed at.

    Attributes:
        uri: what the server calls it.
        mime_type: such as `text/csv`; None where the server does not say.
        text: what it holds, where that is text.
        data: what it holds, where that is not text. Of one that is only pointed at both are None.
    """

    uri: str
    mime_type: str | None
    text: str | None = None
    data: bytes | None = None


def value_of(answer: CallToolResult, *, wrapped: bool) -> object:
    """What a call gave.

    Structured content is the value where there is any. Otherwise it is the text, the `Media` or the `Resource` of the
    content: None where there is no content, a list where there are several. Text is never read as anything else.

    Args:
        answer: the server's.
        wrapped: whether its structured content is an object that only holds the value, as `result`; see `is_wrapped`.

    Raises:
        ServerError: the server says that the call has failed, or sent what cannot be read.
    """
    if answer.is_error:
        raise ServerError("\n".join(_texts(answer)) or "the server does not say why")
    structured = answer.structured_content
    if structured is not None:
        if wrapped and isinstance(structured, dict) and structured.keys() == {_WRAP}:
            return structured[_WRAP]
        return structured
    values = [_value(block) for block in answer.content]
    return values[0] if len(values) == 1 else values or None


_WRAP = "result"


def is_wrapped(schema: Mapping[str, Any] | None) -> bool:
    """Whether an output schema is that of an object which is there only to hold one value, as SDKs make it of `-> list[int]`."""
    properties = None if schema is None else schema.get("properties")
    return isinstance(properties, dict) and properties.keys() == {_WRAP}


def unwrapped(schema: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """The schema of what `value_of` gives."""
    if schema is None or not is_wrapped(schema):
        return schema
    inner = schema["properties"][_WRAP]
    if not isinstance(inner, dict):
        return None
    kept = {key: value for key, value in schema.items() if key in {"$defs", "definitions"}}
    return {**kept, **inner}


def _texts(answer: CallToolResult) -> Iterator[str]:
    for block in answer.content:
        if isinstance(block, TextContent):
            yield block.text


def _value(block: object) -> object:
    match block:
        case TextContent():
            return block.text
        case ImageContent() | AudioContent():
            return Media(block.type, block.mime_type, _decoded(block.data))
        case EmbeddedResource(resource=BlobResourceContents() as held):
            return Resource(str(held.uri), held.mime_type, data=_decoded(held.blob))
        case EmbeddedResource(resource=TextResourceContents() as held):
            return Resource(str(held.uri), held.mime_type, text=held.text)
        case ResourceLink():
            return Resource(str(block.uri), block.mime_type)
    msg = f"the server sent content of a kind that is not known: {type(block).__name__}"
    raise ServerError(msg)


def _decoded(text: str) -> bytes:
    try:
        return b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        msg = "the server sent data that is no base64"
        raise ServerError(msg) from None
