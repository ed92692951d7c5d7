"""`os`, `pathlib`, `shutil`, `io` and the others that work on files: what a program gets of each.

What is not there says so: the process, its environment and its user do not exist here.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

from codeact.engines.restricted.library.parts import Parts, take
from codeact.engines.restricted.library.sources import Sources
from codeact.engines.restricted.sealed import Making, Sealed

_NAMES = {
    "glob": "escape glob has_magic iglob translate",
    "gzip": "BadGzipFile GzipFile compress decompress open",
    "os": "DirEntry EX_OK F_OK O_APPEND O_CREAT O_EXCL O_RDONLY O_RDWR O_TRUNC O_WRONLY PathLike R_OK SEEK_CUR SEEK_END "
    "SEEK_SET W_OK X_OK access altsep chdir chmod close cpu_count curdir defpath devnull dup error extsep fdatasync "
    "fdopen fsdecode fsencode fspath fstat fsync ftruncate getcwd getcwdb getpid isatty linesep listdir lseek lstat "
    "makedirs mkdir name open pardir pathsep pread pwrite read remove removedirs rename renames replace rmdir scandir "
    "sep stat stat_result strerror truncate umask unlink urandom utime walk write",
    "os.path": "abspath altsep basename commonpath commonprefix curdir defpath devnull dirname exists extsep getatime "
    "getctime getmtime getsize isabs isdir isfile isjunction islink ismount join lexists normcase normpath pardir "
    "pathsep realpath relpath samefile sameopenfile samestat sep split splitdrive splitext splitroot",
    "pathlib": "Path PosixPath PurePath PurePosixPath UnsupportedOperation",
    "shutil": "Error ReadError SameFileError copy copy2 copyfile copyfileobj copymode copystat copytree disk_usage "
    "get_archive_formats get_unpack_formats ignore_patterns make_archive move rmtree unpack_archive",
    "tarfile": "CompressionError ExtractError HeaderError ReadError StreamError TarError TarFile TarInfo data_filter "
    "fully_trusted_filter is_tarfile open tar_filter",
    "tempfile": "NamedTemporaryFile SpooledTemporaryFile TemporaryDirectory TemporaryFile gettempdir gettempprefix "
    "mkdtemp mkstemp",
    "zipfile": "BadZipFile BadZipfile LargeZipFile Path ZIP_DEFLATED ZIP_STORED ZipFile ZipInfo error is_zipfile",
}


def _taken(module: str) -> Callable[[Parts], dict[str, Any]]:
    """What makes the names of a module that is run from its text."""

    def make(parts: Parts) -> dict[str, Any]:
        real = sources(parts).load(module)
        return {name: getattr(real, name) for name in _NAMES[module].split() if hasattr(real, name)}

    return make


def sources(parts: Parts) -> Sources:
    """The modules of a world that are made from text."""
    world = parts.world
    if world.sources is None:
        world.sources = Sources(parts)
    return world.sources


def make_io(parts: Parts) -> dict[str, Any]:
    """The names of `io`."""
    world = parts.world

    def text(buffer: Any, *args: Any, **named: Any) -> Any:
        """Text over a binary file of the library's, not over anything that answers to its methods."""
        if not isinstance(buffer, io.BufferedIOBase) or type(buffer) in world.own:
            msg = f"TextIOWrapper takes a binary file, not {type(buffer).__name__}"
            raise TypeError(msg)
        return world.files.kinds.text(buffer, *args, **named)

    return {
        **take("io", "BytesIO DEFAULT_BUFFER_SIZE SEEK_CUR SEEK_END SEEK_SET StringIO UnsupportedOperation"),
        **{name: Sealed(getattr(io, name)) for name in _STREAMS.split()},
        "TextIOWrapper": Making(io.TextIOWrapper, text),
        "open": world.builtins["open"],
    }


_STREAMS = "BufferedIOBase BufferedRandom BufferedReader BufferedWriter FileIO IOBase RawIOBase TextIOBase"  # to tell, not to make


def make_os(parts: Parts) -> dict[str, Any]:
    """The names of `os`."""
    names = _taken("os")(parts)
    parts.world.stand_ins[names["DirEntry"]] = names["DirEntry"] = Sealed(names["DirEntry"])
    return names


def make_pathlib(parts: Parts) -> dict[str, Any]:
    """The names of `pathlib`."""
    names = _taken("pathlib")(parts)
    os = sources(parts).load("os")
    path = names["Path"]
    if not hasattr(path, "walk"):

        def walk(self: Any, top_down: Any = True, on_error: Any = None, follow_symlinks: Any = False) -> Any:
            for root, directories, files in os.walk(self, top_down, on_error, follow_symlinks):
                yield type(self)(root), directories, files

        path.walk = walk
    return names


def make_tempfile(parts: Parts) -> dict[str, Any]:
    """The names of `tempfile`."""
    names = _taken("tempfile")(parts)
    # It passes on what its file has, under any name.
    wrapper: Any = sources(parts).load("tempfile")._TemporaryFileWrapper  # noqa: SLF001 - see above
    parts.world.stand_ins[wrapper] = Sealed(wrapper)
    return names


make_glob, make_gzip, make_os_path = map(_taken, ("glob", "gzip", "os.path"))
make_shutil, make_tarfile, make_zipfile = map(_taken, ("shutil", "tarfile", "zipfile"))
