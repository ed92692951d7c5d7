"""Tools of LangChain as tools and actions of a sandbox."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Annotated, Any

import pytest
from langchain_core.documents import Document
from langchain_core.messages import ToolMessage
from langchain_core.runnables import RunnableConfig, RunnableLambda
from langchain_core.tools import BaseTool, InjectedToolArg, StructuredTool, ToolException, tool
from langchain_core.tools import Tool as TextTool
from pydantic import BaseModel, Field
from pydantic.v1 import BaseModel as OldModel

from codeact import Outbox
from codeact.integrations.langchain import from_langchain

pytestmark = pytest.mark.filterwarnings("ignore:The default value of `allowed_objects`")  # an import of LangGraph's own

asked: list[Any] = []


class Window(BaseModel):
    days: int = Field(ge=1, description="How far back.")


MONTH = Window(days=30)


class Query(BaseModel):
    customer: str
    window: Window = MONTH
    limit: int | None = None


@tool(args_schema=Query)
def get_charges(customer: str, window: Window = MONTH, limit: int | None = None) -> list[dict[str, Any]]:
    """The charges of a customer."""
    asked.append((customer, window, limit))
    return [{"id": "ch_1", "amount": window.days}]


@tool
async def find(words: str) -> list[Document]:
    """Find documents."""
    await asyncio.sleep(0)
    return [Document(page_content=words, metadata={"n": 1})]


@tool(response_format="content_and_artifact")
def both(n: int) -> tuple[str, list[int]]:
    """A text, and what is behind it."""
    return f"{n} rows", list(range(n))


@tool
def refund(charge: str, amount: float) -> str:
    """Give a charge back."""
    asked.append(("refund", charge, amount))
    return f"re_{charge}"


@tool
def away() -> str:
    """Never there."""
    msg = "the shop is closed"
    raise ToolException(msg)


schema = {
    "title": "lookup",
    "type": "object",
    "properties": {"user-id": {"type": "string"}, "deep": {"type": "boolean", "default": False}},
    "required": ["user-id"],
}
lookup = StructuredTool.from_function(
    lambda **arguments: arguments, name="look-up", description="Look up.", args_schema=schema, infer_schema=False
)


class Halves(BaseTool):
    """A tool as a class, with both implementations."""

    name: str = "halve"
    description: str = "Half of a number."

    def _run(self, number: float) -> float:
        raise AssertionError

    async def _arun(self, number: float) -> float:
        return number / 2


@pytest.fixture
def grants(make):
    """Makes a sandbox of tools of LangChain that all only read."""

    def grants(*tools: BaseTool) -> Any:
        return make(from_langchain(tools, reads=[each.name for each in tools]).tools)

    return grants


@tool
def kinds(type: str) -> str:  # noqa: A002 - the name that LangChain looks for
    """What there is of a type."""
    return f"no {type}"


def test_an_argument_that_looks_like_a_call_of_langchain_is_an_argument(grants) -> None:
    assert grants(kinds).run("tools.kinds(type='tool_call')").value == "no tool_call"


def test_arguments_are_those_of_the_schema(grants) -> None:
    sandbox = grants(get_charges)
    asked.clear()
    assert sandbox.run("tools.get_charges('c1', {'days': 7})[0]['amount']").value == 7
    assert sandbox.run("tools.get_charges(customer='c2', limit=3)").ok
    assert asked == [("c1", Window(days=7), None), ("c2", Window(days=30), 3)]
    assert sandbox.tools["get_charges"].doc == "The charges of a customer."


def test_arguments_that_do_not_fit_are_told_before_the_tool_is_called(grants) -> None:
    asked.clear()
    sandbox = grants(get_charges)
    wrong = sandbox.run("tools.get_charges('c1', {'days': 0})")
    assert (wrong.ok, wrong.error.type) == (False, "TypeError")
    assert "days" in wrong.error.message
    assert not sandbox.run("tools.get_charges()").ok
    assert asked == []


def test_an_async_tool_is_awaited(grants) -> None:
    result = grants(find, Halves()).run("import asyncio\nawait asyncio.gather(tools.find('a'), tools.halve(3))")
    documents, half = result.value
    assert documents[0]["page_content"] == "a"
    assert half == 1.5


def test_in_the_loop_of_the_host(grants) -> None:
    async def run() -> Any:
        return (await grants(find).run_async("(await tools.find('b'))[0].metadata")).value

    assert asyncio.run(run()) == {"n": 1}


def test_a_tool_of_a_json_schema_has_names_that_python_takes(grants) -> None:
    sandbox = grants(lookup)
    assert sandbox.run("tools.look_up('u1')").value == {"user-id": "u1", "deep": False}
    assert sandbox.run("tools.look_up(user_id='u1', deep=True)").value == {"user-id": "u1", "deep": True}


def test_a_tool_of_the_first_pydantic(grants) -> None:
    class Old(OldModel):
        words: str
        top: int = 2

    old = StructuredTool.from_function(
        lambda words, top=1: words * top, name="old", description="Old.", args_schema=Old
    )
    assert grants(old).run("tools.old('a', top=3)").value == "aaa"


def test_a_tool_of_code_that_has_no_signature(grants) -> None:
    class One(BaseModel):
        real: float

    made = StructuredTool.from_function(complex, name="made", description="A number.", args_schema=One)
    assert grants(made).run("tools.made(2.0)").error.type == "ToolError"  # what it gives does not cross


def test_a_tool_of_one_text(grants) -> None:
    upper = TextTool("upper", str.upper, "Upper case.")
    assert grants(upper).run("tools.upper('a')").value == "A"


def test_content_is_for_the_program_and_the_artifact_is_not(grants) -> None:
    assert grants(both).run("tools.both(2)").value == "2 rows"


@pytest.mark.parametrize("handled", [False, True, "Try later."])
def test_a_tool_exception_is_raised_inside(grants, handled) -> None:
    away.handle_tool_error = handled
    failed = grants(away).run("tools.away()")
    assert failed.error.type == "ToolError"
    assert "ToolException: the shop is closed" in failed.error.message
    assert away.handle_tool_error is handled


def test_a_message_of_failure_is_raised_too_and_what_is_for_a_loop_is_refused(grants) -> None:
    from langgraph.types import Command  # noqa: PLC0415 - where its warning is not heard

    @tool
    def told(status: str) -> Any:
        """A message."""
        return ToolMessage("so it is", tool_call_id="1", status=status)

    assert grants(told).run("tools.told('success')").value == "so it is"
    assert "ToolException: so it is" in grants(told).run("tools.told('error')").error.message

    @tool
    def steers() -> Any:
        """Go elsewhere."""
        return Command(goto="end")

    assert "gives a Command to the loop" in grants(steers).run("tools.steers()").error.message


def test_what_is_not_said_to_read_is_proposed(make) -> None:
    asked.clear()
    found = from_langchain([get_charges, refund, find], reads=["get_charges"])
    assert [each.name for each in found.tools] == ["get_charges"]
    assert [each.name for each in found.actions] == ["refund", "find"]
    sandbox, outbox = make(found.tools, actions=found.actions), Outbox(":memory:", actions=found.actions)
    result = sandbox.run("actions.refund('ch_1', tools.get_charges('c1')[0]['amount'])")
    assert [str(each) for each in result.proposals] == ["refund(charge='ch_1', amount=30.0)"]
    assert len(asked) == 1
    (entry,) = outbox.submit(result, task="t")
    outbox.approve(entry.id, digest=entry.digest, by="me")
    assert [each.state for each in outbox.perform()] == ["done"]
    assert asked[1:] == [("refund", "ch_1", 30.0)]


def test_what_a_loop_injects_no_program_may_give() -> None:
    @tool
    def mine(words: str, user: Annotated[str, InjectedToolArg]) -> str:
        """Of a user."""
        return user

    @tool
    def ours(words: str, user: Annotated[str | None, InjectedToolArg] = None) -> str:
        """Of a user, or of all."""
        return str(user)

    def hidden(words: str, state: dict[str, Any]) -> str:
        """Of a state."""
        return words

    bare = {"title": "hidden", "type": "object", "properties": {"words": {"type": "string"}}, "required": ["words"]}
    unsaid = StructuredTool.from_function(hidden, description="Of a state.", args_schema=bare, infer_schema=False)
    for each, name in ((mine, "user"), (ours, "user"), (unsaid, "state")):
        with pytest.raises(ValueError, match=f"takes {name}, which is injected"):
            from_langchain([each], reads=[each.name])


def test_the_state_and_runtime_of_langgraph_are_injected() -> None:
    prebuilt = pytest.importorskip("langgraph.prebuilt")

    def stateful(words: str, state: Any) -> str:
        """Of the state."""
        return words

    stateful.__annotations__["state"] = Annotated[dict[str, Any], prebuilt.InjectedState]
    with pytest.raises(ValueError, match="takes state"):
        from_langchain([StructuredTool.from_function(stateful)])
    if not hasattr(prebuilt, "ToolRuntime"):
        return

    def running(words: str, runtime: Any) -> str:
        """Of the runtime."""
        return words

    running.__annotations__["runtime"] = prebuilt.ToolRuntime
    with pytest.raises(ValueError, match="takes runtime"):
        from_langchain([StructuredTool.from_function(running)])


def test_a_configuration_is_that_of_the_run_and_not_the_programs(grants) -> None:
    @tool
    def who(words: str, config: RunnableConfig) -> str:
        """Who asks."""
        return str(config.get("configurable", {}).get("user"))

    sandbox = grants(who)
    assert sandbox.run("tools.who('a')").value == "None"
    within = RunnableLambda(lambda program: sandbox.run(program).value)
    assert within.invoke("tools.who('a')", {"configurable": {"user": "ada"}}) == "ada"
    assert not sandbox.run("tools.who('a', config={'configurable': {'user': 'root'}})").ok


def test_the_host_is_told_what_it_did_wrong() -> None:
    with pytest.raises(TypeError, match="expected tools of LangChain"):
        from_langchain([print])
    with pytest.raises(TypeError, match="reads='refund'"):
        from_langchain([refund], reads="refund")
    with pytest.raises(ValueError, match="there is no tool 'pay'; there are: refund"):
        from_langchain([refund], reads=["pay"])
    with pytest.raises(ValueError, match="would both be named"):
        from_langchain([refund, refund])
    broken = StructuredTool.from_function(
        print, name="broken", description="No object.", args_schema={"type": "string"}, infer_schema=False
    )
    with pytest.raises(ValueError, match="tool 'broken'"):
        from_langchain([broken])

    class Calls(BaseModel):
        back: Callable[[int], int]

    unsaid = StructuredTool.from_function(print, name="unsaid", description="Calls back.", args_schema=Calls)
    with pytest.raises(ValueError, match="tool 'unsaid': its arguments have no JSON Schema"):
        from_langchain([unsaid])
