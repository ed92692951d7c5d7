"""What is sent: any conversation of an agent's, as the provider takes it. The server refuses what is not."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from codeact.messages import Asked, Message, Model, Observed, Reply, Request, Said
from tests.models.server import Answer, Server, serving
from tests.models.wires import AnthropicWire, Call, OpenAIWire, Wire, call

TWO = Reply("Both.", (Asked("a", "1"), Asked("b", "2")))


def sent(server: Server) -> dict:
    assert server.refused == []
    return server.seen[-1].body


def conversation(*messages: Message) -> Request:
    return Request("Rules.", messages)


def test_the_tool_is_strict(wire, server, talk) -> None:
    server.say(wire.answer("x"))
    talk(wire.model(server))
    (tool,) = sent(server)["tools"]
    described = tool if wire.name == "anthropic" else tool["function"]
    assert described["name"] == "run_python"
    assert described["strict"] is True
    assert server.seen[-1].path == wire.path
    assert server.seen[-1].body["model"] == wire.model(server).name
    assert wire.model(server).has_tools


def test_an_endpoint_that_refuses_strict_is_not_sent_it(wire, server, talk) -> None:
    server.say(wire.answer("x"))
    talk(wire.model(server, strict=False))
    assert '"strict"' not in json.dumps(sent(server))


def test_options_are_sent_and_leave_out(speech, server, talk) -> None:
    wire = speech(True)
    server.say(wire.answer("x"))
    more = {"thinking": {"type": "adaptive"}} if wire.name == "anthropic" else {"reasoning_effort": "low"}
    without = "tools" if wire.name == "anthropic" else "stream_options"
    talk(wire.model(server, options=more | {without: None}))
    assert without not in sent(server)
    assert sent(server).items() >= more.items()


def test_anthropic_answers_all_calls_in_one_message(server, talk) -> None:
    wire = AnthropicWire(False)
    server.say(wire.answer("x"))
    talk(
        wire.model(server),
        conversation(Said("Go."), TWO, Observed("b", "2", ok=True), Observed("a", "no", ok=False), Said("Well?")),
    )
    _, assistant, user = sent(server)["messages"]
    assert [block["type"] for block in assistant["content"]] == ["text", "tool_use", "tool_use"]
    assert [(block["type"], block.get("tool_use_id"), block.get("is_error")) for block in user["content"]] == [
        ("tool_result", "a", True),
        ("tool_result", "b", None),
        ("text", None, None),
    ]


def test_anthropic_caches_the_prompt_and_the_conversation(server, talk) -> None:
    wire = AnthropicWire(False)
    server.say(wire.answer("x"))
    talk(wire.model(server), conversation(Said("Go."), TWO, Observed("a", "1", ok=True), Observed("b", "2", ok=True)))
    body = sent(server)
    assert body["system"][-1]["cache_control"] == {"type": "ephemeral"}
    assert body["messages"][-1]["content"][-1]["cache_control"] == {"type": "ephemeral"}


def test_openai_answers_each_call_in_a_message(server, talk) -> None:
    wire = OpenAIWire(False)
    server.say(wire.answer("x"))
    talk(
        wire.model(server),
        conversation(
            Said("Go."), replace(TWO, text=""), Observed("b", "2", ok=True), Observed("a", "1", ok=True), Said("Well?")
        ),
    )
    messages = sent(server)["messages"]
    assert [(message["role"], message["content"]) for message in messages] == [
        ("system", "Rules."),
        ("user", "Go."),
        ("assistant", None),
        ("tool", "1"),
        ("tool", "2"),
        ("user", "Well?"),
    ]


def test_a_program_that_nobody_ran_is_answered(wire, server, talk) -> None:
    server.say(wire.answer("x"))
    talk(wire.model(server), conversation(Said("Go."), TWO, Observed("a", "1", ok=True), Said("Enough.")))
    assert "not run" in json.dumps(sent(server))


def test_what_could_not_be_read_goes_back_as_a_call(wire, server, talk) -> None:
    server.say(wire.answer("", [Call("a", '{"code": 1}'), call("b", "2")]), wire.answer("x"))
    model = wire.model(server)
    reply = talk(model)
    answers = [Observed(asked.id, asked.unreadable or "2", ok=asked.code is not None) for asked in reply.programs]
    talk(model, conversation(Said("Go."), reply, *answers))
    assert "is not a string" in json.dumps(sent(server))


def test_a_reply_of_nothing_leaves_no_trace(wire, server, talk) -> None:
    server.say(wire.answer("x"))
    talk(wire.model(server), conversation(Said("Go."), Reply(" \n"), Said("Well?")))
    assert "assistant" not in [message["role"] for message in sent(server)["messages"]]


def test_without_tools_programs_and_what_came_of_them_are_text(server, talk) -> None:
    wire = OpenAIWire(True)
    server.say(wire.answer("```python\n1\n```"))
    model = wire.model(server, tools=False)
    assert not model.has_tools
    fenced = Reply("Try:\n```python\n1\n```", (Asked("x", "1\n"),))
    talk(model, conversation(Said("Go."), fenced, Observed("x", "value: 1", ok=True), TWO, Observed("a", "b", ok=True)))
    body = sent(server)
    assert "tools" not in body
    assert [(message["role"], message["content"]) for message in body["messages"]] == [
        ("system", "Rules."),
        ("user", "Go."),
        ("assistant", "Try:\n```python\n1\n```"),
        ("user", "value: 1"),
        ("assistant", "Both.\n\n```python\n1\n```\n\n```python\n2\n```"),
        ("user", "b\n\nnot run"),
    ]


@pytest.mark.parametrize("messages", [(), (TWO,), (Said("a"), TWO), (Observed("a", "b", ok=True),)])
def test_a_conversation_that_is_none_is_the_callers_mistake(speech, server, talk, messages) -> None:
    with pytest.raises(ValueError, match="must begin with Said"):
        talk(speech(False).model(server), conversation(*messages))


THOUGHT = {"type": "thinking", "thinking": "Hm.", "signature": "signed:Hm."}


def thinking(wire: AnthropicWire, *content: dict) -> Answer:
    body = wire.whole("", (), "tool_use") | {"content": list(content)}
    if not wire.stream:
        return Answer((json.dumps(body).encode(),))
    start, *_, end, stop = [
        json.loads(line[6:]) for line in wire.events("", (), "tool_use").splitlines() if line.startswith(b"data: ")
    ]
    events = [start]
    for index, block in enumerate(content):
        kind = {"thinking": "thinking", "text": "text"}.get(block["type"])
        empty = {kind: ""} if kind else {}
        events.append({"type": "content_block_start", "index": index, "content_block": block | empty})
        if kind:
            delta = {"type": f"{kind}_delta", kind: block[kind]}
            events.append({"type": "content_block_delta", "index": index, "delta": delta})
        if kind == "thinking":
            delta = {"type": "signature_delta", "signature": block["signature"]}
            events.append({"type": "content_block_delta", "index": index, "delta": delta})
        events.append({"type": "content_block_stop", "index": index})
    return Answer((wire.sent([*events, end, stop]),), headers={"content-type": "text/event-stream"})


@pytest.mark.parametrize("stream", [True, False])
def test_thinking_goes_back_in_its_place(server, talk, stream) -> None:
    wire = AnthropicWire(stream)
    use = {"type": "tool_use", "id": "a", "name": "run_python", "input": {"code": "1"}}
    redacted = {"type": "redacted_thinking", "data": "…"}
    content = [THOUGHT, redacted, {"type": "text", "text": "So:"}, THOUGHT, use]
    server.say(thinking(wire, *content), *[wire.answer("x")] * 4)
    model = wire.model(server)
    reply = talk(model)
    assert (reply.text, reply.programs) == ("So:", (Asked("a", "1"),))
    talk(model, conversation(Said("Go."), reply, Observed("a", "1", ok=True)))
    assert sent(server)["messages"][1]["content"] == content

    renamed = replace(reply, programs=(Asked("own-1", "1"),))
    talk(model, conversation(Said("Go."), renamed, Observed("own-1", "1", ok=True)))
    assert sent(server)["messages"][1]["content"] == [*content[:-1], use | {"id": "own-1"}]

    # What no longer fits the reply, or is of another provider, is left out.
    for other in (replace(reply, text="No."), replace(reply, kept='{"reasoning_content": "Hm."}')):
        talk(model, conversation(Said("Go."), other, Observed("a", "1", ok=True)))
        assert [block["type"] for block in sent(server)["messages"][1]["content"]] == ["text", "tool_use"]


@pytest.mark.parametrize("stream", [True, False])
def test_reasoning_and_signatures_of_compatible_endpoints_go_back(server, talk, stream) -> None:
    wire = OpenAIWire(stream)
    whole = wire.whole("", [call("a", "1"), call("b", "2")], "tool_calls")
    message = whole["choices"][0]["message"]
    message["reasoning_content"] = "Hm. Hm."
    message["tool_calls"][0]["extra_content"] = {"google": {"thought_signature": "s"}}
    if stream:
        first, second = message["tool_calls"]
        # One endpoint numbers no calls, or all the same, and sends each in one piece.
        deltas = [{"reasoning_content": "Hm. "}, {"reasoning_content": "Hm."}]
        deltas += [{"tool_calls": [{"index": 0} | first]}, {"tool_calls": [{"index": 0} | second]}]
        server.say(Answer((wire.sent(deltas, "tool_calls"),), headers={"content-type": "text/event-stream"}))
    else:
        server.say(Answer((json.dumps(whole).encode(),)))
    server.say(wire.answer("x"))
    model = wire.model(server)
    reply = talk(model)
    assert [asked.code for asked in reply.programs] == ["1", "2"]
    talk(model, conversation(Said("Go."), reply, Observed("a", "1", ok=True), Observed("b", "2", ok=True)))
    back = sent(server)["messages"][2]
    assert back["reasoning_content"] == "Hm. Hm."
    assert [made.get("extra_content") for made in back["tool_calls"]] == [{"google": {"thought_signature": "s"}}, None]


TEXTS = st.one_of(
    st.sampled_from(["", " \n", "x", "\ud83d", "é\ud83d\ude42", "```python\n1\n```"]),
    st.text(max_size=20),
    st.text(st.characters(categories=["Cs", "L"]), max_size=4),
)
IDS = st.one_of(st.sampled_from(["a", "b", "", "functions.run_python:0", "x" * 70, "call_1", "call_2"]), TEXTS)
PROGRAMS = st.builds(Asked, IDS, st.one_of(st.none(), TEXTS), st.none())
KEPT = st.sampled_from(["", "{}", "[]", "no JSON", json.dumps([THOUGHT]), '{"reasoning_content": "Hm."}', "[1]"])
REPLIES = st.builds(Reply, TEXTS, st.lists(PROGRAMS, max_size=3).map(tuple), kept=KEPT)
OBSERVED = st.builds(Observed, IDS, TEXTS, st.booleans())


@st.composite
def conversations(draw: st.DrawFn) -> Request:
    """All that an agent can have: each reply followed by observations of some of its programs, and texts."""
    messages: list[Message] = [Said(draw(TEXTS))]
    for reply in draw(st.lists(REPLIES, max_size=4)):
        messages.append(reply)
        answered = [asked for asked in reply.programs if draw(st.booleans())]
        messages += [Observed(asked.id, draw(TEXTS), draw(st.booleans())) for asked in answered]
        messages += draw(st.lists(st.one_of(OBSERVED, st.builds(Said, TEXTS)), max_size=2))
    if isinstance(messages[-1], Reply):
        messages.append(Said(draw(TEXTS)))
    return Request(draw(TEXTS), tuple(messages))


@pytest.fixture(scope="module", params=[(AnthropicWire, {}), (OpenAIWire, {}), (OpenAIWire, {"tools": False})])
def lasting(request: pytest.FixtureRequest) -> Iterator[tuple[Server, Wire, Model]]:
    kind, settings = request.param
    wire = kind(False)
    with serving() as told:
        yield told, wire, wire.model(told, **settings)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(conversation=conversations())
def test_any_conversation_is_one_that_the_provider_takes(lasting, conversation) -> None:
    server, wire, model = lasting
    server.script[:] = [wire.answer("x")]
    server.refused.clear()
    reply = asyncio.run(model.complete(conversation, lambda _: None))
    assert server.refused == []
    assert reply.text == "x"
