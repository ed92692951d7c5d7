"""What a program sees of the tools it was granted: a read-only mapping of callables."""

from __future__ import annotations

import asyncio
import builtins
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NoReturn

from . import codec, console, tables, world
from .faults import ToolError
from .names import ACTIONS, MissingKey, explained, listed, may_be, unknown_action, unknown_tool, written
from .program import current_line
from .traffic import Errand, Traffic
from .unawaited import Ledger, UnawaitedCall

_ERRORS: dict[str, type[Exception]] = {
    "ToolError": ToolError,
    "TypeError": TypeError,
    "ValueError": ValueError,
    "AttributeError": AttributeError,
}


Page = tuple[str, str, list[str]]
"""Of a tool its signature, its documentation, and what it gives and takes."""


class Leaflet:
    """What is said of tools, by name: it is read when somebody asks, which most programs do not.

    Attributes:
        depth: levels of nesting that an argument may have.
        describer: the tool that tells of those that are not in it; None where all are.
    """

    def __init__(self, text: str, depth: int, describer: str | None = None) -> None:
        """Take the text: JSON of a dict of pages."""
        self._text = text
        self._read: dict[str, Page] | None = None
        self.depth = depth
        self.describer = describer

    def page(self, name: str) -> Page | None:
        """What it has on a tool."""
        if self._read is None:
            self._read = json.loads(self._text)
        return self._read.get(name)

    def told(self, *names: str) -> str:
        """All that there is to say of tools; where that is for another tool to say, of one, or with an empty name of all."""
        pages = [page for page in map(self.page, names) if page is not None]
        if len(pages) == len(names) or self.describer is None:
            return explained(pages)
        return str(_asked(self.describer, *names[:1]))


class Tool:
    """One tool: calling it goes through the door."""

    _noun = "tool"
    _home = ""
    _mark = ""

    def __init__(self, name: str, leaflet: Leaflet) -> None:
        self.__name__ = self.__qualname__ = name
        self._leaflet = leaflet
        self._depth = leaflet.depth

    @property
    def signature(self) -> str:
        """How it is called, as far as that is known here."""
        return signature(self._home + self.__name__, self._leaflet, self._mark)

    @property
    def documentation(self) -> str:
        """What is said of it, as far as that is known here."""
        page = self._leaflet.page(self._home + self.__name__)
        return page[1] if page else f"tools.{self._leaflet.describer}({self._home + self.__name__!r}) tells what it is"

    def __call__(self, /, *args: object, **kwargs: object) -> object:
        """Call the tool."""
        name = self.__name__
        return _through(Sent(name, _encode(name, args, kwargs, self._depth), current_line(world.running)))

    def __repr__(self) -> str:
        return f"<{self._noun} {self.signature}>"

    def __str__(self) -> str:
        """The signature, and what is known of it."""
        return self._leaflet.told(self._home + self.__name__)


class AwaitableTool(Tool):
    """A tool whose calls are awaited."""

    _mark = "async "

    def __call__(self, /, *args: object, **kwargs: object) -> UnawaitedCall:
        """A call of the tool, to be awaited."""
        name = self.__name__
        return UnawaitedCall(
            Sent(name, _encode(name, args, kwargs, self._depth), current_line(world.running)), traffic, ledger
        )


class Action(Tool):
    """One action: calling it proposes it."""

    _noun = "action"
    _home = ACTIONS

    def __call__(self, /, *args: object, **kwargs: object) -> object:
        """Propose it."""
        arguments = _encode(self.__name__, args, kwargs, self._depth)
        return _through(Sent(ACTIONS + self.__name__, arguments, current_line(world.running)))


for _kind in (Tool, AwaitableTool, Action):
    _kind.__doc__ = property(lambda self: self.documentation)  # type: ignore[assignment]  # what `help` shows of each


def signature(name: str, leaflet: Leaflet, mark: str) -> str:
    """How a tool is called, as far as that is known: its page says it, or else there are three dots."""
    page = leaflet.page(name)
    return page[0] if page else f"{mark}{name.removeprefix(ACTIONS)}(…)"


