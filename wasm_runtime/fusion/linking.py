"""One module of all that a component has."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from . import code, image
from .binary import Reader, name, number, section, signed, vector
from .code import Kind, Reference
from .component import Component, Door, Place
from .module import Global, Module, Sort

ENTRY = "run"
TABLE, MEMORY, REALLOC, POST, SIZE = "table", "memory", "realloc", "post", "size"
"""What the module exports beside `ENTRY`. `SIZE` gives the pages of its memory: a host sees the functions of a
component only."""


@dataclass(frozen=True, slots=True)
class Linked:
    """The module that is made.

    Attributes:
        binary: the module.
        direct: the doors that it imports, by name.
        late: the doors that it calls through its table, because they are lowered with its own memory, by name: the
            type of each.
        first: the place of the first of these in the table.
    """

    binary: bytes
    direct: dict[str, Door]
    late: dict[str, tuple[Door, bytes]]
    first: int


def linked(component: Component, written: Sequence[int] = ()) -> Linked:
    """Make one module of all.

    Args:
        component: what has them.
        written: addresses in its memory that an instance writes to, as they are, at its first step.

    Raises:
        ValueError: something is not known here; the message says what.
    """
    linking = _Linking(component)
    linking.walk()
    return linking.made(written)


class _Linking:
    def __init__(self, component: Component) -> None:
        self._component = component
        self._order = {id(module): place for place, module in enumerate(component.modules)}
        self._doors: dict[Door, bytes] = {}
        self._bodies: dict[Place, list[bytes | Reference]] = {}
        self._set: set[Place] = set()
        self._types: dict[bytes, int] = {}
        self._table: dict[int, Place | Door] = {}
        for module in component.modules:
            for elements in module.elements:
                first = self._value(module, elements.start)
                for offset, index in enumerate(elements.functions):
                    self._table[first + offset] = self._function(module, index)
        entry = component.entry(ENTRY)
        self._exported = {
            export: self._function(place.module, place.number)
            for export, place in zip((ENTRY, REALLOC, POST), entry, strict=True)
        }

    def _resolved(self, module: Module, sort: Sort, index: int) -> Place | Door:
        """What an index of a module stands for, through all imports."""
        imports = module.imports[sort]
        while index < len(imports):
            wanted = imports[index]
            found = self._component.resolved(module, wanted.module, wanted.name, sort)
            if isinstance(found, Door):
                if wanted.type is not None:
                    self._doors[found] = module.types[wanted.type]
                return found
            module, index = found.module, found.number
            imports = module.imports[sort]
        return Place(module, sort, index)

    def _function(self, module: Module, index: int) -> Place | Door:
        return self._resolved(module, Sort.FUNCTION, index)

    def _called(self, module: Module, index: int) -> Place | Door:
        """The function that a call leads to, without the stubs which only hand over to one in the table."""
        found = self._function(module, index)
        while isinstance(found, Place):
            slot = code.slot(_body(found))
            if slot is None:
                break
            found = self._table[slot]
        return found

    def _global(self, module: Module, index: int) -> Place:
        found = self._resolved(module, Sort.GLOBAL, index)
        if isinstance(found, Door):
            msg = "a global is imported from outside the component"
            raise ValueError(msg)  # noqa: TRY004 - of what was linked, not of an argument
        return found

    def _value(self, module: Module, expression: bytes) -> int:
        """The number that a constant expression comes to. What it takes of globals is what they begin with."""
        reader, stack = Reader(expression), [0]
        while reader.place < reader.end:
            match reader.byte():
                case 0x23:
                    place = self._global(module, reader.number())
                    stack.append(self._value(place.module, _global(place).start))
                case 0x6A:
                    stack.append(stack.pop() + stack.pop())
                case _:
                    stack.append(reader.signed())
        return stack.pop()

    def walk(self) -> None:
        """Find every function that can be reached, and the globals that these set."""
        pending = [*self._exported.values(), *self._table.values()]
        while pending:
            place = pending.pop()
            if isinstance(place, Door) or place in self._bodies:
                continue
            self._bodies[place] = body = self._pieces(place)
            for piece in body:
                if isinstance(piece, Reference):
                    if piece.kind is Kind.FUNCTION:
                        pending.append(self._called(place.module, piece.index))
                    elif piece.kind is Kind.SET:
                        self._set.add(self._global(place.module, piece.index))

    def _pieces(self, place: Place) -> list[bytes | Reference]:
        try:
            return list(code.pieces(_body(place)))
        except ValueError as error:
            named = place.module.names.get(place.number, "which has no name")
            where = f"core module {self._order[id(place.module)]} of those linked, function {place.number} ({named})"
            msg = f"{where}: {error}"
            raise ValueError(msg) from error

    def made(self, written: Sequence[int]) -> Linked:
        """The module, once it is known what is in it; see `linked`."""
        names = {index: name for name, index in self._component.doors.items()}
        doors = sorted(self._doors, key=lambda door: door.function)
        direct = {names[door.function]: door for door in doors if not door.options}
        late = {names[door.function]: (door, self._doors[door]) for door in doors if door.options}
        places = sorted(self._bodies, key=lambda place: (self._order[id(place.module)], place.number))
        functions: list[Place | Door] = [*direct.values(), *(door for door, _ in late.values()), *places]
        self._indices = {function: index for index, function in enumerate(functions)}
        self._globals = {place: index for index, place in enumerate(sorted(self._set, key=lambda place: place.number))}
        first = max(self._table) + 1
        bodies = [
            *(self._through_table(self._doors[door], first + slot) for slot, (door, _) in enumerate(late.values())),
            *(self._emitted(place) for place in places),
            _SIZE_OF_MEMORY,
            self._begun(written),
        ]
        types = [
            *(self._type(kind) for _, kind in late.values()),
            *(self._type(_kind(place)) for place in places),
            self._type(_GIVES_NUMBER),
            self._type(_REALLOC),
        ]
        imports = [name("") + name(door) + b"\x00" + self._type(self._doors[found]) for door, found in direct.items()]
        exports = [
            *(name(export) + b"\x00" + number(self._indices[self._exported[export]]) for export in (ENTRY, POST)),
            name(SIZE) + b"\x00" + number(len(direct) + len(bodies) - 2),
            name(REALLOC) + b"\x00" + number(len(direct) + len(bodies) - 1),
            name(TABLE) + b"\x01\x00",
            name(MEMORY) + b"\x02\x00",
        ]
        (owner,) = (module for module in self._component.modules if module.memory)
        if [module for module in self._component.modules if module.data] != [owner]:
            msg = "a core module without a memory of its own has data"
            raise ValueError(msg)
        size = number(first + len(late))
        globals_ = [*(_global(place) for place in self._globals), _BEGUN]
        binary = [
            b"\x00asm\x01\x00\x00\x00",
            section(1, vector(self._types)),
            section(2, vector(imports)),
            section(3, vector(types)),
            section(4, vector([b"\x70\x01" + size + size])),
            section(5, vector([owner.memory])),
            section(6, vector(one.type + one.start + b"\x0b" for one in globals_)),
            section(7, vector(exports)),
            section(9, vector(self._elements())),
            section(10, vector(number(len(body)) + body for body in bodies)),
            section(11, image.settled(owner.data)),
            section(0, name("name") + section(1, vector(self._names(places)))),
        ]
        return Linked(b"".join(binary), direct, late, first)

    def _type(self, kind: bytes) -> bytes:
        return number(self._numbered(kind))

    def _numbered(self, kind: bytes) -> int:
        return self._types.setdefault(kind, len(self._types))

    def _through_table(self, kind: bytes, slot: int) -> bytes:
        reader = Reader(kind, 1)
        arguments = b"".join(b"\x20" + number(index) for index in range(reader.number()))
        return b"\x00" + arguments + b"\x41" + signed(slot) + b"\x11" + self._type(kind) + b"\x00\x0b"

    def _begun(self, written: Sequence[int]) -> bytes:
        """`REALLOC`, which a host calls first of all, and which then writes to some places what is there."""
        begun = number(len(self._globals))
        # Adding nothing at once: a load before a store would read the page first.
        places = b"".join(b"\x41" + signed(place) + b"\x41\x00" + _ADD_AT_ONCE + b"\x1a" for place in written)
        once = b"\x23" + begun + b"\x45\x04\x40" + b"\x41\x01\x24" + begun + places + b"\x0b"
        arguments = b"\x20\x00\x20\x01\x20\x02\x20\x03"
        return b"\x00" + once + arguments + b"\x10" + number(self._indices[self._exported[REALLOC]]) + b"\x0b"

    def _emitted(self, place: Place) -> bytes:
        return b"".join(
            self._referring(place.module, piece) if isinstance(piece, Reference) else piece
            for piece in self._bodies[place]
        )

    def _referring(self, module: Module, piece: Reference) -> bytes:
        match piece.kind:
            case Kind.FUNCTION:
                index = self._indices[self._called(module, piece.index)]
                return piece.before + number(index) + piece.after
            case Kind.TYPE:
                return piece.before + self._type(module.types[piece.index]) + piece.after
            case Kind.BLOCK:  # a signed number, so that it is none of the types of values
                return piece.before + signed(self._numbered(module.types[piece.index]))
            case Kind.GET | Kind.SET:
                place = self._global(module, piece.index)
                index_or_none = self._globals.get(place)
                if index_or_none is None:
                    return self._constant(place)
                return piece.before + number(index_or_none) + piece.after

    def _constant(self, place: Place) -> bytes:
        """A global that nobody sets, as the number that it is."""
        found = _global(place)
        if found.type[0] != _I32:
            msg = "a global that nobody sets is no 32-bit number"
            raise ValueError(msg)
        value = self._value(place.module, found.start) & 0xFFFFFFFF
        return b"\x41" + signed(value - (value >> 31 << 32))

    def _elements(self) -> Iterator[bytes]:
        for _, run in groupby(enumerate(sorted(self._table)), lambda pair: pair[1] - pair[0]):
            slots = [slot for _, slot in run]
            functions = (number(self._indices[self._table[slot]]) for slot in slots)
            yield b"\x00\x41" + signed(slots[0]) + b"\x0b" + vector(functions)

    def _names(self, places: Iterable[Place]) -> Iterator[bytes]:
        for place in places:
            if place.number in place.module.names:
                yield number(self._indices[place]) + name(place.module.names[place.number])


_I32 = 0x7F
_GIVES_NUMBER = b"\x60\x00\x01\x7f"
_SIZE_OF_MEMORY = b"\x00\x3f\x00\x0b"
_REALLOC = b"\x60\x04\x7f\x7f\x7f\x7f\x01\x7f"
_ADD_AT_ONCE = b"\xfe\x20\x00\x00"
"""`i32.atomic.rmw8.add_u`"""
_BEGUN = Global(type=b"\x7f\x01", start=b"\x41\x00")
"""Whether `REALLOC` has been called."""


def _body(place: Place) -> bytes:
    return place.module.bodies[place.number - len(place.module.imports[Sort.FUNCTION])]


def _kind(place: Place) -> bytes:
    module = place.module
    return module.types[module.functions[place.number - len(module.imports[Sort.FUNCTION])]]


def _global(place: Place) -> Global:
    return place.module.globals[place.number - len(place.module.imports[Sort.GLOBAL])]
