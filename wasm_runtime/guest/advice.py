"""What to use in place of a module that does not exist in a sandbox: one table, for every engine.

Pure data and words. It imports nothing of the guest's, so that an engine without a guest can say the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches

NETWORK = "the network is reached through the tools only"
NO_THREADS = "there are no threads in the sandbox; use asyncio.gather over tools, or a plain loop"
"""Said where a thread would begin."""

FOREVER = "this would wait forever: there are no other threads in the sandbox"
"""Said where one thread would wait for another."""

_COMPRESSION = "use zlib or gzip"
_PROCESSES = "there are no processes; run the work here, or call tools"
_TERMINAL = "there is no terminal; use print"
_SYSTEM = "there is no operating system below"
_TABLES = "use csv, collections, itertools, statistics and lists of dicts"
_PACKAGES = "packages cannot be installed"

MODULES: dict[str, str] = {
    "_ctypes": "there is no native code to call",
    "bz2": _COMPRESSION,
    "cProfile": "use timeit or time.perf_counter",
    "compression.bz2": _COMPRESSION,
    "compression.lzma": _COMPRESSION,
    "compression.zstd": _COMPRESSION,
    "concurrent.futures.process": _PROCESSES,
    "concurrent.interpreters": _PROCESSES,
    "ctypes": "there is no native code to call",
    "curses": _TERMINAL,
    "dbm.sqlite3": "use dbm.dumb",
    "ensurepip": _PACKAGES,
    "fcntl": _SYSTEM,
    "grp": _SYSTEM,
    "idlelib": _TERMINAL,
    "lzma": _COMPRESSION,
    "mmap": "use bytearray",
    "multiprocessing": _PROCESSES,
    "msvcrt": _SYSTEM,
    "pty": _TERMINAL,
    "pwd": _SYSTEM,
    "readline": _TERMINAL,
    "resource": _SYSTEM,
    "ssl": NETWORK,
    "syslog": "use print or logging",
    "termios": _TERMINAL,
    "test": "it is not part of the sandbox",
    "tkinter": _TERMINAL,
    "tty": _TERMINAL,
    "turtle": _TERMINAL,
    "turtledemo": _TERMINAL,
    "venv": _PACKAGES,
    "webbrowser": NETWORK,
    "winreg": _SYSTEM,
    "winsound": _SYSTEM,
}
"""Modules of the standard library that can exist in no sandbox, with what to do instead."""

PACKAGES: dict[str, str] = {
    "PIL": "there are no images; return the data",
    "aiohttp": NETWORK,
    "anthropic": NETWORK,
    "arrow": "use datetime and zoneinfo",
    "attr": "use dataclasses",
    "attrs": "use dataclasses",
    "boto3": NETWORK,
    "botocore": NETWORK,
    "bs4": "use html.parser or re",
    "cv2": "there are no images; return the data",
    "dateutil": "use datetime and zoneinfo",
    "duckdb": _TABLES,
    "google": NETWORK,
    "httpx": NETWORK,
    "lxml": "use xml.etree.ElementTree or html.parser",
    "matplotlib": "there is nothing to draw on; return the data",
    "more_itertools": "use itertools",
    "networkx": "use dict, collections.deque, heapq and graphlib",
    "nltk": "use re, collections and difflib",
    "numpy": "use math, statistics, array, fractions and lists",
    "openai": NETWORK,
    "openpyxl": "use csv",
    "orjson": "use json",
    "pandas": _TABLES,
    "pendulum": "use datetime and zoneinfo",
    "pip": _PACKAGES,
    "plotly": "there is nothing to draw on; return the data",
    "polars": _TABLES,
    "psycopg2": "databases are reached through the tools only",
    "pyarrow": _TABLES,
    "pydantic": "use dataclasses",
    "pymongo": "databases are reached through the tools only",
    "pymysql": "databases are reached through the tools only",
    "pytest": "use assert",
    "pytz": "use zoneinfo",
    "rapidfuzz": "use difflib",
    "redis": "databases are reached through the tools only",
    "regex": "use re",
    "requests": NETWORK,
    "rich": "use print, pprint and f-strings",
    "scipy": "use math, statistics and cmath",
    "seaborn": "there is nothing to draw on; return the data",
    "setuptools": _PACKAGES,
    "simplejson": "use json",
    "six": "there is Python 3 only",
    "sklearn": "use statistics and lists",
    "sqlalchemy": "databases are reached through the tools only",
    "statsmodels": "use statistics",
    "sympy": "use fractions, decimal and math",
    "tabulate": "use str.ljust and f-strings",
    "tenacity": "use a loop with try/except",
    "tensorflow": "use statistics and lists",
    "thefuzz": "use difflib",
    "toml": "use tomllib",
    "tomli": "use tomllib",
    "torch": "use statistics and lists",
    "tqdm": "use print",
    "typing_extensions": "use typing",
    "tzdata": "use zoneinfo, which has its data here",
    "tzlocal": "use datetime.timezone.utc: local time is UTC here",
    "ujson": "use json",
    "urllib3": NETWORK,
    "xlrd": "use csv",
    "yaml": "use json or tomllib",
}
"""Well-known packages that are not here, with what is."""

_STANDARD = "there is the standard library, and there are the tools"


def no_module(name: str, known: Iterable[str], more: Mapping[str, str] | None = None, rest: str = _STANDARD) -> str:
    """The text of the ModuleNotFoundError: what to use instead, or what the name could have meant.

    Args:
        name: the module that was asked for.
        known: the names of the modules there are.
        more: what to use in place of modules that only this engine does not have.
        rest: what there is, for a name that nothing is known about.
    """
    advice = MODULES.get(name) or PACKAGES.get(name) or (more or {}).get(name)
    if advice is None:
        near = get_close_matches(name, list(known), n=1, cutoff=0.8)
        advice = f"did you mean {near[0]!r}?" if near else rest
    return f"No module named {name!r}: it does not exist in the sandbox; {advice}"
