"""Pydantic AI: `run_python` as a toolset, and other toolsets whose tools programs call."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Collection, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from codeact.actions import action
from codeact.extras import extra
from codeact.integrations.conversations import Programs, checked_programs, interpreter_of
from codeact.integrations.interpreter import Interpreter, MakeInterpreter, made_by_default
from codeact.integrations.selection import ForeignTools, selected
from codeact.integrations.storable import stored
from codeact.models.programs import RUN_PYTHON
from codeact.schemas import identifiers, typed
from codeact.tools import tool

with extra("pydantic-ai", "codeact.integrations.pydantic_ai"):
    from pydantic_ai import FunctionToolset, InstructionPart, RunContext, Tool, ToolReturn
    from pydantic_ai.exceptions import ApprovalRequired, CallDeferred
    from pydantic_ai.tools import ToolDefinition
    from pydantic_ai.toolsets import AbstractToolset, ToolsetTool, WrapperToolset

__all__ = ["ProgramToolset", "run_python"]

Deps = TypeVar("Deps")
Called = tuple[RunContext[Any], dict[str, ToolsetTool[Any]]]

_called: ContextVar[Called] = ContextVar("called")
"""What the program that runs was called with: its tools are called with the same."""


def run_python(programs: Programs) -> FunctionToolset[Any]:
    """A toolset of one tool, by which a model runs programs; for the `toolsets` of an agent.

    What the model should know of the place is among the toolset's instructions. A `ToolReturnPart` has the observation as its
    content and, as its metadata, the result as data; the results themselves are in the interpreter.

    Args:
        programs: an interpreter, where all that comes is one conversation; or conversations, which are told apart by the
            agent's `conversation_id`.

    Raises:
        TypeError: `programs` is neither.
    """
    checked_programs(programs)

    async def run(ctx: RunContext[Any], code: str) -> ToolReturn[Any]:
        """Run a program.

        Args:
            ctx: what Pydantic AI knows of the call.
            code: The program's source, plain Python.
        """
        chosen = interpreter_of(programs, ctx.conversation_id, named="conversation_id=… to the agent's run")
        result = await chosen.run_async(code)
        return ToolReturn(result.observation(), metadata=stored(result))

    described = Tool(run, takes_ctx=True, name=RUN_PYTHON, description=programs.description)
    return FunctionToolset([described], instructions=programs.instructions)


@dataclass
class ProgramToolset(WrapperToolset[Deps]):
    """A toolset whose tools programs call, in place of the model: the model has `run_python` alone.

    A tool that is among `reads` is called while a program runs, with the dependencies of the agent's run and all else of its
    `RunContext`. Any other one, and one that needs approval or is performed elsewhere, is an action: calling it is a proposal.
    Each run of an agent has an interpreter and a session of its own, which ends with the run.

    Attributes:
        wrapped: the toolset.
        make: makes the interpreter of a run, of its tools and actions.
        reads: names of tools that only read, as the toolset has them, now or in a later step.
    """

    make: MakeInterpreter = made_by_default
    reads: Collection[str] = ()
    _known: dict[str, ToolDefinition] = field(default_factory=dict, init=False, repr=False)
    _made: Interpreter | None = field(default=None, init=False, repr=False)
    _tools: dict[str, ToolsetTool[Any]] = field(default_factory=dict, init=False, repr=False)
    _latest: RunContext[Any] | None = field(default=None, init=False, repr=False)
    _alone: asyncio.Lock = field(default_factory=asyncio.Lock, init=False, repr=False)

    def __post_init__(self) -> None:
        """See what was given.

        Raises:
            TypeError: `reads` is no collection of names.
        """
        self.reads = selected("reads", self.reads)

    async def for_run(self, ctx: RunContext[Deps]) -> AbstractToolset[Deps]:
        """What a run uses: this with nothing of another run."""
        return replace(self, wrapped=await self.wrapped.for_run(ctx))

    async def for_run_step(self, ctx: RunContext[Deps]) -> AbstractToolset[Deps]:
        """What a step uses: this one, of whose session it is a part."""
        self.wrapped = await self.wrapped.for_run_step(ctx)
        return self

    async def __aexit__(self, *args: object) -> bool | None:
        """End the session, and what is wrapped."""
        if self._made is not None:
            self._made.close()
        return await super().__aexit__(*args)

    async def get_instructions(self, ctx: RunContext[Deps]) -> Sequence[str | InstructionPart]:
        """What the model should know of the place, and what the wrapped toolset says."""
        told = await super().get_instructions(ctx) or ()
        theirs = [told] if isinstance(told, (str, InstructionPart)) else list(told)
        return [(await self._opened(ctx)).instructions, *theirs]

    async def get_tools(self, ctx: RunContext[Deps]) -> dict[str, ToolsetTool[Deps]]:
        """The tool by which programs are run."""
        return await run_python(await self._opened(ctx)).get_tools(ctx)

    async def call_tool(
        self, name: str, tool_args: dict[str, Any], ctx: RunContext[Deps], tool: ToolsetTool[Deps]
    ) -> Any:
        """Run a program."""
        self._latest = ctx
        token = _called.set((ctx, self._tools))
        try:
            return await tool.toolset.call_tool(name, tool_args, ctx, tool)
        finally:
            _called.reset(token)

    async def _opened(self, ctx: RunContext[Deps]) -> Interpreter:
        """The interpreter, where what the wrapped toolset has now is known."""
        self._tools = await self.wrapped.get_tools(ctx)
        definitions = {name: each.tool_def for name, each in self._tools.items()}
        if self._made is None or any(self._known.get(name) != each for name, each in definitions.items()):
            self._known |= definitions
            made = self.make(*self._capabilities())
            if self._made is None:
                self._made = made
            else:
                await asyncio.to_thread(self._made.move, made.sandbox)
        return self._made

    def _capabilities(self) -> ForeignTools:
        found = ForeignTools([], [])
        for name, inside in identifiers(self._known).items():
            definition = self._known[name]
            reads = name in self.reads
            if reads and definition.kind != "function":
                msg = f"reads has {name!r}, which needs approval or is performed elsewhere; it can only be proposed"
                raise ValueError(msg)
            function = typed(
                inside,
                self._reading(name) if reads else self._acting(name),
                parameters=definition.parameters_json_schema,
                returns=definition.return_schema,
                doc=definition.description or "",
            )
            if reads:
                found.tools.append(tool(name=inside, timeout=definition.timeout)(function))
            else:
                found.actions.append(action(name=inside)(function))
        return found

    def _reading(self, name: str) -> Callable[[dict[str, Any]], Any]:
        async def call(arguments: dict[str, Any]) -> Any:
            return await self._call(name, arguments, *_called.get())

        return call

    def _acting(self, name: str) -> Callable[[dict[str, Any]], Any]:
        async def call(arguments: dict[str, Any]) -> Any:
            if self._latest is None:
                msg = f"{name} was proposed in no run of this toolset"
                raise LookupError(msg)
            return await self._call(name, arguments, replace(self._latest, tool_call_approved=True), self._tools)

        return call

    async def _call(
        self, name: str, arguments: dict[str, Any], ctx: RunContext[Any], tools: dict[str, ToolsetTool[Any]]
    ) -> Any:
        """Call a tool of the wrapped toolset as Pydantic AI does: its validation first."""
        found = tools.get(name)
        if found is None:
            msg = f"{name} is not offered any more"
            raise LookupError(msg)
        within = replace(ctx, tool_name=name, retry=0, max_retries=found.max_retries)
        given = found.args_validator.validate_python(arguments, context=ctx.validation_context)
        if found.args_validator_func is not None:
            checking = found.args_validator_func(within, **given)
            if inspect.isawaitable(checking):
                await checking
        try:
            if any(each.tool_def.sequential for each in tools.values()):
                async with self._alone:
                    value = await self.wrapped.call_tool(name, given, within, found)
            else:
                value = await self.wrapped.call_tool(name, given, within, found)
        except (ApprovalRequired, CallDeferred):
            msg = (
                f"{name} needs an approval for this, which a program cannot wait for; the host has to make it an action"
            )
            raise PermissionError(msg) from None
        return value.return_value if isinstance(value, ToolReturn) else value
