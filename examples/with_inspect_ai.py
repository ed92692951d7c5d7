"""An evaluation of Inspect whose model writes programs, and whose scorer looks at what they proposed.

Needs `pip install 'codeact[inspect-ai]'`. The model here plays a script, so that it runs offline; name one of your provider in
its place.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from inspect_ai import Task, eval  # noqa: A004 - it is called so
from inspect_ai.agent import react
from inspect_ai.dataset import Sample
from inspect_ai.model import ChatMessageTool, ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import Score, Scorer, Target, accuracy, scorer
from inspect_ai.solver import TaskState

from codeact import Sandbox, action, tool
from codeact.integrations import Conversations
from codeact.integrations.inspect_ai import ProgramLog, run_python

CHARGES = {"c1": [("ch_1", 1200), ("ch_2", 1900), ("ch_3", 1200)]}


@tool
def get_charges(customer: str) -> list[tuple[str, int]]:
    """The charges of a customer, oldest first: id and cents."""
    return CHARGES[customer]


@action
def refund(charge: str) -> None:
    """Give a charge back."""


PROGRAMS = [
    """\
seen = {}
for id, cents in tools.get_charges("c1"):
    seen.setdefault(cents, []).append(id)
twice = {cents: ids for cents, ids in seen.items() if len(ids) > 1}
twice""",
    """\
for ids in twice.values():
    actions.refund(ids[-1])""",
]


def scripted() -> list[ModelOutput]:
    """Ask for one program after the other, and answer."""
    said = [ModelOutput.for_tool_call("mockllm/model", "run_python", {"code": code}) for code in PROGRAMS]
    said.append(ModelOutput.for_tool_call("mockllm/model", "submit", {"answer": "charged twice"}))
    for output in said:  # without it the mock model counts tokens, by a vocabulary that it fetches
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
    return said


@scorer(metrics=[accuracy()])
def proposes_the_right_refund() -> Scorer:
    """Whether it was proposed to give back the charge of the target, and nothing else."""

    async def score(state: TaskState, target: Target) -> Score:
        proposed = [each["arguments"]["charge"] for each in state.store_as(ProgramLog).proposals]
        return Score(value=proposed == [target.text], answer=str(proposed))

    return score


def main() -> None:
    """Evaluate one sample."""
    conversations = Conversations(Sandbox([get_charges], actions=[refund]))
    task = Task(
        dataset=[Sample(input="Was I charged twice? I am c1.", target="ch_3")],
        solver=react(prompt=conversations.instructions, tools=[run_python(conversations)]),
        scorer=proposes_the_right_refund(),
    )
    model = get_model("mockllm/model", custom_outputs=scripted())
    with tempfile.TemporaryDirectory() as logs:
        [log] = eval(task, model=model, log_dir=str(Path(logs)), display="none")
        [sample] = log.samples or []
        kept = sample.store_as(ProgramLog)
    for message in sample.messages:
        if isinstance(message, ChatMessageTool) and message.function == "run_python":
            print(message.text)
    print("calls:", [call["name"] for call in kept.calls])
    for proposal in kept.proposals:
        print("proposed:", proposal["name"], proposal["arguments"])
    print("scores:", {name: score.value for name, score in (sample.scores or {}).items()})


if __name__ == "__main__":
    main()
