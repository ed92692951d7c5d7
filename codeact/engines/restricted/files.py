"""The files of one world: a workspace in memory, and streams over it that the meter and the sizes judge."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from codeact.engines.restricted.meter import Meter
from codeact.engines.restricted.sealed import Sealed
from codeact.engines.restricted.sizes import Sizes, length, plain
from codeact.engines.restricted.text import Text
from codeact.engines.restricted.world import World
from wasm_runtime.guest.descriptors import Descriptors
from wasm_runtime.guest.nodes import Place
from wasm_runtime.guest.streams import Kinds, Opener, Raw
from wasm_runtime.guest.syscalls import Syscalls
from wasm_runtime.guest.workspace import Workspace

ERRORS = frozenset(
    {
        "strict", "ignore", "replace", "xmlcharrefreplace", "backslashreplace", "namereplace", "surrogateescape",
        "surrogatepass",
    }
)  # fmt: skip
"""How text may be treated that cannot be encoded; others could be the host's own."""

_LARGE = 100_000
_EXPANDING = frozenset({"xmlcharrefreplace", "backslashreplace", "namereplace"})
_POSITION = (1 << 64) - 1
"""The part of a place in text that is a place among bytes."""

_CODED = 4
_LONGEST = 100
"""Bytes that a character may become: encoded, and written as its name or number."""


class Files:
    """A world's files.

    Attributes:
        workspace: where they are.
        calls: the functions of `posix` over it.
        kinds: the types of the streams that `open` gives. A program can tell them, but not make any.
    """

    def __init__(self, world: World, sizes: Sizes, text: Text) -> None:
        meter = world.meter
        self.workspace: Workspace = _Workspace(world, meter)
        descriptors = Descriptors(self.workspace, world.write)
        self.calls = Syscalls(self.workspace, descriptors)
        self.kinds = _make_kinds(self.calls, meter, sizes, text, most=world.limits.workspace + 1)
        self._opener = Opener(self.workspace, self.kinds)
        for kind in (self.kinds.raw, self.kinds.reader, self.kinds.writer, self.kinds.both, self.kinds.text):
            world.stand_ins[kind] = Sealed(kind)

    def open(  # noqa: PLR0913, PLR0917 - Python's own
        self,
        file: Any,
        mode: Any = "r",
        buffering: Any = -1,
        encoding: Any = None,
        errors: Any = None,
        newline: Any = None,
        closefd: Any = True,
        opener: Any = None,
    ) -> Any:
        """Open a file of the workspace."""
        mode, buffering, newline = plain(mode), plain(buffering), plain(newline)
        return self._opener.open(plain(file), mode, buffering, encoding, errors, newline, closefd, opener)

    def flush(self) -> None:
        """Let what is still in buffers reach the workspace."""
        self._opener.flush()

    def changes(self) -> Mapping[str, bytes | None]:
        """What has become of them since the run began: contents by path; None for gone."""
        return {path: None if data is None else bytes(data) for path, data in self.workspace.changes().items()}


class _Workspace(Workspace):
    """A workspace in which following a path is work.

    Reading and writing is none: streams do it when they are collected too, at any time.
    """

    def __init__(self, world: World, meter: Meter) -> None:
        super().__init__(world.now, size=world.limits.workspace, files=world.limits.files)
        self._meter = meter

    def find(self, path: str, *shown: object) -> Place:
        self._meter.tick()
        return super().find(path, *shown)


def _make_kinds(calls: Syscalls, meter: Meter, sizes: Sizes, text: Text, *, most: int) -> Kinds:  # noqa: C901 - classes
    """Streams that take no more than `most` bytes, however much is asked for, and whose lines are counted."""

    class FileIO(Raw):
        def __init__(self, file: Any, mode: Any, closefd: Any, opener: Any) -> None:
            super().__init__(calls, file, mode, closefd, opener)

    class Lines:
        __next__: Callable[[], Any]

        def __iter__(self) -> Iterator[Any]:
            return meter.charged(iter(self.__next__, None))

        def readlines(self, hint: Any = -1, /) -> list[Any]:
            if hint is None or hint <= 0:
                return list(self)
            lines: list[Any] = []
            total = 0
            for line in self:
                lines.append(line)
                total += len(line)
                if total >= hint:
                    break
            return lines

    def bounded(size: Any) -> Any:
        size = plain(size)
        return min(size, most) if isinstance(size, int) else size

    class Buffered(Lines):
        def __init__(self, raw: Any, buffer_size: Any = io.DEFAULT_BUFFER_SIZE) -> None:
            sizes.take(plain(buffer_size))
            super().__init__(raw, buffer_size)  # type: ignore[call-arg]  # the class beside this one

        def __repr__(self) -> str:
            return f"<_io.{type(self).__name__} name={getattr(self, 'name', None)!r}>"

    class BufferedReader(Buffered, io.BufferedReader):
        def read(self, size: Any = -1, /) -> bytes:
            return super().read(bounded(size))

        def read1(self, size: Any = -1, /) -> bytes:
            return super().read1(bounded(size))

    class BufferedWriter(Buffered, io.BufferedWriter):
        pass

    class BufferedRandom(Buffered, io.BufferedRandom):
        def read(self, size: Any = -1, /) -> bytes:
            return super().read(bounded(size))

        def read1(self, size: Any = -1, /) -> bytes:
            return super().read1(bounded(size))

    class TextIOWrapper(Lines, io.TextIOWrapper):
        def __init__(  # noqa: PLR0913, PLR0917 - Python's own
            self,
            buffer: Any,
            encoding: Any = None,
            errors: Any = None,
            newline: Any = None,
            line_buffering: Any = False,
            write_through: Any = False,
        ) -> None:
            encoding, errors = judged(encoding, errors)
            super().__init__(buffer, encoding or "UTF-8", errors, newline, line_buffering, write_through)

        def write(self, s: str, /) -> int:
            if type(s) is not str or len(s) > _LARGE:
                sizes.take(length(s) * (_LONGEST if self.errors in _EXPANDING else _CODED))
            return super().write(s)

        def seek(self, cookie: int, whence: int = 0, /) -> int:
            sizes.take(plain(cookie) & _POSITION)
            return super().seek(cookie, whence)

        def detach(self) -> Any:
            if foreign(self):
                # Some interpreters lose their way when it happens in the middle of reading or writing.
                msg = "detach"
                raise io.UnsupportedOperation(msg)
            return super().detach()

        def reconfigure(self, *, encoding: Any = None, errors: Any = None, **named: Any) -> None:
            encoding, errors = judged(encoding, errors)
            super().reconfigure(encoding=encoding, errors=errors, **named)

    def foreign(stream: Any) -> bool:
        """Whether what is below it could be written by the program, and call back."""
        return not isinstance(stream.buffer, (Buffered, io.BytesIO))

    def judged(encoding: Any, errors: Any) -> tuple[Any, Any]:
        encoding, errors = plain(encoding), plain(errors)
        if isinstance(encoding, str):
            if encoding == "locale":
                encoding = "UTF-8"
            text.judge_encoding(encoding)
        if isinstance(errors, str) and errors not in ERRORS:
            msg = f"unknown error handler name {errors[:50]!r}"
            raise LookupError(msg)
        return encoding, errors

    for kind in (FileIO, BufferedReader, BufferedWriter, BufferedRandom, TextIOWrapper):
        kind.__module__, kind.__qualname__ = "_io", kind.__name__
    return Kinds(FileIO, BufferedReader, BufferedWriter, BufferedRandom, TextIOWrapper)
