"""What a provider's answer is read as, whole and streamed."""

from __future__ import annotations

import json

import pytest

from codeact.messages import Asked, Observed, Request, Said, Tokens
from tests.models.wires import Call, call


def test_a_text_is_read(wire, server, talk) -> None:
    server.say(wire.answer("Grüße, 世界 🙂.", size=1))
    reply = talk(wire.model(server))
    assert (reply.text, reply.programs, reply.ending) == ("Grüße, 世界 🙂.", (), "done")
    assert reply.tokens == Tokens(11, 5)
    assert "".join(talk.texts) == reply.text
    assert (len(talk.texts) > 1) == wire.stream


def test_programs_are_read_in_order(wire, server, talk) -> None:
    server.say(wire.answer("Two.", [call("a", "1\n2"), call("b", "'é'")]))
    reply = talk(wire.model(server))
    assert (reply.text, reply.ending) == ("Two.", "done")
    assert reply.programs == (Asked("a", "1\n2"), Asked("b", "'é'"))


def test_a_program_in_the_text_stays_there_for_the_agent(wire, server, talk) -> None:
    server.say(wire.answer("```python\n1\n```"))
    assert talk(wire.model(server)).text == "```python\n1\n```"


@pytest.mark.parametrize("ids", [("", ""), ("a", "a"), (None, "a"), ("a\n", "a")])
def test_ids_are_made_where_they_do_not_tell_calls_apart(wire, server, talk, ids) -> None:
    server.say(wire.answer("", [Call(given, json.dumps({"code": str(n)})) for n, given in enumerate(ids)]))
    programs = talk(wire.model(server)).programs
    assert [asked.code for asked in programs] == ["0", "1"]
    assert len({asked.id for asked in programs}) == 2
    assert all(asked.id.strip() for asked in programs)


UNREADABLE = {
    "another tool": (Call("a", "{}", name="get_weather"), "there is no tool 'get_weather'"),
    "no JSON": (Call("a", "print(1)"), None),
    "half of it": (Call("a", '{"code": "print('), None),
    "nothing": (Call("a", ""), "`code` is missing"),
    "no code": (Call("a", "{}"), "`code` is missing"),
    "not a string": (Call("a", '{"code": 1}'), "`code` is not a string"),
    "more": (Call("a", '{"code": "1", "lang": "py"}'), "only `code` is taken, not lang"),
    "a list": (Call("a", '["1"]'), "the arguments are not an object"),
    "deep": (Call("a", "[" * 100_000), None),
}


@pytest.mark.parametrize("case", UNREADABLE)
def test_what_cannot_be_read_says_what_to_mend(wire, server, talk, case) -> None:
    made, told = UNREADABLE[case]
    server.say(wire.answer("", [made, call("b", "2")], size=4096))
    bad, good = talk(wire.model(server)).programs
    assert good == Asked("b", "2")
    assert (bad.id, bad.code) == ("a", None)
    if told is None:
        # An answer that is not streamed has lost, with Anthropic, what could not be decoded.
        told = "`code` is missing" if wire.name == "anthropic" and not wire.stream else "are not JSON"
    assert told in bad.unreadable
    assert 'call run_python with {"code": "…"}' in bad.unreadable
    assert len(bad.unreadable) < 160


@pytest.mark.parametrize("arguments", ['{"code": "print(1', '{"code": "print(1)"}'])
def test_a_program_at_the_limit_of_length_is_not_run(wire, server, talk, arguments) -> None:
    server.say(wire.answer("", [call("a", "1"), Call("b", arguments)], wire.endings["length"]))
    reply = talk(wire.model(server))
    assert reply.ending == "length"
    assert reply.programs[0] == Asked("a", "1")
    assert reply.programs[1].code is None
    assert "shorter" in reply.programs[1].unreadable


def test_a_refusal_asks_for_nothing(wire, server, talk) -> None:
    server.say(wire.answer("I can", [call("a", "1")], wire.endings["refused"]))
    reply = talk(wire.model(server))
    assert (reply.text, reply.ending, reply.programs) == ("I can", "refused", ())


def test_an_unknown_ending_is_other(wire, server, talk) -> None:
    server.say(wire.answer("x", ending="solar_flare"))
    assert talk(wire.model(server)).ending == "other"


def test_an_empty_reply_is_a_reply(wire, server, talk) -> None:
    server.say(wire.answer())
    reply = talk(wire.model(server))
    assert (reply.text, reply.programs, reply.ending) == ("", (), "done")
    assert talk.texts == []


def test_halves_of_characters_are_taken_and_sent_whole(wire, server, talk) -> None:
    server.say(wire.answer("x", [Call("a", '{"code": "\'\\ud83d\'"}')]), wire.answer("y"))
    model = wire.model(server)
    reply = talk(model)
    assert reply.programs == (Asked("a", "'\ud83d'"),)
    said = Said("\ud83d \ud83d\ude42")
    assert talk(model, Request("\ud83d", (said, reply, Observed("a", "\ud83d", ok=True)))).text == "y"
    assert server.refused == []
    assert "\ufffd \U0001f642" in str(server.seen[-1].body)
