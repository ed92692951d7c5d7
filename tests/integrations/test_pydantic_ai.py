"""Agents of Pydantic AI run programs, which call its tools."""

from __future__ import annotations

import asyncio
import functools
import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel
from pydantic_ai import Agent, FunctionToolset, ModelRetry, RunContext, ToolReturn
from pydantic_ai.messages import (
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelResponse,
    RetryPromptPart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.models.test import TestModel
from pydantic_ai.tools import ToolDefinition
from pydantic_ai.toolsets import ExternalToolset

from codeact import Limits, Outbox, Sandbox
from codeact.integrations import Conversations, Interpreter
from codeact.integrations.pydantic_ai import ProgramToolset, run_python


class Scripted:
    """A model that asks for programs, some in one turn, and then says that it is done."""

    def __init__(self, *turns: str | tuple[str, ...]) -> None:
        self.turns = [turn if isinstance(turn, tuple) else (turn,) for turn in turns]
        self.told: list[AgentInfo] = []
        self.model = FunctionModel(self.answer)

    def answer(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        self.told.append(info)
        asked = sum(isinstance(message, ModelResponse) for message in messages[self.before(messages) :])
        if asked == len(self.turns):
            return ModelResponse([TextPart("done")])
        return ModelResponse([ToolCallPart("run_python", {"code": code}) for code in self.turns[asked]])

    @staticmethod
    def before(messages: list[ModelMessage]) -> int:
        """Messages of earlier runs."""
        return 1 + max(
            (n for n, message in enumerate(messages) if any(isinstance(part, TextPart) for part in message.parts)),
            default=-1,
        )


def talk(agent: Agent[Any, Any], *args: Any, **options: Any) -> Any:
    """One run. (Theirs without `await` leaves an event loop behind, which is a warning here.)"""
    return asyncio.run(agent.run(*args, **options))


def returned(result: Any) -> list[ToolReturnPart]:
    return [part for message in result.all_messages() for part in message.parts if isinstance(part, ToolReturnPart)]


class Charge(BaseModel):
    """A charge."""

    id: str
    cents: int


def charges() -> FunctionToolset[dict[str, list[Charge]]]:
    toolset: FunctionToolset[dict[str, list[Charge]]] = FunctionToolset()

    @toolset.tool
    async def get_charges(ctx: RunContext[dict[str, list[Charge]]], customer: str, most: int = 10) -> list[Charge]:
        """The charges of a customer."""
        if customer not in ctx.deps:
            msg = f"there is no customer {customer}"
            raise ModelRetry(msg)
        await asyncio.sleep(0)
        return ctx.deps[customer][:most]

    @toolset.tool
    def who(ctx: RunContext[Any]) -> list[object]:
        """What the tool knows of its call."""
        return [ctx.tool_name, ctx.tool_call_id is not None, ctx.conversation_id]

    return toolset


DEPS = {"c1": [Charge(id="ch_1", cents=1200), Charge(id="ch_2", cents=1900)]}


@pytest.fixture
def makes(engine: str) -> Callable[..., Any]:
    """Makes what makes interpreters on the engine in turn, and keeps them."""

    def made(keep: list[Interpreter] | None = None, **options: Any) -> Callable[..., Interpreter]:
        sandbox = functools.partial(Sandbox, engine=engine, limits=Limits(timeout=20.0))

        def make(tools: Any, actions: Any) -> Interpreter:
            found = Interpreter(sandbox(tools, actions=actions), **options)
            if keep is not None:
                keep.append(found)
            return found

        return make

    return made


# --- the tool -----------------------------------------------------------------------------------------------------------


def test_an_agent_runs_programs_and_is_told_of_the_place(make) -> None:
    script = Scripted("x = 6 * 7\nx", "x + 1", "y")
    with Interpreter(make()) as interpreter:
        done = talk(Agent(script.model, toolsets=[run_python(interpreter)]), "go")
        assert [result.value for result in interpreter.results] == [42, 43, None]
    told = returned(done)
    assert told[0].content == "ok\nvalue: 42"
    assert "did you mean" in told[2].content or "NameError" in told[2].content
    assert told[0].metadata["run"] == interpreter.results[0].run
    assert [tool.name for tool in script.told[0].function_tools] == ["run_python"]
    assert script.told[0].function_tools[0].description == interpreter.description
    assert interpreter.instructions in script.told[0].instructions


def test_calls_of_one_turn_run_one_after_the_other(make) -> None:
    script = Scripted(tuple(f"import asyncio\nawait asyncio.sleep(0)\nseen{n} = {n}\n{n}" for n in range(4)))
    with Interpreter(make()) as interpreter:
        done = talk(Agent(script.model, toolsets=[run_python(interpreter)]), "go")
    assert sorted(part.content for part in returned(done)) == [f"ok\nvalue: {n}" for n in range(4)]


def test_conversations_are_told_apart_by_their_id(make) -> None:
    with Conversations(make()) as conversations:
        agent = Agent(Scripted("secret = 1").model, toolsets=[run_python(conversations)])
        first = talk(agent, "one", conversation_id="one")
        agent = Agent(Scripted("secret").model, toolsets=[run_python(conversations)])
        other = talk(agent, "two", conversation_id="two")
        on = talk(agent, "on", message_history=first.all_messages())
        assert conversations.keys == ("one", "two")
    assert "NameError" in returned(other)[-1].content
    assert returned(on)[-1].content == "ok\nvalue: 1"


def test_a_history_can_be_stored_whatever_a_program_gives(make) -> None:
    script = Scripted("{'wide': 2 ** 70, 'half': '\\ud800', 'not a number': float('nan')}")
    with Interpreter(make()) as interpreter:
        done = talk(Agent(script.model, toolsets=[run_python(interpreter)]), "go")
    assert ModelMessagesTypeAdapter.validate_json(ModelMessagesTypeAdapter.dump_json(done.all_messages()))


def test_their_test_model_calls_it(make) -> None:
    with Interpreter(make()) as interpreter:
        done = talk(Agent(TestModel(), toolsets=[run_python(interpreter)]), "go")
    assert "NameError" in returned(done)[0].content


def test_cancelling_the_agent_stops_the_program(make) -> None:
    async def cancelled() -> object:
        begun = asyncio.Event()

        async def begin() -> None:
            """Say that it runs."""
            begun.set()

        with Interpreter(make([begin], timeout=60.0)) as interpreter:
            agent = Agent(Scripted("await tools.begin()\nwhile True: pass").model, toolsets=[run_python(interpreter)])
            running = asyncio.create_task(agent.run("go"))
            await begun.wait()
            running.cancel()
            with pytest.raises(asyncio.CancelledError):
                await running
            return (await interpreter.run_async("1")).value

    assert asyncio.run(asyncio.wait_for(cancelled(), 30)) == 1


# --- tools in programs --------------------------------------------------------------------------------------------------


def test_programs_call_a_toolset_with_the_dependencies_of_the_run(makes) -> None:
    made: list[Interpreter] = []
    script = Scripted(
        "import asyncio\nsums = [sum(c.cents for c in got) for got in await asyncio.gather("
        "*[tools.get_charges('c1', most=n) for n in range(3)])]\nsums",
        "await tools.who()",
    )
    agent = Agent(
        script.model,
        deps_type=dict[str, list[Charge]],
        toolsets=[ProgramToolset(charges(), makes(made), reads=["get_charges", "who"])],
    )
    done = talk(agent, "go", deps=DEPS, conversation_id="talk")
    results = made[0].results
    assert [result.value for result in results] == [[0, 1200, 3100], ["who", True, "talk"]]
    assert [call.name for call in results[0].calls] == ["get_charges"] * 3
    assert [tool.name for tool in script.told[0].function_tools] == ["run_python"]
    assert "get_charges(self, customer: str, most: int = 10)" in script.told[0].instructions
    assert returned(done)[0].metadata["calls"][0]["name"] == "get_charges"


def test_a_retry_and_bad_arguments_are_errors_inside(makes) -> None:
    made: list[Interpreter] = []
    script = Scripted("await tools.get_charges('c9')", "await tools.get_charges(9)")
    toolset = ProgramToolset(charges(), makes(made), reads=["get_charges"])
    talk(Agent(script.model, deps_type=dict[str, list[Charge]], toolsets=[toolset]), "go", deps=DEPS)
    retried, refused = (result.error for result in made[0].results)
    assert retried is not None and "ModelRetry: there is no customer c9" in retried.message  # noqa: PT018 - for the type
    assert refused is not None and "customer should be a valid string" in refused.message  # noqa: PT018 - for the type


sent: list[str] = []


def sends(*, requires_approval: bool = False, sequential: bool = False) -> FunctionToolset[Any]:
    toolset: FunctionToolset[Any] = FunctionToolset(requires_approval=requires_approval, sequential=sequential)

    @toolset.tool_plain(name="send-text")
    def send(text: str) -> ToolReturn[str]:
        """Send a text."""
        sent.append(text)
        return ToolReturn(f"sent {text}", content="for the model alone")

    return toolset


@pytest.mark.parametrize(
    "wrapped",
    [sends, functools.partial(sends, requires_approval=True), lambda: sends().approval_required()],
    ids=["plain", "approved", "approved by a toolset"],
)
def test_what_is_not_among_reads_is_proposed_and_performed_outside(makes, wrapped) -> None:
    sent.clear()
    made: list[Interpreter] = []
    outboxes: list[Outbox] = []

    def make(tools: Any, actions: Any) -> Interpreter:
        outboxes.append(Outbox(":memory:", actions=actions))
        return makes(made, outbox=outboxes[0], task="T-1")(tools, actions)

    toolset = ProgramToolset(wrapped(), make)
    done = talk(Agent(Scripted("actions.send_text('hello')").model, toolsets=[toolset]), "go")
    assert "proposed, to be decided outside: 1. send_text(text='hello')" in returned(done)[0].content
    assert sent == []
    [entry] = made[0].entries
    outboxes[0].approve(entry.id, digest=entry.digest, by="a person")
    [performed] = outboxes[0].perform()
    assert (sent, performed.value) == (["hello"], "sent hello")


def test_what_needs_approval_cannot_be_a_tool(makes) -> None:
    agent = Agent(
        Scripted("1").model, toolsets=[ProgramToolset(sends(requires_approval=True), makes(), reads=["send-text"])]
    )
    with pytest.raises(ValueError, match="needs approval"):
        talk(agent, "go")


def test_an_approval_that_is_asked_for_in_a_call_is_an_error_inside(makes) -> None:
    sent.clear()
    made: list[Interpreter] = []
    toolset = ProgramToolset(sends().approval_required(), makes(made), reads=["send-text"])
    talk(Agent(Scripted("await tools.send_text('hello')").model, toolsets=[toolset]), "go")
    assert "needs an approval" in made[0].results[0].error.message
    assert sent == []


def test_what_is_performed_elsewhere_is_proposed(makes) -> None:
    made: list[Interpreter] = []
    schema = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
    toolset = ProgramToolset(ExternalToolset([ToolDefinition(name="ask", parameters_json_schema=schema)]), makes(made))
    talk(Agent(Scripted("actions.ask('really?')").model, toolsets=[toolset]), "go")
    assert [str(proposal) for proposal in made[0].proposals] == ["ask(text='really?')"]


def test_what_is_to_run_alone_does(makes) -> None:
    made: list[Interpreter] = []
    now: list[str] = []
    toolset: FunctionToolset[Any] = FunctionToolset(sequential=True)

    @toolset.tool_plain
    async def step(name: str) -> int:
        """One step."""
        now.append(name)
        await asyncio.sleep(0.005)
        at_once = len(now)
        now.remove(name)
        return at_once

    code = "import asyncio\nawait asyncio.gather(*[tools.step(str(n)) for n in range(4)])"
    talk(Agent(Scripted(code).model, toolsets=[ProgramToolset(toolset, makes(made), reads=["step"])]), "go")
    assert made[0].results[0].value == [1, 1, 1, 1]


def test_runs_at_the_same_time_share_nothing(makes) -> None:
    made: list[Interpreter] = []
    agent = Agent(
        Scripted("x = 1", "x").model, toolsets=[ProgramToolset(charges(), makes(made), reads=["get_charges"])]
    )

    async def both() -> None:
        await asyncio.gather(agent.run("one", deps=DEPS), agent.run("two", deps=DEPS))

    asyncio.run(both())
    assert [[result.value for result in one.results] for one in made] == [[None, 1], [None, 1]]


def test_tools_may_come_while_a_run_goes_on(makes) -> None:
    made: list[Interpreter] = []

    def is_there(ctx: RunContext[Any], definition: ToolDefinition) -> bool:
        return definition.name != "who" or ctx.run_step > 1

    toolset = ProgramToolset(charges().filtered(is_there), makes(made), reads=["get_charges", "who"])
    script = Scripted("x = len(await tools.get_charges('c1'))\nx", "[x, (await tools.who())[0]]")
    talk(Agent(script.model, deps_type=dict[str, list[Charge]], toolsets=[toolset]), "go", deps=DEPS)
    assert [result.value for result in made[0].results] == [2, [2, "who"]]


def test_a_call_without_a_program_is_the_models_to_mend(make) -> None:
    asked: list[ModelMessage] = []

    def answer(messages: list[ModelMessage], _: AgentInfo) -> ModelResponse:
        asked.extend(messages[-1:])
        return ModelResponse([ToolCallPart("run_python", {"cod": "1"}) if len(messages) == 1 else TextPart("done")])

    with Interpreter(make()) as interpreter:
        talk(Agent(FunctionModel(answer), toolsets=[run_python(interpreter)]), "go")
    assert interpreter.results == ()
    assert any(isinstance(part, RetryPromptPart | ToolReturnPart) for part in asked[-1].parts)


def test_reads_is_no_text() -> None:
    with pytest.raises(TypeError, match=r"reads='who'"):
        ProgramToolset(charges(), reads="who")


def test_the_example_runs(capsys) -> None:
    runpy.run_path(str(Path(__file__).parents[2] / "examples" / "with_pydantic_ai.py"), run_name="__main__")
    assert "done: refund(charge='ch_3')" in capsys.readouterr().out
