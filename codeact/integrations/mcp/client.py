"""The tools of an MCP server as tools and actions of a sandbox."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Collection, Iterable
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from codeact.actions import action
from codeact.extras import extra
from codeact.integrations.mcp.answers import is_wrapped, unwrapped, value_of
from codeact.integrations.selection import ForeignTools, selected
from codeact.outbox import NothingHappened
from codeact.schemas import Schema, identifiers, typed
from codeact.tools import tool

with extra("mcp", "codeact.integrations.mcp"):
    from mcp import Client, ClientSession, MCPError
    from mcp import types as mcp_types

PAGES = 1_000
"""Pages of a server's list of tools that are read."""

TOOLS = 5_000
"""Tools of a server that can be taken."""

OFFERED = 50_000
"""Tools that a server's list may have, whichever of them are taken."""

NAME = 200
"""Characters that a tool's name may have."""

PARAMETERS = 200
"""Parameters that a tool may have; with more they are given as one dict."""

TOLD = 4_000
"""Characters of a tool's description that are told."""

_REFUSED = frozenset({mcp_types.INVALID_PARAMS, mcp_types.INVALID_REQUEST, mcp_types.METHOD_NOT_FOUND})
"""Errors of the protocol which say that no tool was called."""


class Unsent(NothingHappened):
    """A call never left for the server."""


class Unanswered(ConnectionError):
    """A call has left for the server, and what came back does not tell whether it has happened."""


async def tools_from_mcp(  # noqa: PLR0913 - named settings, each with a default
    client: Client | ClientSession,
    *,
    trusted: bool = False,
    reads: Iterable[str] = (),
    only: Iterable[str] | None = None,
    prefix: str = "",
    timeout: float | None = None,  # noqa: ASYNC109 - of calls that are made later
) -> ForeignTools:
    """Make tools and actions of what a server offers just now.

    A server's tool becomes a tool where it is sure only to read: you say so by `reads`, or the server does and you trust it.
    Every other one becomes an action, which programs can only propose; performing the proposal calls the server.

    What is granted is what the server offers at this moment. What it offers later, or tells otherwise, changes nothing here.

    Calls are made in the event loop that this is awaited in, from wherever they come; keep that loop running and the client
    open for as long as programs run and proposals are performed. A synchronous `Sandbox.run` belongs on another thread.

    Args:
        client: a client that is connected, or its session.
        trusted: whether the server is believed where it says of a tool that it only reads (`readOnlyHint`).
        reads: tools that are known only to read, by the server's names.
        only: tools to take, by the server's names; all by default.
        prefix: what every name inside begins with, such as `github_`.
        timeout: seconds that a call may take; None leaves it to the sandbox's limits, and lets an action take its time. After
            it the request is cancelled. Whether an action has happened is then unknown.

    Raises:
        TypeError: `client` is none, or an argument is of another type.
        ValueError: there is no such tool, two would have one name inside, or a name cannot be made one.
        MCPError: the server does not give its list of tools.
    """
    if not isinstance(client, (Client, ClientSession)):
        msg = f"client={client!r:.200}: expected an mcp.Client that is entered, or an mcp.ClientSession"
        raise TypeError(msg)
    offered = await _offered(_session(client))
    reading = selected("reads", reads, among=offered)
    taken = {name: offered[name] for name in (offered if only is None else selected("only", only, among=offered))}
    if len(taken) > TOOLS:
        msg = f"the server offers {len(taken):,} tools, and {TOOLS:,} can be taken; choose with only=[…]"
        raise ValueError(msg)
    server = _Server(client, asyncio.get_running_loop(), timeout)
    found = ForeignTools([], [])
    for name, inside in _named(taken, prefix).items():
        one = taken[name]
        hint = one.annotations is not None and one.annotations.read_only_hint is True
        if name in reading or (trusted and hint):
            found.tools.append(_made(one, inside, server.reader(one), tool(timeout=timeout)))
        else:
            found.actions.append(_made(one, inside, server.performer(one), action()))
    return found


def _session(client: Client | ClientSession) -> ClientSession:
    return client.session if isinstance(client, Client) else client


async def _offered(session: ClientSession) -> dict[str, mcp_types.Tool]:
    """All that a server offers, by its own names."""
    offered: dict[str, mcp_types.Tool] = {}
    cursor: str | None = None
    for _ in range(PAGES):
        page = await session.list_tools(params=mcp_types.PaginatedRequestParams(cursor=cursor))
        for one in page.tools:
            if one.name in offered:
                msg = f"the server offers two tools named {one.name!r:.200}"
                raise ValueError(msg)
            offered[one.name] = one
        if len(offered) > OFFERED:
            break
        cursor = page.next_cursor
        if cursor is None:
            return offered
    msg = f"the server's list of tools does not end within {PAGES:,} pages and {OFFERED:,} tools"
    raise ValueError(msg)


def _named(taken: Collection[str], prefix: str) -> dict[str, str]:
    """The name inside of each tool."""
    long = next((name for name in taken if len(name) > NAME), None)
    if long is not None:
        msg = f"a tool has a name of {len(long):,} characters, {long[:NAME]!r} and so on; take others with only=[…]"
        raise ValueError(msg)
    try:
        found = identifiers(f"{prefix}{name}" for name in taken)
    except ValueError as error:
        msg = f"{error}; take others with only=[…]"
        raise ValueError(msg) from None
    return {name.removeprefix(prefix): inside for name, inside in found.items()}


