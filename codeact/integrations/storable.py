"""A result as data that the stores and clients of frameworks take, whatever its program did."""

from __future__ import annotations

from codeact.renderings import printable
from codeact.result import Result

_BITS = 63
"""Bits of a number beside its sign that MessagePack and most databases hold; some readers of JSON lose more without a word."""


def stored(result: Result) -> dict[str, object]:
    """What `Result.to_dict` gives, with what JSON can hold and other formats cannot as text: wide integers, lone surrogates.

    A program chooses its value, and must not be able to end a loop whose state is written to a store after each step.
    """
    return {name: _stored(value) for name, value in result.to_dict().items()}


def _stored(value: object) -> object:
    match value:
        case str():
            return printable(value)
        case int() if value.bit_length() > _BITS:
            return str(value)
        case dict():
            return {printable(str(key)): _stored(item) for key, item in value.items()}
        case list():
            return [_stored(item) for item in value]
        case _:
            return value
