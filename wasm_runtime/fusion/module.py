"""A core module, taken apart."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from typing import NamedTuple

from .binary import Reader


class Sort(IntEnum):
    """What can be imported and exported."""

    FUNCTION = 0
    TABLE = 1
    MEMORY = 2
    GLOBAL = 3


class Import(NamedTuple):
    """What a module takes from another.

    Attributes:
        module: the name under which it expects the other.
        name: the other's export.
        type: of a function, the index of its type; otherwise None.
    """

    module: str
    name: str
    type: int | None


@dataclass(frozen=True, slots=True)
class Global:
    """A global that a module has of its own.

    Attributes:
        type: its value type and whether it can be set, as bytes.
        start: its first value, as bytes of an expression.
    """

    type: bytes
    start: bytes


@dataclass(frozen=True, slots=True)
class Elements:
    """Functions for the table: an active segment.

    Attributes:
        start: the first place, as bytes of an expression.
        functions: indices in the module.
    """

    start: bytes
    functions: list[int]


@dataclass(eq=False, slots=True)
class Module:
    """A core module.

    Attributes:
        types: of functions, as bytes; each once.
        imports: of each sort, in order.
        functions: the index of the type of each function of its own.
        bodies: the bytes of each.
        globals: those of its own.
        exports: of each name, the sort and the index.
        elements: what it puts into the table.
        data: the bytes of its data section; empty where there is none.
        table: the bytes of the type of its own table; empty where it has none.
        memory: the same of its memory.
        names: of functions, for backtraces.
    """

    types: list[bytes] = field(default_factory=list)
    imports: dict[Sort, list[Import]] = field(default_factory=lambda: {sort: [] for sort in Sort})
    functions: list[int] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)
    globals: list[Global] = field(default_factory=list)
    exports: dict[str, tuple[Sort, int]] = field(default_factory=dict)
    elements: list[Elements] = field(default_factory=list)
    data: bytes = b""
    table: bytes = b""
    memory: bytes = b""
    names: dict[int, str] = field(default_factory=dict)

    @classmethod
    def parsed(cls, reader: Reader) -> Module:
        """Take a module apart.

        Raises:
            ValueError: it has something that is not known here.
        """
        module = cls()
        reader.taken(8)
        for kind, content in reader.sections():
            read = _SECTIONS.get(kind)
            if read is None:
                msg = f"a core module has a section of kind {kind}"
                raise ValueError(msg)
            read(module, content)
        return module


def _types(module: Module, reader: Reader) -> None:
    for _ in reader.several():
        place = reader.place
        if reader.byte() != 0x60:  # noqa: PLR2004 - a function type
            msg = "a core module has a type that is no function's"
            raise ValueError(msg)
        for _side in ("parameters", "results"):
            reader.taken(reader.number())
        module.types.append(reader.data[place : reader.place])


def _imports(module: Module, reader: Reader) -> None:
    for _ in reader.several():
        other, name, sort = reader.name(), reader.name(), Sort(reader.byte())
        kind = None
        match sort:
            case Sort.FUNCTION:
                kind = reader.number()
            case Sort.GLOBAL:
                reader.taken(2)
            case Sort.TABLE | Sort.MEMORY:
                _limits(reader, sort)
        module.imports[sort].append(Import(other, name, kind))


def _limits(reader: Reader, sort: Sort) -> bytes:
    place = reader.place
    if sort is Sort.TABLE:
        reader.byte()
    bounded = reader.byte()
    if bounded > 1:
        msg = "a core module has a shared or 64-bit memory or table"
        raise ValueError(msg)
    for _ in range(1 + bounded):
        reader.number()
    return reader.data[place : reader.place]


def _functions(module: Module, reader: Reader) -> None:
    module.functions = [reader.number() for _ in reader.several()]


def _table(module: Module, reader: Reader) -> None:
    for _ in reader.several():
        module.table = _limits(reader, Sort.TABLE)


def _memory(module: Module, reader: Reader) -> None:
    for _ in reader.several():
        module.memory = _limits(reader, Sort.MEMORY)


def _globals(module: Module, reader: Reader) -> None:
    for _ in reader.several():
        module.globals.append(Global(reader.taken(2), expression(reader)))


def expression(reader: Reader) -> bytes:
    """A constant expression, without its end.

    Raises:
        ValueError: it is none of numbers, globals and sums.
    """
    place = reader.place
    while (code := reader.byte()) != _END:
        if code in {_CONSTANT, _CONSTANT_64}:
            reader.signed()
        elif code == _GET:
            reader.number()
        elif code != _ADD:
            msg = f"a constant expression has the instruction {code:#x}"
            raise ValueError(msg)
    return reader.data[place : reader.place - 1]


_END, _GET, _CONSTANT, _CONSTANT_64, _ADD = 0x0B, 0x23, 0x41, 0x42, 0x6A


def _exports(module: Module, reader: Reader) -> None:
    for _ in reader.several():
        name = reader.name()
        module.exports[name] = Sort(reader.byte()), reader.number()


def _elements(module: Module, reader: Reader) -> None:
    for _ in reader.several():
        kind = reader.number()
        if kind not in _FOR_A_TABLE or (kind == _WITH_ITS_TABLE and reader.number()):
            msg = "a core module has elements that are no plain list of functions for its first table"
            raise ValueError(msg)
        start = expression(reader)
        if kind == _WITH_ITS_TABLE:
            reader.byte()  # they are functions
        module.elements.append(Elements(start, [reader.number() for _ in reader.several()]))


_WITH_ITS_TABLE = 2
_FOR_A_TABLE = frozenset({0, _WITH_ITS_TABLE})


def _code(module: Module, reader: Reader) -> None:
    for _ in reader.several():
        module.bodies.append(reader.taken(reader.number()))


def _data(module: Module, reader: Reader) -> None:
    module.data = reader.data[reader.place : reader.end]


def _custom(module: Module, reader: Reader) -> None:
    if reader.name() != "name":
        return
    for kind, content in reader.sections():
        if kind == _FUNCTION_NAMES:
            module.names = {content.number(): content.name() for _ in content.several()}


_FUNCTION_NAMES = 1


def _ignored(_module: Module, _reader: Reader) -> None:
    """The number of data segments, which is told again where they are."""


_SECTIONS = {
    0: _custom,
    1: _types,
    2: _imports,
    3: _functions,
    4: _table,
    5: _memory,
    6: _globals,
    7: _exports,
    9: _elements,
    10: _code,
    11: _data,
    12: _ignored,
}
"""By their numbers. There is no start function (8): whatever begins has begun before the snapshot."""
