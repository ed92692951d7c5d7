"""The desk with a provider's model: by its own client, against a server on the loopback."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

pytest.importorskip("anthropic")
pytest.importorskip("openai")

from examples.support_ticket import models
from examples.support_ticket.__main__ import main
from tests.models.server import Answer, Server, serving
from tests.models.wires import AnthropicWire, OpenAIWire, Wire, call

TICKETS = 7
KEYS = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENAI_API_KEY")

GREEDY = """
actions.refund("ch_003444", 25, "please")
actions.send_reply("We look into it.")
len(tools)
"""


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    for key in KEYS:
        monkeypatch.delenv(key, raising=False)
    with serving() as told:
        yield told


def url(server: Server, wire: Wire) -> str:
    return server.url if wire.name == "anthropic" else f"{server.url}/v1"


@pytest.mark.parametrize("speech", [AnthropicWire, OpenAIWire])
def test_a_providers_model_works_at_the_desk(
    server: Server, speech: type[Wire], capsys: pytest.CaptureFixture[str]
) -> None:
    wire = speech(stream=True)
    for number in range(TICKETS):
        server.say(wire.answer(calls=[call(f"call_{number}", GREEDY)]), wire.answer("I said that we look into it."))
    given = ["--model", f"{wire.name}:some-model", "--base-url", url(server, wire), "--engine", "restricted"]
    assert main(given) == 0
    assert server.refused == []
    assert len(server.seen) == 2 * TICKETS, "a ticket that is given again is answered from the journal"
    text = " ".join(capsys.readouterr().out.split())
    assert "The model: some-model." in text
    assert "ch_003444 is no charge of the sender's" in text
    assert "7 letters left, and 0 refunds went out." in text
    assert "The same programs on each engine" not in text


def test_a_model_that_cannot_be_had_is_given_no_second_ticket(
    server: Server, capsys: pytest.CaptureFixture[str]
) -> None:
    wire = OpenAIWire(stream=False)
    server.say(Answer((b'{"error": {"message": "busy"}}',), 429, {"retry-after": "0"}))
    server.say(Answer((b'{"error": {"message": "no such key"}}',), 401))
    assert main(["--model", "openai:x", "--base-url", url(server, wire), "--engine", "restricted"]) == 1
    text = " ".join(capsys.readouterr().out.split())
    assert len(server.seen) == 2
    assert text.count("no such key") == 1
    assert "No reply yet: " in text
    assert "busy. It is asked again after a pause" in text
    assert "The model gave no reply, so it is given none of the tickets that are left." in text
    for empty in ("Nothing goes to the outbox", "0 letters left", "What the ticket with instructions in it got"):
        assert empty not in text


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("gpt-5.5", "expected anthropic:NAME or openai:NAME"),
        ("openai:", "expected anthropic:NAME or openai:NAME"),
        ("anthropic:claude", "set ANTHROPIC_API_KEY"),
        ("openai:gpt", "set OPENAI_API_KEY"),
    ],
)
def test_what_is_missing_is_named(
    name: str, told: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for key in KEYS:
        monkeypatch.delenv(key, raising=False)
    with pytest.raises(SystemExit):
        main(["--model", name])
    assert f"--model {name}: {told}" in capsys.readouterr().err


def test_a_client_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openai", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'codeact\[openai\]'"):
        models.named("openai:x", "http://127.0.0.1:1")
