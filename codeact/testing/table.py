"""The cases of the suite, as data: programs, what they must give, and where engines differ by design."""

from __future__ import annotations

import datetime as dt
import decimal
import fractions
import math
import tomllib
import uuid
import zoneinfo
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

Version = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Raises:
    """The error a program must end in.

    Attributes:
        type: the name of the exception's type.
        message: a part of its text.
        kind: why the run failed, see `codeact.engines.Kind`; None where it does not matter.
        line: the failing line, from 1; None where it does not matter.
    """

    type: str
    message: str
    kind: str | None = None
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Value:
    """The value a program must give."""

    value: object


Expectation = Value | Raises


@dataclass(frozen=True, slots=True)
class Difference:
    """How one engine differs by design.

    Attributes:
        why: the reason, one sentence.
        instead: what to write there; None where nothing needs to be written.
        expects: how the program ends there.
    """

    why: str
    instead: str | None
    expects: Expectation


@dataclass(frozen=True, slots=True)
class Case:
    """One program and what may be relied upon.

    Attributes:
        name: `table/row`, unique.
        program: the text, as a model would write it.
        earlier: programs that the same session has run before it.
        expects: how it must end; None where plain CPython says it.
        note: a part of the note that the result must have; None where CPython says it.
        files: what it finds in its workspace: text by path.
        tools: names of `codeact.testing.tools.TOOLS` that it is granted.
        limits: arguments for `Limits` other than the defaults.
        since: the first version of Python that can run it.
        on_cpython: whether plain CPython can run it; limits and repairs are what it cannot.
        differs: the engines that differ by design.
        pending: the engines that do not conform yet, with the reason. One that does is then a mistake in the table.
    """

    name: str
    program: str
    expects: Expectation | None = None
    note: str | None = None
    earlier: tuple[str, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)
    tools: tuple[str, ...] = ()
    limits: Mapping[str, Any] = field(default_factory=dict)
    since: Version = (3, 11)
    on_cpython: bool = True
    differs: Mapping[str, Difference] = field(default_factory=dict)
    pending: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Table:
    """Cases about one thing.

    Attributes:
        title: what they are about.
        about: what may be relied upon, in a sentence or two.
        cases: the rows.
    """

    title: str
    about: str
    cases: tuple[Case, ...]


@cache
def tables() -> tuple[Table, ...]:
    """All tables, in the order of their file names."""
    home = files("codeact.testing") / "cases"
    found = sorted((entry for entry in home.iterdir() if entry.name.endswith(".toml")), key=lambda entry: entry.name)
    return tuple(
        _table(entry.name.removesuffix(".toml").partition("_")[2], entry.read_text("utf-8")) for entry in found
    )


def _table(name: str, text: str) -> Table:
    data = tomllib.loads(text)
    return Table(data["title"], data["about"], tuple(_case(name, **row) for row in data["case"]))


def _case(table: str, /, *, name: str, program: str, differs: Mapping[str, Any] | None = None, **row: Any) -> Case:
    expects = _expectation(row)
    if expects is None and not row.get("on_cpython", True):
        msg = f"{table}/{name}: say how it ends, value=… or raises=…: plain CPython cannot"
        raise ValueError(msg)
    for several in ("earlier", "tools"):
        row[several] = tuple(row.get(several, ()))
    if "since" in row:
        major, _, minor = row["since"].partition(".")
        row["since"] = int(major), int(minor)
    differences = {engine: _difference(**difference) for engine, difference in (differs or {}).items()}
    return Case(f"{table}/{name}", program, expects, differs=differences, **row)


def _difference(*, why: str, instead: str | None = None, **row: Any) -> Difference:
    expects = _expectation(row)
    if row or expects is None:
        msg = f"a difference says how the program ends there: value=… or raises=…, not {row}"
        raise ValueError(msg)
    return Difference(why, instead, expects)


_NAMES: dict[str, Any] = {
    **{name: getattr(dt, name) for name in ("date", "datetime", "time", "timedelta", "timezone")},
    "Decimal": decimal.Decimal,
    "Fraction": fractions.Fraction,
    "UUID": uuid.UUID,
    "ZoneInfo": zoneinfo.ZoneInfo,
    "inf": math.inf,
    "nan": math.nan,
}


def _expectation(row: dict[str, Any]) -> Expectation | None:
    """Take the keys that say how a program ends out of a row."""
    if "value" in row:
        return Value(eval(row.pop("value"), dict(_NAMES)))  # noqa: S307 - an expression of ours, from the package
    if "raises" in row:
        kind, _, message = row.pop("raises").partition(": ")
        return Raises(kind, message, row.pop("kind", None), row.pop("line", None))
    return None
