"""Clients: whose they are, which loop they belong to, and what is left of them."""

from __future__ import annotations

import asyncio
import gc
import importlib
import subprocess
import sys
import threading

import pytest

from codeact.messages import ModelError
from codeact.models.anthropic import AnthropicModel
from codeact.models.openai import OpenAIModel
from tests.models.conftest import TASK
from tests.models.server import Answer
from tests.models.wires import EVENTS, KEY, AnthropicWire

CLIENTS = {"anthropic": "AsyncAnthropic", "openai": "AsyncOpenAI"}


def own(wire, server, kind: str = ""):
    """A client of the host's."""
    base = server.url + ("/v1" if wire.name == "openai" else "")
    sdk = importlib.import_module(wire.name)
    return getattr(sdk, kind or CLIENTS[wire.name])(base_url=base, api_key=KEY, max_retries=5)


def test_one_model_serves_loop_after_loop(wire, server, talk) -> None:
    model = wire.model(server)
    for _ in range(3):
        server.say(wire.answer("x"))
        assert talk(model).text == "x"
        gc.collect()  # what is left open would be told of here, and fail the test


def test_one_model_serves_loops_and_tasks_at_once(wire, server) -> None:
    model = wire.model(server)
    server.say(*[wire.answer("x")] * 12)
    texts: list[str] = []

    async def several() -> None:
        replies = await asyncio.gather(*[model.complete(TASK, lambda _: None) for _ in range(4)])
        texts.extend(reply.text for reply in replies)

    threads = [threading.Thread(target=asyncio.run, args=(several(),)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert texts == ["x"] * 12


def test_a_client_of_the_hosts_is_used_and_left_open(wire, server) -> None:
    server.say(wire.answer("x"), Answer((b"{}",), 500), wire.answer("y"))

    async def work() -> None:
        async with own(wire, server) as client:
            model = wire.model(server, client=client)
            assert (await model.complete(TASK, lambda _: None)).text == "x"
            with pytest.raises(ModelError):  # at once, although the client itself would try again
                await model.complete(TASK, lambda _: None)
            assert len(server.seen) == 2
            assert (await model.complete(TASK, lambda _: None)).text == "y"
            assert len({seen.port for seen in server.seen}) == 1  # its connection is kept
            assert client.max_retries == 5
            assert not client.is_closed()
        await asyncio.sleep(0)

    asyncio.run(work())
    gc.collect()


def test_a_client_that_is_not_async_is_the_hosts_mistake(speech, server) -> None:
    wire = speech(True)
    told = rf"give an async client, such as {wire.name}\.{CLIENTS[wire.name]}"
    with own(wire, server, CLIENTS[wire.name].removeprefix("Async")) as client, pytest.raises(TypeError, match=told):
        wire.model(server, client=client)


@pytest.mark.parametrize("timeout", [0, -1, float("nan")])
def test_a_timeout_that_is_none_is_the_hosts_mistake(speech, server, timeout) -> None:
    with pytest.raises(ValueError, match="timeout="):
        speech(True).model(server, timeout=timeout)


def test_what_the_client_will_not_send_is_told(server, talk) -> None:
    wire = AnthropicWire(False)

    async def work() -> None:
        async with own(wire, server) as client:  # its own timeout is too short for so long an answer
            await wire.model(server, client=client, max_tokens=100_000).complete(TASK, lambda _: None)

    with pytest.raises(ModelError, match="Streaming is required") as caught:
        asyncio.run(work())
    assert not caught.value.passing


def test_cancelling_closes_the_connection(wire, server) -> None:
    server.say(Answer(wire.answer("A long story.").body[:-2], headers=EVENTS if wire.stream else {}, held=True))
    model = wire.model(server)

    async def work() -> None:
        asking = asyncio.create_task(model.complete(TASK, lambda _: None))
        await asyncio.to_thread(server.arrived.wait, 10)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking

    asyncio.run(work())
    assert server.gone.wait(10)
    gc.collect()


@pytest.mark.parametrize("kind", [KeyError, TimeoutError, asyncio.CancelledError])
def test_what_on_text_raises_is_the_hosts(wire, server, kind) -> None:
    server.say(wire.answer("A long story."))
    model = wire.model(server)

    def refuse(text: str) -> None:
        raise kind(text)

    with pytest.raises(kind):
        asyncio.run(model.complete(TASK, refuse))
    gc.collect()


def test_a_base_url_is_not_sent_the_environments_credential(speech, server, talk, monkeypatch) -> None:
    wire = speech(True)
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENAI_API_KEY", "OPENAI_ADMIN_KEY"):
        monkeypatch.setenv(name, KEY)
    server.say(wire.answer("x"))
    talk(wire.model(server, api_key=None))
    assert KEY not in str(server.seen[-1].headers)


def test_a_credential_of_the_environment_is_found(server, talk, monkeypatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", server.url + "/v1")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    for model in (OpenAIModel("m"), AnthropicModel("m")):
        server.say(Answer((b"{}",), 400))
        with pytest.raises(ModelError):
            talk(model)
        assert KEY in str(server.seen[-1].headers)


def test_without_a_credential_there_is_no_model(speech, server, monkeypatch, tmp_path) -> None:
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENAI_API_KEY", "OPENAI_ADMIN_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
    monkeypatch.setenv("OPENAI_BASE_URL", server.url + "/v1")
    wire = speech(True)
    told = r"no credential was found: set \w+_API_KEY, or give api_key=, client= or base_url="
    with pytest.raises(ValueError, match=told):
        wire.model(server, api_key=None, base_url=None)


def test_a_credential_in_a_header_is_one(server, talk, monkeypatch, tmp_path) -> None:
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
    monkeypatch.setenv("ANTHROPIC_CUSTOM_HEADERS", f"X-Api-Key: {KEY}")
    server.say(Answer((b"{}",), 400))
    with pytest.raises(ModelError):
        talk(AnthropicModel("m"))
    assert KEY in str(server.seen[-1].headers)


@pytest.mark.parametrize("name", ["anthropic", "openai"])
def test_a_missing_extra_says_what_to_install(monkeypatch, name) -> None:
    monkeypatch.setitem(sys.modules, name, None)
    make = {"anthropic": AnthropicModel, "openai": OpenAIModel}[name]
    with pytest.raises(ModuleNotFoundError, match=rf"pip install 'codeact\[{name}\]'"):
        make("m")


def test_clients_are_not_imported_before_a_model_is_made() -> None:
    program = (
        "import sys, codeact.models.anthropic, codeact.models.openai\n"
        "print(sorted({'anthropic', 'openai', 'httpx2', 'pydantic', 'codeact.sandbox'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
