"""The program's text streams: what is printed leaves through the door, and nobody types."""

from __future__ import annotations

import builtins
import codecs
import io
import sys
from typing import Any, NoReturn

from . import world


class _Door(io.RawIOBase):
    """A raw stream whose bytes leave as text."""

    def __init__(self) -> None:
        super().__init__()
        # A character may be split over two writes, and bytes may be none at all.
        self._decoder = codecs.getincrementaldecoder("utf-8")("backslashreplace")

    def writable(self) -> bool:
        return True

    def write(self, data: bytes | memoryview) -> int:  # type: ignore[override]  # only bytes-like objects come
        text = self._decoder.decode(bytes(data))
        if text:
            world.write(text)
        return len(data)


def _console() -> io.TextIOWrapper:
    # Nothing is kept back: a trap loses what has not left.
    return io.TextIOWrapper(_Door(), "utf-8", "backslashreplace", newline="\n", write_through=True)  # type: ignore[arg-type]


_current = _console()
_nobody = io.StringIO()


def reset() -> None:
    """Give the program its streams, whatever an earlier one did to them.

    Both outputs are one stream, so that what is printed and what is logged leave in their true order. Not before
    the first run: what goes wrong while the component is made must reach whoever makes it.
    """
    global _current  # noqa: PLW0603  # one room, one console
    if _current.closed:
        _current = _console()
    sys.stdout = sys.stderr = sys.__stdout__ = sys.__stderr__ = _current  # type: ignore[misc]
    sys.stdin = sys.__stdin__ = _nobody  # type: ignore[misc,assignment]
    builtins.input = _input
    builtins.print = _print


def flush() -> None:
    """Let everything that was printed leave."""
    # As it was made it keeps nothing back, but a program may have reconfigured it.
    if not _current.write_through and not _current.closed:
        _current.flush()


_builtin_print = print


def _print(
    *values: object, sep: str | None = " ", end: str | None = "\n", file: Any = None, flush: bool = False
) -> None:
    """Print values to the console, or to `file`; see the documentation of Python's own `print`."""
    # Every write goes through the door at once, so it is one for the whole call.
    text = io.StringIO()
    _builtin_print(*values, sep=sep, end=end, file=text)
    _builtin_print(text.getvalue(), end="", file=file, flush=flush)


_print.__name__ = _print.__qualname__ = "print"
_print.__module__ = "builtins"  # it pickles by its name, as the one it stands for


def _input(_prompt: object = "", /) -> NoReturn:
    msg = "input(): nobody can be asked in the sandbox; use the tools and the names that are given"
    raise EOFError(msg)
