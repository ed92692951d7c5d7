"""The tools and actions of a program: mappings that cannot be changed, of callables that lead nowhere but to the door."""

from __future__ import annotations

from collections.abc import ItemsView, Iterator, KeysView, ValuesView
from typing import Any, NoReturn

from codeact.engines import Face
from codeact.engines.restricted.sealed import KEY
from codeact.engines.restricted.world import World
from wasm_runtime.guest.names import ACTIONS, MissingKey, explained, unknown_action, unknown_tool
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


class Toolbox(_Fixed, key=KEY):
    """`tools`: attribute and item access give the same callables."""

    __slots__ = ("_others", "_tools")
    _tools: dict[str, Tool]
    _others: tuple[str, ...]

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
        return iter(tuple(self._tools))

    def __len__(self) -> int:
        return len(self._tools)

    def __contains__(self, name: object) -> bool:
        return type(name) is str and name in self._tools

    def keys(self) -> KeysView[str]:
        """The names."""
        return dict(self._tools).keys()

    def values(self) -> ValuesView[Tool]:
        """The callables."""
        return dict(self._tools).values()

    def items(self) -> ItemsView[str, Tool]:
        """Names and callables."""
        return dict(self._tools).items()

    def get(self, name: object, default: Any = None) -> Any:
        """The callable of that name, or the default."""
        return self[name] if name in self else default  # noqa: SIM401 - this is `get`

    def __dir__(self) -> list[str]:
        return sorted(self._tools)

    def __repr__(self) -> str:
        return f"<{self._noun}: {', '.join(self._tools) or 'none'}>"

    def __str__(self) -> str:
        return explained(map(_told, self._tools.values()))

    def _unknown(self, name: object) -> str:
        if type(name) is not str:
            return f"{self._noun} are found by name, not by {type(name).__name__}"
        return self._missing(name)

    def _missing(self, name: str) -> str:
        return unknown_tool(name, self._tools, self._others)


class Actionbox(Toolbox, key=KEY):
    """`actions`: a call of one is a proposal."""

    __slots__ = ()

    _noun = "actions"

    def _missing(self, name: str) -> str:
        return unknown_action(name, self._tools, self._others)


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
    """A tool's signature and documentation."""
    return explained([_told(tool)])


def _told(tool: Tool) -> tuple[str, str, tuple[str, ...]]:
    face = tool._face  # noqa: SLF001
    return face.signature, face.doc, face.records


def make_toolboxes(world: World) -> tuple[Toolbox, Toolbox]:
    """The tools of one world, and its actions."""
    tools: dict[str, Tool] = {}
    actions: dict[str, Tool] = {}
    for face in world.faces:
        tool = object.__new__(Tool)
        name = face.name.removeprefix(ACTIONS)
        for field, value in (("__name__", name), ("__doc__", face.doc), ("_face", face), ("_world", world)):
            object.__setattr__(tool, field, value)
        (tools if name is face.name else actions)[name] = tool
    return (
        _filled(_ShadowingToolbox if _shadows(tools) else Toolbox, tools, actions),
        _filled(_ShadowingActionbox if _shadows(actions) else Actionbox, actions, tools),
    )


def _shadows(tools: dict[str, Tool]) -> bool:
    return any(name in Toolbox.__dict__ for name in tools)


def _filled(kind: type[Toolbox], tools: dict[str, Tool], others: dict[str, Tool]) -> Toolbox:
    toolbox = object.__new__(kind)
    object.__setattr__(toolbox, "_tools", tools)
    object.__setattr__(toolbox, "_others", tuple(others))
    return toolbox
