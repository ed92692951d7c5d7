"""What is told on stderr while something takes its time."""

from __future__ import annotations

import sys
import threading
import time
from contextlib import AbstractContextManager, nullcontext
from typing import Literal

Manner = Literal["terminal", "lines", "never"]
"""When it is told: where stderr is a `terminal`, with the seconds that go by; also elsewhere, in plain `lines`; or `never`."""

_manner: Manner = "terminal"


def tell(manner: Manner) -> None:
    """Choose for this process. A command tells what it does in any case; what has a terminal is watched by somebody."""
    global _manner  # noqa: PLW0603 - stderr, too, is the process's
    _manner = manner


def announced(what: str, expected: str) -> AbstractContextManager[None]:
    """Tell that something takes its time.

    Args:
        what: what is done.
        expected: how long it usually takes.
    """
    if _watched():
        return _Ticking(what, expected)
    _line(f"{what} … ({expected})")
    return nullcontext()


def waiting(what: str) -> None:
    """Tell what is waited for."""
    if not _line(what) and _watched():
        sys.stderr.write(f"codeact: {what}\n")


def _watched() -> bool:
    return _manner != "never" and sys.stderr is not None and sys.stderr.isatty()


def _line(text: str) -> bool:
    """A plain line, where that is wanted and nobody watches."""
    if _manner != "lines" or sys.stderr is None or sys.stderr.isatty():
        return False
    sys.stderr.write(f"codeact: {text}\n")
    sys.stderr.flush()
    return True


class _Ticking(AbstractContextManager[None]):
    """One line of a terminal, with the seconds that have gone by."""

    def __init__(self, what: str, expected: str) -> None:
        self._what = what
        self._expected = expected
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._show, daemon=True)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()

    def _show(self) -> None:
        began = time.monotonic()
        while True:
            over = self._done.wait(0.25)
            seconds = time.monotonic() - began
            sys.stderr.write(f"\rcodeact: {self._what} … {seconds:4.1f} s ({self._expected})")
            if over:
                sys.stderr.write("\n")
                return
            sys.stderr.flush()