def _made(one: mcp_types.Tool, name: str, call: _Call, kind: Callable[[Callable[..., Any]], Any]) -> Any:
    """A tool or an action that calls a server's tool.

    Its parameters are those of the tool's schema, or a single dict where that schema is not one of named parameters.
    """
    text = one.description or one.title or ""
    doc = text if len(text) <= TOLD else f"{text[:TOLD]}… ({len(text) - TOLD:,} more characters)"
    returns = unwrapped(one.output_schema)
    if _has_parameters(one.input_schema):
        try:
            return kind(typed(name, call, parameters=one.input_schema, returns=returns, doc=doc))
        except (TypeError, ValueError):
            pass  # no signature can be made of it

    async def call_with(given: dict[str, Any]) -> object:
        return await call(given["arguments"])

    told = {"type": "object", "description": f"all arguments together, by this schema: {json.dumps(one.input_schema)}"}
    parameters: Schema = {"properties": {"arguments": told}, "required": ["arguments"]}
    return kind(typed(name, call_with, parameters=parameters, doc=doc))


def _has_parameters(schema: Schema) -> bool:
    """Whether what a schema allows are parameters with names, and it says all of them."""
    properties, required = schema.get("properties") or {}, schema.get("required") or []
    if not isinstance(properties, dict) or not isinstance(required, list) or len(properties) > PARAMETERS:
        return False
    if not properties and any(schema.get(key) for key in _OTHERWISE):
        return False
    return all(isinstance(name, str) and name in properties for name in required)


_OTHERWISE = ("$ref", "additionalProperties", "allOf", "anyOf", "if", "oneOf", "patternProperties", "propertyNames")
"""What may say of an object what it holds, beside its properties."""

_Call = Callable[[dict[str, Any]], Awaitable[object]]


@dataclass(frozen=True, slots=True)
class _Server:
    """Makes calls, in the loop that its client belongs to.

    Attributes:
        client: the client.
        loop: the loop.
        timeout: seconds that an action may take; None for as long as it takes.
    """

    client: Client | ClientSession
    loop: asyncio.AbstractEventLoop
    timeout: float | None

    def reader(self, one: mcp_types.Tool) -> _Call:
        """What calls a tool that only reads."""
        name, wrapped = one.name, is_wrapped(one.output_schema)

        async def read(arguments: dict[str, Any]) -> object:
            return value_of(await self._asked(name, arguments), wrapped=wrapped)

        return read

    def performer(self, one: mcp_types.Tool) -> _Call:
        """What calls a tool that changes something; its exceptions tell an outbox whether that has happened."""
        name, wrapped = one.name, is_wrapped(one.output_schema)

        async def perform(arguments: dict[str, Any]) -> object:
            try:
                async with asyncio.timeout(self.timeout):
                    answer = await self._asked(name, arguments)
            except (NothingHappened, TimeoutError):
                raise
            except MCPError as error:
                if error.code in _REFUSED:
                    msg = f"the server refused the call: {error.message}"
                    raise NothingHappened(msg) from error
                raise Unanswered(*error.args[1:2]) from error
            except Exception as error:  # a connection that broke, an answer that is none: the call was on its way
                msg = f"{type(error).__name__}: {error}"
                raise Unanswered(msg) from error
            return value_of(answer, wrapped=wrapped)

        return perform

    async def _asked(self, name: str, arguments: dict[str, Any]) -> mcp_types.CallToolResult:
        """The server's answer. Cancelling this cancels the request."""
        request = self._request(name, _jsonable(arguments))
        if asyncio.get_running_loop() is self.loop:
            return await request
        if not self.loop.is_running():
            request.close()
            msg = "the event loop of the MCP client is over, and its connection with it"
            raise Unsent(msg)
        asked = asyncio.run_coroutine_threadsafe(request, self.loop)
        try:
            return await asyncio.wrap_future(asked)
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if asked.cancelled() and task is not None and not task.cancelling():  # nobody has cancelled this
                msg = "the event loop of the MCP client ended before the server's answer"
                raise Unanswered(msg) from None
            raise

    async def _request(self, name: str, arguments: dict[str, Any]) -> mcp_types.CallToolResult:
        try:
            session = _session(self.client)
        except RuntimeError:
            msg = "the MCP client is closed"
            raise Unsent(msg) from None
        _leave_unchecked(session)
        token = _called.set(True)
        try:
            return await self.client.call_tool(name, arguments)
        finally:
            _called.reset(token)


_called: ContextVar[bool] = ContextVar("called", default=False)
"""Whether what is going on is a call of a program's."""


def _leave_unchecked(session: ClientSession) -> None:
    """Let calls of programs be answered without the SDK's look at the server's output schema.

    A pattern that backtracks, or references that double at each level, take it for ever, with the loop of the host held. What
    comes in is bounded and copied anyway, whatever its server has said of it.
    """
    checked = session.validate_tool_result
    if not isinstance(checked, _Checked):
        session.validate_tool_result = _Checked(checked)  # type: ignore[method-assign]  # the SDK has no setting for it


@dataclass(frozen=True, slots=True)
class _Checked:
    """Looks at answers as before, but for those to programs."""

    before: Callable[[str, mcp_types.CallToolResult], Awaitable[None]]

    async def __call__(self, name: str, result: mcp_types.CallToolResult) -> None:
        if not _called.get():
            await self.before(name, result)


def _jsonable(arguments: dict[str, Any]) -> dict[str, Any]:
    """Arguments as JSON has them."""
    made = {}
    for name, value in arguments.items():
        try:
            text = json.dumps(value, allow_nan=False, ensure_ascii=False)
            text.encode()
        except (TypeError, ValueError, RecursionError) as error:
            msg = f"argument {name}: {error}; give what JSON can hold"
            raise Unsent(msg) from None
        made[name] = json.loads(text)
    return made
