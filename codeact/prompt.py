"""What the model is told before the task: how to ask for programs, the rules of the room, and what is in it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from codeact.actions import Action, Actions
from codeact.declarations import stubs
from codeact.limits import Limits
from codeact.sandbox import Sandbox
from codeact.tools import Tool, Toolset

FULL = 12_000
"""Characters of stubs that every request may carry: some thirty tools with a record each, 3,000 tokens. With more, there is
a line for each tool, which is less than half of that, and a task takes a turn more, to ask for help. In tokens both come to
the same at a dozen tools (five turns, with a cache for prompts or without); the limit is higher because that turn takes
seconds, and a model that does without it guesses what is in a record."""

BRIEF = 1_024
"""Characters that the description of a tool may have with every provider."""

_BRIEF = (
    "Run one Python program in a sandbox. It gives the value of its last expression, what it printed, or its error."
    " Names stay from one program to the next. No network, no other packages."
)
_CALLS = [
    "Data come from `tools`: print(tools) tells what there is, help(tools.name) how it is called; await async ones."
]
_PROPOSES = ["What changes the world is proposed by calling `actions`, and decided outside, later."]

_BY_CALL = "To find something out or compute it, call run_python with one Python program. Read what comes of it; then write the next one, or answer."
_BY_TEXT = """\
To find something out or compute it, write one Python program, fenced:

```python
21 * 2
```

Nothing else in that message is run. You are told what came of it; then write the next one, or answer."""

_ENGINES = {
    "wasm": "Python 3.14 and its standard library; no other packages unless you are told of them, no network, no processes.",
    "restricted": "Python with the data modules of its standard library; no other packages unless you are told of them, no network, no processes."
    " Some attributes with underscores are refused, and the refusal says what to write instead.",
}
_ANY_ENGINE = "no network, no processes."


def system(sandbox: Sandbox, *, has_tools: bool, instructions: str) -> str:
    """The system prompt.

    Args:
        sandbox: where programs will run.
        has_tools: whether the model asks for them by calling `run_python`.
        instructions: the host's own, which come first.
    """
    parts = [instructions.strip(), _BY_CALL if has_tools else _BY_TEXT, _rules(sandbox, has_tools=has_tools)]
    if sandbox.tools or sandbox.actions:
        parts.append(_granted(sandbox.tools, sandbox.actions))
    return "\n\n".join(filter(None, parts))


def description(sandbox: Sandbox) -> str:
    """What a tool that runs programs says of itself, where there is no room for more.

    Args:
        sandbox: where programs will run.

    Returns:
        At most `BRIEF` characters.
    """
    told = " ".join([_BRIEF, *(_CALLS * bool(sandbox.tools)), *(_PROPOSES * bool(sandbox.actions))])
    names = [f"tools.{name}" for name in sandbox.tools] + [f"actions.{name}" for name in sandbox.actions]
    shown = names
    while len(text := told + _listed(shown, len(names) - len(shown))) > BRIEF:
        shown = shown[:-1]
    return text


def _listed(names: list[str], left_out: int) -> str:
    more = [f"{left_out:,} more"] if left_out else []
    return f" There {'is' if len(names) == 1 else 'are'}: {', '.join([*names, *more])}." if names or more else ""


def _rules(sandbox: Sandbox, *, has_tools: bool) -> str:
    return "\n".join(f"- {rule}" for rule in _each_rule(sandbox, has_tools=has_tools))


def _each_rule(sandbox: Sandbox, *, has_tools: bool) -> Iterator[str]:
    limits = sandbox.limits
    yield f"Programs run in a sandbox: {_ENGINES.get(sandbox.engine, _ANY_ENGINE)}"
    if sandbox.tools:
        yield "What you need from outside comes from `tools`, which only reads. Await async tools, several at once with asyncio.gather."
    if sandbox.actions:
        yield (
            "What changes the world you propose, by calling `actions`. Nothing happens inside: proposals are decided outside,"
            " later, so say what you proposed, not that it is done. They cannot be taken back, and those of a program"
            " that fails are dropped."
        )
    yield (
        "End a program in an expression: you are shown its value and what was printed, each up to"
        f" {limits.shown:,} characters. So compute inside, and show what you need."
    )
    yield "Names, imports and files in the working directory stay from one program to the next."
    yield f"Limits of one program: {_limits(limits)}."
    yield "When a program fails, read its error and mend that; the same program fails again."
    yield "Do not guess what a program can tell. When you know, answer in words" + (
        "." if has_tools else ", without a ```python block."
    )


def _limits(limits: Limits) -> str:
    return f"{limits.timeout:g} s, {limits.memory // 2**20:,} MiB, {limits.calls:,} tool calls"


def _granted(tools: Toolset, actions: Actions) -> str:
    """What there is to call, with all that there is to say of it, or a line for each where that is too much."""
    names = " and ".join(["`tools`"] * bool(tools) + ["`actions`"] * bool(actions))
    full = stubs(tools, actions)
    if len(full) <= FULL:
        return f"This is in {names}:\n\n```\n{full}```"
    lines = [f"tools.{_line(tool)}" for tool in tools.values()] + [
        f"actions.{_line(action)}" for action in actions.values()
    ]
    return (
        f"This is in {names}. Of what you do not know well enough, a program can call help, as in help(tools.name):\n\n"
        + "\n".join(lines)
    )


def _line(member: Tool[..., Any] | Action[..., Any]) -> str:
    first = next(iter(member.doc.strip().splitlines()), "")
    return member.signature_line + f"  # {first}" * bool(first)
