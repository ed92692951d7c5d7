"""The one tool that a model is given, and what it may make of it."""

from __future__ import annotations

import json
from typing import Any

from codeact.messages import Asked

RUN_PYTHON = "run_python"
"""The name of the tool that takes programs, for models and frameworks alike."""

DESCRIPTION = "Run a Python program in the sandbox. Gives its value, what it printed, or its error."
CODE = "The program's source, plain Python."
"""What its one argument is, in words."""

SCHEMA = {
    "type": "object",
    "properties": {"code": {"type": "string", "description": CODE}},
    "required": ["code"],
    "additionalProperties": False,
}
CUT = "it was cut off at the limit of a reply's length: write a shorter program"
_FORM = f'call {RUN_PYTHON} with {{"code": "…"}}'
_LONGEST_NAME = 40


def asked(id: str, name: object, arguments: object, *, cut: bool = False) -> Asked:  # noqa: A002 - it is `Asked.id`
    """What a call of a tool asks for.

    Args:
        id: of the call, unlike all others of the conversation.
        name: which tool the model called.
        arguments: what with: a text that should be JSON, or what it was decoded to.
        cut: whether the reply ended within it. What is left of a program may look like a whole one.
    """
    wrong = CUT if cut else None
    if wrong is None and name != RUN_PYTHON:
        shown = name[:_LONGEST_NAME] if isinstance(name, str) else ""
        wrong = f"there is no tool {shown!r}: {_FORM}"
    if wrong is None:
        found, wrong = _decoded(arguments)
        if found is not None:
            return Asked(id, found)
    return Asked(id, None, wrong)


def _decoded(arguments: object) -> tuple[str | None, str | None]:
    """The program that arguments hold, or what is wrong with them."""
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments, strict=False) if arguments.strip() else {}
        except (ValueError, RecursionError) as error:
            detail = error.msg if isinstance(error, json.JSONDecodeError) else "too deep or too long"
            return None, f"the arguments are not JSON ({detail}): {_FORM}"
    if not isinstance(arguments, dict):
        return None, f"the arguments are not an object: {_FORM}"
    return _code(arguments)


def _code(arguments: dict[str, Any]) -> tuple[str | None, str | None]:
    if "code" not in arguments:
        return None, f"`code` is missing: {_FORM}"
    extra = sorted(name[:_LONGEST_NAME] for name in arguments if name != "code")
    if extra:
        return None, f"only `code` is taken, not {', '.join(extra[:3])}: {_FORM}"
    code = arguments["code"]
    if not isinstance(code, str):
        return None, f"`code` is not a string: {_FORM}"
    return code, None
