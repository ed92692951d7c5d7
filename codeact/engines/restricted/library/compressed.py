"""`zlib` and `gzip`: a little can stand for very much, so it is unpacked piece by piece."""

from __future__ import annotations

import gzip
import io
import zlib
from typing import Any

from codeact.engines.restricted.library.parts import Parts, take

_PIECE = 1 << 20
_GZIP = 31
"""zlib's number for the format of gzip."""

_NANO = 1_000_000_000


class _Unpacked:
    """What `zlib.decompressobj` gives."""

    __slots__ = ("_parts", "_real")

    def __init__(self, parts: Parts, real: Any) -> None:
        self._parts = parts
        self._real = real

    @property
    def eof(self) -> bool:
        """Whether the end has been reached."""
        return bool(self._real.eof)

    @property
    def unused_data(self) -> bytes:
        """What came after the end."""
        return bytes(self._real.unused_data)

    @property
    def unconsumed_tail(self) -> bytes:
        """What was not used up because `max_length` was reached."""
        return bytes(self._real.unconsumed_tail)

    def decompress(self, data: Any, max_length: int = 0) -> bytes:
        """Unpack some more."""
        if max_length:
            self._parts.sizes.take(max_length)
            return bytes(self._real.decompress(data, max_length))
        made: list[bytes] = []
        size = 0
        while True:
            self._parts.world.meter.tick()
            made.append(self._real.decompress(data, _PIECE))
            size += len(made[-1])
            self._parts.sizes.take(size)
            data = self._real.unconsumed_tail
            if not data:
                return b"".join(made)

    def flush(self, length: int = 16384) -> bytes:
        """Unpack what is left."""
        self._parts.sizes.take(length)
        return self.decompress(self._real.unconsumed_tail) + bytes(self._real.flush(length))

    def copy(self) -> _Unpacked:
        """The same, where it is now."""
        return _Unpacked(self._parts, self._real.copy())


def make_zlib(parts: Parts) -> dict[str, Any]:
    """The names of `zlib`."""

    def decompress(data: Any, /, wbits: int = zlib.MAX_WBITS, bufsize: int = zlib.DEF_BUF_SIZE) -> bytes:
        del bufsize
        inside = _Unpacked(parts, zlib.decompressobj(wbits))
        made = inside.decompress(data)
        if not inside.eof:
            msg = "Error -5 while decompressing data: incomplete or truncated stream"
            raise zlib.error(msg)
        return made

    def decompressobj(wbits: int = zlib.MAX_WBITS, *zdict: Any) -> _Unpacked:
        return _Unpacked(parts, zlib.decompressobj(wbits, *zdict))

    return {
        **take(
            "zlib",
            "DEFLATED DEF_BUF_SIZE DEF_MEM_LEVEL MAX_WBITS Z_BEST_COMPRESSION Z_BEST_SPEED Z_BLOCK "
            "Z_DEFAULT_COMPRESSION Z_DEFAULT_STRATEGY Z_FILTERED Z_FINISH Z_FIXED Z_FULL_FLUSH Z_HUFFMAN_ONLY "
            "Z_NO_COMPRESSION Z_NO_FLUSH Z_PARTIAL_FLUSH Z_RLE Z_SYNC_FLUSH adler32 compress compressobj crc32 error",
        ),
        "decompress": decompress,
        "decompressobj": decompressobj,
    }


def make_gzip(parts: Parts) -> dict[str, Any]:
    """The names of `gzip`."""

    def compress(data: Any, compresslevel: int = 9, *, mtime: Any = None) -> bytes:
        return gzip.compress(data, compresslevel, mtime=parts.world.now() // _NANO if mtime is None else mtime)

    def decompress(data: Any) -> bytes:
        made: list[bytes] = []
        data = bytes(data)
        while data:
            if data[:2] != b"\x1f\x8b":
                msg = f"Not a gzipped file ({data[:2]!r})"
                raise gzip.BadGzipFile(msg)
            inside = _Unpacked(parts, zlib.decompressobj(_GZIP))
            made.append(inside.decompress(data))
            if not inside.eof:
                msg = "Compressed file ended before the end-of-stream marker was reached"
                raise EOFError(msg)
            parts.sizes.take(sum(map(len, made)))
            data = inside.unused_data.lstrip(b"\0")
        return b"".join(made)

    class GzipFile(io.BytesIO):
        """The whole of it in memory: unpacked when it is opened, packed when it is closed."""

        def __init__(
            self, filename: Any = None, mode: Any = None, compresslevel: int = 9, fileobj: Any = None, mtime: Any = None
        ) -> None:
            mode = (mode or "rb").replace("b", "") + "b"
            self._file = opened(filename, mode) if fileobj is None else fileobj
            self._ours = fileobj is None
            self._how = None if mode[0] == "r" else (compresslevel, mtime)
            super().__init__(decompress(self._file.read()) if self._how is None else b"")

        def write(self, data: Any, /) -> int:
            if self._how is None:
                raise OSError(9, "write() on read-only GzipFile object")
            return super().write(data)

        def close(self) -> None:
            if self.closed:
                return
            made = self.getvalue()
            super().close()
            if self._how is not None:
                self._file.write(compress(made, self._how[0], mtime=self._how[1]))
            if self._ours:
                self._file.close()

    def opened(path: Any, mode: str) -> Any:
        return parts.world.builtins["open"](path, mode)

    def open(
        filename: Any,
        mode: str = "rb",
        compresslevel: int = 9,
        encoding: Any = None,
        errors: Any = None,
        newline: Any = None,
    ) -> Any:
        of_bytes = mode.replace("t", "")
        named = hasattr(filename, "read") or hasattr(filename, "write")
        made = (
            GzipFile(None, of_bytes, compresslevel, filename) if named else GzipFile(filename, of_bytes, compresslevel)
        )
        return parts.load("io").TextIOWrapper(made, encoding, errors, newline) if "t" in mode else made

    GzipFile.__module__, GzipFile.__qualname__ = "gzip", "GzipFile"
    return {
        **take("gzip", "BadGzipFile"),
        "GzipFile": GzipFile,
        "compress": compress,
        "decompress": decompress,
        "open": open,
    }
