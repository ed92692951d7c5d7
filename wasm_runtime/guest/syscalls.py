# ruff: noqa: D102 - the documentation of each method is that of the function of `os` that it stands for
"""The functions of `posix` that are about files, over a workspace."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Any, Self, cast

from .descriptors import Descriptors
from .nodes import Directory, File, Node, Nothing, failure
from .workspace import Workspace

_SECOND = 1_000_000_000
_BLOCK = 4096
_OWNER = 1000

_PATH = "string, bytes or os.PathLike"
_OR_NUMBER = "string, bytes, os.PathLike or integer"
_OR_NONE = "string, bytes, os.PathLike, integer or None"

Path = Any
"""What a program gives as one: str, bytes, or what has `__fspath__`."""


class Entry:
    """What `scandir` gives for a name; see `os.DirEntry`."""

    __slots__ = ("_node", "_told", "name", "path")

    def __init__(self, name: Path, path: Path, node: Node) -> None:
        self.name = name
        self.path = path
        self._node = node
        self._told: os.stat_result | None = None

    def is_dir(self, *, follow_symlinks: bool = True) -> bool:
        """Whether it is a directory."""
        del follow_symlinks
        return isinstance(self._node, Directory)

    def is_file(self, *, follow_symlinks: bool = True) -> bool:
        """Whether it is a file."""
        del follow_symlinks
        return isinstance(self._node, File) and not isinstance(self._node, Nothing)

    def is_symlink(self) -> bool:
        """There are none."""
        return False

    def is_junction(self) -> bool:
        """There are none."""
        return False

    def inode(self) -> int:
        """Its number."""
        return self._node.inode

    def stat(self, *, follow_symlinks: bool = True) -> os.stat_result:
        """What is known of it; asked once."""
        del follow_symlinks
        if self._told is None:
            self._told = _told(self._node)
        return self._told

    def __fspath__(self) -> Path:
        return self.path

    def __repr__(self) -> str:
        return f"<DirEntry {self.name!r}>"


Entry.__name__ = Entry.__qualname__ = "DirEntry"
Entry.__module__ = "posix"


class _Scan:
    """What `scandir` gives."""

    def __init__(self, entries: Iterator[Entry]) -> None:
        self._entries = entries

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Entry:
        return next(self._entries)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Give no more."""
        self._entries = iter(())


_Scan.__name__ = _Scan.__qualname__ = "ScandirIterator"
_Scan.__module__ = "posix"


