"""What DSPy asks of a `CodeInterpreter`, on both engines, and its modules with one.

DSPy ships no suite for interpreters. What it says in `dspy.primitives.code_interpreter`, what its repository's tests ask of its
own interpreters, and what the checks of `dspy-interpreters` ask, which is in no registry, is asked here in words of our own.
"""

from __future__ import annotations

import asyncio
import contextvars
import functools
import runpy
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import dspy
import pytest
from dspy.primitives.code_interpreter import CodeExecutionError, CodeInterpreter, CodeInterpreterError, FinalOutput
from dspy.utils.dummies import DummyLM

from codeact import Allow, Limits, Outbox, Sandbox
from codeact.integrations import Interpreter
from codeact.integrations.dspy import LM_CALLS, SUB_AGENTS, SandboxInterpreter, factory


@pytest.fixture
def makes(engine: str) -> Callable[..., Any]:
    """Makes what makes interpreters on the engine in turn; keyword arguments are limits."""

    def made(**limits: Any) -> Callable[..., Interpreter]:
        sandbox = functools.partial(Sandbox, engine=engine, limits=Limits(**{"timeout": 20.0, **limits}))
        return lambda tools, actions: Interpreter(sandbox(tools, actions=actions))

    return made


@pytest.fixture
def interpreter(makes) -> Iterator[SandboxInterpreter]:
    """An interpreter whose tools called `read…` or `tool` only read."""
    with SandboxInterpreter(make=makes(), reads=["tool", "other", "read", *LM_CALLS]) as made:
        yield made


# --- what is asked of an interpreter ------------------------------------------------------------------------------------


def test_it_is_what_the_protocol_asks_for(interpreter) -> None:
    assert isinstance(interpreter, CodeInterpreter)
    assert interpreter.tools == {}
    assert interpreter.execution_instructions == factory().execution_instructions != ""


def test_it_may_be_started_or_not_and_more_than_once(interpreter) -> None:
    assert interpreter.execute("40 + 2") == 42
    interpreter.start()
    interpreter.start()
    assert interpreter("40 + 2") == 42


@pytest.mark.parametrize(
    ("code", "given"),
    [
        ("print('printed')", "printed"),
        ("print('two')\nprint('lines')", "two\nlines"),
        ("6 * 7", 42),
        ("{'a': [1, None, 2.5]}", {"a": [1, None, 2.5]}),
        ("import math\nmath.sqrt(4)", 2.0),
        ("values = [3, 8]\ndef total(): return sum(values)", None),
        ("{1} | {2}", "{1, 2}"),
        ("from decimal import Decimal\nDecimal('1.5')", "Decimal('1.5')"),
        ("[16**5000]", repr([hex(16**5000)])),
        ("'\\ud800'", "'\\ud800'"),
    ],
)
def test_a_program_gives_its_value_or_what_it_printed(interpreter, code, given) -> None:
    assert interpreter.execute(code) == given


def test_names_that_programs_have_bound_do_not_keep_variables_away(interpreter) -> None:
    interpreter.tools["tool"] = lambda: 7
    interpreter.execute("tools = tool = NameError = 1")
    assert interpreter.execute("tool() + given", {"given": 1}) == 8


def test_what_is_more_than_one_thing_is_told_whole(interpreter) -> None:
    told = interpreter.execute("print('printed')\n6 * 7")
    assert "printed" in told
    assert "value: 42" in told


def test_names_stay_and_variables_come_with_each_program(interpreter) -> None:
    interpreter.execute("kept = 41\ndef more(): return kept + 1")
    assert interpreter.execute("more()") == 42
    assert interpreter.execute("given + kept", {"given": 1}) == 42
    assert interpreter.execute("given = 'lost'\ngiven", {"given": 2}) == "lost"
    assert interpreter.execute("given", {"given": 2}) == 2


def test_instances_share_nothing(makes) -> None:
    with SandboxInterpreter(make=makes()) as one, SandboxInterpreter(make=makes()) as other:
        one.execute("private = 1")
        with pytest.raises(CodeExecutionError, match="private"):
            other.execute("private")


