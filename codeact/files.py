"""Files that a host puts into a world, and files that come out of it."""

from __future__ import annotations

import hashlib
import os
import secrets
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from codeact.limits import Limits
from wasm_runtime.guest.parcel import plain

FileState = Literal["new", "changed", "deleted"]
"""What became of a file in a run. Written again with the same content is not changed."""

Content = bytes | bytearray | memoryview | str
"""What a file may hold: bytes, or text that becomes UTF-8."""


@dataclass(frozen=True, slots=True)
class File:
    """A file of the workspace, as a run left it.

    Attributes:
        path: where it is, seen from the workspace, with `/` between names. It leads nowhere else: it is never
            absolute, and has no part that is empty, `.` or `..`.
        state: what became of it.
        data: its content; None when it was deleted.
        digest: the SHA-256 of its content, hexadecimal; None when it was deleted.
    """

    path: str
    state: FileState
    data: bytes | None = field(repr=False)
    digest: str | None

    @property
    def size(self) -> int:
        """Its bytes."""
        return len(self.data or b"")


def checked(name: str, files: object, limits: Limits) -> dict[str, bytes]:
    """The files that a host puts into a workspace.

    Args:
        name: the argument that they came in.
        files: contents by path; None for nothing.
        limits: what a workspace holds.

    Raises:
        TypeError: they are no mapping of paths to contents.
        ValueError: a path does not lead to a place in the workspace, or they do not fit.
    """
    if files is None:
        return {}
    if not isinstance(files, Mapping):
        msg = f"{name}: expected a mapping of paths to contents, got {type(files).__name__}"
        raise TypeError(msg)
    found: dict[str, bytes] = {}
    for path, content in files.items():
        if not isinstance(path, str):
            msg = f"{name}: expected paths as str, got {type(path).__name__} {path!r:.100}"
            raise TypeError(msg)
        reason = plain(path)
        if reason is not None:
            msg = f"{name}[{path!r:.100}]: {reason}; use a path from the workspace, like 'in.csv' or 'data/in.csv'"
            raise ValueError(msg)
        found[path] = _bytes(name, path, content)
    _fit(name, found, _above(found), limits)
    return found


def checked_together(inputs: Mapping[str, bytes], files: Mapping[str, bytes], limits: Limits) -> None:
    """See whether files go together with inputs, and all of them into a workspace.

    Raises:
        ValueError: they do not.
    """
    for path in inputs.keys() & files.keys():
        msg = f"files[{path!r:.100}]: an input of the sandbox has this path; use another one"
        raise ValueError(msg)
    together = {**inputs, **files}
    _fit("files", together, _above(together), limits)


def _above(paths: Iterable[str]) -> set[str]:
    """The directories that hold these files."""
    split = [path.split("/") for path in paths]
    return {"/".join(names[:depth]) for names in split for depth in range(1, len(names))}


def _fit(name: str, found: Mapping[str, bytes], directories: AbstractSet[str], limits: Limits) -> None:
    for path in directories & found.keys():
        msg = f"{name}[{path!r:.100}]: it cannot be a file and a directory"
        raise ValueError(msg)
    for limit, most, wanted, noun in (
        ("workspace", limits.workspace, sum(map(len, found.values())), "bytes"),
        ("files", limits.files, len(found) + len(directories), "files and directories"),
    ):
        if wanted > most:
            msg = f"{name}: {wanted:,} {noun} are more than the limit {limit}={most:,}"
            raise ValueError(msg)


def _bytes(name: str, path: str, content: object) -> bytes:
    if isinstance(content, str):
        try:
            return content.encode()
        except UnicodeEncodeError:
            msg = f"{name}[{path!r:.100}]: the text holds lone surrogates; encode it yourself"
            raise ValueError(msg) from None
    if isinstance(content, (bytes, bytearray, memoryview)):
        return bytes(content)
    msg = f"{name}[{path!r:.100}]: expected bytes or str, got {type(content).__name__}"
    raise TypeError(msg)


def digest_of(data: bytes) -> str:
    """The SHA-256 of a content, hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def compared(
    changes: Mapping[str, bytes | None], inputs: Mapping[str, bytes], known: Mapping[str, str]
) -> tuple[File, ...]:
    """What became of files in a run.

    Args:
        changes: contents afterwards, of every file that was touched; None for a file that is gone.
        inputs: contents before, of those that the host has put there for this run.
        known: digests before, of those that were there already.
    """
    return tuple(_compared(changes, inputs, known))


def _compared(
    changes: Mapping[str, bytes | None], inputs: Mapping[str, bytes], known: Mapping[str, str]
) -> Iterator[File]:
    for path, data in changes.items():
        before = inputs.get(path)
        there = before is not None or path in known
        if data is None:
            if there:
                yield File(path, "deleted", None, None)
        elif before is None or before != data:
            digest = digest_of(data)
            if before is not None or known.get(path) != digest:
                yield File(path, "changed" if there else "new", data, digest)


def leaving(files: tuple[File, ...], endings: tuple[str, ...] | None) -> tuple[tuple[File, ...], tuple[File, ...]]:
    """The files that may leave, and those that may not.

    Args:
        files: all of them.
        endings: what the names of those that may leave end with, in lower case; None for all.
    """
    if endings is None:
        return files, ()
    may: list[File] = []
    kept: list[File] = []
    for file in files:
        (may if file.data is None or file.path.lower().endswith(endings) else kept).append(file)
    return tuple(may), tuple(kept)


def save(files: Iterable[File], directory: str | os.PathLike[str]) -> tuple[Path, ...]:
    """Write files below a directory of the host's, which is made if it is not there; those deleted are left out.

    Each appears whole, in the place of what has its name. No symbolic link below the directory is followed.

    Returns:
        Where they are, in order.

    Raises:
        OSError: one cannot be written, or its path leads through a symbolic link.
        ValueError: a path leads out of the directory; none that a run gives does.
    """
    root = Path(directory)
    root.mkdir(parents=True, exist_ok=True)
    written = []
    for file in files:
        if file.data is None:
            continue
        if plain(file.path) is not None:
            msg = f"{file.path!r:.100}: a path that leads out of the directory"
            raise ValueError(msg)
        _write(root, file.path, file.data)
        written.append(root / file.path)
    return tuple(written)


def _write(root: Path, path: str, data: bytes) -> None:
    *above, name = path.split("/")
    here = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
    try:
        for step in above:
            with suppress(FileExistsError):
                os.mkdir(step, dir_fd=here)
            below = os.open(step, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=here)
            os.close(here)
            here = below
        fresh = f".{secrets.token_hex(8)}"
        with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666, dir_fd=here), "wb") as file:
            file.write(data)
        os.replace(fresh, name, src_dir_fd=here, dst_dir_fd=here)
    except OSError as error:
        raise type(error)(error.errno, error.strerror, str(root / path)) from None
    finally:
        os.close(here)
