"""A sandbox as an MCP server, for the SDK's own client: in process, over a pipe to another process, and over HTTP."""

from __future__ import annotations

import asyncio
import json
import os
import runpy
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
import typer
import uvicorn
from mcp import Client, MCPError, StdioServerParameters, stdio_client
from mcp.server.auth.provider import AccessToken
from mcp.server.auth.settings import AuthSettings
from mcp.types import CallToolResult
from typer.testing import CliRunner

from codeact import Limits, Outbox, Sandbox, action, tool
from codeact.audit import Audit, Event
from codeact.cli import app
from codeact.cli.servers import mcp
from codeact.integrations.mcp import server
from codeact.integrations.mcp.served import RECEIPT
from codeact.integrations.mcp.transports import application

MODES = ("auto", "legacy")
"""Of the client: the protocol since 2026-07-28, and the one before."""


@tool
def double(n: int) -> int:
    """Twice as much."""
    return 2 * n


@action
def pay(amount: int) -> str:
    """Pay somebody."""
    return f"paid {amount}"


class Kept:
    """A sink that keeps what it is told."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.closed = threading.Event()

    def write(self, event: Event) -> None:
        self.events.append(event)
        if event.name == "session_close":
            self.closed.set()

    @property
    def names(self) -> list[str]:
        return [event.name for event in self.events]


async def run(client: Client, code: str, **more: Any) -> CallToolResult:
    return await client.call_tool("run_python", {"code": code, **more})


def text(answer: CallToolResult) -> str:
    (block,) = answer.content
    return block.text


@asynccontextmanager
async def in_process(made: Any, mode: str) -> AsyncIterator[list[Client]]:
    async with Client(made, mode=mode) as one, Client(made, mode=mode) as other:
        yield [one, other]


@asynccontextmanager
async def http(made: Any, mode: str) -> AsyncIterator[list[Client]]:
    async with listening(made) as url, Client(url, mode=mode) as one, Client(url, mode=mode) as other:
        yield [one, other]


@asynccontextmanager
async def listening(made: Any) -> AsyncIterator[str]:
    """The server on a port of this machine, as the command serves it."""
    with socket.create_server(("127.0.0.1", 0)) as bound:
        serving = uvicorn.Server(uvicorn.Config(application(made), log_config=None, timeout_graceful_shutdown=1))
        task = asyncio.create_task(serving.serve(sockets=[bound]))
        try:
            while not serving.started:  # noqa: ASYNC110 - it has no event to wait for
                await asyncio.sleep(0.005)
            yield f"http://127.0.0.1:{bound.getsockname()[1]}/mcp"
        finally:
            serving.should_exit = True
            await task


WAYS = {"in process": in_process, "http": http}


@pytest.fixture(params=[("in process", "auto"), ("http", "auto"), ("http", "legacy")], ids=" ".join)
def two(request: pytest.FixtureRequest) -> Callable[[Any], Any]:
    """Two clients of a server, in each way that they may come."""
    way, mode = request.param
    return lambda made: WAYS[way](made, mode)


def told(answer: CallToolResult) -> dict[str, str]:
    """What a client gives with its next program."""
    session = answer.structured_content.get("session")
    return {} if session is None else {"session": session}


# --- what is served --------------------------------------------------------------------------------------------------


def test_a_program_is_run_and_the_answer_is_text_and_data_and_a_receipt(make, two) -> None:
    async def played() -> CallToolResult:
        async with two(server(make([double]))) as (client, _):
            return await run(client, "print('hello')\ntools.double(21)")

    answer = asyncio.run(played())
    assert not answer.is_error
    assert text(answer).startswith("ok after 1 tool call\nvalue: 42\noutput:\nhello")
    found = answer.structured_content
    assert (found["ok"], found["value"], found["stdout"], found["error"]) == (True, 42, "hello\n", None)
    (call,) = answer.meta[RECEIPT]["calls"]
    assert (call["name"], call["state"]) == ("double", "ok")
    assert answer.meta[RECEIPT]["usage"]["calls"] == 1


def test_a_program_that_fails_is_an_answer(make, two) -> None:
    async def played() -> CallToolResult:
        async with two(server(make())) as (client, _):
            return await run(client, "x = 1\n1 / 0")

    answer = asyncio.run(played())
    assert answer.is_error
    assert "ZeroDivisionError" in text(answer)
    assert (answer.structured_content["ok"], answer.structured_content["error"]["line"]) == (False, 2)


def test_a_client_has_a_session_of_its_own_until_it_leaves(make, engine: str, two) -> None:
    kept = Kept()

    async def played() -> None:
        async with two(server(Sandbox(engine=engine, audit=Audit([kept])))) as (one, other):
            first = await run(one, "x = 41")
            again = await run(one, "x + 1", **told(first))
            assert (text(again).partition("\n")[2].splitlines()[0], told(again)) == ("value: 42", told(first))
            assert "NameError" in text(await run(other, "x"))
            assert kept.names.count("session_open") == 2

    asyncio.run(played())
    assert kept.names.count("session_close") == 2


def test_over_http_a_session_is_over_when_its_client_leaves(make, engine: str) -> None:
    kept = Kept()

    async def played() -> None:
        async with listening(server(Sandbox(engine=engine, audit=Audit([kept])))) as url:
            async with Client(url, mode="legacy") as client:
                await run(client, "1")
                assert "session_close" not in kept.names
            async with Client(url, mode="legacy") as client:
                await run(client, "1")  # by its answer the end of the other one has been seen
                assert kept.names.count("session_close") == 1

    asyncio.run(played())


def test_a_program_that_is_cancelled_is_stopped(make, two) -> None:
    async def played() -> str:
        async with two(server(make(timeout=60.0))) as (client, _):
            first = await run(client, "1")
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(run(client, "while True: pass", **told(first)), 0.3)
            return text(await run(client, "2", **told(first)))  # it would wait for the other one

    assert "value: 2" in asyncio.run(asyncio.wait_for(played(), 30))


def test_a_session_whose_name_nobody_was_told_is_over(engine: str) -> None:
    kept = Kept()

    async def played() -> None:
        async with http(server(Sandbox(engine=engine, audit=Audit([kept]))), "auto") as (client, _):
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(run(client, "while True: pass"), 0.3)
            while "session_close" not in kept.names:  # noqa: ASYNC110 - the server tells nobody
                await asyncio.sleep(0.005)

    asyncio.run(asyncio.wait_for(played(), 30))


def test_no_session_is_named_that_was_ended_meanwhile(engine: str) -> None:
    kept = Kept()
    sandbox = Sandbox(engine=engine, limits=Limits(timeout=2.0), audit=Audit([kept]))

    async def played() -> CallToolResult:
        async with http(server(sandbox, sessions=2), "auto") as (one, other):
            first = await run(one, "1")
            running = asyncio.create_task(run(one, "while True: pass", **told(first)))
            while kept.names.count("sandbox_spawn") < 2:  # noqa: ASYNC110 - as above
                await asyncio.sleep(0.005)
            await run(other, "2")
            await run(other, "3")
            return await running

    answer = asyncio.run(asyncio.wait_for(played(), 30))
    assert answer.is_error
    assert told(answer) == {}


def test_proposals_are_submitted_and_performed_by_the_host_once(make, two) -> None:
    async def played() -> CallToolResult:
        async with two(server(make(actions=[pay]), outbox=outbox, task="T-1")) as (client, _):
            first = await run(client, "actions.pay(5)")
            assert (await run(client, "actions.pay(6)\n1/0", **told(first))).is_error
            await run(client, "actions.pay(5)", **told(first))
            return first

    with Outbox(":memory:", actions=[pay]) as outbox:
        first = asyncio.run(played())
        assert "proposed, to be decided outside: 1. pay(amount=5)" in text(first)
        assert first.structured_content["proposals"][0]["arguments"] == {"amount": 5}
        (entry,) = outbox.entries()
        assert (entry.task, entry.state) == ("T-1", "proposed")
        outbox.approve(entry.id, digest=entry.digest, by="ada")
        assert [(done.state, done.value) for done in outbox.perform()] == [("done", "paid 5")]
        assert outbox.perform() == []


def test_each_session_has_a_task_where_none_is_given(two) -> None:
    async def played() -> None:
        made = server(Sandbox(actions=[pay], engine="restricted"), outbox=outbox)
        async with two(made) as (one, other):
            await run(one, "actions.pay(5)")
            await run(other, "actions.pay(5)")

    with Outbox(":memory:", actions=[pay]) as outbox:
        asyncio.run(played())
        tasks = [entry.task for entry in outbox.entries()]
        assert len(set(tasks)) == 2
        assert all(task.startswith("mcp-") for task in tasks)


@pytest.mark.parametrize(
    ("tools", "actions", "hints"),
    [
        ([], [], (True, False, False, False)),
        ([double], [], (True, False, False, True)),
        ([double], [pay], (False, False, False, True)),
    ],
)
def test_what_the_tool_says_of_itself(tools: Any, actions: Any, hints: tuple[bool, ...]) -> None:
    sandbox = Sandbox(tools, actions=actions, engine="restricted")

    async def read() -> Any:
        async with Client(server(sandbox, name="shop")) as client:
            assert client.server_info.name == "shop"
            assert all(f"{one.name}(" in client.instructions for one in [*tools, *actions])
            return (await client.list_tools()).tools

    (one,) = asyncio.run(read())
    found = one.annotations
    assert hints == (found.read_only_hint, found.destructive_hint, found.idempotent_hint, found.open_world_hint)
    assert one.name == "run_python"
    assert len(one.description) <= 1_024


def many() -> list[Any]:
    """More tools than a prompt takes."""

    def made(number: int) -> Any:
        def read(since: int = 0) -> list[str]:
            return [f"box {since}"]

        return tool(name=f"list_shelf_{number}", doc=f"What lies on shelf {number}. {'Boxes. ' * 20}")(read)

    return [*map(made, range(99)), double]


def test_of_many_tools_a_client_finds_those_that_it_needs(make) -> None:
    async def played() -> list[CallToolResult]:
        async with Client(server(make(many()))) as client:
            run_python, search = (await client.list_tools()).tools
            assert (run_python.name, search.name, search.annotations.read_only_hint) == (
                "run_python",
                "search_tools",
                True,
            )
            asked = [{"query": "twice as much", "limit": 1}, {"query": "zebra"}, {"limit": 0}, {"query": "a", "n": 1}]
            return [await client.call_tool("search_tools", one) for one in asked]

    found, *wrong = asyncio.run(played())
    line, more = text(found).splitlines()
    assert line == "tools.double(n: int) -> int  # Twice as much."
    assert 'tools.describe("name")' in more
    assert all(one.is_error for one in wrong)
    assert "none has a word of 'zebra'" in text(wrong[0])
    assert text(wrong[1]).startswith("search_tools(): ")


def test_of_a_few_there_is_nothing_to_find(make) -> None:
    async def played() -> None:
        async with Client(server(make([double]))) as client:
            assert [one.name for one in (await client.list_tools()).tools] == ["run_python"]
            with pytest.raises(MCPError, match="there is no tool 'search_tools'"):
                await client.call_tool("search_tools", {"query": "double"})

    asyncio.run(played())


# --- what is refused, and what is bounded ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({}, "run_python: give the program as `code`"),
        ({"code": 1}, "run_python: code must be a string"),
        ({"code": "1", "cod": "2"}, "run_python: there is no argument 'cod'; there is code"),
        ({"code": "1", "session": "x"}, "run_python: there is no argument 'session'; there is code"),
    ],
)
def test_arguments_that_do_not_fit_are_answered(arguments: dict[str, Any], words: str) -> None:
    async def played() -> CallToolResult:
        async with Client(server(Sandbox(engine="restricted"))) as client:
            return await client.call_tool("run_python", arguments)

    answer = asyncio.run(played())
    assert answer.is_error
    assert text(answer) == words


def test_another_tool_does_not_exist() -> None:
    async def played() -> None:
        async with Client(server(Sandbox(engine="restricted"))) as client:
            with pytest.raises(MCPError, match="there is no tool 'run_bash'; there is run_python"):
                await client.call_tool("run_bash", {})

    asyncio.run(played())


def test_a_session_that_nobody_has_is_none() -> None:
    async def played() -> CallToolResult:
        async with http(server(Sandbox(engine="restricted")), "auto") as (client, _):
            return await run(client, "1", session="guessed")

    answer = asyncio.run(played())
    assert answer.is_error
    assert (
        text(answer)
        == "there is no session 'guessed': it is over, or never was; leave `session` out to begin a new one"
    )


def test_a_session_that_was_idle_is_over_and_another_one_begins(engine: str, two) -> None:
    async def played() -> None:
        kept = Kept()
        sandbox = Sandbox(engine=engine, limits=Limits(session_idle=0.05), audit=Audit([kept]))
        async with two(server(sandbox)) as (client, _):
            session = told(await run(client, "x = 1"))
            assert await asyncio.to_thread(kept.closed.wait, 30)
            late = await run(client, "1", **session)
            assert "SessionExpired" in text(late)
            assert told(late) == {}
            again = await run(client, "1", **session)
            assert again.is_error == bool(session)  # whoever names it learns that there is none of that name
            assert not (await run(client, "1")).is_error

    asyncio.run(played())


def test_there_are_no_more_sessions_than_the_host_says() -> None:
    kept = Kept()

    async def played() -> None:
        made = server(Sandbox(engine="restricted", audit=Audit([kept])), sessions=2)
        async with http(made, "auto") as (client, _):
            sessions = [told(await run(client, "1")) for _ in range(3)]
            assert kept.names.count("session_close") == 1
            assert (await run(client, "1", **sessions[0])).is_error
            assert not (await run(client, "1", **sessions[1])).is_error

    asyncio.run(played())


def test_no_more_programs_run_at_the_same_time_than_there_may_be_sessions(engine: str) -> None:
    kept = Kept()

    async def played() -> None:
        async with http(server(Sandbox(engine=engine, audit=Audit([kept])), sessions=1), "auto") as clients:
            await asyncio.gather(*[run(client, "sum(range(300_000))") for client in clients for _ in range(3)])

    asyncio.run(played())
    ran = [name for name in kept.names if name in {"sandbox_spawn", "sandbox_exit"}]
    assert ran == ["sandbox_spawn", "sandbox_exit"] * 6


@pytest.mark.parametrize("sessions", [0, -1, True, 1.5])
def test_a_number_of_sessions_that_is_none(sessions: Any) -> None:
    with pytest.raises(ValueError, match="sessions="):
        server(Sandbox(engine="restricted"), sessions=sessions)


def test_no_more_than_an_observation_shows_is_given(make) -> None:
    program = "print('p' * 400)\n[actions.pay(n) for n in range(9)]\nopen('f', 'w').close()\n'v' * 400"

    async def played() -> CallToolResult:
        async with Client(server(make(actions=[pay], shown=300))) as client:
            return await run(client, program)

    answer = asyncio.run(played())
    found, receipt = answer.structured_content, answer.meta[RECEIPT]
    assert (found["value"], found["stdout"]) == (None, "p" * 300)
    assert [(cut["what"], cut["left_out"]) for cut in found["truncated"]] == [
        ("value", 402), ("stdout", 101), ("proposals", 7)
    ]  # fmt: skip
    assert (len(found["proposals"]), len(receipt["proposals"])) == (2, 9)
    assert found["files"] == receipt["files"]


@pytest.mark.parametrize(
    "value", ["'\\ud800'", "{'\\udfff': 1}", "10 ** 5000", "2 ** 70", "float('nan')", "b'x'", "{1}"]
)
def test_whatever_a_program_gives_can_be_told(make, value: str) -> None:
    async def played() -> CallToolResult:
        async with Client(server(make(shown=20_000)), mode="legacy") as client:
            return await run(client, value)

    answer = asyncio.run(played())
    assert answer.structured_content["ok"]
    assert json.dumps(answer.structured_content, ensure_ascii=False).encode()
    assert not isinstance(answer.structured_content["value"], int)  # clients would round it


def test_a_limit_is_named(make) -> None:
    async def played() -> CallToolResult:
        async with Client(server(make([double], calls=2))) as client:
            return await run(client, "[tools.double(n) for n in range(9)]")

    assert "limit calls" in text(asyncio.run(played()))


def test_what_fails_on_the_host_is_not_told(make, caplog: pytest.LogCaptureFixture) -> None:
    class Full:
        def write(self, event: Event) -> None:
            if event.name == "session_open":
                msg = "/srv/secret is full"
                raise OSError(msg)

    async def played() -> CallToolResult:
        async with Client(server(Sandbox(engine="restricted", audit=Audit([Full()])))) as client:
            return await run(client, "1")

    answer = asyncio.run(played())
    assert answer.is_error
    assert text(answer) == "run_python failed on the host, which the program cannot mend; the host's log says why"
    assert "run_python failed" in caplog.text


HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
}


# --- HTTP ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("header", "status"),
    [
        ({"host": "127.0.0.1:8000"}, 200),
        ({"host": "[::1]:8000"}, 200),
        ({"host": "localhost", "origin": "http://localhost:3000"}, 200),
        ({"host": "tools.example"}, 200),
        ({"host": "tools.example:8000", "origin": "https://tools.example"}, 200),
        ({"host": "shop.example:8000"}, 200),
        ({"host": "shop.example:8001"}, 421),
        ({"host": "evil.example"}, 421),
        ({"host": "127.0.0.1:8000", "origin": "http://evil.example"}, 403),
        ({"host": "127.0.0.1.evil.example:80"}, 421),
    ],
)
def test_a_page_that_made_a_name_of_its_own_lead_here_is_refused(header: dict[str, str], status: int) -> None:
    async def asked() -> int:
        app = application(server(Sandbox(engine="restricted")), ["tools.example", "shop.example:8000"])
        transport = httpx.ASGITransport(app)
        async with (
            app.router.lifespan_context(app),
            httpx.AsyncClient(transport=transport, base_url="http://any", trust_env=False) as client,
        ):
            accept = {"accept": "application/json, text/event-stream"}
            return (await client.post("/mcp", json=HELLO, headers={**accept, **header})).status_code

    assert asyncio.run(asked()) == status


class Tokens:
    """Knows two people by their tokens."""

    async def verify_token(self, token: str) -> AccessToken | None:
        return AccessToken(token=token, client_id=token, scopes=[]) if token in {"ada", "bob"} else None


CALL = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/call",
    "params": {
        "name": "run_python",
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        },
    },
}


def test_the_name_of_a_session_is_good_for_who_got_it() -> None:
    async def played() -> None:
        auth = AuthSettings(issuer_url="http://auth.example", resource_server_url=None, required_scopes=[])
        app = server(Sandbox(engine="restricted")).streamable_http_app(auth=auth, token_verifier=Tokens())

        async def ask(client: httpx.AsyncClient, token: str, **arguments: str) -> Any:
            body = {**CALL, "params": {**CALL["params"], "arguments": {"code": "1", **arguments}}}
            headers = {
                "authorization": f"Bearer {token}", "accept": "application/json, text/event-stream",
                "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "run_python",
            }  # fmt: skip
            return await client.post("/mcp", json=body, headers=headers)

        transport = httpx.ASGITransport(app)
        async with (
            app.router.lifespan_context(app),
            httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000", trust_env=False) as client,
        ):
            assert (await ask(client, "eve")).status_code == 401
            session = (await ask(client, "ada")).json()["result"]["structuredContent"]["session"]
            again = [(await ask(client, token, session=session)).json()["result"] for token in ("ada", "bob")]
            assert [answer.get("isError", False) for answer in again] == [False, True]
            assert "there is no session" in again[1]["content"][0]["text"]

    asyncio.run(played())


# --- the example -----------------------------------------------------------------------------------------------------


def test_the_example_runs(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(Path(__file__).parents[2] / "examples" / "with_mcp.py"), run_name="__main__")
    assert "done: refund(charge='ch_3', cents=1200) gave 're_ch_3'" in capsys.readouterr().out


# --- the command -----------------------------------------------------------------------------------------------------

MODULE = """
import os
import sys
from codeact import action, tool
print("noise of an import")