def test_what_a_model_can_mend_is_told_and_the_next_program_runs(interpreter) -> None:
    with pytest.raises(SyntaxError, match="line 1"):
        interpreter.execute("if")
    with pytest.raises(CodeExecutionError, match="ZeroDivisionError") as met:
        interpreter.execute("ok = 1\n1 / 0")
    assert "line 2: 1 / 0" in str(met.value)
    assert interpreter.execute("ok") == 1


def test_a_program_that_is_stopped_can_be_mended_too(makes) -> None:
    with SandboxInterpreter(make=makes(timeout=0.7)) as interpreter:
        with pytest.raises(CodeExecutionError, match="limit"):
            interpreter.execute("while True: pass")
        assert interpreter.execute("given", {"given": 1}) == 1


@pytest.mark.parametrize("operation", ["start", "execute"])
def test_shutting_down_is_the_end(makes, operation) -> None:
    interpreter = SandboxInterpreter(make=makes())
    interpreter.execute("1")
    interpreter.shutdown()
    interpreter.shutdown()
    with pytest.raises(CodeInterpreterError, match="shut down") as met:
        getattr(interpreter, operation)(*["1"] * (operation == "execute"))
    assert not isinstance(met.value, CodeExecutionError)
    assert len(interpreter.interpreter.results) == 1


# --- tools --------------------------------------------------------------------------------------------------------------


def test_a_tool_is_called_by_name_with_arguments_either_way(interpreter) -> None:
    seen: list[tuple[int, int]] = []

    def tool(left: int, right: int = 1) -> dict[str, int]:
        seen.append((left, right))
        return {"value": left + right}

    interpreter.tools["tool"] = tool
    assert interpreter.execute("tool(left=19, right=23)['value'] + tool(1)['value'] + tool(2, right=3)['value']") == 49
    assert seen == [(19, 23), (1, 1), (2, 3)]


def test_a_tool_without_annotations_takes_anything(interpreter) -> None:
    def tool(first, *rest, scale=1, **extras):
        return (first + sum(rest) + sum(extras.values())) * scale

    interpreter.tools["tool"] = tool
    assert interpreter.execute("tool(2, 7, 11, scale=3, extra=5)") == 75


def test_tools_may_come_and_go_while_names_stay(interpreter) -> None:
    interpreter.execute("kept = 42")
    interpreter.tools["tool"] = lambda: 1
    assert interpreter.execute("old = tool\ntool()") == 1
    interpreter.tools.clear()
    interpreter.tools["other"] = lambda: 2
    assert interpreter.execute("kept + other()") == 44
    for gone in ("tool()", "old()", "tools.tool()"):
        with pytest.raises(CodeExecutionError):
            interpreter.execute(gone)


def test_a_tool_may_become_another_one(interpreter) -> None:
    interpreter.tools["tool"] = lambda x, scale=3: x * scale
    assert interpreter.execute("tool(7, scale=4)") == 28
    interpreter.tools["tool"] = lambda x, scale=3: x + scale
    assert interpreter.execute("tool(7)") == 10
    interpreter.tools["tool"] = lambda text, times: text * times
    assert interpreter.execute("tool(text='a', times=2)") == "aa"


def test_a_tool_that_fails_can_be_caught(interpreter) -> None:
    interpreter.tools["tool"] = lambda: 1 / 0
    assert interpreter.execute("try:\n    tool()\nexcept Exception:\n    print('caught')") == "caught"
    with pytest.raises(CodeExecutionError, match="ZeroDivisionError"):
        interpreter.execute("tool()")


def test_an_async_tool_is_waited_for_in_the_hosts_context(interpreter) -> None:
    marker = contextvars.ContextVar("marker", default="missing")

    async def tool(value: int) -> list[Any]:
        await asyncio.sleep(0)
        return [value * 3, marker.get()]

    async def execute() -> object:
        marker.set("visible")
        return interpreter.execute("tool(7)")

    interpreter.tools["tool"] = tool
    assert asyncio.run(execute()) == [21, "visible"]


