"""Evaluations of Inspect run programs: a session for each sample, and what they did in its log."""

from __future__ import annotations

import asyncio
import gc
import runpy
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import inspect_ai
import pytest
from inspect_ai import Task
from inspect_ai.agent import react
from inspect_ai.dataset import Sample
from inspect_ai.log import EvalLog, EvalSample
from inspect_ai.model import (
    ChatMessage,
    ChatMessageTool,
    ChatMessageUser,
    GenerateConfig,
    ModelOutput,
    ModelUsage,
    get_model,
)
from inspect_ai.scorer import Score, Scorer, accuracy, scorer
from inspect_ai.solver import Generate, TaskState, basic_agent, solver, system_message, use_tools
from inspect_ai.tool import ToolCall, ToolChoice, ToolDef, ToolInfo

from codeact import Sandbox, action, tool
from codeact.integrations import Conversations, Interpreter
from codeact.integrations.inspect_ai import ProgramLog, run_python

pytestmark = [
    pytest.mark.filterwarnings("ignore:The 'initial' parameter is deprecated:DeprecationWarning"),  # for tenacity
    pytest.mark.filterwarnings(r"ignore:.*MemoryObject\w+Stream.__del__:pytest.PytestUnraisableExceptionWarning"),
]
"""What Inspect does: it leaves streams of anyio open at the end of an evaluation."""


@pytest.fixture(autouse=True, scope="module")
def _alone() -> Iterator[None]:
    """Without the clients of providers, which it would import for a sample where they are installed, for seconds."""
    with pytest.MonkeyPatch.context() as patch:
        for client in ("OPENAI", "ANTHROPIC"):
            patch.setattr(f"inspect_ai.model._assistant_internal._HAS_{client}", False, raising=False)
        yield
    gc.collect()  # what it leaves behind is found here, and not in somebody else's test


@tool
def get_charges(customer: str) -> list[int]:
    """The amounts that a customer was charged, in cents."""
    return [len(customer), 1900]


@action
def refund(charge: str) -> None:
    """Give a charge back."""


def scripted(*turns: tuple[str, ...], answer: str = "done") -> Any:
    """A model that asks for the programs of each turn, and then submits. Where one says {input}, it is the sample's."""

    def output(
        messages: list[ChatMessage], _tools: list[ToolInfo], _choice: ToolChoice, _config: GenerateConfig
    ) -> Any:
        asked = sum(message.role == "assistant" for message in messages)
        question = next(message.text for message in messages if isinstance(message, ChatMessageUser))
        if asked < len(turns):
            found = ModelOutput.for_tool_call("mockllm/model", "run_python", {})
            found.choices[0].message.tool_calls = [
                ToolCall(
                    id=f"{asked}.{n}", function="run_python", arguments={"code": code.replace("{input}", question)}
                )
                for n, code in enumerate(turns[asked])
            ]
        else:
            found = ModelOutput.for_tool_call("mockllm/model", "submit", {"answer": answer})
        # without it their mock model counts tokens, by a vocabulary that it fetches
        found.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
        return found

    return get_model("mockllm/model", custom_outputs=output)


@pytest.fixture
def evaluate(tmp_path: Path) -> Callable[..., EvalLog]:
    """Evaluates samples, a question each, and gives the log."""

    def evaluated(model: Any, solver: Any, *questions: str, **options: Any) -> EvalLog:
        samples = [Sample(input=question, target="done") for question in questions or ("what?",)]
        task = Task(dataset=samples, solver=solver, scorer=options.pop("scorer", None))
        [log] = inspect_ai.eval(task, model=model, log_dir=str(tmp_path), display="none", **options)
        assert log.status == "success", log.error
        return log

    return evaluated


COUNTS = "try:\n    x += 1\nexcept NameError:\n    x = 1\nx"


def samples(log: EvalLog) -> list[EvalSample]:
    return sorted(log.samples or [], key=lambda sample: (str(sample.id), sample.epoch))


def told(sample: EvalSample) -> list[str]:
    return [m.text for m in sample.messages if isinstance(m, ChatMessageTool) and m.function == "run_python"]


def test_an_agent_runs_programs_and_its_log_has_what_they_did(make, evaluate) -> None:
    conversations = Conversations(make([get_charges], actions=[refund]))
    model = scripted(("x = sum(tools.get_charges('c1'))\nx",), ("actions.refund('ch_1')\nx + 1",), ("y",))
    log = evaluate(model, react(prompt=conversations.instructions, tools=[run_python(conversations)]))
    [sample] = samples(log)
    first, second, third = told(sample)
    assert first == "ok after 1 tool call\nvalue: 1902"
    assert "proposed, to be decided outside: 1. refund(charge='ch_1')" in second
    assert "NameError" in third
    kept = sample.store_as(ProgramLog)
    assert kept.conversation == sample.uuid
    assert [program["ok"] for program in kept.programs] == [True, True, False]
    assert [call["name"] for call in kept.calls] == ["get_charges", "actions.refund"]
    assert [proposal["arguments"] for proposal in kept.proposals] == [{"charge": "ch_1"}]
    assert sum(event.event == "store" for event in sample.events) >= 3
    assert conversations.keys == ()


