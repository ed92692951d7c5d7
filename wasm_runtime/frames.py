"""What a host and its workers say to each other: frames, each of a kind, a length and so many bytes.

A worker may have been taken over by its guest, so a host reads nothing but these: it names the kinds that may come
and how long each may be before it reads one, and makes no objects of what it reads but texts and numbers.
"""

from __future__ import annotations

import select
import socket
from collections.abc import Mapping
from struct import Struct
from typing import Any, get_args

from wasm_runtime.instance import Reason

HEAD = Struct("<cI")
"""What a frame begins with: its kind, and the bytes that follow."""

LARGEST = 2**32 - 1
"""Bytes that may follow, and more than there are in a guest."""

RUN, CLOSE, ANSWER, STOP = b"R", b"X", b"A", b"S"
"""What a host says. `RUN`: here is a program; `CLOSE`: destroy a world; `ANSWER`: that is what your door gave; `STOP`: end
the guest. Where a worker waits at a door, `STOP` is its answer; one that comes when no guest runs came too late."""

READY, FAILED, CALL, WAIT, WRITE, NOW, MONOTONIC, DONE, TRAP = b"r", b"f", b"c", b"w", b"p", b"n", b"m", b"d", b"t"
"""What a worker says. `READY` or `FAILED`: whether its machine is set up; the doors of the guest; `DONE` or `TRAP`: how
its run ended."""

PROGRAM = Struct("<QQQQQ?")
"""Of `RUN`, before the request: the world's number, its bytes of memory, the units of fuel, the bytes that are read from
what the guest asks for and from what it tells, and whether the world ends with it."""

WORLD = Struct("<Q")
"""Of `CLOSE`: the world's number."""

AT = Struct("<II")
"""Of `CALL`, before the name and the arguments: the program's line, and the bytes of the name."""

PAUSE = Struct("<Iq")
"""Of `WAIT`, before what is sent: the program's line and the nanoseconds that may pass."""

LINE = Struct("<I")
"""Of `WRITE`, before the text: the program's line."""

CLOCK = Struct("<Q")
"""The answer of a clock: nanoseconds."""

END = Struct("<Qq")
"""Of `DONE`, before the guest's answer: the fuel that it spent and the bytes of its memory; -1 where they are unknown."""

CAUSE = Struct("<QB")
"""Of `TRAP`, before its detail: the fuel that was spent, and which of `REASONS` it is."""

REASONS: tuple[Reason, ...] = tuple(reason for reason in get_args(Reason) if reason != "lost")
"""Every reason that a worker can give for a trap, in the order by which frames tell them."""

DETAIL = 200
"""Bytes of a trap's detail."""

WORDS = 1000
"""Bytes that say why a worker cannot be set up."""

_QUIET = getattr(socket, "MSG_NOSIGNAL", 0)
"""That the other end has gone is an error, and no signal: a host may have let SIGPIPE end it."""

_SOME = 1 << 12
_MUCH = 1 << 20


class Malformed(ValueError):
    """What came is none of the frames that may come now."""


def cut(body: bytes, head: Struct) -> tuple[tuple[Any, ...], bytes]:
    """The numbers that the bytes of a frame begin with, and the rest.

    Raises:
        Malformed: there are fewer bytes than that.
    """
    if len(body) < head.size:
        msg = "a frame that ends too early"
        raise Malformed(msg)
    return head.unpack_from(body), body[head.size :]


class Channel:
    """One end of the line between a host and a worker."""

    def __init__(self, line: socket.socket) -> None:
        self._line = line
        self._read = bytearray()
        self._poll = select.poll()
        self._poll.register(line, select.POLLIN)

    def send(self, kind: bytes, *parts: bytes) -> None:
        """Send a frame, and wait until the line has taken it.

        Raises:
            OSError: there is nobody at the other end.
        """
        self._line.sendall(b"".join((HEAD.pack(kind, sum(map(len, parts))), *parts)), _QUIET)

    def send_now(self, kind: bytes, body: bytes = b"") -> None:
        """Send a short frame without waiting.

        Raises:
            OSError: there is nobody at the other end, or the line is full.
        """
        frame = HEAD.pack(kind, len(body)) + body
        if self._line.send(frame, socket.MSG_DONTWAIT | _QUIET) < len(frame):
            msg = "the line took a part of a frame"
            raise BlockingIOError(msg)

    def receive(self, most: Mapping[bytes, int]) -> tuple[bytes, bytes]:
        """Wait for a frame.

        Args:
            most: the kinds that may come, and the bytes that each may have.

        Returns:
            Its kind and its bytes.

        Raises:
            EOFError: there is nobody at the other end.
            Malformed: another frame came, or a longer one. The line is of no more use.
        """
        read = self._read
        self._fill(HEAD.size, _SOME)
        kind, size = HEAD.unpack_from(read)
        if size > most.get(kind, -1):
            msg = f"a frame {kind!r} of {size:,} bytes, which may not come now"
            raise Malformed(msg)
        end = HEAD.size + size
        self._fill(end, min(max(size, _SOME), _MUCH))
        body = bytes(memoryview(read)[HEAD.size : end])
        del read[:end]
        return kind, body

    def _fill(self, size: int, step: int) -> None:
        while len(self._read) < size:
            try:
                some = self._line.recv(step)
            except OSError as error:
                raise EOFError from error
            if not some:
                raise EOFError
            self._read += some

    def ready(self) -> bool:
        """Whether there is something to read, be it the end."""
        return bool(self._read) or bool(self._poll.poll(0))

    def close(self) -> None:
        """Hang up. Nobody may be using it."""
        self._line.close()
