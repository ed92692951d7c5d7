"""A component around one core module."""

from __future__ import annotations

from .binary import name, number, section, signed, vector
from .component import Component
from .linking import ENTRY, MEMORY, POST, REALLOC, SIZE, TABLE, Linked

MEMORY_SIZE = "memory-size"
"""The export that tells how much memory an instance has: pages of 64 KiB, as u32."""


def assembled(component: Component, linked: Linked) -> bytes:
    """The component: the imports of the old one, and two core modules.

    Doors are lowered with the memory of the first, so it is there before them; the second puts them into its table.

    Args:
        component: the old one.
        linked: the module that is made of its modules.
    """
    direct, late = list(linked.direct), list(linked.late)
    lowered = [_lowered(door.function, []) for door in linked.direct.values()]
    functions = len(lowered)
    realloc, run, post, size = range(functions, functions + 4)
    aliases = [
        *(b"\x00\x00\x01\x01" + name(function) for function in (REALLOC, ENTRY, POST, SIZE)),
        b"\x00\x01\x01\x01" + name(TABLE),
        b"\x00\x02\x01\x01" + name(MEMORY),
    ]
    memory, room = b"\x03\x00", b"\x04" + number(realloc)
    options = [b"\x00", memory, room]
    lowered_late = [
        _lowered(door.function, options if _REALLOC in dict(door.options) else options[:-1])
        for door, _ in linked.late.values()
    ]
    doors = len(component.doors)
    return b"".join(
        [
            b"\x00asm\x0d\x00\x01\x00",
            component.head,
            section(1, linked.binary),
            section(1, _binding(linked)),
            section(8, vector(lowered)),
            section(2, vector([_bundle(direct, 0, []), _instance(0, 0)])),
            section(6, vector(aliases)),
            section(8, vector(lowered_late)),
            section(2, vector([_bundle(late, size + 1, [name(TABLE) + b"\x01\x00"]), _instance(1, 2)])),
            section(7, vector([_TEXT_TO_TEXT, _TO_NUMBER])),
            section(
                8,
                vector(
                    [
                        _lifted(run, [*options, b"\x05" + number(post)], component.types),
                        _lifted(size, [], component.types + 1),
                    ]
                ),
            ),
            section(11, vector([_export(ENTRY, doors), _export(MEMORY_SIZE, doors + 1)])),
        ]
    )


_REALLOC = 4
_TEXT_TO_TEXT = b"\x40\x01" + name("request") + b"\x73\x00\x73"
_TO_NUMBER = b"\x40\x00\x00\x79"


def _binding(linked: Linked) -> bytes:
    """The module whose elements put functions into the table that it is given."""
    count = len(linked.late)
    size = number(linked.first + count)
    imports = [
        *(name("") + name(door) + b"\x00" + number(index) for index, door in enumerate(linked.late)),
        name("") + name(TABLE) + b"\x01\x70\x01" + size + size,
    ]
    elements = b"\x00\x41" + signed(linked.first) + b"\x0b" + vector(number(index) for index in range(count))
    return b"".join(
        [
            b"\x00asm\x01\x00\x00\x00",
            section(1, vector(kind for _, kind in linked.late.values())),
            section(2, vector(imports)),
            section(9, vector([elements])),
        ]
    )


def _lowered(function: int, options: list[bytes]) -> bytes:
    return b"\x01\x00" + number(function) + vector(options)


def _lifted(function: int, options: list[bytes], kind: int) -> bytes:
    return b"\x00\x00" + number(function) + vector(options) + number(kind)


def _bundle(names: list[str], first: int, others: list[bytes]) -> bytes:
    functions = [name(one) + b"\x00" + number(first + index) for index, one in enumerate(names)]
    return b"\x01" + vector([*functions, *others])


def _instance(module: int, given: int) -> bytes:
    return b"\x00" + number(module) + vector([name("") + b"\x12" + number(given)])


def _export(export: str, function: int) -> bytes:
    return b"\x00" + name(export) + b"\x01" + number(function) + b"\x00"
