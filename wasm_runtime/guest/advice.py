"""What to use in place of a module that does not exist in a sandbox: one table, for every engine.

Pure data and words. It imports nothing of the guest's, so that an engine without a guest can say the same.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from difflib import get_close_matches

NETWORK = "the network is reached through the tools only"
NO_THREADS = "there are no threads in the sandbox; call the function itself, or use asyncio.gather over tools"
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
    "nt": _SYSTEM,
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

REMOVED: dict[str, str] = {
    "asynchat": "use asyncio",
    "asyncore": "use asyncio",
    "cgi": "use urllib.parse and html",
    "cgitb": "use traceback",
    "crypt": "use hashlib",
    "distutils": "compare versions as tuples of numbers",
    "imghdr": "look at the first bytes",
    "imp": "use importlib",
    "mailcap": "use mimetypes",
    "nntplib": NETWORK,
    "pipes": "use shlex.quote",
    "smtpd": NETWORK,
    "sndhdr": "look at the first bytes",
    "telnetlib": NETWORK,
    "uu": "use binascii.b2a_uu",
    "xdrlib": "use struct",
}
"""Modules that the standard library had once."""

PACKAGES: dict[str, str] = {
    "Crypto": "use hashlib, hmac and secrets",
    "Levenshtein": "use difflib",
    "PIL": "there are no images; return the data",
    "aiohttp": NETWORK,
    "anthropic": NETWORK,
    "arrow": "use datetime and zoneinfo",
    "asyncpg": "databases are reached through the tools only",
    "attr": "use dataclasses",
    "attrs": "use dataclasses",
    "babel": "use f-strings",
    "bcrypt": "use hashlib, hmac and secrets",
    "bokeh": "there is nothing to draw on; return the data",
    "boto3": NETWORK,
    "botocore": NETWORK,
    "bs4": "use html.parser or re",
    "cachetools": "use functools",
    "chardet": "try bytes.decode with each encoding",
    "click": "use argparse",
    "colorama": "use print",
    "cryptography": "use hashlib, hmac and secrets",
    "cv2": "there are no images; return the data",
    "dask": _TABLES,
    "dateutil": "use datetime and zoneinfo",
    "django": NETWORK,
    "dotenv": "there is no environment",
    "duckdb": _TABLES,
    "faker": "use random",
    "fastapi": NETWORK,
    "flask": NETWORK,
    "fuzzywuzzy": "use difflib",
    "github": NETWORK,
    "google": NETWORK,
    "html5lib": "use html.parser",
    "httpx": NETWORK,
    "hypothesis": "use random",
    "jinja2": "use string.Template and f-strings",
    "joblib": "use functools",
    "jsonschema": "check the data by hand",
    "jwt": "use hmac, base64 and json",
    "keras": "use statistics and lists",
    "loguru": "use logging",
    "lxml": "use xml.etree.ElementTree or html.parser",
    "markdown": "use re and html",
    "marshmallow": "use dataclasses",
    "matplotlib": "there is nothing to draw on; return the data",
    "more_itertools": "use itertools",
    "mpmath": "use fractions, decimal and math",
    "msgpack": "use json or pickle",
    "mysql": "databases are reached through the tools only",
    "nacl": "use hashlib, hmac and secrets",
    "networkx": "use dict, collections.deque, heapq and graphlib",
    "nltk": "use re, collections and difflib",
    "nose": "use assert",
    "numba": "write plain Python",
    "numpy": "use math, statistics, array, fractions and lists",
    "openai": NETWORK,
    "openpyxl": "use csv",
    "orjson": "use json",
    "pandas": _TABLES,
    "paramiko": NETWORK,
    "peewee": "use sqlite3 in memory",
    "pendulum": "use datetime and zoneinfo",
    "pip": _PACKAGES,
    "pkg_resources": _PACKAGES,
    "playwright": NETWORK,
    "plotly": "there is nothing to draw on; return the data",
    "polars": _TABLES,
    "psutil": _SYSTEM,
    "psycopg": "databases are reached through the tools only",
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
    "scrapy": NETWORK,
    "seaborn": "there is nothing to draw on; return the data",
    "selenium": NETWORK,
    "setuptools": _PACKAGES,
    "simplejson": "use json",
    "six": "there is Python 3 only",
    "skimage": "there are no images; return the data",
    "sklearn": "use statistics and lists",
    "slack_sdk": NETWORK,
    "sortedcontainers": "use bisect and heapq",
    "spacy": "use re, collections and difflib",
    "sqlalchemy": "databases are reached through the tools only",
    "statsmodels": "use statistics",
    "stripe": NETWORK,
    "structlog": "use logging",
    "sympy": "use fractions, decimal and math",
    "tabulate": "use str.ljust and f-strings",
    "tenacity": "use a loop with try/except",
    "tensorflow": "use statistics and lists",
    "termcolor": "use print",
    "textblob": "use re, collections and difflib",
    "thefuzz": "use difflib",
    "toml": "use tomllib",
    "tomli": "use tomllib",
    "torch": "use statistics and lists",
    "tqdm": "use print",
    "twilio": NETWORK,
    "typer": "use argparse",
    "typing_extensions": "use typing",
    "tzdata": "use zoneinfo, which has its data here",
    "tzlocal": "use datetime.timezone.utc: local time is UTC here",
    "ujson": "use json",
    "unidecode": "use unicodedata.normalize",
    "urllib3": NETWORK,
    "websocket": NETWORK,
    "websockets": NETWORK,
    "wget": NETWORK,
    "xgboost": "use statistics and lists",
    "xlrd": "use csv",
    "xlsxwriter": "use csv",
    "xmltodict": "use xml.etree.ElementTree",
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
    public = name.lstrip("_")  # what is written in C is missed by the name of the module that needs it
    advice = (
        MODULES.get(name) or MODULES.get(public) or REMOVED.get(name) or PACKAGES.get(name) or (more or {}).get(name)
    )
    if advice is None and name != public and name in sys.stdlib_module_names:
        advice = "it is a private part of Python elsewhere"
    elif advice is None:
        near = get_close_matches(name, list(known), n=1, cutoff=0.8)
        advice = f"did you mean {near[0]!r}?" if near else rest
    return f"No module named {name!r}: it does not exist in the sandbox; {advice}"
