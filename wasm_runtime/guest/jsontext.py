"""JSON, read and written by what is made once: to make a reader or a writer costs more than a small text."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from functools import cache
from typing import Any

Reader = Callable[[str, int], tuple[Any, int]]
"""Reads the JSON at a place of a text: its value, and where it ends. StopIteration where there is none."""


def writer(*, ascii_only: bool) -> Callable[[object], str]:
    """What writes JSON of plain trees.

    Args:
        ascii_only: whether everything else is escaped.
    """
    made = json.encoder.c_make_encoder  # type: ignore[attr-defined]  # the stubs leave it out
    if made is None:  # an interpreter without it in C
        return json.JSONEncoder(ensure_ascii=ascii_only, separators=(",", ":")).encode
    text = json.encoder.encode_basestring_ascii if ascii_only else json.encoder.encode_basestring
    # No circles are looked for, because a tree was just made; and nothing in it is foreign.
    parts = made(None, None, text, None, ":", ",", False, False, True)
    return lambda tree: "".join(parts(tree, 0))


_written, _escaped = writer(ascii_only=False), writer(ascii_only=True)


def text_of(tree: object) -> str:
    """The JSON of a tree that holds nothing else than JSON does."""
    text = _written(tree)
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:  # lone surrogates: only escapes can carry them
            text = _escaped(tree)
    return text


def reader(hook: Callable[[dict[str, object]], object] | None = None) -> Reader:
    """What reads JSON.

    Args:
        hook: what becomes of its objects; None leaves them dicts.
    """
    return _reader(hook, number_reader())


@cache
def _reader(hook: Any, numbers: Any) -> Reader:
    # Each NaN is an object of its own: as keys they would otherwise be one.
    decoder: Any = json.JSONDecoder(object_hook=hook, parse_constant=float, parse_int=numbers)
    made: Reader = decoder.scan_once
    return made


def number_reader() -> Callable[[str], int] | None:
    """What JSON's integers are to be read with: they are short, which the interpreter sees to where it was left to."""
    return None if 0 < sys.get_int_max_str_digits() <= _MOST_DIGITS else _native


def _native(digits: str) -> int:
    if len(digits) > _MOST_DIGITS:
        msg = "a number that is too long"
        raise ValueError(msg)
    return int(digits)


_MOST_DIGITS = 10_000
"""Digits that are read in no time."""
