"""What an MCP server offers, as tools and actions of a sandbox: with the SDK's own servers and clients."""

from __future__ import annotations

import asyncio
import base64
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from mcp import Client, MCPError
from mcp.server import Server
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import (
    AudioContent,
    BlobResourceContents,
    CallToolResult,
    EmbeddedResource,
    ImageContent,
    ListToolsResult,
    ResourceLink,
    TextContent,
    TextResourceContents,
    Tool,
    ToolAnnotations,
)
from pydantic import BaseModel

from codeact import Outbox, Sandbox
from codeact.audit import Audit, Event
from codeact.integrations import ForeignTools
from codeact.integrations.mcp import Unsent, tools_from_mcp

READS = ToolAnnotations(read_only_hint=True)
MODES = ("auto", "legacy")


class Kept:
    """A sink that keeps the names of what it is told."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def write(self, event: Event) -> None:
        self.names.append(event.name)


class Charge(BaseModel):
    """A charge."""

    id: str
    amount: float


def shop(done: list[Any] | None = None) -> MCPServer:
    """A server of two tools that read, and one that does not; what it does is in `done`."""
    made = MCPServer("shop")

    @made.tool(name="get-charges", annotations=READS)
    def get_charges(customer: str, limit: int = 10) -> list[Charge]:
        """Charges of a customer."""
        if customer == "nobody":
            msg = "there is no such customer"
            raise ToolError(msg)
        return [Charge(id=f"{customer}-{n}", amount=n + 0.5) for n in range(min(limit, 2))]

    @made.tool(annotations=READS)
    def latest(customer: str) -> Charge:
        """The latest charge."""
        return Charge(id=f"{customer}-9", amount=9)

    @made.tool()
    async def refund(charge: str, amount: float, note: str | None = None) -> str:
        """Refund a charge."""
        (done if done is not None else []).append((charge, amount, note))
        return f"re_{charge}"

    return made


def raw(*tools: Tool, answer: Callable[[str, dict[str, Any]], Any] | None = None, pages: int = 1) -> Server[Any]:
    """A server that offers just these tools, page by page, and answers a call as it is told."""

    async def list_tools(_: Any, params: Any) -> ListToolsResult:
        page = int(params.cursor) if params is not None and params.cursor else 0
        size = -(-len(tools) // pages)
        more = str(page + 1) if page + 1 < pages else None
        return ListToolsResult(tools=list(tools[page * size : (page + 1) * size]), next_cursor=more)

    async def call_tool(_: Any, params: Any) -> CallToolResult:
        found = (answer or echo)(params.name, params.arguments or {})
        return await found if asyncio.iscoroutine(found) else found

    return Server("raw", on_list_tools=list_tools, on_call_tool=call_tool)


def echo(name: str, arguments: dict[str, Any]) -> CallToolResult:
    return CallToolResult(content=[], structured_content={"name": name, "arguments": arguments})


def offered(name: str, schema: dict[str, Any] | None = None, **more: Any) -> Tool:
    return Tool(name=name, input_schema={"type": "object"} if schema is None else schema, annotations=READS, **more)


@asynccontextmanager
async def taken(server: Any, mode: str = "auto", **settings: Any) -> AsyncIterator[ForeignTools]:
    async with Client(server, mode=mode) as client:
        yield await tools_from_mcp(client, **settings)


def outcome(make: Callable[..., Sandbox], server: Any, program: str, mode: str = "auto", **settings: Any) -> Any:
    """What a program gives that was granted all that a trusted server offers."""

    async def ran() -> Any:
        async with taken(server, mode, trusted=True, **settings) as found:
            return await make(found.tools, actions=found.actions).run_async(program)

    return asyncio.run(ran())


def names(server: Any, **settings: Any) -> tuple[list[str], list[str]]:
    async def read() -> ForeignTools | Exception:
        async with Client(server) as client:
            try:
                return await tools_from_mcp(client, **settings)
            except (TypeError, ValueError) as error:  # which would leave the client as one of a group
                return error

    found = asyncio.run(read())
    if isinstance(found, Exception):
        raise found
    return [one.name for one in found.tools], [one.name for one in found.actions]


# --- what is a tool, and what an action ------------------------------------------------------------------------------


def test_nothing_is_believed_of_a_server_that_is_not_trusted() -> None:
    assert names(shop()) == ([], ["get_charges", "latest", "refund"])


def test_what_a_trusted_server_says_that_it_reads_is_a_tool() -> None:
    assert names(shop(), trusted=True) == (["get_charges", "latest"], ["refund"])


def test_the_host_knows_itself_what_only_reads() -> None:
    assert names(shop(), reads=["latest"]) == (["latest"], ["get_charges", "refund"])


@pytest.mark.parametrize("hint", [None, ToolAnnotations(), ToolAnnotations(read_only_hint=False)])
def test_what_does_not_say_so_is_an_action(hint: ToolAnnotations | None) -> None:
    one = Tool(name="look", input_schema={"type": "object"}, annotations=hint)
    assert names(raw(one), trusted=True) == ([], ["look"])


def test_only_some_are_taken_and_all_have_a_prefix() -> None:
    assert names(shop(), trusted=True, only=["refund", "latest"], prefix="shop_") == (["shop_latest"], ["shop_refund"])


def test_all_pages_are_read() -> None:
    many = [offered(f"tool-{n}") for n in range(7)]
    assert names(raw(*many, pages=3), trusted=True)[0] == [f"tool_{n}" for n in range(7)]


# --- what is refused -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("server", "settings", "told"),
    [
        (raw(offered("a-b"), offered("a_b")), {}, r"'a-b' and 'a_b' would both be named 'a_b'; take others with only"),
        (raw(offered("a"), offered("a")), {}, "two tools named 'a'"),
        (raw(offered("!!!")), {}, "no Python name can be made of '!!!'"),
        (raw(offered("a" * 201)), {}, "a tool has a name of 201 characters, 'aaa"),
        (shop(), {"reads": ["lates"]}, "reads: there is no tool 'lates'; there are: get-charges, latest, refund"),
        (shop(), {"only": ["get_charges"]}, "only: there is no tool 'get_charges'"),
    ],
)
def test_names_that_lead_nowhere_or_to_two_places(server: Any, settings: Any, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        names(server, **settings)


def test_one_of_two_that_would_have_one_name_can_be_taken() -> None:
    assert names(raw(offered("a-b"), offered("a_b")), only=["a-b"], trusted=True) == (["a_b"], [])


@pytest.mark.parametrize(
    ("client", "settings", "told"),
    [
        ("http://localhost", {}, "client='http://localhost': expected an mcp.Client"),
        (None, {"reads": "latest"}, "reads='latest': expected a list"),
        (None, {"only": "latest"}, "only='latest': expected a list"),
    ],
)
def test_arguments_of_another_type(client: Any, settings: Any, told: str) -> None:
    async def asked() -> None:
        async with Client(shop()) as entered:
            with pytest.raises(TypeError, match=told):
                await tools_from_mcp(client or entered, **settings)

    asyncio.run(asked())


def test_more_tools_than_can_be_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("codeact.integrations.mcp.client.TOOLS", 2)
    with pytest.raises(ValueError, match=r"offers 3 tools, and 2 can be taken; choose with only=\[…\]"):
        names(shop())
    assert names(shop(), only=["refund"]) == ([], ["refund"])


def test_a_list_that_does_not_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("codeact.integrations.mcp.client.PAGES", 3)
    endless = raw(*(offered(f"t{n}") for n in range(8)), pages=8)
    with pytest.raises(ValueError, match="does not end within 3 pages"):
        names(endless)
    monkeypatch.setattr("codeact.integrations.mcp.client.PAGES", 8)
    assert len(names(endless)[1]) == 8
    monkeypatch.setattr("codeact.integrations.mcp.client.OFFERED", 3)
    with pytest.raises(ValueError, match="does not end within 8 pages and 3 tools"):
        names(endless)


# --- programs --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", MODES)
def test_a_program_reads_and_proposes_and_the_outbox_performs_once(engine: str, mode: str) -> None:
    done: list[Any] = []
    kept = Kept()

    async def played() -> None:
        async with taken(shop(done), mode, trusted=True) as found:
            sandbox = Sandbox(found.tools, actions=found.actions, engine=engine, audit=Audit([kept]))
            result = await sandbox.run_async(
                "found = await tools.get_charges('ada', limit=1)\n"
                "for _ in range(2):\n    actions.refund(found[0].id, found[0]['amount'])\n"
                "[charge.amount for charge in found]"
            )
            assert (result.ok, result.value) == (True, [0.5]), result.error
            assert [(call.name, call.state) for call in result.calls] == [
                ("get_charges", "ok"), ("actions.refund", "ok"), ("actions.refund", "ok")
            ]  # fmt: skip
            assert done == []
            with Outbox(":memory:", actions=found.actions) as outbox:
                for _ in range(2):
                    for entry in outbox.submit(result, "T-1"):
                        if entry.state == "proposed":
                            outbox.approve(entry.id, digest=entry.digest, by="ada")
                    await outbox.perform_async()
                assert [(entry.state, entry.value) for entry in outbox.entries()] == [("done", "re_ada-0")]

    asyncio.run(played())
    assert done == [("ada-0", 0.5, None)]
    assert [name for name in kept.names if not name.startswith("sandbox")] == [
        "tool_call_executed", "action_proposed", "action_proposed"
    ]  # fmt: skip


def test_calls_are_made_at_the_same_time(make) -> None:
    together = asyncio.Barrier(3)

    async def answer(_: str, arguments: dict[str, Any]) -> CallToolResult:
        await together.wait()  # each waits for the others
        return CallToolResult(content=[TextContent(text=str(arguments["n"]))])

    one = offered("wait", {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]})
    program = "import asyncio\nawait asyncio.gather(*(tools.wait(n) for n in range(3)))"
    result = outcome(make, raw(one, answer=answer), program)
    assert result.value == ["0", "1", "2"], result.error


def test_a_synchronous_run_on_another_thread_calls_in_the_loop_of_the_client(make) -> None:
    done: list[Any] = []

    async def played() -> None:
        async with taken(shop(done), trusted=True) as found:
            sandbox = make(found.tools, actions=found.actions)
            result = await asyncio.to_thread(sandbox.run, "actions.refund('c', 1)\n(await tools.latest('ada')).id")
            assert result.value == "ada-9", result.error
            with Outbox(":memory:", actions=found.actions) as outbox:
                (entry,) = outbox.submit(result)
                outbox.approve(entry.id, digest=entry.digest, by="ada")
                assert [entry.state for entry in await asyncio.to_thread(outbox.perform)] == ["done"]

    asyncio.run(played())
    assert done == [("c", 1.0, None)]


def test_a_session_does_as_well_as_its_client(make) -> None:
    async def played() -> Any:
        async with Client(shop()) as client:
            found = await tools_from_mcp(client.session, trusted=True)
            return await make(found.tools).run_async("(await tools.latest('ada')).id")

    assert asyncio.run(played()).value == "ada-9"


def test_an_action_that_waits_when_the_loop_of_the_client_ends_is_unknown() -> None:
    class Loop(threading.Thread):
        """A loop of its own, in which a client waits for an answer that does not come."""

        def __init__(self) -> None:
            super().__init__()
            self.found: ForeignTools | None = None
            self.ready = threading.Event()

        def run(self) -> None:
            asyncio.run(self.played())

        async def played(self) -> None:
            slow = Slow()
            one = Tool(name="do", input_schema={"type": "object"})
            async with Client(raw(one, answer=slow.answer)) as client:
                self.found = await tools_from_mcp(client)
                self.ready.set()
                await slow.begun.wait()
                for task in asyncio.all_tasks() - {asyncio.current_task()}:
                    task.cancel()

    loop = Loop()
    loop.start()
    assert loop.ready.wait(30)
    with Outbox(":memory:", actions=loop.found.actions) as outbox:
        (entry,) = outbox.submit(Sandbox(actions=loop.found.actions, engine="restricted").run("actions.do()"))
        outbox.approve(entry.id, digest=entry.digest, by="ada")
        (entry,) = outbox.perform()
    loop.join(30)
    assert (entry.state, "Unanswered" in entry.error) == ("unknown", True)


def test_a_client_that_is_gone_is_an_error_and_no_standstill(make) -> None:
    async def left() -> tuple[ForeignTools, Any]:
        async with taken(shop(), trusted=True) as found:
            pass
        return found, await make(found.tools).run_async("await tools.latest('ada')")

    found, result = asyncio.run(left())
    assert "Unsent: the MCP client is closed" in result.error.message
    result = make(found.tools, actions=found.actions).run("actions.refund('c', 1)\nawait tools.latest('ada')")
    assert "Unsent: the event loop of the MCP client is over" in result.error.message
    with pytest.raises(Unsent):
        asyncio.run(found.actions[0](charge="c", amount=1))


# --- what comes back -------------------------------------------------------------------------------------------------

PNG = b"\x89PNG\r\n"
CONTENT = [
    ([], "None"),
    ([TextContent(text="[1, 2]")], "'[1, 2]'"),
    ([TextContent(text="a"), TextContent(text="b")], "['a', 'b']"),
    (
        [ImageContent(data=base64.b64encode(PNG).decode(), mime_type="image/png")],
        "(got.kind, got.mime_type, got.data) == ('image', 'image/png', b'\\x89PNG\\r\\n')",
    ),
    ([AudioContent(data="AAE=", mime_type="audio/wav"), TextContent(text="b")], "(got[0].data, got[1]) == (b'\\x00\\x01', 'b')"),
    (
        [EmbeddedResource(resource=TextResourceContents(uri="a://b", text="x", mime_type="text/plain"))],
        "(got.uri, got.mime_type, got.text, got.data) == ('a://b', 'text/plain', 'x', None)",
    ),
    ([EmbeddedResource(resource=BlobResourceContents(uri="a://b", blob="AAE="))], "(got.data, got.text) == (b'\\x00\\x01', None)"),
    ([ResourceLink(uri="a://b", name="b")], "(got.uri, got.text) == ('a://b', None)"),
]  # fmt: skip


@pytest.mark.parametrize(("content", "told"), CONTENT, ids=lambda value: type(value).__name__)
def test_content_is_a_plain_value(make, content: list[Any], told: str) -> None:
    server = raw(offered("get"), answer=lambda *_: CallToolResult(content=content))
    test = f"got == {told}" if "==" not in told else told
    result = outcome(make, server, f"got = await tools.get()\n{test}")
    assert result.value is True, result.error


def test_data_that_is_none_is_an_error(make) -> None:
    answer = CallToolResult(content=[ImageContent(data="!", mime_type="image/png")])
    result = outcome(make, raw(offered("get"), answer=lambda *_: answer), "await tools.get()")
    assert "ServerError: the server sent data that is no base64" in result.error.message


@pytest.mark.parametrize("mode", MODES)
def test_structured_content_is_the_value_and_the_wrapping_of_an_sdk_is_not(make, mode: str) -> None:
    program = "charge = await tools.latest('ada')\nmany = await tools.get_charges('ada')\n(charge.id, charge['amount'], len(many), many[1].id)"
    assert outcome(make, shop(), program, mode).value == ("ada-9", 9, 2, "ada-1")


def test_no_pattern_of_a_server_is_tried_on_what_it_answers_to_a_program(make) -> None:
    """One that backtracks would hold the loop, and all threads, for as long as the server likes."""
    schema = {"type": "object", "properties": {"s": {"type": "string", "pattern": "^(a|a)*$"}}}
    answer = CallToolResult(content=[], structured_content={"s": "aaaaaaaaaa!"})
    server = raw(offered("get", output_schema=schema), answer=lambda *_: answer)

    async def ran() -> Any:
        async with Client(server) as client:
            found = await tools_from_mcp(client, trusted=True)
            result = await make(found.tools).run_async("(await tools.get()).s")
            with pytest.raises(RuntimeError, match="does not match"):  # as the host's own calls are
                await client.call_tool("get", {})
            return result

    assert asyncio.run(ran()).value == "aaaaaaaaaa!"


def test_an_object_with_a_result_that_is_not_the_only_one_stays_whole(make) -> None:
    schema = {"type": "object", "properties": {"result": {"type": "integer"}, "unit": {"type": "string"}}}
    answer = CallToolResult(content=[], structured_content={"result": 1})
    result = outcome(make, raw(offered("get", output_schema=schema), answer=lambda *_: answer), "await tools.get()")
    assert result.value == {"result": 1}


@pytest.mark.parametrize("mode", MODES)
def test_an_error_of_the_server_is_raised_inside_with_its_own_words(make, mode: str) -> None:
    program = "try:\n    await tools.get_charges('nobody')\nexcept ToolError as error:\n    told = str(error)\ntold"
    result = outcome(make, shop(), program, mode)
    assert "ServerError: " in result.value
    assert "there is no such customer" in result.value
    assert result.calls[0].state == "failed"


def test_an_error_without_words(make) -> None:
    server = raw(offered("get"), answer=lambda *_: CallToolResult(content=[], is_error=True))
    assert "the server does not say why" in outcome(make, server, "await tools.get()").error.message


def test_an_error_of_the_protocol_is_raised_inside(make) -> None:
    def answer(*_: Any) -> CallToolResult:
        raise MCPError(-32050, "the server is being mended")

    result = outcome(make, raw(offered("get"), answer=answer), "await tools.get()")
    assert "MCPError: the server is being mended" in result.error.message


def test_a_value_that_is_too_large_names_the_limit(make) -> None:
    answer = CallToolResult(content=[TextContent(text="x" * 50_000)])

    async def ran() -> Any:
        async with taken(raw(offered("get"), answer=lambda *_: answer), trusted=True) as found:
            return await make(found.tools, value_bytes=10_000).run_async("await tools.get()")

    assert "value_bytes" in asyncio.run(ran()).error.message


# --- what a server says of its tools ---------------------------------------------------------------------------------


def signature(tool: Tool) -> str:
    async def read() -> str:
        async with taken(raw(tool), trusted=True) as found:
            return found.tools[0].signature_line

    return asyncio.run(read())


def test_signatures_are_of_the_schemas() -> None:
    async def read() -> list[str]:
        async with taken(shop(), trusted=True) as found:
            return [one.signature_line for one in [*found.tools, *found.actions]]

    assert asyncio.run(read()) == [
        "async get_charges(customer: str, limit: int = 10) -> list[Charge]",
        "async latest(customer: str) -> Charge",
        "refund(charge: str, amount: float, note: str | None = None) -> Proposed",
    ]


PLAIN = {"type": "string"}
WHOLE = "async get(arguments: dict[str, Any]) -> Any"
LOOP: dict[str, Any] = {"type": "object", "properties": {"next": {"$ref": "#"}}}


@pytest.mark.parametrize(
    ("schema", "told"),
    [
        ({"type": "object"}, "async get() -> Any"),
        (LOOP, "async get(next: Kind | None = None) -> Any"),
        ({"type": "object", "properties": {"a": {"$ref": "#/nowhere"}}}, "async get(a: Any = None) -> Any"),
        ({"type": "object", "properties": {"a": {"type": "nonsense"}, "from": PLAIN}}, "async get(a: Any = None, from_: str | None = None) -> Any"),
        ({"type": "object", "properties": {"a-b": PLAIN, "a_b": PLAIN}}, WHOLE),
        ({"type": "object", "properties": {"!": PLAIN}}, WHOLE),
        ({"type": "object", "properties": {f"p{n}": PLAIN for n in range(500)}}, WHOLE),
        ({"type": "object", "properties": "all of them"}, WHOLE),
        ({"type": "object", "properties": {}, "required": ["hidden"]}, WHOLE),
        ({"type": "object", "required": [{}], "properties": {"a": PLAIN}}, WHOLE),
        ({"type": "object", "required": 7, "properties": {"a": PLAIN}}, WHOLE),
        ({"type": "object", "oneOf": [{"properties": {"a": PLAIN}}, {"properties": {"b": PLAIN}}]}, WHOLE),
        ({"type": "object", "additionalProperties": {"type": "integer"}}, WHOLE),
    ],
)  # fmt: skip
def test_whatever_a_schema_is_the_signature_says_no_more_than_it(schema: dict[str, Any], told: str) -> None:
    found = signature(offered("get", schema))
    assert (found.split("Annotated")[0].rstrip("[") + "…" if "Annotated" in found else found) == told


def test_arguments_that_have_no_names_inside_are_given_as_they_are(make) -> None:
    tool = offered("get", {"type": "object", "properties": {"a-b": PLAIN, "a_b": PLAIN}})
    result = outcome(make, raw(tool), "(await tools.get({'a-b': 'x', 'a_b': 'y'}))['arguments']")
    assert result.value == {"a-b": "x", "a_b": "y"}, result.error


def test_arguments_have_the_names_of_the_server_and_what_is_left_out_is_left_out(make) -> None:
    tool = offered("get", {"type": "object", "properties": {"max-count": {"type": "integer"}, "from": PLAIN}})
    assert outcome(make, raw(tool), "(await tools.get(max_count=3))['arguments']").value == {"max-count": 3}


@pytest.mark.parametrize("value", ["b'x'", "{1, 2}", "float('nan')", "'\\ud800'"])
def test_arguments_that_json_cannot_hold_are_not_sent(make, value: str) -> None:
    tool = offered("get", {"type": "object", "properties": {"a": {}}})
    error = outcome(make, raw(tool), f"await tools.get({value})").error
    assert "Unsent: argument a: " in error.message


def test_what_a_server_says_of_its_tools_is_cut_and_stays_text(make) -> None:
    long = offered("get", description='"""\nimport os\n' + "x" * 100_000)
    result = outcome(make, raw(long), "help(tools.get)")
    assert result.ok
    assert "more characters)" in result.stdout
    assert len(result.stdout) < 10_000


