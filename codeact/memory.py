"""How much memory the process holds."""

from __future__ import annotations

import ctypes
import os

_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


class _Statm:
    """The process's own line in `/proc`, kept open: reading it again costs two to twenty microseconds.

    The interpreter is not let go for that, as `os.pread` would. A program is measured every few moments, and would have
    the interpreter back before any other thread had woken; that one would begin to wait anew each time, and never come
    to ask for its turn: the host's own loop stood still for half a second.
    """

    def __init__(self) -> None:
        self._line = ctypes.create_string_buffer(96)
        self._open()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._open)

    def _open(self) -> None:
        try:
            self._file = os.open("/proc/self/statm", os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
        except OSError:
            self._file = -1
            return
        self._read = ctypes.pythonapi["pread"]
        self._read.argtypes = (ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_long)

    def resident(self) -> int | None:
        if self._file < 0 or self._read(self._file, self._line, len(self._line), 0) <= 0:
            return None
        try:
            return int(self._line.raw.split()[1]) * _PAGE
        except (ValueError, IndexError):
            return None


resident = _Statm().resident
"""Bytes of the process that are in memory now; None where the kernel does not tell."""
