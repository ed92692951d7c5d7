"""`zlib`: a little can stand for very much, so it is unpacked piece by piece."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Any

from codeact.engines.restricted.library.parts import Parts, take

_PIECE = 1 << 20


class _Unpacked:
    """What `zlib.decompressobj` gives."""

    __slots__ = ("_judge", "_real")

    def __init__(self, judge: Callable[[int], None], real: Any) -> None:
        self._judge = judge
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
        made: list[bytes] = []
        size = 0
        while not max_length or size < max_length:
            most = min(_PIECE, max_length - size) if max_length else _PIECE
            made.append(self._real.decompress(data, most))
            size += len(made[-1])
            self._judge(size)
            data = self._real.unconsumed_tail
            if len(made[-1]) < most and not data:  # a whole piece may not have been all that was there
                break
        return b"".join(made)

    def flush(self, length: int = 16384) -> bytes:
        """Unpack what is left."""
        self._judge(length)
        return self.decompress(self._real.unconsumed_tail) + bytes(self._real.flush(length))

    def copy(self) -> _Unpacked:
        """The same, where it is now."""
        return _Unpacked(self._judge, self._real.copy())


def _judging(parts: Parts) -> Callable[[int], None]:
    def judge(size: int) -> None:
        parts.world.meter.tick()
        parts.sizes.take(size)

    return judge


def make_zlib(parts: Parts) -> dict[str, Any]:
    """The names of `zlib`."""
    judge = _judging(parts)

    def decompress(data: Any, /, wbits: int = zlib.MAX_WBITS, bufsize: int = zlib.DEF_BUF_SIZE) -> bytes:
        del bufsize
        inside = _Unpacked(judge, zlib.decompressobj(wbits))
        made = inside.decompress(data)
        if not inside.eof:
            msg = "Error -5 while decompressing data: incomplete or truncated stream"
            raise zlib.error(msg)
        return made

    def decompressobj(wbits: int = zlib.MAX_WBITS, *zdict: Any) -> _Unpacked:
        return _Unpacked(judge, zlib.decompressobj(wbits, *zdict))

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
