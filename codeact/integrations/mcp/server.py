"""A sandbox as an MCP server: `run_python`, and what came of it."""

from __future__ import annotations

import json
import logging
import secrets
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from codeact.doctor import version_of
from codeact.extras import extra
from codeact.integrations.interpreter import RUN_PYTHON, Interpreter
from codeact.integrations.mcp.sessions import Context, NoSession, Sessions, are_named
from codeact.renderings import printable
from codeact.result import Result
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
        TextContent,
        Tool,
        ToolAnnotations,
    )

if TYPE_CHECKING:
    from codeact.outbox import Outbox

log = logging.getLogger("codeact")

SESSIONS = 100
"""Sessions that one server keeps at the same time: each is a live interpreter, of some megabytes."""

RECEIPT = "codeact/receipt"
"""What the receipt is called in an answer's `_meta`, which is for the client's program and not for its model."""

SESSION = "session"

_CODE = {"type": "string", "description": "The program's source, plain Python."}
_NAME = {
    "type": "string",
    "description": "The session that an earlier answer told: what its programs left is there again. Leave it out for a new one.",
}
_ANSWER = {
    "type": "object",
    "properties": {
        "ok": {"type": "boolean", "description": "Whether the program finished."},
        "value": {"description": "What it gave; null where that is longer than what is shown."},
        "error": {"type": ["object", "null"], "description": "Why it failed."},
        "stdout": {"type": "string", "description": "What it printed, as far as it is shown."},
        "note": {"type": ["string", "null"]},
        "proposals": {
            "type": "array",
            "items": {"type": "object"},
            "description": "What it proposed. None of it is done.",
        },
        "files": {"type": "array", "items": {"type": "object"}, "description": "Files that are new, changed or deleted."},
        "truncated": {"type": "array", "items": {"type": "object"}, "description": "Each cut, and how much it left out."},
        SESSION: {"type": "string", "description": "The session, to be given with the next program."},
    },
    "required": ["ok", "value", "error", "stdout", "note", "proposals", "files", "truncated"],
}  # fmt: skip


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

    It has one tool, `run_python`. An answer is the observation as text; `structuredContent` with value, error, output and
    proposals, each within what an observation shows; and the receipt of the run in `_meta`. A program that failed is an answer
    with `isError`: the model reads why.

    Each client has a session of its own, which ends when the client leaves. A client over HTTP that speaks 2026-07-28 or
    later has none by the protocol: an answer tells it a name, to be given with the next program.

    Args:
        sandbox: where programs run.
        outbox: where the proposals of programs that finished are submitted; see `Interpreter`.
        task: what all programs are for, for the outbox and the journal; a task for each session by default.
        tenant: whose the programs are; see `Sandbox.session`.
        name: what the server calls itself.
        sessions: how many there may be at the same time; one more ends the one that was used least recently.

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
    tool = _tool(sandbox, told.description)

    @asynccontextmanager
    async def lifespan(_: Server[Sessions]) -> AsyncIterator[Sessions]:
        held = Sessions(make, sessions)
        try:
            yield held
        finally:
            held.close()

    async def list_tools(context: Context, _: PaginatedRequestParams | None) -> ListToolsResult:
        return ListToolsResult(tools=[_named(tool) if are_named(context) else tool])

    async def call_tool(context: Context, params: CallToolRequestParams) -> CallToolResult:
        if params.name != RUN_PYTHON:
            raise MCPError(INVALID_PARAMS, f"there is no tool {params.name[:_SHOWN]!r}; there is {RUN_PYTHON}")
        arguments = params.arguments or {}
        wrong = _misfit(arguments, (_named(tool) if are_named(context) else tool).input_schema)
        if wrong is not None:
            return _failed(f"{RUN_PYTHON}: {wrong}")
        held = context.lifespan_context
        try:
            interpreter, session = held.of(context, arguments.get(SESSION))
        except NoSession as error:
            return _failed(str(error))
        try:
            result = await interpreter.run_async(arguments["code"])
        except Exception:
            log.exception("%s failed", RUN_PYTHON)
            return _failed(f"{RUN_PYTHON} failed on the host, which the program cannot mend; the host's log says why")
        if result.error is not None and result.error.type == "SessionExpired":
            held.end(interpreter)
        return answer(result, session)

    return Server(
        name,
        version=version_of("codeact") or "",
        title="codeact",
        instructions=told.instructions,
        lifespan=lifespan,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def answer(result: Result, session: str | None = None) -> CallToolResult:
    """What a client is told of a run.

    Args:
        result: the run's.
        session: the session's name, where the client has to give it with the next program.
    """
    whole = _readable(result.to_dict())
    receipt = {key: whole.pop(key) for key in ("run", "calls", "usage", "exit_code")}
    text = result.observation()
    if session is not None:
        whole[SESSION] = session
        text += f"\nsession: {session} (give it with the next program, to find there what this one left)"
    return CallToolResult(
        content=[TextContent(text=text)],
        structured_content=_cut(whole, result.shown),
        is_error=not result.ok,
        _meta={RECEIPT: receipt},
    )


_SHOWN = 40
"""Characters of a client's own words that an error shows."""


def _tool(sandbox: Sandbox, description: str) -> Tool:
    return Tool(
        name=RUN_PYTHON,
        title="Run Python",
        description=description,
        input_schema={
            "type": "object",
            "properties": {"code": _CODE},
            "required": ["code"],
            "additionalProperties": False,
        },
        output_schema=_ANSWER,
        # A proposal is put down somewhere, which is more than reading. What tools reach is not known here.
        annotations=ToolAnnotations(
            read_only_hint=not sandbox.actions,
            destructive_hint=False,
            idempotent_hint=False,
            open_world_hint=bool(sandbox.tools),
        ),
    )


def _named(tool: Tool) -> Tool:
    """The tool for clients that have to name their session."""
    properties = {**tool.input_schema["properties"], SESSION: _NAME}
    return tool.model_copy(update={"input_schema": {**tool.input_schema, "properties": properties}})


def _misfit(arguments: Mapping[str, object], schema: Mapping[str, Any]) -> str | None:
    """Why arguments are none of the tool's, in words for who wrote them."""
    known = schema["properties"]
    unknown = next((name for name in arguments if name not in known), None)
    if unknown is not None:
        return f"there is no argument {unknown[:_SHOWN]!r}; there is {' and '.join(known)}"
    wrong = next((name for name, value in arguments.items() if not isinstance(value, str)), None)
    if wrong is not None:
        return f"{wrong} must be a string"
    return None if "code" in arguments else "give the program as `code`"


def _failed(text: str) -> CallToolResult:
    return CallToolResult(content=[TextContent(text=text)], is_error=True)


def _readable(value: Any) -> Any:
    """JSON-ready data with its texts as any stream takes them: a client's cannot hold lone surrogates."""
    match value:
        case str():
            return printable(value)
        case list():
            return [_readable(item) for item in value]
        case dict():
            return {printable(key): _readable(item) for key, item in value.items()}
    return value


def _cut(whole: dict[str, Any], shown: int) -> dict[str, Any]:
    """The result with no more of value and output than an observation shows: many clients give all of it to the model."""
    cuts = list(whole["truncated"])
    size = len(json.dumps(whole["value"]))
    if size > shown:
        whole["value"] = None
        cuts.append({"what": "value", "kept": 0, "left_out": size})
    printed = whole["stdout"]
    if len(printed) > shown:
        whole["stdout"] = printed[:shown]
        cuts.append({"what": "stdout", "kept": shown, "left_out": len(printed) - shown})
    return {**whole, "truncated": cuts}
