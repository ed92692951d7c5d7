"""The modules that may be imported: what each holds, name by name.

`SHARED` modules hold only what no program can change, so one is made for all worlds. `MODULES` are made for each
world, because they hold its clock, its chance or its limits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from codeact.engines.restricted.library import clock, data, dice, functions, numbers, patterns, prose
from codeact.engines.restricted.library.parts import Parts
from codeact.engines.restricted.library.shared import SHARED

__all__ = ["MODULES", "SHARED", "Parts"]

MODULES: dict[str, Callable[[Parts], dict[str, Any]]] = {
    "collections": data.make_collections,
    "copy": data.make_copy,
    "csv": data.make_csv,
    "dataclasses": data.make_dataclasses,
    "datetime": clock.make_datetime,
    "decimal": numbers.make_decimal,
    "difflib": data.make_difflib,
    "fractions": numbers.make_fractions,
    "functools": functions.make_functools,
    "itertools": functions.make_itertools,
    "json": data.make_json,
    "math": numbers.make_math,
    "operator": functions.make_operator,
    "pprint": data.make_pprint,
    "random": dice.make_random,
    "re": patterns.make_re,
    "sys": functions.make_sys,
    "textwrap": prose.make_textwrap,
    "time": clock.make_time,
    "uuid": dice.make_uuid,
}
