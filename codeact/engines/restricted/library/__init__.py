"""The modules that may be imported: what each holds, name by name.

`SHARED` modules hold only what no program can change, so one is made for all worlds. The others are made for each
world, because they hold its clock, its chance or its limits; `MODULES` says where. Nothing is made, and nothing of
the real library loaded, before a program imports it.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from codeact.engines.restricted.library.parts import Parts
from codeact.engines.restricted.library.shared import SHARED

__all__ = ["MODULES", "PACKAGES", "SHARED", "Parts", "make"]

MODULES: dict[str, str] = {
    "ast": "mirror",
    "asyncio": "concurrency",
    "calendar": "clock",
    "codecs": "buffers",
    "collections": "data",
    "concurrent.futures": "threads",
    "configparser": "formats",
    "contextlib": "functions",
    "copy": "data",
    "csv": "formats",
    "dataclasses": "data",
    "datetime": "clock",
    "decimal": "numbers",
    "difflib": "prose",
    "email.utils": "addresses",
    "fnmatch": "prose",
    "fractions": "numbers",
    "functools": "functions",
    "glob": "storage",
    "gzip": "storage",
    "hashlib": "digests",
    "html.parser": "markup",
    "inspect": "mirror",
    "io": "storage",
    "ipaddress": "addresses",
    "itertools": "functions",
    "json": "formats",
    "json.decoder": "formats",
    "json.encoder": "formats",
    "keyword": "mirror",
    "logging": "journal",
    "math": "numbers",
    "operator": "functions",
    "os": "storage",
    "os.path": "storage",
    "pathlib": "storage",
    "platform": "system",
    "pprint": "shown",
    "queue": "threads",
    "random": "dice",
    "re": "patterns",
    "reprlib": "shown",
    "sched": "clock",
    "secrets": "dice",
    "shlex": "prose",
    "string": "prose",
    "shutil": "storage",
    "struct": "buffers",
    "sys": "system",
    "tarfile": "storage",
    "tempfile": "storage",
    "textwrap": "prose",
    "threading": "threads",
    "time": "clock",
    "timeit": "clock",
    "tomllib": "formats",
    "traceback": "journal",
    "types": "mirror",
    "typing": "mirror",
    "uuid": "dice",
    "warnings": "journal",
    "weakref": "data",
    "xml.etree.ElementTree": "markup",
    "xml.sax.saxutils": "markup",
    "zipfile": "storage",
    "zlib": "compressed",
    "zoneinfo": "clock",
}
"""The submodule that makes each, by a function named after it: `make_csv`."""

PACKAGES: dict[str, tuple[str, ...]] = {
    "collections": ("abc",),
    "concurrent": ("futures",),
    "email": ("utils",),
    "html": ("parser",),
    "json": ("decoder", "encoder"),
    "os": ("path",),
    "urllib": ("parse",),
    "xml": ("etree", "sax"),
    "xml.etree": ("ElementTree",),
    "xml.sax": ("saxutils",),
}
"""Modules that hold others, which are made when somebody asks for them."""

_shared: dict[str, dict[str, Any]] = {}


def make(name: str, parts: Parts) -> dict[str, Any] | None:
    """The names of a module, made for one world if need be; None where there is no such module."""
    if name in SHARED:
        if name not in _shared:
            _shared[name] = SHARED[name]()
        return _shared[name]
    room = MODULES.get(name)
    if room is None:
        return {} if name in PACKAGES else None
    made: dict[str, Any] = getattr(import_module(f"{__name__}.{room}"), f"make_{name.replace('.', '_')}")(parts)
    return made