def test_an_output_schema_that_makes_no_sense_is_any() -> None:
    for schema in ({"type": "array", "items": 7}, {"$ref": "#/x"}, {"properties": {"result": 5}}):
        assert signature(offered("get", output_schema=schema)).endswith(("Any", "list[Any]"))


# --- time, and what it leaves open -----------------------------------------------------------------------------------


class Slow:
    """A server whose tool waits to be cancelled."""

    def __init__(self) -> None:
        self.begun, self.cancelled = asyncio.Event(), asyncio.Event()

    async def answer(self, *_: Any) -> CallToolResult:
        self.begun.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.cancelled.set()
            raise
        raise AssertionError


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("threaded", [False, True])
def test_a_call_is_cancelled_on_the_server_at_the_deadline(make, mode: str, threaded: bool) -> None:
    async def ran() -> Any:
        slow = Slow()
        async with taken(raw(offered("get"), answer=slow.answer), mode, trusted=True) as found:
            sandbox = make(found.tools, timeout=0.3)
            run = (
                asyncio.to_thread(sandbox.run, "await tools.get()")
                if threaded
                else sandbox.run_async("await tools.get()")
            )
            result = await run
            await asyncio.wait_for(slow.cancelled.wait(), 10)
            return result

    result = asyncio.run(ran())
    assert result.error.kind == "timeout"
    assert "the tool get had not answered" in result.error.message


