"""`run_python` as a tool of LangChain."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from codeact.extras import extra
from codeact.integrations.conversations import Programs, checked_programs, interpreter_of
from codeact.integrations.interpreter import Interpreter
from codeact.integrations.storable import stored
from codeact.models.programs import CODE, RUN_PYTHON
from codeact.result import Result

with extra("langchain", "codeact.integrations.langchain"):
    from langchain_core.runnables import RunnableConfig, ensure_config
    from langchain_core.tools import BaseTool, StructuredTool

__all__ = ["run_python"]

_UNREADABLE = f'not run: `code` is missing, not a string, or not alone: call {RUN_PYTHON} with {{"code": "…"}}'


class _Program(BaseModel):
    """What the tool takes."""

    model_config = ConfigDict(extra="forbid")

    code: str = Field(description=CODE)


def run_python(programs: Programs) -> BaseTool:
    """The tool by which a model of LangChain runs programs.

    A `ToolMessage` of it has the observation as its content and, as its artifact, the result as data: what
    `Result.to_dict` gives, so that any checkpointer can hold it. A program that fails is a message like any other, and so are
    arguments that are none. The results themselves are in the interpreter.

    Args:
        programs: an interpreter, where all that comes is one conversation; or conversations, which are told apart by the
            `thread_id` of the configuration that the agent was called with.

    Returns:
        The tool, sync and async. `programs.instructions` is for the agent's system prompt.

    Raises:
        TypeError: `programs` is neither.
    """
    checked_programs(programs)

    def run(code: str, config: RunnableConfig) -> tuple[str, dict[str, object]]:
        return _told(_interpreter(programs, config).run(code))

    async def run_async(code: str, config: RunnableConfig) -> tuple[str, dict[str, object]]:
        return _told(await _interpreter(programs, config).run_async(code))

    return StructuredTool.from_function(
        run,
        run_async,
        name=RUN_PYTHON,
        description=programs.description,
        args_schema=_Program,
        infer_schema=False,
        response_format="content_and_artifact",
        handle_validation_error=_UNREADABLE,
    )


def _interpreter(programs: Programs, config: RunnableConfig) -> Interpreter:
    thread = ensure_config(config)["configurable"].get("thread_id")
    return interpreter_of(programs, thread, named='config={"configurable": {"thread_id": "…"}} to the agent')


def _told(result: Result) -> tuple[str, dict[str, object]]:
    return result.observation(), stored(result)
