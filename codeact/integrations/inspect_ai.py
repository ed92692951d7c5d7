"""Inspect: `run_python` as a tool of evaluations, with a session for each sample and receipts in the log."""

from __future__ import annotations

import re
import weakref
from contextvars import ContextVar
from typing import Any

from pydantic import Field

from codeact.extras import extra
from codeact.integrations.conversations import Conversations, Programs, checked_programs, interpreter_of
from codeact.integrations.storable import stored
from codeact.models.programs import CODE, RUN_PYTHON
from codeact.result import Result

with extra("inspect-ai", "codeact.integrations.inspect_ai"):
    from inspect_ai.hooks import Hooks, SampleAttemptEnd, SampleAttemptStart, hooks
    from inspect_ai.tool import Tool, ToolCall, ToolCallContent, ToolCallView, ToolDef
    from inspect_ai.util import StoreModel, store_as

__all__ = ["ProgramLog", "run_python"]

_TOLD = frozenset({"value", "stdout"})
"""What of a result is not put on the log again: the model was told of it, and so the tool's event has it."""

_sample: ContextVar[str] = ContextVar("sample", default="")
"""The id of the sample that is being worked on. A hook is awaited where the sample is."""

_open: weakref.WeakSet[Conversations] = weakref.WeakSet()
"""The conversations that samples may be in."""


class ProgramLog(StoreModel):
    """What programs of a sample have done, in its store: `state.store_as(ProgramLog)` in a scorer, and in the log.

    Attributes:
        conversation: the key of the sample's conversation, which is the `uuid` of the sample.
        programs: what came of each program, in order: `Result.to_dict` without value and output, which the tool's event shows.
    """

    conversation: str = Field(default="")
    programs: list[dict[str, Any]] = Field(default_factory=list)

    @property
    def proposals(self) -> list[dict[str, Any]]:
        """What programs that finished have proposed, the same action with the same arguments once."""
        found = [each for program in self.programs if program["ok"] for each in program["proposals"]]
        return list({each["digest"]: each for each in found}.values())

    @property
    def calls(self) -> list[dict[str, Any]]:
        """The receipts of all calls, in order."""
        return [call for program in self.programs for call in program["calls"]]


def run_python(programs: Programs) -> Tool:
    """The tool by which a model runs programs; for `react(tools=[…])`, `use_tools(…)`, and whatever takes a tool of Inspect.

    Args:
        programs: conversations, which are told apart by the `uuid` of the sample, which is another one in each epoch, and end
            with it; or an interpreter, where all that comes is one conversation.

    Returns:
        The tool. `programs.instructions` is for the system prompt.

    Raises:
        TypeError: `programs` is neither.
    """
    checked_programs(programs)
    if isinstance(programs, Conversations):
        _open.add(programs)

    async def execute(code: str) -> str:
        chosen = interpreter_of(programs, _sample.get(), named="the tool to a task, which runs it in samples")
        result = await chosen.run_async(code)
        log = store_as(ProgramLog)
        log.conversation = _sample.get()
        log.programs = [*log.programs, _logged(result)]
        return result.observation()

    return ToolDef(
        execute,
        name=RUN_PYTHON,
        description=programs.description,
        parameters={"code": CODE},
        parallel=True,
        max_output=0,
        viewer=_viewed,
    ).as_tool()


def _logged(result: Result) -> dict[str, Any]:
    return {name: value for name, value in stored(result).items() if name not in _TOLD}


def _viewed(call: ToolCall) -> ToolCallView:
    """A program in the viewer of logs."""
    code = str(call.arguments.get("code", ""))
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", code)), default=0))
    return ToolCallView(
        call=ToolCallContent(title=RUN_PYTHON, format="markdown", content=f"{fence}python\n{code}\n{fence}\n")
    )


@hooks(name="codeact", description="A session for each attempt at a sample, which ends with it.")
class _Sessions(Hooks):
    async def on_sample_attempt_start(self, data: SampleAttemptStart) -> None:
        _sample.set(data.sample_id)

    async def on_sample_attempt_end(self, data: SampleAttemptEnd) -> None:
        for conversations in list(_open):
            conversations.end(data.sample_id)
