"""What does not exist here, and what to use instead."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Sequence
from difflib import get_close_matches
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

_NETWORK = "the network is reached through the tools only"
_COMPRESSION = "use zlib or gzip"
_PROCESSES = "there are no processes; run the work here, or call tools"
_TERMINAL = "there is no terminal; use print"
_SYSTEM = "there is no operating system below"

MODULES: dict[str, str] = {
    "_ctypes": "there is no native code to call",
    "bz2": _COMPRESSION,
    "cProfile": "use profile, timeit or time.perf_counter",
    "compression.bz2": _COMPRESSION,
    "compression.lzma": _COMPRESSION,
    "compression.zstd": _COMPRESSION,
    "concurrent.futures.process": _PROCESSES,
    "concurrent.interpreters": _PROCESSES,
    "ctypes": "there is no native code to call",
    "curses": _TERMINAL,
    "ensurepip": "packages cannot be installed",
    "fcntl": _SYSTEM,
    "grp": _SYSTEM,
    "idlelib": _TERMINAL,
    "lzma": _COMPRESSION,
    "mmap": "use bytearray and memoryview",
    "multiprocessing": _PROCESSES,
    "msvcrt": _SYSTEM,
    "pty": _TERMINAL,
    "pwd": _SYSTEM,
    "readline": _TERMINAL,
    "resource": _SYSTEM,
    "ssl": _NETWORK,
    "syslog": "use print or logging",
    "termios": _TERMINAL,
    "test": "it is not part of the sandbox",
    "tkinter": _TERMINAL,
    "tty": _TERMINAL,
    "turtle": _TERMINAL,
    "turtledemo": _TERMINAL,
    "venv": "packages cannot be installed",
    "webbrowser": _NETWORK,
    "winreg": _SYSTEM,
    "winsound": _SYSTEM,
}
"""Modules of the standard library that cannot exist here, with what to do instead."""

_THIRD_PARTY: dict[str, str] = {
    "aiohttp": _NETWORK,
    "attr": "use dataclasses",
    "attrs": "use dataclasses",
    "boto3": _NETWORK,
    "bs4": "use html.parser or re",
    "dateutil": "use datetime and zoneinfo",
    "httpx": _NETWORK,
    "lxml": "use xml.etree.ElementTree or html.parser",
    "matplotlib": "there is nothing to draw on; return the data",
    "networkx": "use dict, collections.deque, heapq and graphlib",
    "numpy": "use math, statistics, array, fractions and lists",
    "openpyxl": "use csv",
    "orjson": "use json",
    "pandas": "use csv, collections, itertools, statistics, sqlite3 and lists of dicts",
    "pip": "packages cannot be installed",
    "polars": "use csv, collections, itertools, statistics, sqlite3 and lists of dicts",
    "pydantic": "use dataclasses",
    "pytz": "use zoneinfo",
    "regex": "use re",
    "requests": _NETWORK,
    "scipy": "use math, statistics and cmath",
    "simplejson": "use json",
    "sklearn": "use statistics and lists",
    "sympy": "use fractions, decimal and math",
    "tabulate": "use str.ljust and f-strings",
    "toml": "use tomllib",
    "tqdm": "use print",
    "tzdata": "use zoneinfo, which has its data here",
    "ujson": "use json",
    "urllib3": _NETWORK,
    "yaml": "use json or tomllib",
}


class _Missing(ModuleNotFoundError):
    """How `find_spec` of importlib.util tells our refusal from a failure."""


_Missing.__name__ = _Missing.__qualname__ = "ModuleNotFoundError"
_Missing.__module__ = "builtins"


class Absent(MetaPathFinder):
    """The last finder: it says why there is no such module, and what there is.

    Args:
        standard: the names of the standard library's modules.
    """

    def __init__(self, standard: frozenset[str]) -> None:
        self._standard = standard
        finding = importlib.util._find_spec  # type: ignore[attr-defined]  # noqa: SLF001  # to ask is not to import

        def find(name: str, *rest: object) -> ModuleSpec | None:
            try:
                return finding(name, *rest)  # type: ignore[no-any-return]
            except _Missing:
                return None

        importlib.util._find_spec = find  # type: ignore[attr-defined]  # noqa: SLF001

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, _target: ModuleType | None = None, /
    ) -> ModuleSpec | None:
        """None for what another module may miss in peace; otherwise the refusal."""
        if path is not None and fullname not in MODULES:
            return None
        msg = f"No module named {fullname!r}: {self._advice(fullname)}"
        raise _Missing(msg, name=fullname)

    def _advice(self, name: str) -> str:
        advice = MODULES.get(name) or _THIRD_PARTY.get(name)
        if advice:
            return f"it does not exist in the sandbox; {advice}"
        near = get_close_matches(name, [*self._standard, *sys.modules], n=1, cutoff=0.8)
        if near:
            return f"it does not exist in the sandbox; did you mean {near[0]!r}?"
        return "it does not exist in the sandbox; there is the standard library, and there are the tools"
