"""OpenAI's models, and those of all who speak its Chat Completions API. Needs the extra `openai`."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncGenerator, Callable, Mapping
from typing import TYPE_CHECKING, Any

from codeact.messages import Asked, Ending, Reply, Request, Tokens
from codeact.models.conversation import NOTHING, Call, HostTurn, Ids, ModelTurn, clean, turns
from codeact.models.programs import DESCRIPTION, RUN_PYTHON, SCHEMA, asked
from codeact.models.provider import MalformedError, ProviderModel, connector, count, ended, load, member, refuse_keyless

if TYPE_CHECKING:
    from openai import AsyncOpenAI

__all__ = ["OpenAIModel"]

_ENDINGS: dict[str, Ending] = {
    "stop": "done",
    "tool_calls": "done",
    "function_call": "done",
    "length": "length",
    "content_filter": "refused",
}

_IDS = re.compile(r"[!-~]{1,40}")
"""Of calls, as OpenAI takes them. Some endpoints mean something by theirs, so they are left as they are."""


class OpenAIModel(ProviderModel):
    """A model of OpenAI's, or of any endpoint that speaks its Chat Completions API.

    What an endpoint wants back with a reply, such as `reasoning_content`, is sent back with it. Sending is not tried
    again here: whoever calls decides on that.
    """

    def __init__(  # noqa: PLR0913 - each is a setting of its own, by name
        self,
        name: str,
        *,
        client: AsyncOpenAI | None = None,
        base_url: str | None = None,
        api_key: str | None = None,
        tools: bool = True,
        strict: bool = True,
        stream: bool = True,
        timeout: float = 600.0,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        """See the class.

        Args:
            name: of the model, as the endpoint has it.
            client: an async client of the host's, such as for Azure or with kept connections. It belongs to one event
                loop and is the host's to close. None makes one that keeps no connection between requests, and works in
                any loop.
            base_url: where the API is, such as `http://localhost:8000/v1`; None for OpenAI's own, or what
                `OPENAI_BASE_URL` says.
            api_key: the credential; None for `OPENAI_API_KEY`. With a `base_url`, only what is given here is sent.
            tools: whether the endpoint knows tools. Without, programs are fenced text, and observations are the
                user's.
            strict: whether the provider is to hold the model to the schema of `run_python`. Endpoints that do not know
                it may refuse the request.
            stream: whether text is given on as it arrives.
            timeout: seconds that one reply may take.
            options: further arguments of `chat.completions.create`, such as `max_completion_tokens`; None as a value
                leaves one out, such as `stream_options` where an endpoint does not know it.

        Raises:
            MissingExtra: the extra is not installed.
            TypeError: the client is not async.
            ValueError: there is no credential, or `timeout` is not above zero.
        """
        sdk = load("openai")
        connect = None
        if client is None:
            connect = connector(sdk, timeout)
            key = api_key if api_key or not base_url else "none"
            try:
                client = sdk.AsyncOpenAI(base_url=base_url, api_key=key, http_client=connect())
            except sdk.OpenAIError:
                refuse_keyless("OPENAI_API_KEY")
        super().__init__(name, sdk=sdk, client=client, connect=connect, stream=stream, timeout=timeout, options=options)
        self._tools = tools
        function = {"name": RUN_PYTHON, "description": DESCRIPTION, "parameters": SCHEMA}
        self._tool = {"type": "function", "function": function | ({"strict": True} if strict else {})}

    @property
    def has_tools(self) -> bool:
        """Whether it was made with tools."""
        return self._tools

    def _create(self, client: Any, payload: dict[str, Any]) -> Any:
        return client.chat.completions.create(**payload)

    def _parameters(self, request: Request) -> dict[str, Any]:
        messages: list[dict[str, Any]] = []
        if request.system.strip():
            messages.append({"role": "system", "content": request.system})
        for turn in turns(request, _IDS):
            messages += (_with_tools if self._tools else _without_tools)(turn)
        return {
            "model": self.name,
            "messages": messages,
            "tools": [self._tool] if self._tools else None,
            "stream_options": {"include_usage": True} if self._stream else None,
        }

    async def _assembled(
        self, events: AsyncGenerator[dict[str, Any], None], on_text: Callable[[str], None]
    ) -> dict[str, Any]:
        message: dict[str, Any] = {"tool_calls": []}
        finished = usage = None
        async for event in events:
            usage = event.get("usage") or usage
            for choice in _dicts(event.get("choices"), "choices"):
                if choice.get("index"):
                    continue  # only one was asked for
                # Some endpoints leave it out at the end.
                piece = _extend(message, member(choice, "delta", dict)) if choice.get("delta") is not None else ""
                if piece:
                    on_text(piece)
                if isinstance(choice.get("finish_reason"), str):
                    finished = choice["finish_reason"]
        if finished is None:
            msg = "its stream ended before the reply did"
            raise MalformedError(msg)
        return {"choices": [{"message": message, "finish_reason": finished}], "usage": usage}

    def _reply(self, answer: dict[str, Any], ids: Ids) -> Reply:
        choices = _dicts(answer.get("choices"), "choices")
        if not choices:
            msg = "its answer has no choice"
            raise MalformedError(msg)
        message = member(choices[0], "message", dict)
        ending = ended(_ENDINGS, choices[0].get("finish_reason"))
        refusal = _text(message.get("refusal"))
        if refusal:
            ending = "refused"
        calls = [] if ending == "refused" else _dicts(message.get("tool_calls"), "tool_calls")
        programs = tuple(
            _program(call, ids, cut=ending == "length" and number == len(calls)) for number, call in enumerate(calls, 1)
        )
        usage = answer.get("usage")
        return Reply(
            _text(message.get("content")) + refusal,
            programs,
            ending,
            Tokens(count(usage, "prompt_tokens"), count(usage, "completion_tokens")),
            _kept(message, calls),
        )


def _dicts(found: object, name: str) -> list[dict[str, Any]]:
    """A list of objects, or nothing."""
    if found is None:
        return []
    if not isinstance(found, list) or not all(isinstance(part, dict) for part in found):
        msg = f"its answer has {name} that could not be read"
        raise MalformedError(msg)
    return found


def _program(call: dict[str, Any], ids: Ids, *, cut: bool) -> Asked:
    function = call.get("function")
    if not isinstance(function, dict):
        function = {}
    return asked(ids.unique(call.get("id")), function.get("name"), function.get("arguments"), cut=cut)


def _text(content: object) -> str:
    """The text of a content, which some endpoints give in parts."""
    match content:
        case None:
            return ""
        case str():
            return content
        case list():
            return "".join(_text(part.get("text")) for part in content if isinstance(part, dict))
    msg = "its answer has content that is no text"
    raise MalformedError(msg)


def _extend(message: dict[str, Any], delta: dict[str, Any]) -> str:
    """Adds a piece to a message, and gives what of it is text."""
    given = ""
    for name in ("content", "refusal", "reasoning_content"):
        piece = _text(delta.get(name))
        if piece:
            message[name] = message.get(name, "") + piece
            given += piece if name != "reasoning_content" else ""
    for part in _dicts(delta.get("tool_calls"), "tool_calls"):
        _extend_call(message["tool_calls"], part)
    return given


def _extend_call(calls: list[dict[str, Any]], piece: dict[str, Any]) -> None:
    """Adds a piece to the call that it belongs to.

    That is the one of its index; but some endpoints give all calls the same index or none, and tell them apart by id.
    """
    index, given = piece.get("index"), piece.get("id")
    of_index = [call for call in calls if index is not None and call["index"] == index]
    call = of_index[-1] if of_index else (calls[-1] if calls and index is None else None)
    if call is None or (given and call["id"] and given != call["id"]):
        call = {"index": index, "id": None, "function": {"name": "", "arguments": ""}}
        calls.append(call)
    call["id"] = call["id"] or given
    if piece.get("extra_content") is not None:
        call["extra_content"] = piece["extra_content"]
    function = member(piece, "function", dict) if piece.get("function") is not None else {}
    for name in ("name", "arguments"):
        part = function.get(name)
        if isinstance(part, str) and isinstance(call["function"][name], str):
            call["function"][name] += part
        elif part is not None:
            call["function"][name] = part  # whole, and not a text: it is judged with all other arguments


def _kept(message: dict[str, Any], calls: list[dict[str, Any]]) -> str:
    """What endpoints want back: the reasoning of a reply, and what they attach to its calls, such as signatures."""
    reasoning = message.get("reasoning_content")
    extras = [call.get("extra_content") for call in calls]
    kept: dict[str, Any] = {"reasoning_content": reasoning} if isinstance(reasoning, str) and reasoning else {}
    if any(extra is not None for extra in extras):
        kept["extra_contents"] = extras
    return json.dumps(kept) if kept else ""


def _with_tools(turn: HostTurn | ModelTurn) -> list[dict[str, Any]]:
    if isinstance(turn, HostTurn):
        answers: list[dict[str, Any]] = [
            {"role": "tool", "tool_call_id": answer.id, "content": answer.text} for answer in turn.answers
        ]
        return answers + ([{"role": "user", "content": "\n\n".join(turn.texts)}] if turn.texts else [])
    message: dict[str, Any] = {"role": "assistant", "content": turn.text if turn.text.strip() else None}
    if turn.calls:
        message["tool_calls"] = [_tool_call(call) for call in turn.calls]
    _give_back(message, turn)
    return [message]


def _tool_call(call: Call) -> dict[str, Any]:
    # A text within a text: it is cleaned here, because what it is escaped to looks clean.
    arguments = json.dumps(clean({} if call.code is None else {"code": call.code}))
    return {"id": call.id, "type": "function", "function": {"name": RUN_PYTHON, "arguments": arguments}}


def _give_back(message: dict[str, Any], turn: ModelTurn) -> None:
    try:
        kept = json.loads(turn.kept) if turn.kept else {}
    except ValueError:
        return
    if not isinstance(kept, dict):
        return  # another provider's
    if isinstance(kept.get("reasoning_content"), str):
        message["reasoning_content"] = kept["reasoning_content"]
    extras = kept.get("extra_contents")
    if isinstance(extras, list) and len(extras) == len(turn.calls):
        for call, extra in zip(message.get("tool_calls", ()), extras, strict=True):
            if extra is not None:
                call["extra_content"] = extra


def _without_tools(turn: HostTurn | ModelTurn) -> list[dict[str, Any]]:
    if isinstance(turn, HostTurn):
        texts = [answer.text for answer in turn.answers] + turn.texts
        return [{"role": "user", "content": "\n\n".join(texts)}]
    parts = [turn.text] if turn.text.strip() else []
    parts += [f"```python\n{call.code}\n```" for call in turn.calls if call.code and call.code.strip() not in turn.text]
    return [{"role": "assistant", "content": "\n\n".join(parts) or NOTHING}]
