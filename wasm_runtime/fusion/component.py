"""What is around the core modules of a component: which instances they have, and what each is given."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from .binary import Reader, section
from .module import Module, Sort


class Door(NamedTuple):
    """An import of the component, lowered to a core function.

    Attributes:
        function: the number of the component's function.
        options: how it is lowered, as pairs of an option and what it refers to, or None.
    """

    function: int
    options: tuple[tuple[int, int | None], ...]


class Place(NamedTuple):
    """Something that a module has, by its number there."""

    module: Module
    sort: Sort
    number: int


class Entry(NamedTuple):
    """A function of the component's own.

    Attributes:
        function: what is called.
        realloc: what makes room for its arguments, and for answers of doors.
        post: what is called when its answer was read.
    """

    function: Place
    realloc: Place
    post: Place


@dataclass(frozen=True, slots=True)
class _Made:
    """An instance of a module: what it was given is other instances, by their names."""

    module: Module
    given: dict[str, int]


@dataclass(frozen=True, slots=True)
class _Bundle:
    """An instance that is but names for what others have."""

    exports: dict[str, tuple[Sort, int]]


class _Alias(NamedTuple):
    instance: int
    name: str


class Component:
    """A component, taken apart.

    Attributes:
        modules: its core modules, in the order in which they are instantiated, without those that bind doors late.
        head: its first sections, which say what it imports.
        types: how many types they define.
        doors: its imports, by name: the index of the component's function.
    """

    def __init__(self, data: bytes) -> None:
        """Take it apart.

        Raises:
            ValueError: it has something that is not known here.
        """
        self.head = b""
        self.types = 0
        self.doors: dict[str, int] = {}
        self._modules: list[Module] = []
        self._instances: list[_Made | _Bundle] = []
        self._lifted: list[Door] = []
        self._core: dict[Sort, list[_Alias | Door | None]] = {sort: [] for sort in Sort}
        reader = Reader(data, 8)
        for kind, content in reader.sections():
            place = content.place
            match kind:
                case 1:
                    self._modules.append(self._module(content))
                case 2:
                    self._instantiated(content)
                case 6:
                    self._aliases(content)
                case 7 if not self._instances:
                    self.types += content.number()
                case 8:
                    self._canons(content)
                case 10:
                    self._imports(content)
                case _:
                    pass
            if kind in {7, 10} and not self._instances:
                self.head += section(kind, data[place : content.end])
        made = (one.module for one in self._instances if isinstance(one, _Made))
        self.modules = [module for module in made if not _binds(module)]

    def _instantiated(self, reader: Reader) -> None:
        for _ in reader.several():
            if reader.byte() == 0:
                module = self._modules[reader.number()]
                given = {}
                for _argument in reader.several():
                    name = reader.name()
                    reader.byte()  # it is an instance
                    given[name] = reader.number()
                self._instances.append(_Made(module, given))
            else:
                exports = {reader.name(): (Sort(reader.byte()), reader.number()) for _ in reader.several()}
                self._instances.append(_Bundle(exports))

    def _aliases(self, reader: Reader) -> None:
        for _ in reader.several():
            core = Sort(reader.byte()) if reader.byte() == 0 else None
            if reader.byte() == _OUTER:
                reader.number()
                reader.number()
                continue
            alias = _Alias(reader.number(), reader.name())
            if core is not None:
                self._core[core].append(alias)

    def _canons(self, reader: Reader) -> None:
        for _ in reader.several():
            kind = reader.byte()
            if kind > _LOWER:  # of resources: new, drop, rep
                reader.number()
                self._core[Sort.FUNCTION].append(None)
                continue
            reader.byte()
            index = reader.number()
            options = []
            for _option in reader.several():
                option = reader.byte()
                options.append((option, reader.number() if option in _REFERRING else None))
            if kind == _LOWER:
                self._core[Sort.FUNCTION].append(Door(index, tuple(options)))
            else:
                reader.number()
                self._lifted.append(Door(index, tuple(options)))

    def _imports(self, reader: Reader) -> None:
        for _ in reader.several():
            reader.byte()
            name = reader.name()
            if reader.byte() != 1:
                msg = f"the component imports {name}, which is no function"
                raise ValueError(msg)
            reader.number()
            self.doors[name] = len(self.doors)

    def _module(self, content: Reader) -> Module:
        try:
            return Module.parsed(content)
        except ValueError as error:
            msg = f"core module {len(self._modules)} of the component: {error}"
            raise ValueError(msg) from error

    def resolved(self, module: Module, given: str, name: str, sort: Sort) -> Place | Door:
        """What the import of a module is.

        Args:
            module: one of `modules`.
            given: the name under which it expects an instance.
            name: the export of that.
            sort: of which sort.

        Raises:
            ValueError: it is a function of resources, which a room has none of.
        """
        made = next(one for one in self._instances if isinstance(one, _Made) and one.module is module)
        return self._export(made.given[given], name, sort)

    def _export(self, index: int, name: str, sort: Sort) -> Place | Door:
        instance = self._instances[index]
        if isinstance(instance, _Made):
            if _LATE not in instance.module.exports:
                return Place(instance.module, *instance.module.exports[name])
            # A module that calls through a table, so that others can be made before what they call. Whoever fills
            # the table is given the functions under the same names.
            return self._export(self._filled(), name, sort)
        found = self._core[sort][instance.exports[name][1]]
        if isinstance(found, Door):
            return found
        if found is None:
            msg = f"a core module takes {name}, which is a function of resources"
            raise ValueError(msg)
        return self._export(found.instance, found.name, sort)

    def _filled(self) -> int:
        """The instance with the functions that doors are bound to late."""
        return next(
            index for index, one in enumerate(self._instances) if isinstance(one, _Bundle) and _LATE in one.exports
        )

    def entry(self, name: str) -> Entry:
        """The function that the component exports under a name.

        Raises:
            ValueError: there is none, or it is lifted otherwise than functions of texts are.
        """
        functions = self._core[Sort.FUNCTION]
        for index, options in self._lifted:
            function, given = functions[index], dict(options)
            if isinstance(function, _Alias) and function.name == name:
                if set(given) - {_UTF8} != {_MEMORY, _REALLOC, _POST}:  # UTF-8 is what goes without saying
                    msg = f"the component lifts {name} with the options {sorted(given)}"
                    raise ValueError(msg)
                after = (self._function(given[option]) for option in (_REALLOC, _POST))
                return Entry(self._function(index), *after)
        msg = f"the component has no function {name}"
        raise ValueError(msg)

    def _function(self, index: int | None) -> Place:
        alias = None if index is None else self._core[Sort.FUNCTION][index]
        if isinstance(alias, _Alias):
            place = self._export(alias.instance, alias.name, Sort.FUNCTION)
            if isinstance(place, Place):
                return place
        msg = f"core function {index} of the component is no module's"
        raise ValueError(msg)


def _binds(module: Module) -> bool:
    return _LATE in module.exports or any(wanted.name == _LATE for wanted in module.imports[Sort.TABLE])


_LATE = "$imports"
"""What the table is called by the module that calls doors through it."""

_OUTER = 2
_LOWER = 1
_UTF8, _MEMORY, _REALLOC, _POST = 0, 3, 4, 5
_REFERRING = frozenset({3, 4, 5, 7})
"""The options of a function that name a memory or another function."""