def test_each_sample_and_epoch_has_a_session_of_its_own(make, evaluate) -> None:
    conversations = Conversations(make())
    model = scripted(("import asyncio\nawait asyncio.sleep(0)\nseen = {input}",), ("seen",), ("secret = seen",))
    log = evaluate(model, react(tools=[run_python(conversations)]), "1", "2", "3", epochs=2, max_samples=6)
    assert [told(sample)[1] for sample in samples(log)] == [f"ok\nvalue: {n}" for n in (1, 1, 2, 2, 3, 3)]
    assert len({sample.store_as(ProgramLog).conversation for sample in samples(log)}) == 6
    assert conversations.keys == ()


def test_calls_of_one_turn_run_one_after_the_other(make, evaluate) -> None:
    model = scripted(tuple(f"import asyncio\nawait asyncio.sleep(0)\n{n}" for n in range(4)))
    log = evaluate(model, react(tools=[run_python(Conversations(make()))]))
    [sample] = samples(log)
    assert told(sample) == [f"ok\nvalue: {n}" for n in range(4)]
    assert len(sample.store_as(ProgramLog).programs) == 4


@pytest.mark.filterwarnings("ignore:.*basic_agent:DeprecationWarning")
def test_their_other_solvers_take_the_tool_too(make, evaluate) -> None:
    conversations = Conversations(make())
    python = run_python(conversations)
    agent = basic_agent(init=system_message(conversations.instructions), tools=[python])
    [sample] = samples(evaluate(scripted(("6 * 7",)), agent))
    assert told(sample) == ["ok\nvalue: 42"]

    @solver
    def once() -> Any:
        async def solve(state: TaskState, generate: Generate) -> TaskState:
            return await generate(state, tool_calls="single")

        return solve

    [sample] = samples(evaluate(scripted(("6 * 7",)), [use_tools(python), once()]))
    assert told(sample) == ["ok\nvalue: 42"]


def test_a_scorer_sees_what_was_proposed(make, evaluate) -> None:
    @scorer(metrics=[accuracy()])
    def proposes() -> Scorer:
        async def score(state: TaskState, _target: Any) -> Score:
            return Score(value=[proposal["name"] for proposal in state.store_as(ProgramLog).proposals] == ["refund"])

        return score

    conversations = Conversations(make(actions=[refund]))
    log = evaluate(
        scripted(("actions.refund('a')",), ("actions.refund('a')",), ("actions.refund('b')\n1 / 0",)),
        react(tools=[run_python(conversations)]),
        scorer=proposes(),
    )
    assert log.results is not None
    assert log.results.scores[0].metrics["accuracy"].value == 1.0


def test_a_sample_that_is_tried_again_begins_in_a_new_session(make, evaluate) -> None:
    conversations = Conversations(make())
    python = run_python(conversations)
    attempts: list[object] = []

    @solver
    def fails_once() -> Any:
        async def solve(state: TaskState, _generate: Generate) -> TaskState:
            attempts.append(await python(code=COUNTS))
            if len(attempts) == 1:
                msg = "once"
                raise RuntimeError(msg)
            return state

        return solve

    evaluate(scripted(), fails_once(), retry_on_error=1)
    assert attempts == ["ok\nvalue: 1", "ok\nvalue: 1"]
    assert conversations.keys == ()


def test_a_limit_of_the_sample_stops_the_program(make, evaluate) -> None:
    conversations = Conversations(make(timeout=60.0))
    model = scripted(("import asyncio\nawait asyncio.sleep(3600)",))
    [sample] = samples(evaluate(model, react(tools=[run_python(conversations)]), time_limit=1))
    assert sample.limit is not None
    assert sample.limit.type == "time"
    assert conversations.keys == ()


def test_an_interpreter_is_one_conversation_for_all(make, evaluate) -> None:
    with Interpreter(make()) as interpreter:
        model = scripted((COUNTS,))
        log = evaluate(model, react(tools=[run_python(interpreter)]), "1", "2", max_samples=1)
        assert sorted(told(sample)[0] for sample in samples(log)) == ["ok\nvalue: 1", "ok\nvalue: 2"]
        assert len(interpreter.results) == 2


def test_what_the_model_is_told_of_the_tool(make) -> None:
    conversations = Conversations(make([get_charges]))
    described = ToolDef(run_python(conversations))
    assert (described.name, described.description) == ("run_python", conversations.description)
    assert set(described.parameters.properties) == {"code"}
    assert described.viewer is not None
    shown = described.viewer(ToolCall(id="1", function="run_python", arguments={"code": "'''\n````\n'''"})).call
    assert shown is not None
    assert shown.content.startswith("`````python\n")


def test_outside_of_a_sample_conversations_cannot_be_told_apart(make) -> None:
    with pytest.raises(ValueError, match="in samples"):
        asyncio.run(run_python(Conversations(make()))(code="1"))  # type: ignore[arg-type]


def test_what_is_no_interpreter_is_refused() -> None:
    with pytest.raises(TypeError, match="expected an Interpreter or Conversations"):
        run_python(Sandbox())  # type: ignore[arg-type]


def test_the_example_runs(capsys, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(Path(__file__).parents[2] / "examples" / "with_inspect_ai.py"), run_name="__main__")
    assert "proposed: refund {'charge': 'ch_3'}" in capsys.readouterr().out
