"""Folding: which recorded calls that follow each other one turn could have made, by rules that can be checked."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.roundtrips.conversation import Ask, Message


@dataclass(frozen=True, slots=True)
class Step:
    """A message, and what was answered to the call that it asks for.

    Attributes:
        message: the message.
        result: what its call gave; None where it asks for none.
    """

    message: Message
    result: str | None = None

    @property
    def ask(self) -> Ask:
        """Its call."""
        return self.message.asks[0]

    @property
    def data(self) -> Any:
        """What its call gave, as data; text that is no JSON is a text."""
        if not self.result or self.result[0] not in "[{":
            return self.result
        return json.loads(self.result)

    @property
    def text(self) -> str:
        """All that it says."""
        asked = (f"{ask.name} {ask.text}" for ask in self.message.asks)
        return "\n".join((self.message.text, *asked, self.result or ""))


@dataclass(frozen=True, slots=True)
class Fold:
    """Reads that follow each other and become one turn.

    Attributes:
        steps: them, in their order.
        before: all text of the conversation before the first.
    """

    steps: tuple[Step, ...]
    before: str

    def levels(self) -> list[list[Step]]:
        """The calls that can be made at once, one list after another, where code could find all arguments.

        It is the fewest turns that need no program.
        """
        found: list[list[Step]] = []
        level: list[int] = []
        for number, step in enumerate(self.steps):
            sources = (self.source(number, leaf) for leaf in self.unknown(number))
            level.append(max((level[at] + 1 for at in sources if at is not None), default=0))
            if level[number] == len(found):
                found.append([])
            found[level[number]].append(step)
        return found

    def unknown(self, number: int) -> list[str]:
        """The parts of a call's arguments that nobody had written before the first result was read.

        The first call's own arguments are such a text too, so they count as known for those that follow.
        """
        if number == 0:
            return []
        told = leaves(self.steps[0].ask)
        return [leaf for leaf in leaves(self.steps[number].ask) if leaf not in told and not _says(self.before, leaf)]

    def source(self, number: int, leaf: str) -> int | None:
        """The earlier step whose result holds this text as a value of its own; None where none does."""
        return next((at for at in range(number) if path(self.steps[at].data, leaf) is not None), None)


Rule = Callable[[Fold], bool]
"""Whether the last step of a fold may be in it."""


def known(fold: Fold) -> bool:
    """Its arguments were all written before the fold began: no result had to be read for it. The lower bound."""
    return not fold.unknown(len(fold.steps) - 1)


def flowing(fold: Fold) -> bool:
    """Its arguments were written before, or stand as values in earlier results of the fold, where code finds them."""
    last = len(fold.steps) - 1
    if fold.steps[last].ask.name == "calculate":
        return known(fold)
    return all(fold.source(last, leaf) is not None for leaf in fold.unknown(last))


def everything(_fold: Fold) -> bool:
    """All reads that follow each other, whatever had to be read in between. The upper bound, which nobody can reach."""
    return True


def runs(steps: Sequence[Step], reads: frozenset[str]) -> Iterator[tuple[int, int]]:
    """Where reads follow each other: from, and up to.

    A message of anybody's, a write, a thought, and text beside a call end a run: what was said stays where it was.
    """
    begin = None
    for number, step in enumerate(steps):
        reading = bool(step.message.asks) and step.ask.name in reads
        if begin is not None and (not reading or step.message.text):
            yield begin, number
            begin = None
        if reading and begin is None:
            begin = number
    if begin is not None:
        yield begin, len(steps)


def folded(steps: Sequence[Step], before: str, reads: frozenset[str], rule: Rule) -> list[Step | Fold]:
    """A conversation, its reads folded by a rule; single reads are folds of one."""
    spans = dict(runs(steps, reads))
    found: list[Step | Fold] = []
    number = 0
    while number < len(steps):
        if number in spans:
            found.extend(_folds(steps[number : spans[number]], before, rule))
            told, number = steps[number : spans[number]], spans[number]
        else:
            found.append(steps[number])
            told, number = steps[number : number + 1], number + 1
        before = "\n".join((before, *(step.text for step in told)))
    return found


def _folds(run: Sequence[Step], before: str, rule: Rule) -> Iterator[Fold]:
    fold = Fold((run[0],), before)
    for step in run[1:]:
        longer = Fold((*fold.steps, step), fold.before)
        if rule(longer):
            fold = longer
            continue
        yield fold
        fold = Fold((step,), "\n".join((fold.before, *(one.text for one in fold.steps))))
    yield fold


def leaves(ask: Ask) -> list[str]:
    """What a call's arguments are made of: its texts and numbers; of a calculation, its numbers."""
    if ask.name == "calculate":
        return re.findall(r"\d+(?:\.\d+)?", str(ask.arguments.get("expression", "")))
    return [str(value) for value in ask.arguments.values()]


def path(data: Any, leaf: str) -> str | None:
    """Where a text is in data, as a program would write it; None where it is not a value of its own."""
    if isinstance(data, dict):
        within: Iterator[tuple[Any, Any]] = iter(data.items())
    elif isinstance(data, list):
        within = iter(enumerate(data))
    else:
        return None
    for key, value in within:
        if not isinstance(value, (dict, list)) and str(value) == leaf:
            return f"[{json.dumps(key)}]"
        deeper = path(value, leaf)
        if deeper is not None:
            return f"[{json.dumps(key)}]{deeper}"
    return None


def _says(text: str, leaf: str) -> bool:
    return leaf in text and re.search(rf"(?<!\w){re.escape(leaf)}(?!\w)", text) is not None
