"""A sandbox as an MCP server."""

from __future__ import annotations

import logging
import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from codeact.catalogue import Catalogue, can_search
from codeact.doctor import version_of
from codeact.extras import extra
from codeact.integrations.interpreter import Interpreter
from codeact.integrations.mcp.served import (
    SEARCH_TOOLS,
    SESSION,
    SHOWN,
    answer,
    failed,
    misfit,
    named,
    run_python,
    search_tools,
    searched,
)
from codeact.integrations.mcp.sessions import Context, NoSession, Sessions, are_named
from codeact.models.programs import RUN_PYTHON
from codeact.sandbox import Sandbox

with extra("mcp", "codeact.integrations.mcp"):
    from mcp import MCPError
    from mcp.server import Server
    from mcp.types import (
        INVALID_PARAMS,
        CallToolRequestParams,
        CallToolResult,
        ListToolsResult,
        PaginatedRequestParams,
        Tool,
    )

if TYPE_CHECKING:
    from codeact.outbox import Outbox

log = logging.getLogger("codeact")

SESSIONS = 100
"""Sessions that one server keeps at the same time: each is a live interpreter, of some megabytes."""


def server(  # noqa: PLR0913 - named settings, each with a default
    sandbox: Sandbox,
    *,
    outbox: Outbox | None = None,
    task: str | None = None,
    tenant: str | None = None,
    name: str = "codeact",
    sessions: int = SESSIONS,
) -> Server[Sessions]:
    """Make an MCP server that runs programs in a sandbox.

    It has the tool `run_python`, and `search_tools` where there is more to call than can be told at once. An answer is the
    observation as text; `structuredContent` with value, error, output and proposals, each cut to what is shown of a value; and
    the receipt of the run in `_meta`. A program that failed is an answer with `isError`: the model reads why.

    Each client has a session of its own, which ends when the client leaves. A client over HTTP that speaks 2026-07-28 or
    later has none by the protocol: an answer tells it a name, to be given with the next program.

    Args:
        sandbox: where programs run.
        outbox: where the proposals of programs that finished are submitted; see `Interpreter`.
        task: what all programs are for, for the outbox and the journal; a task for each session by default.
        tenant: whose the programs are; see `Sandbox.session`.
        name: what the server calls itself.
        sessions: how many there may be at the same time; one more ends the one that was used least recently. As many
            programs run at the same time, and more of them wait.

    Returns:
        The SDK's own server, to be run with its transports: `streamable_http_app(…)` is an ASGI application, `run(…)` serves a
        pair of streams. What is authenticated and who may connect is theirs to say.

    Raises:
        TypeError: an argument is of the wrong type.
        ValueError: `sessions` is not above zero.
    """
    if isinstance(sessions, bool) or not isinstance(sessions, int) or sessions < 1:
        msg = f"sessions={sessions!r}: expected a whole number above zero"
        raise ValueError(msg)

    def make() -> Interpreter:
        return Interpreter(sandbox, outbox=outbox, task=task or f"mcp-{secrets.token_hex(4)}", tenant=tenant, keep=0)

    told = make()
    catalogue = sandbox.catalogue if can_search() else None
    tools = [run_python(sandbox, told.description)] + ([] if catalogue is None else [search_tools(catalogue)])
    served = _Served(make, sessions, tools, catalogue)
    return Server(
        name,
        version=version_of("codeact") or "",
        title="codeact",
        instructions=told.instructions,
        lifespan=served.lifespan,
        on_list_tools=served.list_tools,
        on_call_tool=served.call_tool,
    )


@dataclass(frozen=True, slots=True)
class _Served:
    """What a server does.

    Attributes:
        make: makes the interpreter of a session.
        sessions: how many there may be.
        tools: what clients are offered.
        catalogue: what one of them searches; None where there is nothing to search.
    """

    make: Callable[[], Interpreter]
    sessions: int
    tools: list[Tool]
    catalogue: Catalogue | None

    @asynccontextmanager
    async def lifespan(self, _: Server[Sessions]) -> AsyncIterator[Sessions]:
        held = Sessions(self.make, self.sessions)
        try:
            yield held
        finally:
            held.close()

    async def list_tools(self, context: Context, _: PaginatedRequestParams | None) -> ListToolsResult:
        return ListToolsResult(tools=self._offered(context))

    async def call_tool(self, context: Context, params: CallToolRequestParams) -> CallToolResult:
        arguments = params.arguments or {}
        if params.name == SEARCH_TOOLS and self.catalogue is not None:
            return searched(self.catalogue, arguments)
        if params.name != RUN_PYTHON:
            there = " and ".join(one.name for one in self.tools)
            raise MCPError(INVALID_PARAMS, f"there is no tool {params.name[:SHOWN]!r}; there is {there}")
        wrong = misfit(arguments, self._offered(context)[0].input_schema)
        return failed(f"{RUN_PYTHON}: {wrong}") if wrong is not None else await self._run(context, arguments)

    def _offered(self, context: Context) -> list[Tool]:
        run, *others = self.tools
        return [named(run) if are_named(context) else run, *others]

    async def _run(self, context: Context, arguments: dict[str, Any]) -> CallToolResult:
        held = context.lifespan_context
        async with held.room:
            return await self._run_in(held, context, arguments)

    async def _run_in(self, held: Sessions, context: Context, arguments: dict[str, Any]) -> CallToolResult:
        try:
            interpreter, session = held.of(context, arguments.get(SESSION))
        except NoSession as error:
            return failed(str(error))
        try:
            result = await interpreter.run_async(arguments["code"])
        except BaseException as error:
            if session is not None and SESSION not in arguments:
                held.end(interpreter)  # nobody is told its name any more
            if not isinstance(error, Exception):
                raise
            log.exception("%s failed", RUN_PYTHON)
            return failed(f"{RUN_PYTHON} failed on the host, which the program cannot mend; the host's log says why")
        if result.error is not None and result.error.type == "SessionExpired":
            held.end(interpreter)
        return answer(result, session if interpreter in held else None)