class Syscalls:
    """The functions of one world, as methods of the same names."""

    def __init__(self, workspace: Workspace, descriptors: Descriptors) -> None:
        self._workspace = workspace
        self._descriptors = descriptors
        self._mask = 0o022

    # --- descriptors -----------------------------------------------------------------------------------------

    def open(self, path: Path, flags: int, mode: int = 0o777, *, dir_fd: None = None) -> int:
        shown, text = _path("open", path, dir_fd)
        return self._descriptors.open(text, flags, mode & ~self._mask, shown)

    def close(self, fd: int) -> None:
        self._descriptors.close(_number(fd))

    def closerange(self, fd_low: int, fd_high: int, /) -> None:
        for number in range(max(0, fd_low), min(fd_high, 1 << 16)):
            try:
                self._descriptors.close(number)
            except OSError:
                continue

    def dup(self, fd: int, /) -> int:
        return self._descriptors.duplicate(_number(fd))

    def dup2(self, fd: int, fd2: int, inheritable: bool = True) -> int:
        del inheritable
        return self._descriptors.duplicate(_number(fd), _number(fd2))

    def read(self, fd: int, length: int, /) -> bytes:
        return self._descriptors.read(_number(fd), length)

    def readinto(self, fd: int, buffer: Any, /) -> int:
        with memoryview(buffer).cast("B") as room:
            data = self._descriptors.read(_number(fd), len(room))
            room[: len(data)] = data
        return len(data)

    def write(self, fd: int, data: Any, /) -> int:
        with memoryview(data) as view, view.cast("B") as plain:
            return self._descriptors.write(_number(fd), plain)

    def pread(self, fd: int, length: int, offset: int, /) -> bytes:
        return self._descriptors.read(_number(fd), length, offset)

    def pwrite(self, fd: int, buffer: Any, offset: int, /) -> int:
        with memoryview(buffer) as view, view.cast("B") as plain:
            return self._descriptors.write(_number(fd), plain, offset)

    def lseek(self, fd: int, position: int, whence: int, /) -> int:
        return self._descriptors.seek(_number(fd), position, whence)

    def ftruncate(self, fd: int, length: int, /) -> None:
        self._descriptors.resize(_number(fd), length)

    def fstat(self, fd: int) -> os.stat_result:
        return _told(self._descriptors.opened(_number(fd)).node)

    def fsync(self, fd: int) -> None:
        self._descriptors.opened(_number(fd))

    fdatasync = fsync

    def isatty(self, fd: int, /) -> bool:
        del fd
        return False

    def get_inheritable(self, fd: int, /) -> bool:
        self._descriptors.opened(_number(fd))
        return False

    def set_inheritable(self, fd: int, inheritable: int, /) -> None:
        del inheritable
        self._descriptors.opened(_number(fd))

    # --- names -----------------------------------------------------------------------------------------------

    def stat(self, path: Path, *, dir_fd: None = None, follow_symlinks: bool = True) -> os.stat_result:
        del follow_symlinks
        return _told(self._node("stat", path, dir_fd))

    def lstat(self, path: Path, *, dir_fd: None = None) -> os.stat_result:
        shown, text = _path("lstat", path, dir_fd)
        return _told(self._workspace.node(text, shown))

    def access(
        self,
        path: Path,
        mode: int,
        *,
        dir_fd: None = None,
        effective_ids: bool = False,
        follow_symlinks: bool = True,
    ) -> bool:
        del effective_ids, follow_symlinks
        shown, text = _path("access", path, dir_fd)
        try:
            node = self._workspace.node(text, shown)
        except OSError:
            return False
        if mode & os.W_OK and node.fixed:
            return False
        return not mode & os.X_OK or isinstance(node, Directory) or bool(node.mode & 0o111)

    def readlink(self, path: Path, *, dir_fd: None = None) -> Path:
        shown, text = _path("readlink", path, dir_fd)
        self._workspace.node(text, shown)
        raise failure(errno.EINVAL, shown)

    def link(self, src: Path, dst: Path, **_: object) -> None:
        raise failure(errno.EPERM, os.fspath(src), os.fspath(dst), more=" (there are no links here; copy the file)")

    symlink = link

    def listdir(self, path: Path = None) -> list[Any]:
        shown, text = _path("listdir", "." if path is None else path, None, _OR_NONE)
        names = sorted(self._listed(text, shown))
        return [os.fsencode(name) for name in names] if isinstance(shown, bytes) else names

    def scandir(self, path: Path = None) -> _Scan:
        shown, text = _path("scandir", "." if path is None else path, None, _OR_NONE)
        entries = self._listed(text, shown)
        coded: Callable[[str], Any] = os.fsencode if isinstance(shown, bytes) else str
        start = text if text.endswith("/") else f"{text}/"
        return _Scan(Entry(coded(name), coded(start + name), node) for name, node in sorted(entries.items()))

    def mkdir(self, path: Path, mode: int = 0o777, *, dir_fd: None = None) -> None:
        shown, text = _path("mkdir", path, dir_fd)
        self._workspace.make_directory(text, mode & ~self._mask, shown)

    def rmdir(self, path: Path, *, dir_fd: None = None) -> None:
        shown, text = _path("rmdir", path, dir_fd)
        self._workspace.remove_directory(text, shown)

    def unlink(self, path: Path, *, dir_fd: None = None) -> None:
        shown, text = _path("unlink", path, dir_fd)
        self._workspace.remove_file(text, shown)

    def remove(self, path: Path, *, dir_fd: None = None) -> None:
        shown, text = _path("remove", path, dir_fd)
        self._workspace.remove_file(text, shown)

    def rename(self, src: Path, dst: Path, *, src_dir_fd: None = None, dst_dir_fd: None = None) -> None:
        source = _path("rename", src, src_dir_fd, argument="src")
        target = _path("rename", dst, dst_dir_fd, argument="dst")
        self._workspace.rename(source[1], target[1], (source[0], target[0]))

    replace = rename

    def chdir(self, path: Path) -> None:
        shown, text = _path("chdir", path, None, _OR_NUMBER)
        self._workspace.current = self._directory(text, shown)

    def getcwd(self) -> str:
        return self._workspace.path_of(self._workspace.current)

    def getcwdb(self) -> bytes:
        return os.fsencode(self.getcwd())

    def utime(
        self,
        path: Path,
        times: tuple[float, float] | None = None,
        *,
        ns: tuple[int, int] | None = None,
        dir_fd: None = None,
        follow_symlinks: bool = True,
    ) -> None:
        del follow_symlinks
        if times is not None and ns is not None:
            msg = "utime: you may specify either 'times' or 'ns' but not both"
            raise ValueError(msg)
        for given, name in ((times, "times"), (ns, "ns")):
            if given is not None and not (isinstance(given, tuple) and len(given) == 2):  # noqa: PLR2004 - a pair
                msg = f"utime: '{name}' must be {'either ' * (name == 'times')}a tuple of two ints"
                raise TypeError(msg + " or None" * (name == "times"))
        node = self._node("utime", path, dir_fd)
        if node.fixed:
            raise failure(errno.EROFS, path)
        if times is not None:
            ns = (int(times[0] * _SECOND), int(times[1] * _SECOND))
        self._workspace.stamp(node, ns)

    def chmod(self, path: Path, mode: int, *, dir_fd: None = None, follow_symlinks: bool = True) -> None:
        del follow_symlinks
        node = self._node("chmod", path, dir_fd)
        if node.fixed:
            raise failure(errno.EROFS, path)
        node.mode = mode & 0o7777

    def truncate(self, path: Path, length: int) -> None:
        node = self._node("truncate", path, None)
        if isinstance(node, Directory):
            raise failure(errno.EISDIR, path)
        if length < 0:
            raise failure(errno.EINVAL, path)
        self._workspace.resize(node, length)

    def umask(self, mask: int, /) -> int:
        before, self._mask = self._mask, mask & 0o777
        return before

    def statvfs(self, path: Path) -> os.statvfs_result:
        self._node("statvfs", path, None)
        workspace = self._workspace
        blocks, free = workspace.size // _BLOCK, (workspace.size - workspace.used) // _BLOCK
        nodes = workspace.files - workspace.count
        return os.statvfs_result((_BLOCK, _BLOCK, blocks, free, free, workspace.files, nodes, nodes, 0, 255))

    def device_encoding(self, fd: int) -> None:
        """None of them is a terminal."""

    def _listed(self, text: str, shown: object) -> dict[str, File | Directory]:
        """What a directory holds. Those that are there from the beginning lead somewhere and tell nothing."""
        directory = self._directory(text, shown)
        if directory.fixed:
            error = failure(errno.EACCES, shown)
            error.add_note(self._workspace.told(text))
            raise error
        return directory.entries

    def _directory(self, text: str, shown: object) -> Directory:
        try:
            return self._workspace.directory(text, shown)
        except FileNotFoundError as error:
            error.add_note(self._workspace.told(text))
            raise

    def _node(self, function: str, path: Path, dir_fd: object) -> File | Directory:
        if type(path) is int:
            return self._descriptors.opened(_number(path)).node
        shown, text = _path(function, path, dir_fd, _OR_NUMBER)
        return self._workspace.node(text, shown)


