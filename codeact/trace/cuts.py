"""How much of a trace is shown: every cut is announced with how much it left out."""

from __future__ import annotations

from dataclasses import dataclass

RUNS = 200
"""Runs of a task that a trace shows: the first and the last ones."""

_CALLS = 2_000
"""Calls that a trace shows with all that is known of them, in all its runs together."""

_CHARACTERS = 2_000_000
"""Characters of programs, and as many of all else, that it shows in all its runs together."""


_FIRST = 300
"""Characters of a first line."""


@dataclass(frozen=True, slots=True)
class Text:
    """A text of which a part may be left out in its middle.

    Attributes:
        head: what it begins with; all of it, where nothing was left out.
        left_out: characters between the head and the tail.
        tail: what it ends with.
    """

    head: str
    left_out: int = 0
    tail: str = ""

    @property
    def gap(self) -> str:
        """What stands in the place of what was left out; nothing where nothing was."""
        return f"… {self.left_out:,} characters left out …" if self.left_out else ""

    @property
    def whole(self) -> str:
        """What is shown, in one."""
        return f"{self.head}\n{self.gap}\n{self.tail}" if self.left_out else self.head

    @property
    def first(self) -> str:
        """Its first line, short."""
        return self.head.partition("\n")[0][:_FIRST]

    def __bool__(self) -> bool:
        return bool(self.head)


@dataclass(frozen=True, slots=True)
class Bounds:
    """What a trace shows of one run.

    Attributes:
        calls: calls with all that is known of them.
        program: characters of the program.
        line: characters of one of its lines.
        output: characters of what it printed.
        value: characters of its value, and of any other text.
        argument: characters of the arguments of a call, and of its answer.
        proposals: proposals.
    """

    calls: int = _CALLS
    program: int = 256 * 1024
    line: int = 2_000
    output: int = 40_000
    value: int = 10_000
    argument: int = 2_000
    proposals: int = 200


def bounds_of(runs: int) -> Bounds:
    """What is shown of each of so many runs: a page of very many must not be larger than one of a few."""
    most = Bounds()
    share = max(runs, 1)
    return Bounds(
        calls=max(_CALLS // share, 20),
        program=min(most.program, max(_CHARACTERS // share, 4_000)),
        output=min(most.output, max(_CHARACTERS // share, 2_000)),
        value=min(most.value, max(_CHARACTERS // share, 2_000)),
        proposals=max(2 * most.proposals // share, 20) if share > 1 else most.proposals,
    )


def cut(text: str, longest: int) -> Text:
    """A text in about so many characters."""
    if len(text) <= longest:
        return Text(text)
    tail = longest // 3
    head = longest - tail
    return Text(text[:head], len(text) - longest, text[-tail:])
