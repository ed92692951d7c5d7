"""The operating system that is not there: what would need it is an ordinary error, or is done without.

The walls are elsewhere: the component imports nothing but its doors, and libc's way to anything else ends the
instance. This is comfort: a program meets an error it can read and handle.
"""

from __future__ import annotations

import builtins
import getpass
import os
import sys
import warnings
from collections.abc import Callable
from decimal import Context, setcontext
from typing import Any

from . import databases, digests, files, network, processes, tracebacks, width
from .library import Shelf
from .refusals import refusing

_ARGUMENTS = ("<program>",)

_AUDITED: dict[str, Callable[..., object]] = {
    # The parser too opens the file that a syntax error is in, to show its line, and is content if there is none.
    "open": files.refuse,
    "sqlite3.connect": databases.check,
    **network.AUDITED,
}
"""What C code announces before it asks the operating system; an exception stops it."""


def _audit(event: str, arguments: tuple[Any, ...]) -> None:
    answer = _AUDITED.get(event)
    if answer is not None:
        answer(*arguments)


def _no_debugger(name: str) -> Callable[..., Any]:
    return refusing(RuntimeError, f"{name}: there is no debugger in the sandbox; use print")


def begin() -> None:
    """Before each run: what a program may have changed for itself alone."""
    sys.argv[:] = _ARGUMENTS
    setcontext(Context())


def install(shelf: Shelf) -> None:
    """Answer in the place of the operating system. Nothing can be imported from a file afterwards.

    Args:
        shelf: where the modules wait that are imported later.
    """
    files.install()
    network.install(shelf)
    processes.install()
    databases.install()
    digests.install()
    tracebacks.install()
    width.install()
    sys.breakpointhook = _no_debugger("breakpoint()")
    entries = ("run", "runcall", "runeval", "set_trace", "set_trace_async", "post_mortem", "pm")
    shelf.amend("pdb", dict.fromkeys(entries, _no_debugger("pdb")))
    getpass.getpass = refusing(EOFError, "getpass(): nobody can be asked in the sandbox")
    # They are for people at a prompt; a program returns, or calls sys.exit().
    del builtins.exit, builtins.quit
    # Models write "\d" all day; the text means what they think it means.
    warnings.simplefilter("ignore", SyntaxWarning)
    sys.dont_write_bytecode = True
    os.environ.clear()
    sys.addaudithook(_audit)
