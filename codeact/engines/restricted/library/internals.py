"""What the library's text may import beside what a program may: it is the world's too, name by name.

A program does not get these modules, but it must be assumed to reach them: objects keep what they work with.
"""

from __future__ import annotations

import errno
import os
import sys
import zlib
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from codeact.engines.restricted.library.parts import Parts, take
from codeact.engines.restricted.sizes import plain
from wasm_runtime.guest.nodes import failure
from wasm_runtime.guest.syscalls import functions

LONGEST = 1_000_000
"""Characters of a path, one that leads to nothing too."""

_PIECE = 1 << 20
"""Bytes that are unpacked at once."""

PRUNED = {"os": ("abc", "GenericAlias", "popen")}
"""What a module does not need any more once its text has run."""

_POSIX = (
    "EX_OK F_LOCK F_OK F_TEST F_TLOCK F_ULOCK O_ACCMODE O_APPEND O_CLOEXEC O_CREAT O_DIRECTORY O_DSYNC O_EXCL O_NOCTTY "
    "O_NOFOLLOW O_NONBLOCK O_RDONLY O_RDWR O_SYNC O_TRUNC O_WRONLY R_OK SEEK_CUR SEEK_END SEEK_SET W_OK X_OK error "
    "stat_result statvfs_result strerror _path_normpath _path_splitroot _path_splitroot_ex"
)


def _posix(parts: Parts) -> dict[str, Any]:
    import posix  # noqa: PLC0415 - not on every platform

    world = parts.world

    def urandom(size: Any, /) -> bytes:
        size = plain(size)
        parts.sizes.take(size)
        return world.chance.randbytes(size)

    def fspath(path: Any) -> Any:
        """Every function that takes a path apart asks here first."""
        path = os.fspath(path)
        if len(path) > LONGEST:
            raise failure(errno.ENAMETOOLONG, f"{path[:50]!r}…")
        return path

    return {
        **{name: getattr(posix, name) for name in _POSIX.split() if hasattr(posix, name)},
        **functions(world.files.calls),
        "_have_functions": [],
        "cpu_count": lambda: 1,
        "environ": {},
        "fspath": fspath,
        "getpid": lambda: 1,
        "urandom": urandom,
    }


def _sys(_parts: Parts) -> dict[str, Any]:
    return {
        **take("sys", "byteorder intern maxsize maxunicode version_info"),
        "audit": _nothing,
        "builtin_module_names": ("posix",),
        "exc_info": _exc_info,
        "getdefaultencoding": lambda: "utf-8",
        "getfilesystemencodeerrors": lambda: "surrogateescape",
        "getfilesystemencoding": lambda: "utf-8",
        "implementation": SimpleNamespace(name="cpython"),
        "modules": {},
        "platform": "linux",
    }


def _exc_info() -> tuple[Any, Any, None]:
    """Without the frames."""
    kind, error, _ = sys.exc_info()
    return kind, error, None


def _io(parts: Parts) -> dict[str, Any]:
    files = parts.world.files
    kinds = files.kinds
    return {
        **take("io", _STREAMS),
        "BufferedRandom": kinds.both,
        "BufferedReader": kinds.reader,
        "BufferedWriter": kinds.writer,
        "FileIO": kinds.raw,
        "TextIOWrapper": kinds.text,
        "open": files.open,
        "open_code": lambda path: files.open(path, "rb"),
        "text_encoding": lambda encoding, _stacklevel=2: "utf-8" if encoding is None else encoding,
    }


_STREAMS = (
    "BufferedIOBase BytesIO DEFAULT_BUFFER_SIZE IOBase RawIOBase SEEK_CUR SEEK_END SEEK_SET StringIO TextIOBase "
    "UnsupportedOperation"
)


class _Finalizer:
    """`weakref.finalize` that does nothing by itself: what is left when an object goes, goes with the world."""

    def __init__(self, _target: Any, function: Callable[..., Any], *args: Any, **named: Any) -> None:
        self._call = (function, args, named)
        self.alive = True

    def __call__(self, _: Any = None) -> Any:
        if self.alive:
            self.alive = False
            function, args, named = self._call
            return function(*args, **named)
        return None

    def detach(self) -> Any:
        """Not to be called any more; true if it was to be."""
        was, self.alive = self.alive, False
        return (None, *self._call) if was else None


def _zlib(parts: Parts) -> dict[str, Any]:
    """With what `gzip` unpacks by, since Python 3.12."""

    class Decompressor:
        def __init__(self, wbits: int = zlib.MAX_WBITS) -> None:
            self._real = zlib._ZlibDecompressor(wbits)  # type: ignore[attr-defined]  # noqa: SLF001 - see above

        def decompress(self, data: Any, max_length: int = -1) -> bytes:
            # Less than was asked for is as good; what is left is kept for the next time.
            parts.world.meter.tick()
            return bytes(self._real.decompress(data, min(max_length, _PIECE) if max_length >= 0 else _PIECE))

        def __getattr__(self, name: str) -> Any:
            return getattr(self._real, name)

    return {**vars(parts.load("zlib")), "_ZlibDecompressor": Decompressor}


def _nothing(*_: object, **_named: object) -> None:
    """Nobody listens."""


def _itself(kind: Any, _arguments: Any) -> Any:
    return kind


def _names(module: str, names: str) -> Callable[[Parts], dict[str, Any]]:
    return lambda _: take(module, names)


def _fixed(**names: Any) -> Callable[[Parts], dict[str, Any]]:
    return lambda _: names


INTERNALS: dict[str, Callable[[Parts], dict[str, Any]]] = {
    "_collections_abc": _names(
        "_collections_abc", "Iterable MutableMapping MutableSequence Mapping Sequence _check_methods"
    ),
    "_thread": lambda parts: {"allocate_lock": parts.load("threading").Lock},
    "_weakref": _fixed(),
    "abc": _names("abc", "ABC abstractmethod"),
    "binascii": _names("binascii", "Error crc32 hexlify unhexlify"),
    "builtins": lambda parts: {"open": parts.world.files.open},
    "collections": _names("collections", "ChainMap OrderedDict defaultdict deque namedtuple"),
    "collections.abc": _names("collections.abc", "Iterable Mapping MutableMapping Sequence"),
    "importlib": _fixed(),
    "importlib.util": _fixed(),
    "io": _io,
    "ntpath": _fixed(),
    # Attributes of classes: the world's own are functions, and would become methods there.
    "operator": lambda parts: {
        **vars(parts.load("operator")),
        **take("operator", "attrgetter itemgetter methodcaller"),
    },
    "posix": _posix,
    "sys": _sys,
    "types": _fixed(GenericAlias=_itself),
    "urllib.parse": _names("urllib.parse", "quote_from_bytes unquote_to_bytes"),
    "warnings": _fixed(warn=_nothing, _deprecated=_nothing),
    "weakref": _fixed(finalize=_Finalizer),
    "zlib": _zlib,
}
"""How each is made for a world."""