class Rack(dict[str, Tool]):
    """Tools by name, those that somebody has asked for: each is made when that is done first.

    Attributes:
        names: of all that there are.
    """

    __slots__ = ("_make", "names")

    def __init__(self, names: str, make: Callable[[str], Tool]) -> None:
        """Take the names, with spaces between them, and what makes a tool of one."""
        self.names = {name: name for name in names.split()}
        self._make = make

    def __missing__(self, name: str) -> Tool:
        own = self.names[name]  # a program's key may only compare equal to it
        tool = self[own] = self._make(own)
        return tool


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

    __slots__ = ("_leaflet", "_others", "_tools")

    _noun = "tools"
    _home = ""
    _tools: Rack
    _others: Rack
    _leaflet: Leaflet

    def __init__(self, tools: Rack, others: Rack, leaflet: Leaflet) -> None:
        """Take the tools, what is found in `actions`, and what is said of them."""
        object.__setattr__(self, "_tools", tools)
        object.__setattr__(self, "_others", others)
        object.__setattr__(self, "_leaflet", leaflet)

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
        return iter(self._tools.names)

    def __len__(self) -> int:
        return len(self._tools.names)

    def __contains__(self, name: object) -> bool:
        return name in self._tools.names

    def get(self, name: str, default: Any = None, /) -> Any:
        """The tool of that name, or the default."""
        return self._tools[name] if name in self._tools.names else default

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

    def __copy__(self) -> Tools:
        return self

    def __deepcopy__(self, _memo: object) -> Tools:
        return self

    def __dir__(self) -> list[str]:
        return list(self._tools.names)

    def __repr__(self) -> str:
        return f"<{self._noun}: {listed(list(self._tools.names))}>"

    def __str__(self) -> str:
        """All signatures, and what is known of them; of too many, what there is."""
        if self._leaflet.describer is not None:
            return self._leaflet.told("")
        return self._leaflet.told(*(self._home + name for name in self._tools.names))

    def _unknown(self, name: object) -> str:
        if self._leaflet.describer is not None and type(name) is str and may_be(name):
            try:
                _asked(self._home + name)
            except AttributeError as error:
                return str(error)
        return self._missing(str(name))

    def _missing(self, name: str) -> str:
        return unknown_tool(name, self._tools.names, self._others.names)


class Actions(Tools):
    """The actions by name: a call of one is a proposal."""

    __slots__ = ()

    _noun = "actions"
    _home = ACTIONS

    def _missing(self, name: str) -> str:
        return unknown_action(name, self._tools.names, self._others.names)


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


class Granted:
    """What a world was granted.

    Attributes:
        tools: what programs find as `tools`.
        actions: what they find as `actions`; None where there are none.
    """

    def __init__(self, tools: str, awaited: str, actions: str, leaflet: Leaflet) -> None:
        """Take names, with spaces between them.

        Args:
            tools: those of tools.
            awaited: those of them whose calls are awaited.
            actions: those of what can be proposed.
            leaflet: what is said of them.
        """
        self._leaflet = leaflet
        self._awaited = frozenset(awaited.split())
        one = Rack(tools, lambda name: (AwaitableTool if name in self._awaited else Tool)(name, leaflet))
        other = Rack(actions, lambda name: Action(name, leaflet))
        self.tools = _mapping(Tools, one, other, leaflet)
        self.actions = _mapping(Actions, other, one, leaflet) if actions else None

    def signatures(self) -> dict[str, str]:
        """How each is called, by how a program writes it."""
        marks = ((name, "async " * (name in self._awaited)) for name in self.tools)
        names = (*marks, *((ACTIONS + name, "") for name in self.actions or ()))
        return {written(name): signature(name, self._leaflet, mark) for name, mark in names}


def _mapping(kind: type[Tools], tools: Rack, others: Rack, leaflet: Leaflet) -> Tools:
    # A tool may be called what a mapping's method is called: the tool wins.
    shadowing = {name: tools[name] for name in _MAPPING_NAMES if name in tools.names}
    made: type[Tools] = type(kind.__name__, (kind,), {"__slots__": (), **shadowing}) if shadowing else kind
    return made(tools, others, leaflet)


_MAPPING_NAMES = frozenset(name for name in dir(Tools) if not name.startswith("_"))


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


def _asked(name: str, *about: str) -> object:
    """What the door answers to a call that the program has not written itself."""
    return _through(Sent(name, codec.encode_call(about, {}, 2), current_line(world.running)))


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
