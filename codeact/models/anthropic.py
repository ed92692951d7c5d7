"""Claude, by Anthropic's Messages API. Needs the extra `anthropic`."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncGenerator, Callable, Mapping
from typing import TYPE_CHECKING, Any

from codeact.messages import Asked, Ending, Reply, Request, Tokens
from codeact.models.conversation import Call, HostTurn, Ids, ModelTurn, turns
from codeact.models.programs import DESCRIPTION, RUN_PYTHON, SCHEMA, asked
from codeact.models.provider import MalformedError, ProviderModel, connector, count, ended, load, member, refuse_keyless

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic

__all__ = ["AnthropicModel"]

_ENDINGS: dict[str, Ending] = {
    "end_turn": "done",
    "tool_use": "done",
    "stop_sequence": "done",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "refused",
}
_IDS = re.compile(r"[A-Za-z0-9_-]{1,64}")
"""Of calls, as the API takes them."""

_THINKING = ("thinking", "redacted_thinking")
_CACHED = {"cache_control": {"type": "ephemeral"}}


class AnthropicModel(ProviderModel):
    """A model of Anthropic's, or of an endpoint that speaks the Messages API.

    Prompts are cached by the provider. Thinking is sent back with the reply that it led to, as the API wants it.
    Sending is not tried again here: whoever calls decides on that.
    """

    def __init__(  # noqa: PLR0913 - each is a setting of its own, by name
        self,
        name: str,
        *,
        client: AsyncAnthropic | None = None,
        base_url: str | None = None,
        api_key: str | None = None,
        max_tokens: int = 16_000,
        strict: bool = True,
        stream: bool = True,
        timeout: float = 600.0,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        """See the class.

        Args:
            name: of the model, as the provider has it.
            client: an async client of the host's, such as for Bedrock or with kept connections. It belongs to one event
                loop and is the host's to close. None makes one that keeps no connection between requests, and works in
                any loop.
            base_url: where the API is; None for Anthropic's own, or what `ANTHROPIC_BASE_URL` says.
            api_key: the credential; None for those that the client finds in the environment. With a `base_url`, only
                what is given here is sent.
            max_tokens: how many tokens a reply may have, thinking included.
            strict: whether the provider is to hold the model to the schema of `run_python`. Endpoints that do not know
                it refuse the request.
            stream: whether text is given on as it arrives.
            timeout: seconds that one reply may take.
            options: further arguments of `messages.create`, such as `thinking`; None as a value leaves one out.

        Raises:
            MissingExtra: the extra is not installed.
            TypeError: the client is not async.
            ValueError: there is no credential, or `timeout` is not above zero.
        """
        sdk = load("anthropic")
        connect = None
        if client is None:
            connect = connector(sdk, timeout)
            key = api_key if api_key or not base_url else "none"
            client = sdk.AsyncAnthropic(base_url=base_url, api_key=key, http_client=connect())
            headers = {name.lower() for name in client.default_headers}
            if not headers & {"x-api-key", "authorization"} and getattr(client, "credentials", None) is None:
                refuse_keyless("ANTHROPIC_API_KEY")
        super().__init__(name, sdk=sdk, client=client, connect=connect, stream=stream, timeout=timeout, options=options)
        self._max_tokens = max_tokens
        self._tool: dict[str, Any] = {"name": RUN_PYTHON, "description": DESCRIPTION, "input_schema": SCHEMA}
        if strict:
            self._tool["strict"] = True

    @property
    def has_tools(self) -> bool:
        """It has."""
        return True

    def _create(self, client: Any, payload: dict[str, Any]) -> Any:
        return client.messages.create(**payload)

    def _parameters(self, request: Request) -> dict[str, Any]:
        messages = [_message(turn) for turn in turns(request, _IDS)]
        # The next request repeats everything up to here, so it pays to have it cached; the system prompt is a mark of
        # its own because other tasks begin with it too.
        messages[-1]["content"][-1] |= _CACHED
        system = [{"type": "text", "text": request.system} | _CACHED] if request.system.strip() else None
        return {
            "model": self.name,
            "max_tokens": self._max_tokens,
            "system": system,
            "messages": messages,
            "tools": [self._tool],
        }

    async def _assembled(
        self, events: AsyncGenerator[dict[str, Any], None], on_text: Callable[[str], None]
    ) -> dict[str, Any]:
        message: dict[str, Any] = {}
        blocks: dict[int, dict[str, Any]] = {}
        whole = False
        async for event in events:
            match event.get("type"):
                case "message_start":
                    message = dict(member(event, "message", dict))
                case "content_block_start":
                    blocks[member(event, "index", int)] = dict(member(event, "content_block", dict))
                case "content_block_delta":
                    block = blocks.get(member(event, "index", int))
                    if block is None:
                        msg = "its stream goes on with a block that did not begin"
                        raise MalformedError(msg)
                    piece = _extend(block, member(event, "delta", dict))
                    if piece:
                        on_text(piece)
                case "message_delta":
                    message |= member(event, "delta", dict)
                    message["usage"] = _usage(message) | _usage(event)
                case "message_stop":
                    whole = True
        if not whole:
            msg = "its stream ended before the reply did"
            raise MalformedError(msg)
        return message | {"content": [blocks[index] for index in sorted(blocks)]}

    def _reply(self, answer: dict[str, Any], ids: Ids) -> Reply:
        ending = ended(_ENDINGS, answer.get("stop_reason"))
        texts: list[str] = []
        programs: list[Asked] = []
        kept: list[dict[str, Any]] = []
        content = member(answer, "content", list)
        for number, block in enumerate(content, 1):
            match block:
                case {"type": "text"}:
                    text = member(block, "text", str)
                    texts.append(text)
                    if text.strip():
                        kept.append({"type": "text", "text": text})
                case {"type": "tool_use"} if ending != "refused":
                    found = asked(
                        ids.unique(block.get("id")),
                        block.get("name"),
                        block.get("input"),
                        cut=ending == "length" and number == len(content),
                    )
                    programs.append(found)
                    kept.append(_tool_use(Call(found.id, found.code)))
                case {"type": "thinking" | "redacted_thinking"}:
                    kept.append(block)
                case {"type": str()}:
                    pass  # of a kind that is newer than this, or a part of a refused reply
                case _:
                    msg = "its answer has content of no type"
                    raise MalformedError(msg)
        text = "".join(texts)
        usage = answer.get("usage")
        return Reply(
            text or _reason(answer),
            tuple(programs),
            ending,
            Tokens(
                count(usage, "input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"),
                count(usage, "output_tokens"),
            ),
            json.dumps(kept) if any(block["type"] in _THINKING for block in kept) else "",
        )


def _extend(block: dict[str, Any], delta: dict[str, Any]) -> str:
    """Adds a piece to a block, and gives it where it is text."""
    match delta.get("type"):
        case "text_delta":
            piece = member(delta, "text", str)
            block["text"] = member(block, "text", str) + piece
            return piece
        case "input_json_delta":
            # Kept as the text that it is, and decoded when it is whole: a decoder that mends what is missing would
            # make a whole program of a part of one.
            before = block.get("input")
            block["input"] = (before if isinstance(before, str) else "") + member(delta, "partial_json", str)
        case "thinking_delta":
            block["thinking"] = member(block, "thinking", str) + member(delta, "thinking", str)
        case "signature_delta":
            block["signature"] = member(delta, "signature", str)
    return ""


def _usage(of: dict[str, Any]) -> dict[str, Any]:
    found = of.get("usage")
    return {name: value for name, value in found.items() if value is not None} if isinstance(found, dict) else {}


def _reason(answer: dict[str, Any]) -> str:
    """What the provider says of a refusal."""
    details = answer.get("stop_details")
    told = details.get("explanation") if isinstance(details, dict) else None
    return told if isinstance(told, str) else ""


def _message(turn: HostTurn | ModelTurn) -> dict[str, Any]:
    if isinstance(turn, ModelTurn):
        return {"role": "assistant", "content": _as_kept(turn) or _as_told(turn)}
    results: list[dict[str, Any]] = [
        {"type": "tool_result", "tool_use_id": answer.id, "content": answer.text}
        | ({} if answer.ok else {"is_error": True})
        for answer in turn.answers
    ]
    return {"role": "user", "content": results + [{"type": "text", "text": text} for text in turn.texts]}


def _tool_use(call: Call) -> dict[str, Any]:
    told = {} if call.code is None else {"code": call.code}
    return {"type": "tool_use", "id": call.id, "name": RUN_PYTHON, "input": told}


def _as_told(turn: ModelTurn) -> list[dict[str, Any]]:
    text = [{"type": "text", "text": turn.text}] if turn.text.strip() else []
    return text + [_tool_use(call) for call in turn.calls]


def _as_kept(turn: ModelTurn) -> list[dict[str, Any]] | None:
    """The reply as it came, thinking in its places; None where what was kept is not of this reply, or not ours."""
    try:
        blocks = json.loads(turn.kept) if turn.kept else None
    except ValueError:
        return None
    if not isinstance(blocks, list) or not all(isinstance(block, dict) for block in blocks):
        return None
    uses = [number for number, block in enumerate(blocks) if block.get("type") == "tool_use"]
    said = "".join(str(block.get("text")) for block in blocks if block.get("type") == "text")
    calls = [_tool_use(call) for call in turn.calls]
    if said.split() != turn.text.split() or len(uses) not in {0, len(calls)}:
        return None
    if not uses:  # its programs, if any, were read from its text
        return blocks + calls
    for number, call in zip(uses, calls, strict=True):
        blocks[number] = call
    return blocks
