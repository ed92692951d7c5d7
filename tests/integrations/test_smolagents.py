"""The programs of a smolagents `CodeAgent` run in a sandbox."""

from __future__ import annotations

import asyncio
import functools
import runpy
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import smolagents
from smolagents import tool
from smolagents.local_python_executor import LocalPythonExecutor
from smolagents.models import ChatMessage, MessageRole

from codeact import Journal, Limits, Outbox, Sandbox
from codeact.integrations import Interpreter
from codeact.integrations.smolagents import INSTRUCTIONS, SandboxExecutor


class Scripted(smolagents.Model):
    """A model that says what it was told to say."""

    def __init__(self, *programs: str) -> None:
        super().__init__(model_id="scripted")
        self._programs: Iterator[str] = iter(programs)
        self.asked: list[str] = []

    def generate(self, messages: list[ChatMessage], **_: Any) -> ChatMessage:
        self.asked.append(str(messages))
        return ChatMessage(
            role=MessageRole.ASSISTANT, content=f"Thought: go on.\n<code>\n{next(self._programs)}\n</code>"
        )


sent: list[str] = []


@tool
def search(query: str, limit: int = 2) -> list:
    """Search the books.

    Args:
        query: what for
        limit: how many
    """
    return [f"{query} {n}" for n in range(limit)]


@tool
def send(text: str) -> str:
    """Send a text to the customer.

    Args:
        text: what to send
    """
    sent.append(text)
    return "sent"


@pytest.fixture
def executor(engine: str) -> Callable[..., SandboxExecutor]:
    """Makes executors on the engine in turn."""

    def made(limits: Limits | None = None, **options: Any) -> SandboxExecutor:
        sandbox = functools.partial(Sandbox, engine=engine, limits=limits or Limits(timeout=20.0))
        return SandboxExecutor(lambda tools, actions: Interpreter(sandbox(tools, actions=actions)), **options)

    return made


def agent(executor: SandboxExecutor, *programs: str, tools: tuple[Any, ...] = (search, send), **options: Any) -> Any:
    options = {"instructions": INSTRUCTIONS, "verbosity_level": 0, **options}
    return smolagents.CodeAgent(list(tools), Scripted(*programs), executor=executor, **options)


def told(agent: Any) -> list[str]:
    """What the agent was told of each step."""
    return [
        str(step.error or step.observations) for step in agent.memory.steps if isinstance(step, smolagents.ActionStep)
    ]


def test_an_agent_finds_its_tools_by_name_and_ends_with_its_answer(executor) -> None:
    clerk = agent(
        executor(reads=["search"]),
        "found = search('ledger', limit=3)\nprint(len(found))",
        "def done():\n    if len(found) == wanted:\n        final_answer({'found': found})\ndone()\nprint('not reached')",
    )
    answer = clerk.run("find ledgers", additional_args={"wanted": 3})
    assert answer == {"found": ["ledger 0", "ledger 1", "ledger 2"]}
    assert "output:\n3" in told(clerk)[0]
    assert "not reached" not in told(clerk)[1]
    results = clerk.python_executor.interpreter.results
    assert [[call.name for call in result.calls] for result in results] == [["search"], ["final_answer"]]


@pytest.mark.parametrize("value", ["10**5000", "[10**5000]", "'\\ud800'", "['\\ud800']"])
@pytest.mark.parametrize("given", ["{}", "final_answer({})"])
def test_no_value_ends_the_agent(executor, value: str, given: str) -> None:
    clerk = agent(executor(), given.format(value), "final_answer('went on')", verbosity_level=1)  # which writes it out
    answer = str(clerk.run("count"))
    assert answer.encode()
    assert (answer == "went on") == (given == "{}")


