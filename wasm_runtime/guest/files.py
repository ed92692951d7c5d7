"""The workspace behind everything of the interpreter's that opens, names or lists files."""

from __future__ import annotations

import errno
import io
import os
import posix
import shutil
from typing import Any, NoReturn

from . import world
from .descriptors import Descriptors
from .patching import replace_all
from .streams import Kinds, Opener, Raw
from .syscalls import Syscalls, functions
from .workspace import Workspace

_ADVICE = "not in the sandbox: there is a workspace in memory, and no operating system below it"

_ABSENT = ["fpathconf", "get_blocking", "pathconf", "posix_fadvise", "set_blocking"]

workspace = Workspace(world.now, size=0, files=0)
"""The files of this world."""

_descriptors = Descriptors(workspace, world.write)
_calls = Syscalls(workspace, _descriptors)


class FileIO(Raw):
    """An open file as a raw stream; see `io.FileIO`."""

    def __init__(self, file: Any, mode: str = "r", closefd: bool = True, opener: Any = None) -> None:
        super().__init__(_calls, file, mode, closefd, opener)


FileIO.__module__ = "_io"

_opener = Opener(workspace, Kinds(FileIO))
flush = _opener.flush


def _open_code(path: str) -> Any:
    """Open a file with code, which is a file like others here."""
    return _opener.open(path, "rb")


def refuse(path: object = None, *_: object) -> NoReturn:
    """C code that would open a file by itself cannot: the workspace is none of its."""
    raise FileNotFoundError(errno.ENOENT, _ADVICE, path)


def _absent(*_: object, **_options: object) -> NoReturn:
    raise OSError(errno.EINVAL, _ADVICE)


def install() -> None:
    """Put the workspace in the place of the file system. What reads real files must be done."""
    pairs: list[tuple[object, object]] = [
        (io.open, _opener.open),
        (io.FileIO, FileIO),
        (io.open_code, _open_code),
        *((getattr(posix, name), _absent) for name in _ABSENT),
    ]
    for name, function in functions(_calls).items():
        if hasattr(posix, name):
            pairs.append((getattr(posix, name), function))
        else:
            for module in (posix, os):
                setattr(module, name, function)
    replace_all(pairs)
    # What the functions can do is told by sets of them.
    for names in (os.supports_dir_fd, os.supports_effective_ids, os.supports_fd, os.supports_follow_symlinks):
        names.clear()
    os.supports_fd.update((os.stat, os.truncate, os.utime, os.chmod))
    os.supports_follow_symlinks.update((os.stat, os.utime, os.chmod, os.access))
    shutil._use_fd_functions = False  # type: ignore[attr-defined]  # noqa: SLF001
    shutil.rmtree.avoids_symlink_attacks = False


def limit(size: int, files: int) -> None:
    """Let files hold so many bytes together, and let there be so many files and directories."""
    workspace.size, workspace.files = size, files
