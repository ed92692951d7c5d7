"""An agent of Pydantic AI, whose program calls a tool of a toolset."""

import asyncio

from codeact.integrations.pydantic_ai import ProgramToolset

from pydantic_ai import Agent, FunctionToolset  # isort: skip - codeact is to say first that it is missing
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel


def add(left: int, right: int) -> int:
    """Their sum."""
    return left + right


def answer(messages: list[ModelMessage], _: AgentInfo) -> ModelResponse:
    """A program, and what came of it."""
    if len(messages) == 1:
        return ModelResponse([ToolCallPart("run_python", {"code": "await tools.add(20, 22)"})])
    return ModelResponse([TextPart(str(messages[-1].parts[0]))])


toolset = ProgramToolset(FunctionToolset([add]), reads=["add"])
done = asyncio.run(Agent(FunctionModel(answer), toolsets=[toolset]).run("What is 20 and 22?"))
assert "value: 42" in done.output, done.output