def test_a_call_has_time_of_its_own(make) -> None:
    async def ran() -> Any:
        slow = Slow()
        async with taken(raw(offered("get"), answer=slow.answer), trusted=True, timeout=0.2) as found:
            result = await make(found.tools).run_async("await tools.get()")
            await asyncio.wait_for(slow.cancelled.wait(), 10)
            return result

    assert "did not answer within 0.2 s" in asyncio.run(ran()).error.message


def performed(answer: Callable[..., Any], mode: str = "auto", **settings: Any) -> Any:
    """The entry of an action that a server answered so."""

    async def ran() -> Any:
        one = Tool(name="do", input_schema={"type": "object", "properties": {"a": {}}})
        async with taken(raw(one, answer=answer), mode, **settings) as found:
            sandbox = Sandbox(actions=found.actions, engine="restricted")
            with Outbox(":memory:", actions=found.actions) as outbox:
                (entry,) = outbox.submit(await sandbox.run_async(settings.pop("program", "actions.do(1)")))
                outbox.approve(entry.id, digest=entry.digest, by="ada")
                (entry,) = await outbox.perform_async()
                return entry

    return asyncio.run(ran())


def test_an_action_that_got_no_answer_in_time_is_unknown() -> None:
    async def ran(*_: Any) -> CallToolResult:
        return await asyncio.Event().wait()

    assert performed(ran, timeout=0.2).state == "unknown"


