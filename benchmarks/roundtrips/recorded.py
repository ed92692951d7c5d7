"""Recorded reality: conversations of a model with an airline's support, and what folding would have made of them."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks.roundtrips.airline_tools import READS, THOUGHTS, WRITES, airline_tools
from benchmarks.roundtrips.bills import Bill, Pace, bill, total
from benchmarks.roundtrips.conversation import Ask, Episode, Message, Prompt, program
from benchmarks.roundtrips.folding import Fold, Rule, Step, everything, flowing, folded, known, path, runs
from benchmarks.roundtrips.prompts import calling, programming
from benchmarks.roundtrips.tokens import Tokenizer
from codeact import Limits, Sandbox

FILE = Path("tau_airline_gpt4o") / "trajectories.json.gz"


@dataclass(frozen=True, slots=True)
class Recorded:
    """A recorded conversation.

    Attributes:
        system: its instructions.
        steps: its messages, each call with its result.
    """

    system: str
    steps: tuple[Step, ...]

    def calls(self, names: Iterable[str]) -> int:
        """How many calls of these functions it has."""
        return sum(bool(step.message.asks) and step.ask.name in names for step in self.steps)


def load(data: Path) -> list[Recorded]:
    """The recorded conversations.

    Args:
        data: the directory that holds `tau_airline_gpt4o`.

    Raises:
        OSError: it does not.
        ValueError: a conversation calls a function that is neither a read nor a write.
    """
    with gzip.open(data / FILE) as file:
        return [read(one["traj"]) for one in json.load(file)]


def read(messages: Sequence[Mapping[str, Any]]) -> Recorded:
    """One conversation, as its provider's API writes it.

    Raises:
        ValueError: it calls a function that is neither a read nor a write.
    """
    system, *rest = messages
    steps: list[Step] = []
    for message in rest:
        if message["role"] == "tool":
            steps[-1] = Step(steps[-1].message, message["content"])
            continue
        asks = tuple(
            Ask(call["function"]["name"], json.loads(call["function"]["arguments"]))
            for call in message.get("tool_calls") or ()
        )
        for ask in asks:
            if ask.name not in READS | WRITES | THOUGHTS:
                msg = f"{ask.name}: say in airline_tools whether it reads or writes"
                raise ValueError(msg)
        steps.append(Step(Message(message["role"], message["content"] or "", asks)))
    return Recorded(system["content"], tuple(steps))


RULES: dict[str, Rule] = {"known": known, "data flow": flowing, "everything": everything}
"""What may be folded, from the lower bound to the upper."""


@dataclass(frozen=True, slots=True)
class Form:
    """All conversations in one form.

    Attributes:
        name: what was done to them.
        bills: the bill of each conversation, by the name of the tokenizer.
        waits: how many times tools were waited for, one after another.
        engine: seconds of the engine, measured.
    """

    name: str
    bills: Mapping[str, tuple[Bill, ...]]
    waits: int
    engine: float = 0.0

    def seconds(self, tokenizer: str, pace: Pace) -> float:
        """How long all of them take."""
        return pace.seconds(total(self.bills[tokenizer]), self.waits, self.engine)


@dataclass(frozen=True, slots=True)
class Reality:
    """What was counted in the recorded conversations.

    Attributes:
        facts: counts of what there is, by what they are called.
        runs: how long the longest run of reads of each conversation is.
        forms: the conversations as recorded, in batches and in programs.
    """

    facts: Mapping[str, int]
    runs: tuple[int, ...]
    forms: tuple[Form, ...]


class ResultsDiffer(AssertionError):
    """A program did not give what was recorded for its calls."""


@dataclass
class Player:
    """Runs programs over recorded results.

    Attributes:
        seconds: of the engine, for all programs so far.
    """

    seconds: float = 0.0
    _results: dict[str, list[Any]] = field(default_factory=dict)
    _sandbox: Sandbox = field(init=False)

    def __post_init__(self) -> None:
        reads = [tool for tool in airline_tools(self._play) if tool.name in READS]
        self._sandbox = Sandbox(reads, limits=Limits(shown=1_000_000))

    def observe(self, fold: Fold) -> tuple[str, str]:
        """The program of a fold and what the model reads of it.

        Raises:
            ResultsDiffer: its value is not what was recorded.
        """
        code = written(fold)
        self._results = {}
        for step in fold.steps:
            self._results.setdefault(_key(step.ask.name, step.ask.arguments), []).append(step.data)
        result = self._sandbox.run(code)
        self.seconds += result.usage.wall
        wanted = [step.data for step in fold.steps]
        if result.value != (wanted if len(wanted) > 1 else wanted[0]):
            msg = f"{code}\n{result.observation()[:500]}"
            raise ResultsDiffer(msg)
        return code, result.observation()

    def _play(self, name: str, arguments: Mapping[str, object]) -> Any:
        return self._results[_key(name, arguments)].pop(0)


def _key(name: str, arguments: Mapping[str, object]) -> str:
    return f"{name} {json.dumps(arguments, sort_keys=True)}"


def written(fold: Fold) -> str:
    """A fold as the program that makes its calls and gives their results, in their order.

    Arguments that had to come from an earlier result are written as the path to it, and what only a reader could know
    as it is: such a program is nobody's to write, which is why that bound is an upper one.
    """
    names: dict[int, str] = {}
    calls = []
    for number, step in enumerate(fold.steps):
        parts = []
        unknown = fold.unknown(number)
        for key, value in step.ask.arguments.items():
            at = fold.source(number, str(value)) if str(value) in unknown else None
            if at is None:
                text = json.dumps(value, ensure_ascii=False)
            else:
                names[at] = f"r{at + 1}"
                text = f"{names[at]}{path(fold.steps[at].data, str(value))}"
            parts.append(text if len(step.ask.arguments) == 1 else f"{key}={text}")
        calls.append(f"tools.{step.ask.name}({', '.join(parts)})")
    if names:
        lines = (f"r{number + 1} = {call}" for number, call in enumerate(calls))
        return "\n".join((*lines, f"[{', '.join(f'r{number + 1}' for number in range(len(calls)))}]"))
    if len(calls) == 1:
        return calls[0]
    asks = [step.ask for step in fold.steps]
    if len({ask.name for ask in asks}) == 1 and all(len(ask.arguments) == 1 for ask in asks):
        values = ", ".join(json.dumps(value) for ask in asks for value in ask.arguments.values())
        return f"[tools.{asks[0].name}(x) for x in [{values}]]"
    return f"[{', '.join(calls)}]"


Shape = Callable[[Fold], tuple[list[Message], int]]
"""What becomes of a fold: its messages, and how many times tools are waited for."""


def single(fold: Fold) -> tuple[list[Message], int]:
    """A fold as it was recorded, one call a turn."""
    messages = [one for step in fold.steps for one in (step.message, Message("tool", step.result or ""))]
    return messages, len(fold.steps)


def batched(fold: Fold) -> tuple[list[Message], int]:
    """A fold as calls, those made at once that can be."""
    messages = []
    levels = fold.levels()
    for number, level in enumerate(levels):
        said = fold.steps[0].message.text if number == 0 else ""
        messages.append(Message("assistant", said, tuple(step.ask for step in level)))
        messages.extend(Message("tool", step.result or "") for step in level)
    return messages, len(levels)


def count(conversations: Sequence[Recorded], tokenizers: Sequence[Tokenizer]) -> Reality:
    """Fold recorded conversations by each rule, carry the programs out and count.

    Raises:
        ResultsDiffer: a program did not give what was recorded.
    """
    player = Player()
    tools = airline_tools(lambda _name, _arguments: None)
    reads = [tool for tool in tools if tool.name in READS]
    outside = [tool for tool in tools if tool.name not in READS]
    parts = {name: [_Parts(one, rule) for one in conversations] for name, rule in RULES.items()}

    @cache
    def functions(system: str) -> Prompt:
        return calling(system, tools)

    @cache
    def room(system: str) -> Prompt:
        return programming(system, reads, outside)

    def programmed(fold: Fold) -> tuple[list[Message], int]:
        code, observed = player.observe(fold)
        said = fold.steps[0].message.text
        return [Message("assistant", said, program(code)), Message("tool", observed)], len(fold.steps)

    forms = [
        _form("recorded", parts["known"], functions, single, tokenizers),
        _form("batches", parts["data flow"], functions, batched, tokenizers),
    ]
    for name in RULES:
        before = player.seconds
        form = _form(f"programs, {name}", parts[name], room, programmed, tokenizers)
        forms.append(replace(form, engine=player.seconds - before))
    return Reality(
        {**_facts(conversations), **{f"turns that folding saves, {name}": _saved(parts[name]) for name in RULES}},
        tuple(max((end - begin for begin, end in runs(one.steps, READS)), default=0) for one in conversations),
        tuple(forms),
    )


class _Parts:
    """A conversation, folded."""

    def __init__(self, recorded: Recorded, rule: Rule) -> None:
        self.system = recorded.system
        self.parts = folded(recorded.steps, recorded.system, READS, rule)


def _form(
    name: str,
    conversations: Sequence[_Parts],
    prompt: Callable[[str], Prompt],
    shape: Shape,
    tokenizers: Sequence[Tokenizer],
) -> Form:
    episodes = []
    waits = 0
    for one in conversations:
        messages: list[Message] = []
        for part in one.parts:
            made, waited = shape(part) if isinstance(part, Fold) else _other(part)
            messages += made
            waits += waited
        episodes.append(Episode(prompt(one.system), tuple(messages)))
    bills = {one.name: tuple(bill(episode, one.count) for episode in episodes) for one in tokenizers}
    return Form(name, bills, waits)


def _other(step: Step) -> tuple[list[Message], int]:
    if not step.message.asks:
        return [step.message], 0
    return [step.message, Message("tool", step.result or "")], 1


def _saved(conversations: Sequence[_Parts]) -> int:
    return sum(len(part.steps) - 1 for one in conversations for part in one.parts if isinstance(part, Fold))


def _facts(conversations: Sequence[Recorded]) -> dict[str, int]:
    lengths = [end - begin for one in conversations for begin, end in runs(one.steps, READS)]
    return {
        "conversations": len(conversations),
        "assistant turns": sum(step.message.role == "assistant" for one in conversations for step in one.steps),
        "read-only calls": sum(one.calls(READS) for one in conversations),
        "calls that write": sum(one.calls(WRITES) for one in conversations),
        "thoughts written down": sum(one.calls(THOUGHTS) for one in conversations),
        "runs of two or more reads": sum(length > 1 for length in lengths),
        "reads in such runs": sum(length for length in lengths if length > 1),
    }
