"""`sys` and `platform`, as far as there is a system."""

from __future__ import annotations

import operator
import sys
from typing import Any

from codeact.engines.restricted.library.parts import Parts, take
from wasm_runtime.guest.program import FILENAME


def make_sys(parts: Parts) -> dict[str, Any]:
    """The names of `sys`. The recursion limit is the host's: asking for another has no effect."""

    def leave(status: Any = None, /) -> None:
        raise SystemExit(status)

    def setrecursionlimit(limit: int, /) -> None:
        operator.index(limit)

    output = parts.world.builtins
    return {
        **take(
            "sys",
            "byteorder float_info getdefaultencoding getrecursionlimit getrefcount getsizeof hash_info hexversion int_info "
            "intern maxsize maxunicode version_info",
        ),
        "argv": [FILENAME],
        "exc_info": lambda: (*sys.exc_info()[:2], None),
        "exception": lambda: sys.exc_info()[1],
        "exit": leave,
        "platform": "sandbox",
        "setrecursionlimit": setrecursionlimit,
        "stderr": output[".stderr"],
        "stdin": parts.load("io").StringIO(),
        "stdout": output[".stdout"],
        "version": sys.version.split()[0],
    }


def make_platform(_parts: Parts) -> dict[str, Any]:
    """The names of `platform`: the interpreter is told, the machine is not."""
    version = sys.version.split()[0]
    told = {
        "architecture": ("64bit", ""),
        "machine": "",
        "node": "",
        "platform": "sandbox",
        "processor": "",
        "python_implementation": "CPython",
        "python_version": version,
        "python_version_tuple": tuple(version.split(".")),
        "release": "",
        "system": "sandbox",
        "version": "",
    }
    return {name: _constant(value) for name, value in told.items()}


def _constant(value: Any) -> Any:
    return lambda *_, **__: value
