"""What the fits for frameworks give is what the frameworks take."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, assert_type

from agent_framework import ContextProvider
from agents import FunctionTool
from dspy.primitives import CodeInterpreter
from inspect_ai.tool import Tool as InspectTool
from langchain_core.tools import BaseTool
from mcp import Client
from mcp.server import Server
from pydantic_ai import FunctionToolset
from pydantic_ai.toolsets import AbstractToolset
from smolagents.local_python_executor import PythonExecutor

from codeact import Action, Sandbox, Tool, integrations
from codeact.integrations import (
    Conversations,
    ForeignTools,
    Interpreter,
    agent_framework,
    dspy,
    inspect_ai,
    langchain,
    langgraph,
    mcp,
    openai_agents,
    pydantic_ai,
    smolagents,
)
from codeact.result import Result

sandbox = Sandbox()
interpreter = Interpreter(sandbox)
conversations = Conversations(sandbox)
assert_type(interpreter.run("1"), Result)
assert_type(conversations.of("T-1").results, tuple[Result, ...])
called: str = integrations.RUN_PYTHON

assert_type(langchain.run_python(conversations), BaseTool)
assert_type(langchain.run_python(interpreter), BaseTool)
assert_type(openai_agents.run_python(conversations), FunctionTool)
provider: ContextProvider = agent_framework.CodeactProvider(interpreter)
assert_type(pydantic_ai.run_python(interpreter), FunctionToolset[Any])
assert_type(inspect_ai.run_python(conversations), InspectTool)
toolset: AbstractToolset[None] = pydantic_ai.ProgramToolset(FunctionToolset[None]())
executor: PythonExecutor = smolagents.SandboxExecutor()
server: Server[Any] = mcp.server(sandbox)
later: Callable[[str, dict[str, Any]], Awaitable[tuple[str, dict[str, Any]]]] = langgraph.eval_fn_async(interpreter)
interpreters: Callable[[], CodeInterpreter] = dspy.factory(reads=["get_charges"])


def graph(tools: list[BaseTool]) -> None:
    context: dict[str, Any] = {}
    assert_type(langgraph.eval_fn(conversations)("1", context), tuple[str, dict[str, Any]])
    assert_type(langgraph.instructions(conversations), str)
    found = langchain.from_langchain(tools, reads=["search"])
    assert_type(found, ForeignTools)
    Sandbox(found.tools, actions=found.actions)


async def served(client: Client) -> None:
    found = await mcp.tools_from_mcp(client, trusted=True)
    assert_type(found.tools, list[Tool[..., Any]])
    assert_type(found.actions, list[Action[..., Any]])
