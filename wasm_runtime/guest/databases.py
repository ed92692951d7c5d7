"""SQLite in memory: what its C code would ask the operating system for comes from the room."""

from __future__ import annotations

import errno
import sqlite3
from collections.abc import Callable
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from . import entropy, world
from .patching import replace

_ADVICE = "databases are in memory in the sandbox: connect(':memory:'), and write its serialize() to a file"

_TIMES = {"date": 0, "time": 0, "datetime": 0, "julianday": 0, "unixepoch": 0, "strftime": 1}
"""The functions of time, and how many arguments come before the moment they are about."""

_CURRENT = {"current_date": "date", "current_time": "time", "current_timestamp": "datetime"}

_ZONES = frozenset({"localtime", "utc"})
"""Modifiers that change nothing: local time is UTC here, and this SQLite was built without a local time."""

_FRACTIONS = frozenset({"subsec", "subsecond"})

_own: sqlite3.Connection | None = None
"""A connection whose functions are SQLite's own."""


def check(path: object, *_: object) -> None:
    """Refuse a database that would be a file."""
    if path not in {":memory:", b":memory:"}:
        raise PermissionError(errno.EACCES, _ADVICE, path)


_Native = sqlite3.Connection


class Connection(_Native):
    """A connection with functions that know the time and randomness of the room, and which reaches for no file."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        kind = _Native  # a subclass of the program's may have methods of the same names
        kind.execute(self, "pragma temp_store = memory")
        for name, place in _TIMES.items():
            kind.create_function(self, name, -1, _of_time(name, place), deterministic=True)
        for name, function in _CURRENT.items():
            kind.create_function(self, name, 0, _of_time(function, 0), deterministic=True)
        kind.create_function(self, "timediff", 2, _difference, deterministic=True)
        kind.create_function(self, "random", 0, lambda: int.from_bytes(entropy.urandom(8), signed=True))
        kind.create_function(self, "randomblob", 1, lambda size: entropy.urandom(max(1, size or 0)))
        kind.set_authorizer(self, _authorize)

    def deserialize(self, data: Any, /, *, name: str = "main") -> None:
        """Read a database from bytes. SQLite attaches a database of a made up name for it."""
        _Native.set_authorizer(self, None)
        try:
            super().deserialize(data, name=name)
        finally:
            _Native.set_authorizer(self, _authorize)


_plain: Callable[..., sqlite3.Connection] = sqlite3.connect


def _connect(*arguments: Any, **options: Any) -> sqlite3.Connection:
    """Open a database in memory; see the documentation of Python's own `sqlite3.connect`."""
    if len(arguments) <= _FACTORY:
        options.setdefault("factory", Connection)
    return _plain(*arguments, **options)


_FACTORY = 5
"""The place of `factory` among the arguments."""


def install() -> None:
    """Let all connections be ours."""
    global _own  # noqa: PLW0603  # one room, one connection
    _own = _plain(":memory:", check_same_thread=False)
    _connect.__name__ = _connect.__qualname__ = "connect"
    Connection.__module__ = "sqlite3"
    replace(sqlite3.connect, _connect)
    replace(sqlite3.Connection, Connection)


def _authorize(action: int, first: str | None, *_: object) -> int:
    files = action == sqlite3.SQLITE_ATTACH and first not in {None, "", ":memory:"}
    return sqlite3.SQLITE_DENY if files else sqlite3.SQLITE_OK


def _of_time(name: str, place: int) -> Callable[..., Any]:
    def function(*arguments: Any) -> Any:
        moment = arguments[place].lower() if len(arguments) > place and type(arguments[place]) is str else ""
        if moment in _FRACTIONS or len(arguments) == place:
            return _asked(name, (*arguments[:place], _now(), *arguments[place:]))
        if moment == "now":
            return _asked(name, (*arguments[:place], _now(), *arguments[place + 1 :]))
        return _cached(name, arguments)

    return function


def _difference(*moments: Any) -> Any:
    return _asked("timediff", tuple(_now() if str(moment).lower() == "now" else moment for moment in moments))


def _now() -> str:
    return datetime.fromtimestamp(world.now() / 1_000_000_000, UTC).isoformat(" ", "milliseconds")[:23]


def _asked(name: str, arguments: tuple[Any, ...]) -> Any:
    kept = [argument for argument in arguments if not (type(argument) is str and argument.lower() in _ZONES)]
    return _own.execute(f"select {name}({','.join('?' * len(kept))})", kept).fetchone()[0]  # type: ignore[union-attr]


_cached = lru_cache(maxsize=4096)(_asked)
