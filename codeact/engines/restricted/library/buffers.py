"""`struct` and `codecs`: bytes and text in memory, within the size of one operation."""

from __future__ import annotations

import codecs
import struct
from collections.abc import Callable, Iterator
from typing import Any

from codeact.engines.restricted.library.parts import Parts, take

_ITEM = 40
"""Bytes that a number takes in a list, its place included."""

_CHANGING = frozenset({"base64", "base64_codec", "hex", "hex_codec", "rot13", "rot_13"})
"""Codecs that make text of text, or bytes of bytes."""


def make_struct(parts: Parts) -> dict[str, Any]:
    """The names of `struct`; a format is judged by what it packs before anything is packed."""
    sizes, charged = parts.sizes, parts.world.meter.charged

    class Struct:
        __slots__ = ("_real",)

        def __init__(self, format: Any) -> None:
            self._real = struct.Struct(format)
            sizes.take(self._real.size)

        @property
        def format(self) -> str:
            return self._real.format

        @property
        def size(self) -> int:
            return self._real.size

        def pack(self, *values: Any) -> bytes:
            return self._real.pack(*values)

        def pack_into(self, buffer: Any, offset: Any, *values: Any) -> None:
            self._real.pack_into(buffer, offset, *values)

        def unpack(self, buffer: Any) -> tuple[Any, ...]:
            sizes.take(_ITEM * self._real.size)
            return self._real.unpack(buffer)

        def unpack_from(self, buffer: Any, offset: int = 0) -> tuple[Any, ...]:
            sizes.take(_ITEM * self._real.size)
            return self._real.unpack_from(buffer, offset)

        def iter_unpack(self, buffer: Any) -> Iterator[tuple[Any, ...]]:
            sizes.take(_ITEM * self._real.size)
            return charged(self._real.iter_unpack(buffer))

    Struct.__module__, Struct.__qualname__ = "struct", "Struct"
    return {
        **take("struct", "calcsize error"),
        "Struct": Struct,
        "iter_unpack": lambda format, buffer, /: Struct(format).iter_unpack(buffer),
        "pack": lambda format, /, *values: Struct(format).pack(*values),
        "pack_into": lambda format, buffer, offset, /, *values: Struct(format).pack_into(buffer, offset, *values),
        "unpack": lambda format, buffer, /: Struct(format).unpack(buffer),
        "unpack_from": lambda format, /, buffer, offset=0: Struct(format).unpack_from(buffer, offset),
    }


def make_codecs(parts: Parts) -> dict[str, Any]:
    """The names of `codecs` that need no registry."""

    def judged(name: str, change: Callable[..., Any]) -> Callable[..., Any]:
        def call(obj: Any, encoding: str = "utf-8", errors: str = "strict") -> Any:
            if not (isinstance(encoding, str) and encoding.lower().replace("-", "_") in _CHANGING):
                parts.text.judge_encoding(encoding)
            return change(obj, encoding, errors)

        call.__name__ = call.__qualname__ = name
        return call

    return {
        **take(
            "codecs",
            "BOM BOM_BE BOM_LE BOM_UTF16 BOM_UTF16_BE BOM_UTF16_LE BOM_UTF32 BOM_UTF32_BE BOM_UTF32_LE BOM_UTF8",
        ),
        "decode": judged("decode", codecs.decode),
        "encode": judged("encode", codecs.encode),
    }
