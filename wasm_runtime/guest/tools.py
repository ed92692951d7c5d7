"""What a program sees of the tools it was granted: a read-only mapping of callables."""

from __future__ import annotations

import asyncio
import builtins
import json
from collections.abc import Iterator, Mapping
from typing import Any, NoReturn

from . import codec, console, tables, world
from .faults import ToolError
from .names import ACTIONS, MissingKey, explained, unknown_action, unknown_tool
from .program import current_line
from .traffic import Errand, Traffic
from .unawaited import Ledger, UnawaitedCall

_ERRORS: dict[str, type[Exception]] = {
    "ToolError": ToolError,
    "TypeError": TypeError,
    "ValueError": ValueError,
    "AttributeError": AttributeError,
}


Face = tuple[str, bool]
"""The name of a tool, and whether its calls are awaited."""


class Leaflet(Mapping[str, tuple[str, str, list[str]]]):
    """What is said of tools, by name: signature, documentation, and what they give and take.

    It is read when somebody asks, which most programs do not.
    """

    def __init__(self, text: str) -> None:
        """Take the text: JSON of a dict."""
        self._text = text
        self._read: dict[str, tuple[str, str, list[str]]] | None = None

    def _pages(self) -> dict[str, tuple[str, str, list[str]]]:
        if self._read is None:
            self._read = json.loads(self._text)
        return self._read

    def __getitem__(self, name: str) -> tuple[str, str, list[str]]:
        return self._pages()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._pages())

    def __len__(self) -> int:
        return len(self._pages())


class Tool:
    """One tool: calling it goes through the door."""

    def __init__(self, name: str, leaflet: Leaflet, depth: int) -> None:
        self.__name__ = self.__qualname__ = name
        self._leaflet = leaflet
        self._depth = depth

    @property
    def told(self) -> tuple[str, str, list[str]]:
        """Its signature, documentation, and what it gives and takes."""
        return self._leaflet[self.__name__]

    def __call__(self, /, *args: object, **kwargs: object) -> object:
        """Call the tool."""
        name = self.__name__
        return _through(Sent(name, _encode(name, args, kwargs, self._depth), current_line(world.running)))

    def __repr__(self) -> str:
        return f"<tool {self.told[0]}>"

    def __str__(self) -> str:
        """The signature, and what is known of it."""
        return explained([self.told])


class AwaitableTool(Tool):
    """A tool whose calls are awaited."""

    def __call__(self, /, *args: object, **kwargs: object) -> UnawaitedCall:
        """A call of the tool, to be awaited."""
        name = self.__name__
        return UnawaitedCall(
            Sent(name, _encode(name, args, kwargs, self._depth), current_line(world.running)), traffic, ledger
        )


class Action(Tool):
    """One action: calling it proposes it."""

    @property
    def told(self) -> tuple[str, str, list[str]]:
        """See `Tool`."""
        return self._leaflet[ACTIONS + self.__name__]

    def __call__(self, /, *args: object, **kwargs: object) -> object:
        """Propose it."""
        arguments = _encode(self.__name__, args, kwargs, self._depth)
        return _through(Sent(ACTIONS + self.__name__, arguments, current_line(world.running)))

    def __repr__(self) -> str:
        return f"<action {self.told[0]}>"


for _kind in (Tool, AwaitableTool, Action):
    _kind.__doc__ = property(lambda self: self.told[1])  # type: ignore[assignment]  # what `help` shows of each


class Sent:
    """A call as it leaves.

    Attributes:
        name: of the face.
        arguments: their text.
        line: the program's line that calls.
    """

    __slots__ = ("arguments", "line", "name")

    def __init__(self, name: str, arguments: str, line: int) -> None:
        self.name = name
        self.arguments = arguments
        self.line = line


class Tools(Mapping[str, Tool]):
    """The tools by name: `tools.name` and `tools["name"]` are the same. It cannot be changed."""

    __slots__ = ("_others", "_tools")

    _noun = "tools"
    _tools: Mapping[str, Tool]
    _others: tuple[str, ...]

    def __init__(self, tools: Mapping[str, Tool], others: tuple[str, ...] = ()) -> None:
        """Take the tools, and the names of what is found in `actions`."""
        object.__setattr__(self, "_tools", tools)
        object.__setattr__(self, "_others", others)

    def __getattr__(self, name: str) -> Tool:
        try:
            return self._tools[name]
        except KeyError:
            raise AttributeError(self._unknown(name)) from None

    def __getitem__(self, name: str) -> Tool:
        try:
            return self._tools[name]
        except KeyError:
            raise MissingKey(self._unknown(name)) from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._tools)

    def __len__(self) -> int:
        return len(self._tools)

    def __contains__(self, name: object) -> bool:
        return name in self._tools

    def get(self, name: str, default: Any = None, /) -> Any:
        """The tool of that name, or the default."""
        return self._tools.get(name, default)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        msg = f"{self._noun} cannot be changed: give {name!r} a name of its own"
        raise AttributeError(msg)

    def __delattr__(self, name: str) -> NoReturn:
        msg = f"{self._noun} cannot be changed: {name!r} stays"
        raise AttributeError(msg)

    def __setitem__(self, name: object, value: object) -> NoReturn:
        msg = f"{self._noun} cannot be changed: give {name!r} a name of its own"
        raise TypeError(msg)

    def __delitem__(self, name: object) -> NoReturn:
        msg = f"{self._noun} cannot be changed: {name!r} stays"
        raise TypeError(msg)

    def __dir__(self) -> list[str]:
        return list(self._tools)

    def __repr__(self) -> str:
        return f"<{self._noun}: {', '.join(self._tools) or 'none'}>"

    def __str__(self) -> str:
        """All signatures, and what is known of them."""
        return explained(tool.told for tool in self._tools.values())

    def _unknown(self, name: object) -> str:
        return unknown_tool(str(name), self._tools, self._others)