@tool
def double(n: int) -> int:
    "Twice as much."
    print("noise of a tool")
    os.write(1, b"raw noise")
    return 2 * n

@action
def pay(amount: int) -> str:
    "Pay somebody."
    return f"paid {amount}"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "shop.py").write_text(MODULE, encoding="utf-8")
    return tmp_path


COMMAND = [sys.executable, "-m", "codeact", "mcp", "--engine", "restricted"]
GRANTS = ["--tools", "shop:double", "--actions", "shop:pay", "--outbox", "outbox.db", "--journal", "runs.sqlite"]


def test_the_command_serves_over_a_pipe_and_nothing_else_is_written_to_it(folder: Path) -> None:
    async def played() -> None:
        started = StdioServerParameters(command=COMMAND[0], args=[*COMMAND[1:], *GRANTS], cwd=folder)
        async with Client(stdio_client(started)) as client:
            await run(client, "x = tools.double(21)")
            assert "value: 42" in text(await run(client, "actions.pay(x)\nx"))

    asyncio.run(played())
    with Outbox(folder / "outbox.db") as outbox:
        assert [(entry.name, entry.state) for entry in outbox.entries()] == [("pay", "proposed")]
    assert (folder / "runs.sqlite").exists()


def started(folder: Path, *options: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [*COMMAND, *options],
        cwd=folder,
        env={**os.environ, "PYTHONUNBUFFERED": ""},  # as a client starts it: what is printed waits in a buffer
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def test_the_command_ends_when_it_is_interrupted(folder: Path) -> None:
    with started(folder) as process:
        process.stdin.write(json.dumps(HELLO).encode() + b"\n")
        process.stdin.flush()
        assert b'"serverInfo"' in process.stdout.readline()
        process.send_signal(signal.SIGINT)
        assert (process.wait(30), process.stderr.read()) == (130, b"")


def test_the_command_ends_when_its_client_has_gone(folder: Path) -> None:
    with started(folder) as process:
        out, err = process.communicate(b"no json\n", timeout=30)
        assert process.returncode == 0
    assert all(json.loads(line)["jsonrpc"] == "2.0" for line in out.splitlines())
    assert b"Traceback" not in err


def test_what_tools_print_goes_to_stderr_also_when_it_is_written_at_the_end(folder: Path) -> None:
    call = {"name": "run_python", "arguments": {"code": "tools.double(21)"}}
    said: list[dict[str, object]] = [
        HELLO,
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call},
    ]
    with started(folder, "--tools", "shop:double") as process:
        process.stdin.write(b"".join(json.dumps(each).encode() + b"\n" for each in said))
        process.stdin.flush()
        answers = [process.stdout.readline() for _ in range(2)]
        rest, err = process.communicate(timeout=30)
    assert b"value: 42" in answers[1]
    assert (rest, b"noise of a tool" in err) == (b"", True)


