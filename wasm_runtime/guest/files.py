"""Files do not exist here: what would look for one fails as if it were missing, and nothing is left to trap.

The interpreter was built for an operating system that is not there. Every libc function that would ask it for
something ends the instance, so the Python functions above them answer first.
"""

from __future__ import annotations

import errno
import posix
import sys
from collections.abc import Callable
from typing import Any, NoReturn

_ADVICE = "there are no files in the sandbox; keep data in variables and use the tools"


def _missing(path: object = None, *_: object, **_options: object) -> NoReturn:
    raise FileNotFoundError(errno.ENOENT, _ADVICE, path)


def _denied(path: object = None, *_: object, **_options: object) -> NoReturn:
    raise PermissionError(errno.EACCES, _ADVICE, path)


_READING = "stat lstat access readlink listdir scandir chdir open statvfs pathconf".split()
_WRITING = "mkdir rmdir rename replace remove unlink link symlink utime truncate chmod chown mknod mkfifo".split()
_BY_NUMBER = (
    "close dup dup2 fdatasync fdopen fstat fstatvfs fsync ftruncate isatty lseek openat pipe pread preadv pwrite "
    "pwritev read readv write writev fpathconf get_blocking set_blocking posix_fadvise posix_fallocate"
).split()


def _no_number(*_: object, **_options: object) -> NoReturn:
    raise OSError(errno.EBADF, _ADVICE)


def _audit(event: str, arguments: tuple[Any, ...]) -> None:
    """Stop what opens a file from C, where nothing else stands in front of libc: the parser looks for the
    source line of a syntax error that way, and takes this error for a missing file."""
    if event == "open":
        _missing(arguments[0])


def install() -> None:
    """Close the file system. Nothing can be imported from a file afterwards."""
    for names, answer in ((_READING, _missing), (_WRITING, _denied), (_BY_NUMBER, _no_number)):
        for name in names:
            _replace(name, answer)
    sys.addaudithook(_audit)


def _replace(name: str, answer: Callable[..., NoReturn]) -> None:
    original = getattr(posix, name, None)
    if original is None:
        return
    for module in tuple(sys.modules.values()):
        names = getattr(module, "__dict__", {})
        for found in [key for key, value in names.items() if value is original]:
            names[found] = staticmethod(answer)  # as a class attribute it must not bind
