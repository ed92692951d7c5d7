"""`functools`, `itertools`, `operator` and `sys`, through the guards."""

from __future__ import annotations

import functools
import operator
import sys
from collections.abc import Callable
from types import FunctionType
from typing import Any

from codeact.engines.restricted import lazy
from codeact.engines.restricted.library.parts import Parts, take
from codeact.engines.restricted.names import is_special

_OPERATORS = (
    "abs and_ contains countOf delitem floordiv ge getitem gt iand ifloordiv indexOf index inv "
    "invert ior irshift is_ is_not isub itemgetter itruediv ixor le length_hint lt matmul neg not_ or_ pos rshift "
    "setitem sub truediv truth xor"
)


def make_functools(parts: Parts) -> dict[str, Any]:
    """The names of `functools`."""
    own = parts.world.own

    guest = parts.guards[".guest"]

    def update_wrapper(wrapper: Any, wrapped: Any, **_: Any) -> Any:
        """Only what a program has made is written to, and only text and its own fields are copied."""
        if not guest(wrapper):
            return wrapper
        for name in ("__module__", "__name__", "__qualname__", "__doc__"):
            text = getattr(wrapped, name, None)
            if isinstance(text, str):
                setattr(wrapper, name, text)
        if guest(wrapped):
            if isinstance(wrapper, FunctionType):
                wrapper.__annotations__ = dict(getattr(wrapped, "__annotations__", ()))
            inside = getattr(wrapped, "__dict__", {})
            fields = {name: value for name, value in inside.items() if type(name) is str and not is_special(name)}
            getattr(wrapper, "__dict__", {}).update(fields)
        return wrapper

    def wraps(wrapped: Any, **_: Any) -> Callable[[Any], Any]:
        return lambda wrapper: update_wrapper(wrapper, wrapped)

    def total_ordering(cls: Any) -> Any:
        if cls not in own:
            msg = "total_ordering decorates classes of this program"
            raise TypeError(msg)
        return functools.total_ordering(cls)

    return {
        **take("functools", "cache cached_property cmp_to_key lru_cache partial reduce"),
        "total_ordering": total_ordering,
        "update_wrapper": update_wrapper,
        "wraps": wraps,
    }


def make_itertools(parts: Parts) -> dict[str, Any]:
    """The names of `itertools`."""
    return lazy.make_itertools(parts.world.meter, parts.sizes)


def make_operator(parts: Parts) -> dict[str, Any]:
    """The names of `operator`."""
    guards = parts.guards
    read = guards[".read"]

    def follow(target: Any, path: str) -> Any:
        for name in path.split("."):
            target = read(target, name)
        return target

    def attrgetter(*paths: str) -> Callable[[Any], Any]:
        if not paths or not all(type(path) is str for path in paths):
            msg = "attribute name must be a string"
            raise TypeError(msg)
        if len(paths) == 1:
            return lambda target: follow(target, paths[0])
        return lambda target: tuple(follow(target, path) for path in paths)

    def methodcaller(name: str, /, *args: Any, **named: Any) -> Callable[[Any], Any]:
        return lambda target: read(target, name)(*args, **named)

    return {
        **take("operator", _OPERATORS),
        **{
            name: guards["." + name]
            for name in ("add", "iadd", "eq", "ne", "mul", "mod", "pow", "lshift", "imul", "imod", "ipow", "ilshift")
        },
        "concat": guards[".add"],
        "iconcat": guards[".iadd"],
        "attrgetter": attrgetter,
        "methodcaller": methodcaller,
    }


class _Stream:
    """`sys.stdout` and `sys.stderr`: both are what is printed."""

    __slots__ = ("_write",)

    def __init__(self, write: Callable[[str], None]) -> None:
        self._write = write

    def write(self, text: str) -> int:
        """Print text."""
        if type(text) is not str:
            msg = f"write() argument must be str, not {type(text).__name__}"
            raise TypeError(msg)
        self._write(text)
        return len(text)

    def writelines(self, lines: Any) -> None:
        """Print several texts."""
        for line in lines:
            self.write(line)

    def flush(self) -> None:
        """Nothing is kept back."""

    def isatty(self) -> bool:
        """Nobody is looking."""
        return False

    def __repr__(self) -> str:
        return "<stream>"


def make_sys(parts: Parts) -> dict[str, Any]:
    """The names of `sys`. The recursion limit is the host's: asking for another has no effect."""

    def leave(status: Any = None, /) -> None:
        raise SystemExit(status)

    def setrecursionlimit(limit: int, /) -> None:
        operator.index(limit)

    return {
        "byteorder": sys.byteorder,
        "exit": leave,
        "float_info": sys.float_info,
        "getrecursionlimit": sys.getrecursionlimit,
        "intern": sys.intern,
        "maxsize": sys.maxsize,
        "maxunicode": sys.maxunicode,
        "platform": "sandbox",
        "setrecursionlimit": setrecursionlimit,
        "stderr": _Stream(parts.world.write),
        "stdout": _Stream(parts.world.write),
        "version": sys.version.split()[0],
        "version_info": sys.version_info,
    }