def test_programs_cannot_spoil_what_the_interpreter_brings(interpreter) -> None:
    interpreter.tools["tool"] = lambda: 1
    interpreter.execute("tools = tool = SUBMIT = None")
    assert interpreter.execute("tool()", {"given": 1}) == 1
    assert interpreter.execute("SUBMIT(42)") == FinalOutput({"output": 42})


@pytest.mark.parametrize("name", ["not-valid", "class", "SUBMIT", "__"])
def test_a_tool_needs_a_name_of_its_own(interpreter, name) -> None:
    interpreter.tools[name] = lambda: 1
    with pytest.raises(CodeInterpreterError) as met:
        interpreter.execute("1")
    assert not isinstance(met.value, CodeExecutionError)
    interpreter.tools.clear()
    assert interpreter.execute("6 * 7") == 42


@pytest.mark.parametrize("name", ["class", "not-valid", "SUBMIT", "tool"])
def test_a_variable_needs_a_name_of_its_own(interpreter, name) -> None:
    interpreter.tools["tool"] = lambda: 1
    with pytest.raises(CodeInterpreterError, match=name):
        interpreter.execute("1", {name: 1})
    assert interpreter.execute("tool()") == 1


def test_a_variable_that_cannot_go_in_is_the_hosts_mistake(interpreter) -> None:
    with pytest.raises(CodeInterpreterError, match=r"variables\['given'\]") as met:
        interpreter.execute("1", {"given": object()})
    assert not isinstance(met.value, CodeExecutionError)


def test_variables_are_too_large_together(makes) -> None:
    with SandboxInterpreter(make=makes(value_bytes=1_000_000)) as interpreter:
        half = "x" * 600_000
        assert interpreter.execute("len(one)", {"one": half}) == len(half)
        with pytest.raises(CodeInterpreterError, match="variables"):
            interpreter.execute("1", {"other": half})
        assert interpreter.execute("len(one)") == len(half)


def test_a_proposal_of_an_async_tool_is_performed_in_a_loop_or_without(makes) -> None:
    sent: list[str] = []
    outboxes: list[Outbox] = []

    async def send(text: str) -> None:
        await asyncio.sleep(0)
        sent.append(text)

    def make(tools: Any, actions: Any) -> Interpreter:
        outboxes.append(Outbox(":memory:", actions=actions, rules=[Allow("send")]))
        return Interpreter(makes()(tools, actions).sandbox, outbox=outboxes[0], task="T-1")

    with SandboxInterpreter({"send": send}, make=make) as interpreter:
        interpreter.execute("send('one')")
        outboxes[0].perform()
        interpreter.execute("send('two')")
        asyncio.run(outboxes[0].perform_async())
    assert sent == ["one", "two"]


# --- what ends it -------------------------------------------------------------------------------------------------------


def test_submit_takes_one_value_or_the_fields(interpreter) -> None:
    assert interpreter.execute("SUBMIT(42)") == FinalOutput({"output": 42})
    interpreter.output_fields = [{"name": "answer", "type": "str"}, {"name": "score", "type": "int"}]
    both = FinalOutput({"answer": "yes", "score": 42})
    assert interpreter.execute("SUBMIT(answer='yes', score=42)") == both
    assert interpreter.execute("SUBMIT('yes', 42)") == both
    for wrong in ("SUBMIT('yes')", "SUBMIT(wrong=0)", "SUBMIT('yes', 42, 0)"):
        with pytest.raises(CodeExecutionError, match="SUBMIT"):
            interpreter.execute(wrong)
    assert interpreter.execute("6 * 7") == 42


def test_nothing_is_run_after_submit(interpreter) -> None:
    calls: list[int] = []
    interpreter.tools["tool"] = lambda: calls.append(1)
    code = "def end():\n    try:\n        SUBMIT(1)\n    except Exception:\n        tool()\nend()\ntool()"
    assert interpreter.execute(code) == FinalOutput({"output": 1})
    assert calls == []
    assert interpreter.execute("SUBMIT(2)") == FinalOutput({"output": 2})


