"""What the model is told before the task: how to ask for programs, the rules of the room, and what is in it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from codeact.catalogue import Member, line_of, without_catalogue
from codeact.declarations import stubs
from codeact.limits import Limits
from codeact.sandbox import Sandbox

LINES = 12_000
"""Characters that the lines may have where there is one for each tool: as many as the longest stubs have, for some ninety tools. With
more, names are listed instead."""

BRIEF = 1_024
"""Characters that the description of a tool may have with every provider."""

_BRIEF = (
    "Run one Python program in a sandbox. It gives the value of its last expression, what it printed, or its error."
    " Names stay from one program to the next. No network, no other packages."
)
_CALLS = "Data come from `tools`: {finding}; await async ones."
_FINDING = "print(tools) tells what there is, help(tools.name) how it is called"
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
        parts.append(_granted(sandbox))
    return "\n\n".join(filter(None, parts))


def description(sandbox: Sandbox) -> str:
    """What a tool that runs programs says of itself, where there is no room for more.

    Args:
        sandbox: where programs will run.

    Returns:
        At most `BRIEF` characters.
    """
    finding = _FINDING if sandbox.catalogue is None else sandbox.catalogue.asked
    calls = [_CALLS.format(finding=finding)] * bool(sandbox.tools)
    told = " ".join([_BRIEF, *calls, *(_PROPOSES * bool(sandbox.actions))])
    names = _names(sandbox)
    shown = names[:BRIEF]
    while len(text := told + _listed(shown, len(names) - len(shown))) > BRIEF:
        shown = shown[:-1]
    return text


def _names(sandbox: Sandbox) -> list[str]:
    tools = sandbox.tools if sandbox.catalogue is None else without_catalogue(sandbox.tools)
    return [f"tools.{name}" for name in tools] + [f"actions.{name}" for name in sandbox.actions]


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


def _granted(sandbox: Sandbox) -> str:
    """What there is to call: all that there is to say of it, or a line for each where that is too much, or names."""
    tools, actions, catalogue = sandbox.tools, sandbox.actions, sandbox.catalogue
    homes = " and ".join(["`tools`"] * bool(tools) + ["`actions`"] * bool(actions))
    if catalogue is None:
        full = stubs(tools, actions)
        fence = "`" * max(3, 1 + max(map(len, re.findall("`+", full)), default=0))  # no documentation ends it
        return f"This is in {homes}:\n\n{fence}\n{full}{fence}"
    members: list[Member] = [*without_catalogue(tools).values(), *actions.values()]
    lines = "\n".join(map(line_of, members))
    if len(lines) <= LINES:
        return (
            f"This is in {homes}. Of what you do not know well enough, ask in a program: {catalogue.asked}.\n\n{lines}"
        )
    return f"In {homes} there is more than can be listed. Look for what you need in a program. There are {catalogue.overview}"