def test_the_command_says_where_nothing_keeps_what_is_proposed(folder: Path) -> None:
    with started(folder, "--actions", "shop:pay") as process:
        _, err = process.communicate(timeout=30)
    assert process.returncode == 0
    assert err.startswith(b"codeact: nothing keeps what programs propose for a decision; --outbox FILE")


def test_the_command_serves_over_http(folder: Path) -> None:
    async def played(url: str) -> None:
        for mode in MODES:
            async with Client(url, mode=mode) as client:
                assert "value: 42" in text(await run(client, "tools.double(21)"))

    with started(folder, "--tools", "shop:double", "--http", "0") as process:
        line = process.stderr.readline()
        while not line.startswith(b"codeact: serving http://127.0.0.1:"):
            assert line
            line = process.stderr.readline()
        asyncio.run(played(line.split()[-1].decode()))
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 130


def test_the_command_needs_a_stdin(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(typer.Exit):
        mcp(engine="restricted")
    assert capsys.readouterr().err.startswith("codeact: stdin: it is closed; a client is to be at the other end")


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--http", "here"], "--http here: expected PORT or HOST:PORT"),
        (["--http", "0.0.0.0:0"], "--http 0.0.0.0:0: other machines reach 0.0.0.0, and nobody authenticates"),
        (["--allow-host", "a"], "--allow-host: it is for --http"),
        (["--outbox", "o.db"], "--outbox o.db: nothing can be proposed; grant something with --actions"),
        (["--tools", "nowhere:tools"], "--tools nowhere:tools: nowhere cannot be imported"),
    ],
)
def test_the_command_says_what_is_wrong_with_it(options: list[str], told: str) -> None:
    done = CliRunner().invoke(app, ["mcp", "--engine", "restricted", *options])
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith(f"codeact: {told}")
    assert done.stderr.count("\n") == 1
