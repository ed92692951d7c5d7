"""What a provider's errors, broken answers and broken connections are told as."""

from __future__ import annotations

import asyncio
import json
import traceback
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from codeact.messages import Model, ModelError, Reply
from codeact.models.failures import retry_after
from tests.models.conftest import TASK
from tests.models.server import Answer, Server, serving
from tests.models.wires import EVENTS, KEY, AnthropicWire, OpenAIWire, Wire, call, chopped


def fails(talk, model: Model) -> ModelError:
    with pytest.raises(ModelError) as caught:
        talk(model)
    return caught.value


def refusal(status: int, kind: str, message: str, headers: dict[str, str] | None = None, **more: object) -> Answer:
    body = {"type": "error", "error": {"type": kind, "message": message} | more}
    return Answer((json.dumps(body).encode(),), status, {"content-type": "application/json"} | (headers or {}))


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 504, 529])
def test_what_passes_is_passing_and_asked_once(wire, server, talk, status) -> None:
    server.say(refusal(status, "overloaded_error", "Busy.", {"retry-after": "7"}))
    error = fails(talk, wire.model(server))
    assert (error.passing, error.status, error.retry_after) == (True, status, 7.0)
    assert str(error) == f"{server.host} answered {status}: Busy."
    assert len(server.seen) == 1


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 413, 422, 501])
def test_what_does_not_pass_is_told_in_the_providers_words(wire, server, talk, status) -> None:
    server.say(refusal(status, "invalid_request_error", f"Not so:\n {KEY} is " + "very " * 200 + "wrong."))
    error = fails(talk, wire.model(server))
    assert (error.passing, error.status, error.retry_after) == (False, status, None)
    assert str(error).startswith(f"{server.host} answered {status}: Not so: [key] is very")
    assert len(str(error)) <= 300
    assert KEY not in "".join(traceback.format_exception(error))


@pytest.mark.parametrize("key", ["plainly-a-key-0123456789", "sk-of-somebody-else-0123456789"])
def test_credentials_are_not_repeated(wire, server, talk, key) -> None:
    server.say(refusal(401, "authentication_error", f"Incorrect API key: {key}, said Bearer {key}"))
    error = fails(talk, wire.model(server, api_key=key if key.startswith("plainly") else KEY))
    assert str(error) == f"{server.host} answered 401: Incorrect API key: [key], said Bearer [key]"


@pytest.mark.parametrize(
    "more",
    [
        {"kind": "insufficient_quota"},
        {"kind": "billing_error"},
        {"kind": "rate_limit_error", "code": "insufficient_quota"},
        {"kind": "rate_limit_error", "details": {"error_code": "enforced_spend_limit_reached"}},
        {"kind": "rate_limit_error", "headers": {"x-should-retry": "false"}},
    ],
)
def test_an_account_without_money_does_not_pass(wire, server, talk, more) -> None:
    server.say(refusal(429, message="No.", **more))
    assert not fails(talk, wire.model(server)).passing


def test_a_provider_may_say_that_it_passes(wire, server, talk) -> None:
    server.say(refusal(400, "invalid_request_error", "No.", {"x-should-retry": "true"}))
    assert fails(talk, wire.model(server)).passing


BODIES = {
    "html": (b"<html><h1>502 Bad Gateway</h1></html>", "502 Bad Gateway"),
    "empty": (b"", "does not say why"),
    "text": (b"upstream connect error", "upstream connect error"),
    "list": (b"[1]", "does not say why"),
    "listed": (b'[{"error": {"code": 429, "message": "You are too quick."}}]', "You are too quick."),
    "string": (b'{"error": "no such model"}', "no such model"),
    "detail": (b'{"detail": "Not Found"}', "Not Found"),
    "numbers": (b'{"error": {"message": 1, "type": 2}}', "does not say why"),
    "latin": (b"\xff\xfe\x00", ""),
    "deep": (b"[" * 100_000, ""),
}


@pytest.mark.parametrize("case", BODIES)
@pytest.mark.parametrize("status", [404, 502])
def test_any_body_of_an_error_will_do(wire, server, talk, case, status) -> None:
    body, told = BODIES[case]
    server.say(Answer((body,) if body else (), status))
    error = fails(talk, wire.model(server))
    assert (error.passing, error.status) == (status == 502, status)
    assert told in str(error)