class Actions(Tools):
    """The actions by name: a call of one is a proposal."""

    __slots__ = ()

    _noun = "actions"

    def _unknown(self, name: object) -> str:
        return unknown_action(str(name), self._tools, self._others)


def install() -> None:
    """Let `help` tell of tools what is known of them, where Python's own would tell of their classes."""
    of_python = builtins.help

    def help(*subjects: object) -> None:  # noqa: A001 - it is the builtin
        """Print what is known of a tool, of all tools, or of anything else that Python has documentation of."""
        if len(subjects) == 1 and isinstance(subjects[0], (Tool, Tools)):
            print(subjects[0])  # noqa: T201 - that is what it is for
        else:
            of_python(*subjects)

    builtins.help = help  # type: ignore[assignment]


def granted(faces: list[Face], leaflet: Leaflet, depth: int, actions: tuple[str, ...] = ()) -> Tools:
    """The tools of these faces.

    Args:
        faces: what the host granted.
        leaflet: what is said of them.
        depth: how many levels of nesting an argument may have.
        actions: the names of what is found in `actions`.
    """
    tools = {name: (AwaitableTool if awaitable else Tool)(name, leaflet, depth) for name, awaitable in faces}
    return _mapping(Tools, tools, actions)


def proposable(names: tuple[str, ...], leaflet: Leaflet, depth: int, tools: tuple[str, ...]) -> Tools:
    """The actions of these names; see `granted`."""
    return _mapping(Actions, {name: Action(name, leaflet, depth) for name in names}, tools)


def _mapping(kind: type[Tools], tools: Mapping[str, Tool], others: tuple[str, ...]) -> Tools:
    # A tool may be called what a mapping's method is called: the tool wins.
    shadowing = {name: tools[name] for name in tools.keys() & _MAPPING_NAMES}
    made: type[Tools] = type(kind.__name__, (kind,), {"__slots__": (), **shadowing}) if shadowing else kind
    return made(tools, others)


_MAPPING_NAMES = frozenset(name for name in dir(Tools) if not name.startswith("__"))


def _encode(name: str, args: tuple[object, ...], kwargs: dict[str, object], depth: int) -> str:
    try:
        return codec.encode_call(args, kwargs, depth)
    except codec.Uncrossable:
        labelled = [*((str(place), value) for place, value in enumerate(args, 1)), *kwargs.items()]
        for label, value in labelled:
            try:
                codec.encode(value, depth)
            except codec.Uncrossable as error:
                reason = error.reason.replace("cannot return", "cannot pass", 1)
                msg = f"{name}(): argument {label}{error.path}: {reason}"
                raise TypeError(msg) from None
        raise


def _through(sent: Sent) -> object:
    console.flush()
    return _opened(world.call(sent.name, sent.arguments, sent.line))


def _opened(reply: str) -> object:
    """The value in a reply.

    Raises:
        ToolError: the tool failed; and other errors where the call was refused.
    """
    if reply[0] == "+":
        return codec.decode(reply[1:])
    if reply[0] == "=":
        return tables.read(reply[1:])
    kind, message = json.loads(reply[1:])
    raise _ERRORS[kind](message)


BATCH = 100_000
"""Characters that leave together; more of them leave one after the other."""


class _Calls(Traffic[Sent, str]):
    """The calls that are under way; see `world.wit`."""

    def running(self) -> Any:
        return asyncio._get_running_loop()  # noqa: SLF001 - made for loops of others

    def exchange(
        self, leaving: list[Errand[Sent]], given_up: list[int], seconds: float | None
    ) -> list[tuple[int, str]]:
        console.flush()
        lines = [f"-{number}" for number in given_up]
        answers: list[tuple[int, str]] = []
        size = 0
        for errand in leaving:
            sent = errand.call
            if size + len(sent.arguments) > BATCH and lines:
                answers += _answers(world.wait("\n".join(lines), 0.0))
                lines, size = [], 0
            lines.append(f"+{sent.line} {sent.name} {sent.arguments}")
            size += len(sent.arguments)
        return answers + _answers(world.wait("\n".join(lines), 0.0 if answers else seconds))

    def opened(self, reply: str) -> object:
        return _opened(reply)

    def at_once(self, call: Sent) -> object:
        return _through(call)


def _answers(text: str) -> list[tuple[int, str]]:
    parted = [line.partition(" ") for line in text.split("\n")] if text else ()
    return [(int(number), reply) for number, _, reply in parted]


traffic = _Calls()
ledger = Ledger()