def functions(calls: Syscalls) -> dict[str, Any]:
    """The functions of `posix` that are about files, by name, and the type `DirEntry`."""
    names = [name for name in vars(Syscalls) if name[0] != "_"]
    return {"DirEntry": Entry, **{name: getattr(calls, name) for name in names}}


def _path(function: str, given: Path, dir_fd: object, kinds: str = _PATH, argument: str = "path") -> tuple[Path, str]:
    """A path as it was given, and as text.

    Args:
        function: whose argument it is.
        given: the argument.
        dir_fd: the argument of that name, which there is no use for.
        kinds: what the function takes, for its error.
        argument: its name.
    """
    if dir_fd is not None:
        msg = "dir_fd unavailable on this platform"
        raise NotImplementedError(msg)
    if not isinstance(given, (str, bytes)):
        if not hasattr(type(given), "__fspath__"):
            msg = f"{function}: {argument} should be {kinds}, not {type(given).__name__}"
            raise TypeError(msg)
        given = os.fspath(given)
    text = os.fsdecode(given)
    if "\0" in text:
        msg = f"{function}: embedded null character in {argument}"
        raise ValueError(msg)
    return given, text


def _number(fd: object) -> int:
    if isinstance(fd, int):
        return int(fd)
    fileno = getattr(fd, "fileno", None)
    if fileno is not None:
        return cast("int", fileno())
    msg = "argument must be an int, or have a fileno() method."
    raise TypeError(msg)


def _told(node: Node) -> os.stat_result:
    """What `stat` says of something."""
    size = len(node.data) if isinstance(node, File) else _BLOCK
    kind = stat.S_IFDIR
    if isinstance(node, File):
        kind = stat.S_IFCHR if isinstance(node, Nothing) else stat.S_IFREG
    accessed, modified = node.accessed, node.modified
    whole = (accessed // _SECOND, modified // _SECOND, modified // _SECOND)
    exact = {
        "st_atime": accessed / _SECOND,
        "st_mtime": modified / _SECOND,
        "st_ctime": modified / _SECOND,
        "st_atime_ns": accessed,
        "st_mtime_ns": modified,
        "st_ctime_ns": modified,
        "st_blksize": _BLOCK,
        "st_blocks": -(-size // 512),
    }
    return os.stat_result((kind | node.mode, node.inode, 1, 1, _OWNER, _OWNER, size, *whole), exact)
