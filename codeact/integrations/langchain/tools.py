"""The tools of LangChain as tools and actions of a sandbox."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Iterable
from typing import Any

from pydantic import BaseModel
from pydantic.errors import PydanticUserError

from codeact.actions import action
from codeact.extras import extra
from codeact.integrations.selection import ForeignTools, selected
from codeact.schemas import Arguments, Schema, identifiers, typed
from codeact.tools import tool

with extra("langchain", "codeact.integrations.langchain"):
    from langchain_core.messages import ToolCall, ToolMessage
    from langchain_core.messages.tool import ToolOutputMixin
    from langchain_core.runnables import RunnableConfig
    from langchain_core.tools import BaseTool, StructuredTool, ToolException
    from langchain_core.tools import Tool as TextTool

_FRAMEWORKS = frozenset({"callbacks", "run_manager"})
"""Parameters that LangChain itself fills in, whoever calls."""


def from_langchain(tools: Iterable[BaseTool], *, reads: Iterable[str] = ()) -> ForeignTools:
    """Make tools and actions of tools of LangChain.

    A program calls one by the parameters of its schema, and gets its content; where it has an artifact, that is for its host.
    A `ToolException` is raised inside, also where `handle_tool_error` would make a text of it. Where there is an async
    implementation, that is the one that is called.

    Args:
        tools: of LangChain.
        reads: the names of those that are known only to read. All others become actions, which programs can only propose:
            LangChain does not say of a tool whether it changes the world.

    Raises:
        TypeError: a member is no tool of LangChain, or `reads` is no list of names.
        ValueError: `reads` names what is not there; two would have one name inside, or a name cannot be made one; or a tool
            takes what only the loop of an agent can inject, such as its state, for which a program must not stand in.
    """
    given = list(tools)
    for each in given:
        if not isinstance(each, BaseTool):
            msg = f"tools: {each!r:.200}: expected tools of LangChain; give typed functions to the Sandbox itself"
            raise TypeError(msg)
    names = identifiers(each.name for each in given)
    reading = selected("reads", reads, among=names)
    found = ForeignTools([], [])
    for each in given:
        function = _function(each, names[each.name])
        if each.name in reading:
            found.tools.append(tool(function))
        else:
            found.actions.append(action(function))
    return found


def _function(one: BaseTool, name: str) -> Callable[..., Any]:
    try:
        schema, withheld = _parameters(one)
    except PydanticUserError as error:
        msg = f"tool {one.name!r}: its arguments have no JSON Schema: {error.message.partition(chr(10))[0]}"
        raise ValueError(msg) from None
    if withheld:
        msg = f"tool {one.name!r} takes {', '.join(withheld)}, which is injected by the loop of an agent, and no program may give it: grant a function of your own that calls the tool"
        raise ValueError(msg)
    raising = one.model_copy(update={"handle_tool_error": False, "handle_validation_error": False})

    def call(arguments: Arguments) -> object:
        return _content(one.name, raising.invoke(_asked(one.name, arguments)))

    async def call_async(arguments: Arguments) -> object:
        return _content(one.name, await raising.ainvoke(_asked(one.name, arguments)))

    try:
        return typed(name, call_async if _is_async(one) else call, parameters=schema, doc=one.description)
    except ValueError as error:
        msg = f"tool {one.name!r}: {error}"
        raise ValueError(msg) from None


def _is_async(one: BaseTool) -> bool:
    if isinstance(one, (StructuredTool, TextTool)):
        return one.coroutine is not None
    return type(one)._arun is not BaseTool._arun  # noqa: SLF001 - what a tool of LangChain overrides to be async


def _parameters(one: BaseTool) -> tuple[Schema, list[str]]:
    """The schema of what a model may give, and the names of what it may not and the tool takes all the same."""
    if isinstance(one, TextTool) and one.args_schema is None:
        return {"type": "object", "properties": one.args, "required": list(one.args)}, []
    told = one.tool_call_schema
    if isinstance(told, dict):
        schema: Schema = told
        hidden: set[str] = set()
    elif issubclass(told, BaseModel):
        schema = told.model_json_schema()
        whole = one.get_input_schema()
        hidden = set(whole.model_fields) - set(told.model_fields)
    else:  # of pydantic 1
        schema, hidden = told.schema(), set()
    return schema, sorted(hidden | set(_unanswered(one, schema)))


def _unanswered(one: BaseTool, schema: Schema) -> Iterable[str]:
    """Parameters of the implementation that have no default, and that neither a model nor LangChain fills in."""
    function = getattr(one, "coroutine", None) or getattr(one, "func", None) or one._run  # noqa: SLF001 - as above
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return  # it is C code, which is injected nothing
    try:
        hints = typing.get_type_hints(function)
    except (AttributeError, NameError, TypeError):
        hints = {}
    for name, parameter in parameters.items():
        if (
            parameter.kind in {parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD}
            or parameter.default is not parameter.empty
        ):
            continue
        if (
            name not in schema.get("properties", {})
            and name not in _FRAMEWORKS
            and hints.get(name) is not RunnableConfig
        ):
            yield name


def _asked(name: str, arguments: Arguments) -> ToolCall:
    """The call. LangChain takes bare arguments for one of its own kind where their `type` is "tool_call"."""
    return ToolCall(name=name, args=arguments, id=None, type="tool_call")


def _content(name: str, answer: object) -> object:
    if isinstance(answer, ToolMessage):
        if answer.status == "error":
            raise ToolException(answer.content)
        return answer.content
    if isinstance(answer, ToolOutputMixin):
        msg = f"{name}() gives a {type(answer).__name__} to the loop of an agent, and there is none in a program"
        raise TypeError(msg)
    return answer
