"""Renaming: the code of a text, as if it had been compiled as another program of its session."""

from __future__ import annotations

from types import CodeType

from wasm_runtime.guest.program import NOTHING, Compiled


def renamed(compiled: Compiled, name: str) -> Compiled:
    """A program under the name of a file: frames tell by it which text of a session they are of."""
    shown = compiled.body if compiled.tail is None else compiled.tail
    if shown.co_filename == name:
        return compiled
    body = compiled.body if compiled.body is NOTHING else _renamed(compiled.body, name)
    return Compiled(body, compiled.tail and _renamed(compiled.tail, name), compiled.function)


def _renamed(code: CodeType, name: str) -> CodeType:
    # As deep as functions nest, which the policy bounds.
    parts = tuple(_renamed(part, name) if type(part) is CodeType else part for part in code.co_consts)
    return code.replace(co_filename=name, co_consts=parts)
