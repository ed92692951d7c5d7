"""OpenAI Agents SDK: `run_python` as one of its tools."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any
from weakref import WeakKeyDictionary

from codeact.extras import extra
from codeact.integrations.conversations import Programs, checked_programs, interpreter_of
from codeact.integrations.storable import stored
from codeact.models.programs import RUN_PYTHON, SCHEMA, asked
from codeact.result import Result

with extra("openai-agents", "codeact.integrations.openai_agents"):
    from agents import FunctionTool
    from agents.tool import FunctionToolCustomDataContext
    from agents.tool_context import ToolContext

__all__ = ["RESULT", "group_of", "run_python"]

RESULT = "codeact"
"""What the result of a program is called in the `custom_data` of the item that has its output."""


def group_of(context: ToolContext[Any]) -> object:
    """What tells conversations apart by default: `RunConfig(group_id=…)`, the id that links the runs of one."""
    return None if context.run_config is None else context.run_config.group_id


def run_python(programs: Programs, *, key: Callable[[ToolContext[Any]], object] = group_of) -> FunctionTool:
    """The tool by which a model of the Agents SDK runs programs.

    The model is given the observation. The item of the run that has it has the result too, as data that the SDK keeps and the
    model does not see: `item.custom_data["codeact"]`. A program that fails is told like any other, and so are arguments that
    are no program.

    Args:
        programs: an interpreter, where all that comes is one conversation; or conversations.
        key: what tells conversations apart, given the context of a call: a text, such as an id in your own context object,
            `lambda context: context.context.ticket`.

    Returns:
        The tool. `programs.instructions` is for the agent's instructions.

    Raises:
        TypeError: an argument is of the wrong type.
    """
    checked_programs(programs)
    if not callable(key):
        msg = f"key={key!r:.200}: expected a function from the context of a call to the key of its conversation"
        raise TypeError(msg)
    results: WeakKeyDictionary[ToolContext[Any], Result] = WeakKeyDictionary()

    async def run(context: ToolContext[Any], arguments: str) -> str:
        program = asked(context.tool_call_id, RUN_PYTHON, arguments)
        if program.code is None:
            return f"not run: {program.unreadable}"
        interpreter = interpreter_of(programs, key(context), named="RunConfig(group_id=…) to the run, or key=")
        results[context] = result = await interpreter.run_async(program.code)
        return result.observation()

    def kept(context: FunctionToolCustomDataContext) -> dict[str, object] | None:
        result = results.pop(context.tool_context, None)
        return None if result is None else {RESULT: stored(result)}

    return FunctionTool(
        name=RUN_PYTHON,
        description=programs.description,
        params_json_schema=deepcopy(SCHEMA),  # the SDK makes schemas strict where they are
        on_invoke_tool=run,
        custom_data_extractor=kept,
    )
