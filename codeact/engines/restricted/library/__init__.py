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
    "collections": "data",
    "copy": "data",
    "csv": "data",
    "dataclasses": "data",
    "datetime": "clock",
    "decimal": "numbers",
    "difflib": "data",
    "fractions": "numbers",
    "functools": "functions",
    "itertools": "functions",
    "json": "data",
    "math": "numbers",
    "operator": "functions",
    "pprint": "data",
    "random": "dice",
    "re": "patterns",
    "sys": "functions",
    "textwrap": "prose",
    "time": "clock",
    "uuid": "dice",
}
"""The submodule that makes each, by a function named after it: `make_csv`."""

PACKAGES = {"collections": ("abc",), "urllib": ("parse",)}
"""Modules that hold others."""

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
