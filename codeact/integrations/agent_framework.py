"""Microsoft Agent Framework: a context provider that lets an agent's model write programs."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict

from codeact.extras import extra
from codeact.integrations.conversations import Programs, checked_programs, interpreter_of
from codeact.models.programs import RUN_PYTHON, SCHEMA, asked

with extra("agent-framework", "codeact.integrations.agent_framework"):
    from agent_framework import AgentSession, ContextProvider, FunctionTool, SessionContext, SupportsAgentRun

__all__ = ["CodeactProvider"]


def _told(schema: dict[str, Any]) -> None:
    schema.clear()
    schema.update(SCHEMA)


class _Arguments(BaseModel):
    """Tells the model the schema, and takes what it sends all the same: what is wrong with that is ours to say."""

    model_config = ConfigDict(extra="allow", json_schema_extra=_told)


class CodeactProvider(ContextProvider):
    """Gives each run of an agent the instructions and the tool `run_python`.

    Programs of one session of the framework run in one session of the sandbox. The framework's approvals are not used: what a
    program would do to the world is a proposal, for the outbox.
    """

    def __init__(self, programs: Programs, *, source_id: str = "codeact") -> None:
        """Set the provider up.

        Args:
            programs: conversations, which are told apart by the `session_id` of the session that an agent is run with; or an
                interpreter, where all that comes is one conversation.
            source_id: what the framework calls this provider.

        Raises:
            TypeError: `programs` is neither.
        """
        super().__init__(source_id)
        self._programs = checked_programs(programs)

    async def before_run(
        self,
        *,
        agent: SupportsAgentRun,  # noqa: ARG002 - as the framework calls it
        session: AgentSession,
        context: SessionContext,
        state: dict[str, Any],
    ) -> None:
        """Called by the framework before each run."""
        programs = self._programs

        async def run(**arguments: Any) -> str:
            program = asked("", RUN_PYTHON, arguments)
            if program.code is None:
                return f"not run: {program.unreadable}"
            interpreter = interpreter_of(programs, session.session_id, named="a session to the run")
            if state.get("programs", 0):
                interpreter.resume()
            result = await interpreter.run_async(program.code)
            state["programs"] = state.get("programs", 0) + 1
            return result.observation()

        tool = FunctionTool(
            name=RUN_PYTHON,
            description=programs.description,
            func=run,
            input_model=_Arguments,
            approval_mode="never_require",
        )
        context.extend_instructions(self.source_id, programs.instructions)
        context.extend_tools(self.source_id, [tool])
