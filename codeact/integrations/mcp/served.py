"""The tools that a server has, as its clients are told of them, and what it answers to a call."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping
from typing import Any

from codeact.catalogue import MOST, QUERY, Catalogue
from codeact.extras import extra
from codeact.integrations.storable import stored
from codeact.models.programs import CODE, RUN_PYTHON
from codeact.renderings import printable
from codeact.result import Result
from codeact.sandbox import Sandbox
from codeact.tools import BadArguments, tool

with extra("mcp", "codeact.integrations.mcp"):
    from mcp.types import CallToolResult, TextContent, Tool, ToolAnnotations

SEARCH_TOOLS = "search_tools"

RECEIPT = "codeact/receipt"
"""What the receipt is called in an answer's `_meta`, which is for the client's program and not for its model."""

SESSION = "session"

_CODE = {"type": "string", "description": CODE}
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


def run_python(sandbox: Sandbox, description: str) -> Tool:
    """The tool that runs programs.

    Args:
        sandbox: where they run.
        description: what the tool says of itself.
    """
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


def named(run: Tool) -> Tool:
    """The tool for clients that have to name their session."""
    properties = {**run.input_schema["properties"], SESSION: _NAME}
    return run.model_copy(update={"input_schema": {**run.input_schema, "properties": properties}})


def search_tools(catalogue: Catalogue) -> Tool:
    """The tool that finds what programs can call, for sandboxes in which that is too much to be told at once."""
    return Tool(
        name=SEARCH_TOOLS,
        title="Search tools",
        description="Find what a program of run_python can call, by words of what it does. Gives a line for each, the best first."
        f" There are {catalogue.size}.",
        input_schema={
            "type": "object",
            "properties": {
                "query": {"type": "string", "description": "A few words, as in: refund policy", "maxLength": QUERY},
                "limit": {"type": "integer", "minimum": 1, "maximum": MOST, "default": 10},
            },
            "required": ["query"],
            "additionalProperties": False,
        },
        annotations=ToolAnnotations(
            read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
        ),
    )


def searched(catalogue: Catalogue, arguments: Mapping[str, object]) -> CallToolResult:
    """What a client is told that looks for tools."""
    search = tool(name=SEARCH_TOOLS)(catalogue.search)
    try:
        args, kwargs = search.bind((), arguments)
        found = catalogue.search(*args, **kwargs)
    except (BadArguments, LookupError, ValueError) as error:
        return failed(str(error))
    told = "\n".join([*(one.line for one in found), f"In a program, {catalogue.asked}."])
    return CallToolResult(content=[TextContent(text=printable(told))])


def answer(result: Result, session: str | None = None) -> CallToolResult:
    """What a client is told of a run.

    Args:
        result: the run's.
        session: the session's name, where the client has to give it with the next program.
    """
    whole: dict[str, Any] = stored(result)
    receipt = {key: whole.pop(key) for key in ("run", "calls", "usage", "exit_code")}
    receipt |= {key: whole[key] for key in ("proposals", "files")}
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


def failed(text: str) -> CallToolResult:
    """What a client is told of a call that could not be made."""
    return CallToolResult(content=[TextContent(text=printable(text))], is_error=True)


SHOWN = 40
"""Characters of a client's own words that an error shows."""


def misfit(arguments: Mapping[str, object], schema: Mapping[str, Any]) -> str | None:
    """Why arguments are none of the tool's, in words for who wrote them."""
    known = schema["properties"]
    unknown = next((name for name in arguments if name not in known), None)
    if unknown is not None:
        return f"there is no argument {unknown[:SHOWN]!r}; there is {' and '.join(known)}"
    wrong = next((name for name, value in arguments.items() if not isinstance(value, str)), None)
    if wrong is not None:
        return f"{wrong} must be a string"
    return None if "code" in arguments else "give the program as `code`"


def _cut(whole: dict[str, Any], shown: int) -> dict[str, Any]:
    """The result with no more of each part than an observation shows: many clients give all of it to the model."""
    cuts = list(whole["truncated"])
    size = len(json.dumps(whole["value"]))
    if size > shown:
        whole["value"] = None
        cuts.append({"what": "value", "kept": 0, "left_out": size})
    for part in ("stdout", "proposals", "files"):
        kept, left_out = _beginning(whole[part], shown)
        if left_out:
            cuts.append({"what": part, "kept": len(kept), "left_out": left_out})
        whole[part] = kept
    return {**whole, "truncated": cuts}


def _beginning(part: Any, shown: int) -> tuple[Any, int]:
    """As much of a text or a list as takes so many characters, and how many characters or items that leaves out."""
    if isinstance(part, str):
        return part[:shown], max(0, len(part) - shown)
    sizes = itertools.accumulate(len(json.dumps(item)) for item in part)
    kept = sum(size <= shown for size in sizes)
    return part[:kept], len(part) - kept
