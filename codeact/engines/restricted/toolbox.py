"""The tools and actions of a program: mappings that cannot be changed, of callables that lead nowhere but to the door."""

from __future__ import annotations

from collections.abc import ItemsView, Iterator, KeysView, ValuesView
from typing import Any, NoReturn

from codeact.engines import Face, describer_of
from codeact.engines.restricted.sealed import KEY
from codeact.engines.restricted.world import World
from wasm_runtime.guest.names import ACTIONS, MissingKey, explained, listed, may_be, unknown_action, unknown_tool
from wasm_runtime.guest.program import current_line
from wasm_runtime.guest.unawaited import UnawaitedCall


class _Fixed:
    """Something that cannot be changed, copied or subclassed by a program."""

    __slots__ = ()

    _noun = "tools"

    def __init_subclass__(cls, *, key: object = None) -> None:
        if key is not KEY:  # where it is defined is what it says itself
            _refuse(f"{cls._noun} cannot be subclassed")

    def __setattr__(self, name: str, value: object) -> NoReturn:
        _refuse(f"{self._noun} cannot be changed")

    def __delattr__(self, name: str) -> NoReturn:
        _refuse(f"{self._noun} cannot be changed")

    def __reduce_ex__(self, _protocol: object) -> NoReturn:
        _refuse(f"{self._noun} cannot be copied")

    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, _memo: object) -> Any:
        return self


def _refuse(why: str) -> NoReturn:
    raise TypeError(why)


class Tool(_Fixed, key=KEY):  # noqa: D101 - its instances carry the documentation of their tool
    __slots__ = ("__doc__", "__name__", "_face", "_world")
    __name__: str
    _face: Face
    _world: World

    def __call__(self, /, *args: Any, **named: Any) -> Any:  # noqa: D102
        world, name = self._world, self._face.name
        passage = world.passage
        sent = passage.packed(name, args, named, current_line(world.program))
        if not self._face.awaitable:
            return passage.call(sent)
        pending: Any = object.__new__(PendingCall)  # type: ignore[arg-type]  # which says that programs cannot
        UnawaitedCall.__init__(pending, sent, passage, world.ledger)
        return pending

    def __repr__(self) -> str:
        return f"<{'action' if self._face.name.startswith(ACTIONS) else 'tool'} {self._face.signature}>"

    def __str__(self) -> str:
        return explain(self)


class PendingCall(UnawaitedCall):
    """A call of an async tool; it is performed when it is awaited."""

    __slots__ = ()

    def __new__(cls, *_: object) -> NoReturn:
        """Refused: a call comes of calling a tool."""
        _refuse("tools make their calls themselves")

    def __init_subclass__(cls) -> None:
        """Refused: see `_Fixed`."""
        _refuse("tools cannot be subclassed")

    __reduce_ex__ = _Fixed.__reduce_ex__
    __copy__ = _Fixed.__copy__
    __deepcopy__ = _Fixed.__deepcopy__


PendingCall.__name__ = PendingCall.__qualname__ = UnawaitedCall.__name__


class Rack:
    """The tools of one home, or its actions. Each is made of its face when it is first asked for."""

    __slots__ = ("_made", "_world", "describer", "faces")

    def __init__(self, world: World, faces: dict[str, Face], describer: str | None) -> None:
        self.faces = faces
        self.describer = describer
        self._world = world
        self._made: dict[str, Tool] = {}

    def get(self, name: str) -> Tool | None:
        """The tool of that name."""
        tool = self._made.get(name)
        if tool is None and name in self.faces:
            tool = self._made[name] = self._make(name, self.faces[name])
        return tool

    def all(self) -> dict[str, Tool]:
        """All of them, by name."""
        return {name: self._made.get(name) or self._make(name, face) for name, face in self.faces.items()}

    def ask(self, name: str, *args: str) -> object:
        """Make a call that is no tool's own."""
        return _asked(self._world, name, args)

    def _make(self, name: str, face: Face) -> Tool:
        tool = object.__new__(Tool)
        doc = face.doc
        if not doc and self.describer is not None:
            doc = f"tools.{self.describer}({face.name!r}) tells what it is"
        for field, value in (("__name__", name), ("__doc__", doc), ("_face", face), ("_world", self._world)):
            object.__setattr__(tool, field, value)
        return self._made.setdefault(name, tool)


