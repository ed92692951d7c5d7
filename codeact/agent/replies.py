"""What a reply of a model asks for: which of its text is a program, and what is amiss with it.

A model that calls `run_python` asks for programs by that. Where it writes one as fenced text instead, or knows no other
way, these are programs:

* of a model without tools, every block that is fenced as Python;
* of any model, the block that ends the text, fenced as Python or as nothing in particular, if it uses `tools` or
  `actions`. Nobody outside the room has those, so it is no answer that shows code.

Anything else in fences is part of the answer.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import replace

from codeact.messages import Asked, Reply
from codeact.source.wrappings import Fenced, fenced

EMPTY = "your message is empty: write a program, or answer in words"
CUT_OFF = "your message was cut off at its limit of tokens: say it again, shorter"
CUT_PROGRAM = "it was cut off at the limit of tokens, and not run: write a shorter program, or several"

_OF_THE_ROOM = re.compile(r"\b(?:tools|actions)\s*[.\[]")


def read(reply: Reply, *, has_tools: bool, earlier: Collection[str]) -> Reply:
    """The reply with all programs that it asks for, each with an id of its own.

    Args:
        reply: as the model gave it.
        has_tools: whether the model can ask for programs by calling `run_python`.
        earlier: ids of programs that it asked for before.
    """
    programs = reply.programs or tuple(_in_text(reply, has_tools=has_tools))
    known = set(earlier)
    own: list[Asked] = []
    for asked in programs:
        named = asked if asked.id and asked.id not in known else replace(asked, id=f"program-{len(known) + 1}")
        while named.id in known:
            named = replace(named, id=f"{named.id}-again")
        known.add(named.id)
        own.append(named)
    return replace(reply, programs=tuple(own))


def amiss(reply: Reply) -> str | None:
    """Why a reply without programs is no answer, for the model; None where it is one."""
    if reply.ending == "length":
        return CUT_OFF
    return None if reply.text.strip() else EMPTY


def _in_text(reply: Reply, *, has_tools: bool) -> Iterator[Asked]:
    for block in fenced(reply.text):
        if _is_program(block, has_tools=has_tools):
            cut = reply.ending == "length" and not block.closed
            yield Asked("", None, CUT_PROGRAM) if cut else Asked("", block.text)


def _is_program(block: Fenced, *, has_tools: bool) -> bool:
    if block.is_python and not has_tools:
        return True
    return block.is_last and (block.is_python or not block.language) and bool(_OF_THE_ROOM.search(block.text))