def test_an_action_whose_answer_is_none_is_unknown() -> None:
    def answer(*_: Any) -> CallToolResult:
        raise RuntimeError

    entry = performed(answer)
    assert (entry.state, "Unanswered" in entry.error) == ("unknown", True)


@pytest.mark.parametrize("mode", MODES)
def test_an_action_that_the_server_refused_has_failed(mode: str) -> None:
    def answer(*_: Any) -> CallToolResult:
        raise MCPError(-32602, "a must be a name")

    entry = performed(answer, mode)
    assert (entry.state, "a must be a name" in entry.error) == ("failed", True)


def test_an_action_of_which_the_server_says_that_it_failed_has_failed() -> None:
    entry = performed(lambda *_: CallToolResult(content=[TextContent(text="no money")], is_error=True))
    assert (entry.state, entry.error) == ("failed", "ServerError: no money")


def test_an_action_is_told_its_idempotency_key_where_the_server_takes_one() -> None:
    seen: list[dict[str, Any]] = []

    async def ran() -> None:
        properties = {"amount": {"type": "integer"}, "idempotency_key": PLAIN}
        one = Tool(name="pay", input_schema={"type": "object", "properties": properties, "required": list(properties)})
        server = raw(one, answer=lambda _, given: seen.append(given) or CallToolResult(content=[]))
        async with taken(server) as found:
            assert found.actions[0].signature_line == "pay(amount: int) -> Proposed"
            with Outbox(":memory:", actions=found.actions) as outbox:
                result = await Sandbox(actions=found.actions, engine="restricted").run_async("actions.pay(3)")
                (entry,) = outbox.submit(result)
                outbox.approve(entry.id, digest=entry.digest, by="ada")
                (entry,) = await outbox.perform_async()
                assert seen == [{"amount": 3, "idempotency_key": entry.key}]

    asyncio.run(ran())