def test_what_is_submitted_can_be_written_as_json(interpreter) -> None:
    submitted = interpreter.execute("from decimal import Decimal\nSUBMIT({'a': (1, {2}), 'b': Decimal('1.5')})")
    assert submitted == FinalOutput({"output": {"a": [1, [2]], "b": "1.5"}})


# --- consequences -------------------------------------------------------------------------------------------------------


def test_a_tool_that_is_not_among_reads_is_proposed(interpreter) -> None:
    sent: list[str] = []

    def send(text: str) -> None:
        sent.append(text)

    interpreter.tools["send"] = send
    assert "proposed, to be decided outside: 1. send(text='hello')" in interpreter.execute("send('hello')")
    assert sent == []
    assert [proposal.name for proposal in interpreter.interpreter.proposals] == ["send"]


# --- modules ------------------------------------------------------------------------------------------------------------


def add(left: int, right: int) -> int:
    """Their sum."""
    return left + right


def test_rlm_finds_its_answer(makes) -> None:
    made: list[Interpreter] = []

    def make(tools: Any, actions: Any) -> Interpreter:
        made.append(makes()(tools, actions))
        return made[-1]

    rlm = dspy.RLM(
        "question: str, context: str -> answer: str, score: int",
        tools=[add],
        max_iters=4,
        sub_lm=lambda prompt: [f"{prompt}!"],
        interpreter_factory=factory(make, reads=[*LM_CALLS, "add"]),
    )
    lm = DummyLM(
        [
            {"reasoning": "look", "code": "```python\ntotal = add(left=20, right=22)\nprint(len(context))\n```"},
            {"reasoning": "ask", "code": "said = llm_query('sure')\nprint(said, llm_query_batched(['a', 'b']))"},
            {"reasoning": "miss", "code": "print(totl)"},
            {"reasoning": "end", "code": "if said:\n    SUBMIT(answer=said, score=total)"},
        ]
    )
    with dspy.context(lm=lm):
        first = rlm(question="what?", context="long " * 100)
    assert (first.answer, first.score) == ("sure!", 42)
    assert [step["output"] for step in first.trajectory[:2]] == ["500", "sure! ['a!', 'b!']"]
    assert "did you mean 'total'?" in first.trajectory[2]["output"]
    assert [call.name for call in made[0].results[1].calls] == ["llm_query", "llm_query_batched"]
    assert "Programs run in a sandbox" in rlm.generate_action.signature.instructions


def test_two_calls_of_rlm_share_nothing_and_it_works_in_a_loop(makes) -> None:
    rlm = dspy.RLM("question -> answer", max_iters=2, interpreter_factory=factory(makes()))
    lm = DummyLM(
        [
            {"reasoning": "keep", "code": "secret = 1\nSUBMIT('kept')"},
            {"reasoning": "look", "code": "print(secret)"},
            {"reasoning": "end", "code": "SUBMIT('nothing')"},
        ]
    )

    async def twice() -> list[Any]:
        return [await rlm.acall(question="one"), await rlm.acall(question="two")]

    with dspy.context(lm=lm):
        one, two = asyncio.run(twice())
    assert (one.answer, two.answer) == ("kept", "nothing")
    assert "NameError" in two.trajectory[0]["output"]


@pytest.mark.filterwarnings("ignore:.* is deprecated and will be removed in 3.5:DeprecationWarning")  # for RLM
def test_code_act_and_program_of_thought_run_their_programs_in_it(makes) -> None:
    act = dspy.CodeAct("n: int -> total: int", tools=[add], max_iters=2, interpreter_factory=factory(makes()))
    programs = [
        {"generated_code": "```python\nprint(add(20, n))\n```", "finished": False},
        {"generated_code": "```python\nprint(add(20, 22))\n```", "finished": True},
        {"reasoning": "seen", "total": 42},
    ]
    with dspy.context(lm=DummyLM(programs)):
        done = act(n=22)
    assert done.total == 42
    assert "name 'n' is not defined" in done.trajectory["observation_0"]
    assert done.trajectory["code_output_1"] == '"42"'
    thought = dspy.ProgramOfThought("question -> answer", interpreter_factory=factory(makes()))
    said = [
        {"reasoning": "compute", "generated_code": "```python\nSUBMIT({'answer': 6 * 7})\n```"},
        {"reasoning": "seen", "answer": "42"},
    ]
    with dspy.context(lm=DummyLM(said)):
        assert thought(question="what is 6 times 7?").answer == "42"


