"""What a program may rely on, as a document: `python -m codeact.testing.language > docs/language.md`."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from codeact.engines.restricted.imports import importable
from codeact.engines.restricted.refusals import REFUSALS
from codeact.testing.table import Case, Difference, Raises, Table, tables

_HEAD = """\
# What a program may rely on

`python -m codeact.testing.language` writes this from the tables that every engine is tested with
(`codeact.testing.conformance`): {count} programs. What a row gives on an engine is what plain CPython gives, value, type,
output and error, unless the row is among the differences.

The programs are in `codeact/testing/cases`. `wasm` runs a CPython 3.14 of its own. `restricted` runs in the host's CPython and knows the syntax of that version.
"""

_DIFFERENCES = """
## Where an engine differs by design

| what | engine | why | what happens | instead |
| --- | --- | --- | --- | --- |
"""

_REFUSED = """
## What `restricted` refuses of the language

The error of each says so. All else of the language is there.

| what | why | instead |
| --- | --- | --- |
"""

_MODULES = """
## What there is to import

On `wasm` the standard library, apart from what would need an operating system, a network, threads or processes; the
error of such a module, or of a package that is not there, says what to use instead. On `restricted` the harmless part
of it: {modules}.
"""

_PENDING = """
## Not yet

| what | engine | why |
| --- | --- | --- |
"""


def document() -> str:
    """The whole document, in Markdown."""
    return "".join(_parts())


def _parts() -> Iterator[str]:
    cases = [case for table in tables() for case in table.cases]
    yield _HEAD.format(count=len(cases))
    for table in tables():
        yield _section(table)
    yield _DIFFERENCES
    for case in cases:
        for engine, difference in case.differs.items():
            yield _row(_name(case), f"`{engine}`", difference.why, _ending(difference), difference.instead or "")
    yield _REFUSED
    for row in REFUSALS:
        yield _row(row.what, row.why, row.instead)
    yield _MODULES.format(modules=", ".join(sorted(importable())))
    pending = [_row(_name(case), f"`{engine}`", why) for case in cases for engine, why in case.pending.items()]
    if pending:
        yield _PENDING
        yield from pending


def _section(table: Table) -> str:
    return f"\n## {table.title}\n\n{table.about}\n\n{_plain('; '.join(map(_listed, table.cases)))}.\n"


def _listed(case: Case) -> str:
    name = case.name.partition("/")[2]
    return name if case.since <= (3, 11) else f"{name} (from Python {case.since[0]}.{case.since[1]} on)"


def _name(case: Case) -> str:
    return case.name.replace("/", ": ", 1)


def _ending(difference: Difference) -> str:
    match difference.expects:
        case Raises(kind, message):
            return f"`{kind}`: … {message} …" if message else f"`{kind}`"
        case given:
            return f"`{given.value!r}`"


def _row(*cells: str) -> str:
    return f"| {' | '.join(map(_cell, cells))} |\n"


def _cell(text: str) -> str:
    return (text if "`" in text else _plain(text)).replace("|", r"\|")


def _plain(text: str) -> str:
    """Text in which nothing is markup."""
    return text.replace("__", r"\_\_")


if __name__ == "__main__":
    sys.stdout.write(document())