WAITS = {
    "2.5": 2.5,
    "0": 0.0,
    "-3": 0.0,
    "1e12": 3600.0,
    "inf": 3600.0,
    "nan": None,
    "soon": None,
    "": None,
    "Wed, 21 Oct 2015 07:28:00 GMT": 0.0,
    "Wed, 21 Oct 9999 07:28:00 GMT": 3600.0,
    "Wed, 99 Oct 2015 07:28:00": None,
}


@pytest.mark.parametrize("told", WAITS)
def test_waits_are_read_and_bounded(told) -> None:
    assert retry_after({"retry-after": told}) == WAITS[told]


def test_a_wait_in_milliseconds_is_more_exact() -> None:
    assert retry_after({"retry-after-ms": "1500", "retry-after": "2"}) == 1.5
    assert retry_after({"retry-after-ms": "x", "retry-after": "2"}) == 2
    assert retry_after({}) is None


def test_a_wait_until_a_date() -> None:
    when = format_datetime(datetime.now(UTC) + timedelta(seconds=300), usegmt=True)
    wait = retry_after({"retry-after": when})
    assert wait is not None
    assert 200 < wait <= 300


def test_a_provider_that_is_not_there(speech, server, talk) -> None:
    model = speech(True).model(server, base_url="http://127.0.0.1:9/v1")
    error = fails(talk, model)
    assert (error.passing, error.status) == (True, None)
    assert "cannot be reached" in str(error)


@pytest.mark.parametrize("settings", [{"base_url": "gopher://x"}, {"api_key": KEY + "\n"}])
def test_what_cannot_be_sent_does_not_pass(speech, server, talk, settings) -> None:
    error = fails(talk, speech(True).model(server, **settings))
    assert not error.passing
    assert KEY not in str(error)


@pytest.mark.parametrize("at", ["nothing", "pieces"])
def test_a_provider_that_falls_silent(wire, server, talk, at) -> None:
    pieces = wire.answer("A long story.").body[: 0 if at == "nothing" else -2]
    server.say(Answer(pieces, headers=EVENTS if wire.stream else {}, held=True))
    error = fails(talk, wire.model(server, timeout=0.3))
    assert (error.passing, error.status) == (True, None)
    assert "answer in time" in str(error) or "within 0.3 s" in str(error)
    assert server.gone.wait(10)


@pytest.mark.parametrize("whole", [True, False], ids=["ends", "breaks"])
def test_a_stream_that_stops_is_no_reply(speech, server, talk, whole) -> None:
    wire = speech(True)
    events = wire.events("Go.", [call("a", "print(1)")], wire.endings["calls"])
    # A stream that ends cleanly is whole once its provider has told why the model stopped.
    last = events.rindex(b"message_stop" if wire.name == "anthropic" else b"tool_calls") if whole else len(events)
    model = wire.model(server)
    for at in (0, 1, *range(30, last - 12, 97), last - 12):
        server.say(Answer(chopped(events[:at], 64), headers=EVENTS, whole=whole))
        error = fails(talk, model)
        assert (error.passing, error.status) == (True, None)


def test_an_answer_that_breaks_is_no_reply(speech, server, talk) -> None:
    wire = speech(False)
    (body,) = wire.answer("Go.").body
    server.say(Answer((body[:-9],), whole=False))
    assert fails(talk, wire.model(server)).passing


IN_STREAM = {
    "overloaded": ({"type": "overloaded_error", "message": "Busy."}, True),
    "server": ({"type": "server_error", "message": "Busy."}, True),
    "invalid": ({"type": "invalid_request_error", "message": "Busy."}, False),
    "quota": ({"type": "rate_limit_error", "code": "insufficient_quota", "message": "Busy."}, False),
    "untold": ({"message": "Busy."}, True),
}