def test_sub_agents_are_not_there_and_the_model_is_not_told_of_them(makes) -> None:
    rlm = dspy.RLM("question -> answer", max_iters=2, interpreter_factory=factory(makes()))
    code = "try:\n    import dspy\nexcept ImportError:\n    SUBMIT('none')"
    with dspy.context(lm=DummyLM([{"reasoning": "try", "code": code}])):
        assert rlm(question="are there?").answer == "none"
        sent = str(dspy.settings.lm.history[-1]["messages"])
    assert "Sub-agents" not in sent


@pytest.mark.filterwarnings("ignore:Passing OpenAI-style message:DeprecationWarning")  # as DSPy itself does
def test_sub_agents_of_a_module_that_only_reads_are_there_where_the_host_says_so(makes, engine) -> None:
    reads = [*LM_CALLS, *SUB_AGENTS, "add"]
    rlm = dspy.RLM("question -> answer", tools=[add], max_iters=2, interpreter_factory=factory(makes(), reads=reads))
    code = "import dspy\nsaid = dspy.Predict('question -> answer')(question='hi').answer\nprint(said, add(1, 2))"
    lm = DummyLM(
        [
            {
                "reasoning": "ask",
                "code": code if engine == "wasm" else "print('the sub-agent says', add(1, 2))\nsaid = 1",
            },
            *(
                [{"answer": "the sub-agent says"}] if engine == "wasm" else []
            ),  # `restricted` refuses what it is made of
            {"reasoning": "end", "code": "SUBMIT(str(said))"},
        ]
    )
    with dspy.context(lm=lm, adapter=dspy.ChatAdapter()):
        done = rlm(question="what?")
    assert done.trajectory[0]["output"] == "the sub-agent says 3"


def test_a_sub_agent_cannot_call_what_a_program_may_only_propose(makes) -> None:
    def send(text: str) -> None:
        """Send a text."""
        pytest.fail(text)

    reads = [*LM_CALLS, *SUB_AGENTS]
    rlm = dspy.RLM("question -> answer", tools=[send], max_iters=1, interpreter_factory=factory(makes(), reads=reads))
    code = "try:\n    import dspy\nexcept ImportError:\n    SUBMIT('none')"
    with dspy.context(lm=DummyLM([{"reasoning": "try", "code": code}])):
        assert rlm(question="are there?").answer == "none"


@pytest.mark.filterwarnings("ignore:Passing OpenAI-style message:DeprecationWarning")  # as DSPy itself does
def test_flex_runs_its_module_where_the_host_says_so(makes, engine) -> None:
    if engine == "restricted":
        pytest.skip("it refuses what Flex is made of")

    class Question(dspy.Signature):
        value: int = dspy.InputField()
        result: int = dspy.OutputField()

    source = (
        "class Adds(dspy.Module):\n"
        "    def __init__(self):\n"
        "        super().__init__()\n"
        "        self.solve = dspy.Predict('value: int -> result: int')\n\n"
        "    def forward(self, **inputs):\n"
        "        return dspy.Prediction(result=add(self.solve(value=inputs['value']).result, 2))"
    )
    interpreters = factory(makes(), reads=[*SUB_AGENTS, "add"])
    program = dspy.Flex(Question, tools=[add], interpreter_factory=interpreters)
    program._bind_code(source)
    with dspy.context(lm=DummyLM([{"result": "40"}])):
        assert program(value=20).result == 42


def test_there_is_time_to_ask_a_language_model() -> None:
    with SandboxInterpreter() as interpreter:
        assert interpreter.interpreter.sandbox.limits.timeout >= 60


def test_the_example_runs(capsys) -> None:
    runpy.run_path(str(Path(__file__).parents[2] / "examples" / "with_dspy.py"), run_name="__main__")
    assert "done: refund(charge='ch_3')" in capsys.readouterr().out