@pytest.mark.parametrize(
    "code",
    [
        "def deep(n):\n    return deep(n - 1) if n else final_answer('there')\ndeep(20)\n1 / 0",
        "import asyncio\nasync def end():\n    final_answer('there')\nawait asyncio.gather(end(), asyncio.sleep(1))\n1 / 0",
        "try:\n    final_answer('there')\nexcept Exception:\n    1 / 0",
        "for n in range(3):\n    if n == 1:\n        final_answer(answer='there')\n1 / 0",
    ],
)
def test_an_answer_ends_a_program_wherever_it_is_given(executor, code) -> None:
    assert agent(executor(), code).run("go") == "there"


def test_a_program_cannot_make_the_host_hold_all_its_answers(executor) -> None:
    code = "for n in range(50):\n    tools.final_answer(answer=str(n) * 10**6)\ntools.final_answer(answer='last')"
    clerk = agent(executor(), "tools.final_answer(wrong=1)", code)
    assert clerk.run("go") == "last"
    assert "expected answer, by name" in told(clerk)[0]
    assert clerk.python_executor._names._given == {"answer": "last"}


class Report(smolagents.Tool):
    """A tool whose first input may be nothing, and which says what it gives."""

    name = "report"
    description = "Reports."
    inputs = {  # noqa: RUF012 - as smolagents has it
        "since": {"type": "integer", "description": "from when", "nullable": True},
        "of": {"type": "any", "description": "what"},
    }
    output_type = "object"
    output_schema = {"type": "object", "properties": {"lines": {"type": "array"}}}  # noqa: RUF012 - as above

    def forward(self, since: int | None, of: Any) -> dict:
        return {"lines": [since, of]}


def test_inputs_keep_their_order_and_outputs_are_records(executor, engine) -> None:
    code = "final_answer([report(None, 'a')['lines'], report(1, of=[2]).lines])"
    kept = executor(reads=["report"], lasting=True)
    clerk = agent(kept, f"kept = 1\n{code}", "final_answer(kept)", tools=(Report(),))
    assert clerk.run("go") == [[None, "a"], [1, [2]]]
    sandbox = kept.interpreter.sandbox
    assert clerk.run("go on", reset=False) == 1
    assert kept.interpreter.sandbox is sandbox


def test_a_failure_is_the_agents_own_and_it_tries_again(executor) -> None:
    clerk = agent(executor(reads=["search"]), "serch('x')", "final_answer(search('x', 1))")
    assert clerk.run("find") == ["x 0"]
    first = told(clerk)[0]
    assert "line 1: serch('x')" in first
    assert "did you mean 'search'?" in first
    assert "smolagents" not in first


def test_an_answer_before_a_failure_is_none(executor) -> None:
    clerk = agent(executor(), "try:\n    final_answer(1)\nexcept BaseException:\n    pass\n1 / 0", "final_answer(2)")
    assert clerk.run("go") == 2
    assert "ZeroDivisionError" in told(clerk)[0]


def test_what_is_not_among_reads_is_proposed_and_not_done(executor) -> None:
    sent.clear()
    clerk = agent(executor(), "send('hello')", "final_answer('proposed a text')")
    clerk.run("tell the customer")
    assert "proposed, to be decided outside: 1. send(text='hello')" in told(clerk)[0]
    assert [proposal.name for proposal in clerk.python_executor.interpreter.proposals] == ["send"]
    assert sent == []


def test_proposals_are_performed_outside_by_the_agents_own_tool(engine, tmp_path) -> None:
    sent.clear()
    outbox: list[Outbox] = []

    def made(tools: Any, actions: Any) -> Interpreter:
        outbox.append(Outbox(tmp_path / "outbox.sqlite", actions=actions))
        journal = Journal(tmp_path / "runs.sqlite")
        sandbox = Sandbox(tools, actions=actions, engine=engine, journal=journal)
        return Interpreter(sandbox, outbox=outbox[0], task="T-1")

    clerk = agent(SandboxExecutor(made), "send('hello')", "final_answer(None)")
    assert clerk.run("tell the customer") is None
    [entry] = clerk.python_executor.interpreter.entries
    outbox[0].approve(entry.id, digest=entry.digest, by="a person")
    outbox[0].perform()
    assert sent == ["hello"]


