"""Plain values as others see them: as a digest, as text that any stream takes, and as what JSON can hold."""

from __future__ import annotations

import hashlib
import re
from base64 import b64encode
from datetime import date, datetime, time, timedelta
from fractions import Fraction

from wasm_runtime.guest.codec import encode_call


def digest_of(args: tuple[object, ...], kwargs: dict[str, object], depth: int) -> str:
    """The SHA-256 of a call's arguments as they are encoded, hexadecimal.

    Args:
        args: positional arguments, plain values.
        kwargs: keyword arguments, plain values.
        depth: how many levels of nesting one of them may have.
    """
    return digest_of_text(encode_call(args, kwargs, depth + 1))


def digest_of_text(text: str) -> str:
    """The SHA-256 of a text, hexadecimal."""
    return hashlib.sha256(text.encode()).hexdigest()


def printable(text: str) -> str:
    """The text with lone surrogates, which nothing but Python can hold, as escapes."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()


_UNSEEN = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    r"\u3164\ud800-\udfff\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff\U000e0000-\U000e0fff]"
)


def visible(text: str) -> str:
    """The text with what a reader cannot see, and what would steer whatever shows it, as escapes.

    These are control characters but for tabs and line ends, marks that turn the direction of a line, what has no width,
    and lone surrogates.
    """
    return text if text.isascii() and text.isprintable() else _UNSEEN.sub(_escape, text)


def _escape(found: re.Match[str]) -> str:
    return found.group().encode("unicode-escape", "surrogatepass").decode("ascii")


_DECIMAL_BITS = 14_000
"""Bits of an integer that is sure to have fewer digits than `sys.get_int_max_str_digits()` by default."""


def jsonable(value: object) -> object:
    """A plain value as what JSON can hold, for logs and APIs; nothing reads it back.

    Times become ISO 8601 text, Decimals text, bytes base64, sets and tuples lists, keys that are no text
    their `str`, and integers of thousands of digits hexadecimal text, because the interpreter refuses to
    write them out in decimal.
    """
    match value:
        case None | bool() | str():
            return value
        case int():
            return value if value.bit_length() <= _DECIMAL_BITS else hex(value)
        case float():
            return value if value - value == 0 else str(value)
        case dict():
            return {
                key if isinstance(key, str) else str(jsonable(key)): jsonable(item) for key, item in dict.items(value)
            }
        case list() | tuple():
            return [jsonable(item) for item in value]
        case set() | frozenset():
            return sorted(map(jsonable, value), key=str)
        case bytes():
            return b64encode(value).decode()
        case datetime() | date() | time():
            return value.isoformat()
        case timedelta():
            return value.total_seconds()
        case Fraction():
            return f"{jsonable(value.numerator)}/{jsonable(value.denominator)}"
        case _:
            return str(value)


def written(value: object) -> str:
    """A plain value as Python writes it; see `jsonable` for integers of thousands of digits."""
    try:
        return repr(value)
    except ValueError:
        return repr(jsonable(value))