class Toolbox(_Fixed, key=KEY):
    """`tools`: attribute and item access give the same callables."""

    __slots__ = ("_others", "_tools")
    _tools: Rack
    _others: Rack

    _home = ""

    def __getattr__(self, name: str) -> Tool:
        tool = self._tools.get(name)
        if tool is None:
            raise AttributeError(self._unknown(name))
        return tool

    def __getitem__(self, name: object) -> Tool:
        tool = self._tools.get(name) if type(name) is str else None
        if tool is None:
            raise MissingKey(self._unknown(name))
        return tool

    def __setitem__(self, name: object, value: object) -> NoReturn:
        _refuse(f"{self._noun} cannot be changed")

    def __delitem__(self, name: object) -> NoReturn:
        _refuse(f"{self._noun} cannot be changed")

    def __iter__(self) -> Iterator[str]:
        return iter(tuple(self._tools.faces))

    def __len__(self) -> int:
        return len(self._tools.faces)

    def __contains__(self, name: object) -> bool:
        return type(name) is str and name in self._tools.faces

    def keys(self) -> KeysView[str]:
        """The names."""
        return self._tools.all().keys()

    def values(self) -> ValuesView[Tool]:
        """The callables."""
        return self._tools.all().values()

    def items(self) -> ItemsView[str, Tool]:
        """Names and callables."""
        return self._tools.all().items()

    def get(self, name: object, default: Any = None) -> Any:
        """The callable of that name, or the default."""
        return self[name] if name in self else default  # noqa: SIM401 - this is `get`

    def __dir__(self) -> list[str]:
        return sorted(self._tools.faces)

    def __repr__(self) -> str:
        return f"<{self._noun}: {listed(list(self._tools.faces))}>"

    def __str__(self) -> str:
        if self._tools.describer is not None:
            return str(self._tools.ask(self._tools.describer, ""))
        return explained(map(_told, self._tools.faces.values()))

    def _unknown(self, name: object) -> str:
        if type(name) is not str:
            return f"{self._noun} are found by name, not by {type(name).__name__}"
        if self._tools.describer is not None and may_be(name):
            try:
                self._tools.ask(self._home + name)
            except AttributeError as error:
                return str(error)
        return self._missing(name)

    def _missing(self, name: str) -> str:
        return unknown_tool(name, self._tools.faces, self._others.faces)


class Actionbox(Toolbox, key=KEY):
    """`actions`: a call of one is a proposal."""

    __slots__ = ()

    _noun = "actions"
    _home = ACTIONS

    def _missing(self, name: str) -> str:
        return unknown_action(name, self._tools.faces, self._others.faces)


def _winning(self: Toolbox, name: str) -> Any:
    found = object.__getattribute__(self, "_tools").get(name)
    return object.__getattribute__(self, name) if found is None else found


class _ShadowingToolbox(Toolbox, key=KEY):
    """Tools that are named like methods of a mapping: as attributes the tools win."""

    __slots__ = ()

    __getattribute__ = _winning


class _ShadowingActionbox(Actionbox, key=KEY):
    """The same of actions."""

    __slots__ = ()

    __getattribute__ = _winning


def explain(tool: Tool) -> str:
    """A tool's signature and documentation; where that is for another tool to say, what it says."""
    face, world = tool._face, tool._world  # noqa: SLF001
    describer = describer_of(world.faces)
    if face.doc or describer is None:
        return explained([_told(face)])
    return str(_asked(world, describer, (face.name,)))


def _told(face: Face) -> tuple[str, str, tuple[str, ...]]:
    return face.signature, face.doc, face.records


def _asked(world: World, name: str, args: tuple[str, ...]) -> object:
    """What a call gives that no tool of the program's makes."""
    return world.passage.call(world.passage.packed(name, args, {}, current_line(world.program)))


def make_toolboxes(world: World) -> tuple[Toolbox, Toolbox]:
    """The tools of one world, and its actions."""
    tools: dict[str, Face] = {}
    actions: dict[str, Face] = {}
    for face in world.faces:
        name = face.name.removeprefix(ACTIONS)
        (tools if name == face.name else actions)[name] = face
    describer = describer_of(world.faces)
    rack, other = Rack(world, tools, describer), Rack(world, actions, describer)
    return (
        _filled(_ShadowingToolbox if _shadows(tools) else Toolbox, rack, other),
        _filled(_ShadowingActionbox if _shadows(actions) else Actionbox, other, rack),
    )


def _shadows(tools: dict[str, Face]) -> bool:
    return any(name in tools for name in Toolbox.__dict__)


def _filled(kind: type[Toolbox], tools: Rack, others: Rack) -> Toolbox:
    toolbox = object.__new__(kind)
    object.__setattr__(toolbox, "_tools", tools)
    object.__setattr__(toolbox, "_others", others)
    return toolbox