@pytest.mark.parametrize("case", IN_STREAM)
def test_an_error_within_a_stream(speech, server, talk, case) -> None:
    told, passing = IN_STREAM[case]
    wire = speech(True)
    events = wire.events("Go on.", (), wire.endings["done"])
    end = events.index(b"event: message_delta" if wire.name == "anthropic" else b"[DONE]")
    error = b"event: error\ndata: " + json.dumps({"type": "error", "error": told}).encode() + b"\n\n"
    before = events[:end] if wire.name == "anthropic" else events[: events.rindex(b"data: ", 0, end)]
    server.say(Answer((before + error,), headers=EVENTS))
    found = fails(talk, wire.model(server))
    assert (str(found), found.passing, found.status) == (f"{server.host} broke off: Busy.", passing, None)
    assert "".join(talk.texts) == "Go on."


MALFORMED = [b"", b"{", b"<html>hello</html>", b"null", b"[]", b'"x"', b"1", b"{}", b"\xff\xfe", b"[" * 100_000]


@pytest.mark.parametrize("body", MALFORMED, ids=range(len(MALFORMED)))
@pytest.mark.parametrize("kind", ["application/json", "text/html", "text/event-stream"])
def test_an_answer_that_makes_no_sense(wire, server, talk, body, kind) -> None:
    shown = b"data: " + body + b"\n\n" if wire.stream and kind == "text/event-stream" else body
    server.say(Answer((shown,) if shown else (), headers={"content-type": kind}))
    error = fails(talk, wire.model(server))
    assert (error.passing, error.status) == (True, None)
    assert len(str(error)) <= 300


JUNK = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-5, 10**20), st.floats(), st.text(max_size=5)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=5), inner, max_size=3)),
    max_leaves=5,
)


@st.composite
def damaged(draw: st.DrawFn, value: object) -> object:
    """A value of JSON, of which one part is something else or missing."""
    if isinstance(value, dict) and value and draw(st.integers(0, 4)):
        name = draw(st.sampled_from(sorted(value)))
        rest = {key: part for key, part in value.items() if key != name}
        return rest if not draw(st.integers(0, 4)) else rest | {name: draw(damaged(value[name]))}
    if isinstance(value, list) and value and draw(st.integers(0, 4)):
        at = draw(st.integers(0, len(value) - 1))
        return [*value[:at], draw(damaged(value[at])), *value[at + 1 :]]
    return draw(JUNK)


@pytest.fixture(scope="module", params=[AnthropicWire, OpenAIWire])
def lasting(request: pytest.FixtureRequest) -> Iterator[tuple[Server, dict[bool, tuple[Wire, Model]]]]:
    with serving() as told:
        yield told, {stream: (request.param(stream), request.param(stream).model(told)) for stream in (True, False)}


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_whatever_a_provider_sends_gives_a_reply_or_an_error(lasting, data) -> None:
    server, models = lasting
    stream = data.draw(st.booleans())
    wire, model = models[stream]
    said = ("Go.", [call("a", "1"), call("b", "2")], wire.endings["calls"])
    if stream:
        lines = wire.events(*said).splitlines(keepends=True)
        at = data.draw(st.sampled_from([n for n, line in enumerate(lines) if line.startswith(b"data: {")]))
        event = data.draw(damaged(json.loads(lines[at][6:])))
        lines[at] = b"data: " + json.dumps(event).encode() + b"\n"
        server.script[:] = [Answer((b"".join(lines),), headers=EVENTS)]
    else:
        server.script[:] = [Answer((json.dumps(data.draw(damaged(wire.whole(*said)))).encode(),))]
    try:
        reply = asyncio.run(model.complete(TASK, lambda _: None))
    except ModelError:
        return
    assert isinstance(reply, Reply)
    assert isinstance(reply.text, str)
    assert len({asked.id for asked in reply.programs}) == len(reply.programs)
    assert all((asked.code is None) == bool(asked.unreadable) for asked in reply.programs)


@pytest.mark.parametrize(
    "choice", [{"delta": 1}, {"delta": {"content": 1}}, {"delta": {"tool_calls": 1}}, {"delta": {"tool_calls": [1]}}, 1]
)
def test_a_piece_that_cannot_be_read_is_not_left_out(server, talk, choice) -> None:
    wire = OpenAIWire(True)
    events = wire.events("Go on.", (), "stop")
    at = events.index(b"data: ", events.index(b"Go "))
    damaged = b"data: " + json.dumps({"choices": [choice]}).encode() + b"\n\n"
    server.say(Answer((events[:at] + damaged + events[at:],), headers=EVENTS))
    assert "its answer" in str(fails(talk, wire.model(server)))