def test_each_run_has_a_session_of_its_own_unless_the_host_keeps_it(executor) -> None:
    programs = (
        "secret = 7\nfinal_answer(1)",
        "try:\n    found = secret\nexcept NameError:\n    found = None\nfinal_answer(found)",
    )
    apart = agent(executor(), *programs)
    assert (apart.run("one"), apart.run("two")) == (1, None)
    kept = agent(executor(lasting=True), *programs)
    assert (kept.run("one"), kept.run("two", reset=False)) == (1, 7)


def test_it_runs_in_an_event_loop(executor) -> None:
    async def run() -> object:
        return agent(executor(reads=["search"]), "final_answer(search('x', 1))").run("go")

    assert asyncio.run(run()) == ["x 0"]


def test_a_program_is_stopped_at_its_limit_and_the_names_come_back(executor) -> None:
    spin = "while True: pass"
    clerk = agent(executor(Limits(timeout=1.0), reads=["search"]), spin, "final_answer(search('x', limit))")
    assert clerk.run("go", additional_args={"limit": 1}) == ["x 0"]
    assert "limit" in told(clerk)[0]


HOST = "import random\n'{0._os.environ[CANARY]}'.format(random)"


def test_what_leaks_from_their_executor_does_not_from_this_one(executor, monkeypatch) -> None:
    monkeypatch.setenv("CANARY", "of the host")
    theirs = LocalPythonExecutor([])
    theirs.send_tools({})
    assert theirs(HOST).output == "of the host"

    clerk = agent(executor(), HOST, "final_answer('nothing')")
    assert clerk.run("go") == "nothing"
    assert "of the host" not in "".join(told(clerk))


def test_the_hosts_memory_is_not_the_programs(executor) -> None:
    clerk = agent(executor(), "x = 'a' * 10**10", "final_answer('small')")
    assert clerk.run("go") == "small"
    assert "limit memory" in told(clerk)[0]


class Careful(smolagents.Tool):
    """An ending of the host's own."""

    name = "final_answer"
    description = "Gives the answer."
    inputs = {"answer": {"type": "any", "description": "it"}}  # noqa: RUF012 - as smolagents has it
    output_type = "any"

    def forward(self, answer: Any) -> Any:
        return f"checked {answer}"


def test_an_ending_of_the_hosts_own_runs_only_where_the_host_says_so(executor) -> None:
    with pytest.raises(ValueError, match="name it in reads"):
        agent(executor(), "1", tools=(Careful(),)).run("go")
    assert agent(executor(reads=["final_answer"]), "final_answer(1)", tools=(Careful(),)).run("go") == "checked 1"


def test_a_managed_agent_is_refused(executor) -> None:
    other = smolagents.CodeAgent([], Scripted(), name="other", description="another", verbosity_level=0)
    with pytest.raises(ValueError, match="managed agent"):
        agent(executor(), managed_agents=[other]).run("go")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"not a name": 1}, "no identifier"),
        ({"search": 1}, "something else that programs find"),
        ({"x": object()}, r"variables\['x'\]"),
    ],
)
def test_a_variable_that_cannot_go_in_is_named(executor, given, message) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        agent(executor(reads=["search"])).run("go", additional_args=given)


def test_reads_names_what_is_there(executor) -> None:
    with pytest.raises(ValueError, match=r"no tool 'serch'; there are: final_answer, search, send"):
        agent(executor(reads=["serch"])).run("go")


def test_reads_is_no_text() -> None:
    with pytest.raises(TypeError, match=r"reads='search'"):
        SandboxExecutor(reads="search")


def test_the_example_runs(capsys) -> None:
    runpy.run_path(str(Path(__file__).parents[2] / "examples" / "with_smolagents.py"), run_name="__main__")
    printed = capsys.readouterr().out
    assert "{1200: ['ch_1', 'ch_3']}" in printed
    assert "calls: ['get_charges']" in printed
    assert "done: " in printed
