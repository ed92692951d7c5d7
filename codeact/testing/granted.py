"""What a program sees of its tools on plain CPython."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Generator, Iterator, Mapping
from typing import Any, NoReturn

from codeact.engines import Answer, Face, Refusal, Reply, Stop
from codeact.limits import Limits
from codeact.values import Uncrossable, from_guest
from wasm_runtime.guest.faults import ToolError
from wasm_runtime.guest.names import ACTIONS, explained, unknown_action, unknown_tool


class Tool:
    """A tool as a program sees it."""

    call: Callable[[str, tuple[object, ...], dict[str, object]], Reply]

    def __init__(self, face: Face, limits: Limits) -> None:
        self.__name__ = face.name.removeprefix(ACTIONS)
        self.__doc__ = face.doc
        self._face = face
        self._limits = limits

    def __call__(self, /, *args: Any, **named: Any) -> Any:
        """Call it through the door."""
        plain = tuple(self._plain(place, value) for place, value in enumerate(args, 1))
        plain_named = {name: self._plain(name, value) for name, value in named.items()}

        def call() -> object:
            return _opened(self.call(self._face.name, plain, plain_named))

        return UnawaitedCall(call) if self._face.awaitable else call()

    def _plain(self, place: object, value: object) -> object:
        try:
            return from_guest(value, depth=self._limits.value_depth, size=self._limits.value_bytes)
        except Uncrossable as error:
            msg = f"{self._face.name}() argument {place}{error.path}: {error.reason}"
            raise TypeError(msg) from None

    def __repr__(self) -> str:
        return f"<{'action' if self._face.name.startswith(ACTIONS) else 'tool'} {self._face.signature}>"

    def __str__(self) -> str:
        """What `help` and `print` show."""
        return explained([self.told])

    @property
    def told(self) -> tuple[str, str, tuple[str, ...]]:
        """What there is to say of it."""
        return self._face.signature, self._face.doc, self._face.records


class UnawaitedCall(Coroutine[Any, Any, object]):
    """A call of an asynchronous tool; it is made when it is awaited, beside others."""

    def __init__(self, call: Callable[[], object]) -> None:
        self._call = call
        self._made: Coroutine[Any, Any, object] | None = None

    def _making(self) -> Coroutine[Any, Any, object]:
        if self._made is None:
            self._made = asyncio.to_thread(self._call)
        return self._made

    def send(self, value: Any, /) -> Any:
        """Go on with it."""
        return self._making().send(value)

    def throw(self, *error: Any) -> Any:
        """Give it up."""
        return self._making().throw(*error)

    def close(self) -> None:
        """Never make it."""
        if self._made is not None:
            self._made.close()

    def __await__(self) -> Generator[Any, Any, object]:
        return self._making().__await__()


_ERRORS: dict[str, type[Exception]] = {
    "ToolError": ToolError,
    "TypeError": TypeError,
    "ValueError": ValueError,
    "AttributeError": AttributeError,
}


def _opened(reply: Reply) -> object:
    match reply:
        case Answer():
            return reply.value
        case Refusal():
            raise _ERRORS[reply.type](reply.message)
        case Stop():
            raise SystemExit(reply.fault.message)


class Tools(Mapping[str, Tool]):
    """The tools, or the actions, by name, as attributes and as items."""

    def __init__(self, noun: str, tools: dict[str, Tool]) -> None:
        object.__setattr__(self, "_noun", noun)
        object.__setattr__(self, "_tools", tools)

    def _unknown(self, name: str) -> str:
        return (unknown_action if self._noun == "actions" else unknown_tool)(name, self._tools)

    def __getitem__(self, name: str) -> Tool:
        if name not in self._tools:
            raise KeyError(self._unknown(str(name)))
        return self._tools[name]  # type: ignore[no-any-return]

    def __getattr__(self, name: str) -> Any:
        if name not in self._tools:
            raise AttributeError(self._unknown(name))
        return self._tools[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._tools)

    def __len__(self) -> int:
        return len(self._tools)

    def __dir__(self) -> list[str]:
        return list(self._tools)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        msg = f"{self._noun} cannot be changed"
        raise AttributeError(msg)

    def __delattr__(self, name: str) -> NoReturn:
        msg = f"{self._noun} cannot be changed"
        raise AttributeError(msg)

    def __setitem__(self, name: str, value: object) -> NoReturn:
        msg = f"{self._noun} cannot be changed"
        raise TypeError(msg)

    def __delitem__(self, name: str) -> NoReturn:
        msg = f"{self._noun} cannot be changed"
        raise TypeError(msg)

    def __repr__(self) -> str:
        return f"<{self._noun}: {', '.join(self._tools) or 'none'}>"

    def __str__(self) -> str:
        """What `help` and `print` show."""
        return explained(tool.told for tool in self._tools.values())


def tools_of(known: dict[str, Tool]) -> dict[str, Tools]:
    """What a program finds: `tools`, and `actions` where there are any."""
    tools = {name: tool for name, tool in known.items() if not name.startswith(ACTIONS)}
    actions = {tool.__name__: tool for name, tool in known.items() if name.startswith(ACTIONS)}
    return {"tools": Tools("tools", tools), **({"actions": Tools("actions", actions)} if actions else {})}


def helped(*subjects: object) -> None:
    """What stands for `help`: it knows tools."""
    if len(subjects) == 1 and isinstance(subjects[0], (Tool, Tools)):
        print(subjects[0])  # noqa: T201 - that is what it is for
    else:
        help(*subjects)
