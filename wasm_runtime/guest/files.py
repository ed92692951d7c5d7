"""Files do not exist here: what would look for one fails as if it were missing."""

from __future__ import annotations

import errno
import posix
from typing import NoReturn

from .patching import replace

_ADVICE = "there are no files in the sandbox; keep data in variables and use the tools"

_READING = ["stat", "lstat", "access", "readlink", "listdir", "scandir", "chdir", "open", "statvfs", "pathconf"]
_WRITING = [
    "mkdir",
    "rmdir",
    "rename",
    "replace",
    "remove",
    "unlink",
    "link",
    "symlink",
    "utime",
    "truncate",
    "chmod",
    "chown",
    "mknod",
    "mkfifo",
]
_BY_NUMBER = [
    "close",
    "dup",
    "dup2",
    "fdatasync",
    "fdopen",
    "fstat",
    "fstatvfs",
    "fsync",
    "ftruncate",
    "isatty",
    "lseek",
    "openat",
    "pipe",
    "pread",
    "preadv",
    "pwrite",
    "pwritev",
    "read",
    "readv",
    "write",
    "writev",
    "fpathconf",
    "get_blocking",
    "set_blocking",
    "posix_fadvise",
    "posix_fallocate",
]


def missing(path: object = None, *_: object, **_options: object) -> NoReturn:
    """There is no such file."""
    raise FileNotFoundError(errno.ENOENT, _ADVICE, path)


def _denied(path: object = None, *_: object, **_options: object) -> NoReturn:
    raise PermissionError(errno.EACCES, _ADVICE, path)


def _no_number(*_: object, **_options: object) -> NoReturn:
    raise OSError(errno.EBADF, _ADVICE)


def install() -> None:
    """Close the file system."""
    for names, answer in ((_READING, missing), (_WRITING, _denied), (_BY_NUMBER, _no_number)):
        for name in names:
            if hasattr(posix, name):
                replace(getattr(posix, name), answer)
