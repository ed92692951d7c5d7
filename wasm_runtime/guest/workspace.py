"""A workspace: a file system in memory, with a quota. Nothing of it ever touches a disk.

Programs work in `/workspace` and may keep temporary files in `/tmp`; there is nothing else but `/dev/null`, and what
holds them cannot be listed or changed. Paths, kinds of error and their texts are POSIX's. There are no links, owners
or permissions, and names are listed in order.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Collection, Iterator, Mapping
from difflib import get_close_matches

from .nodes import Directory, File, Node, Nothing, Place, failure
from .parcel import NAME, PATH

HOME = "/workspace"
"""Where programs begin, and what comes back to the host."""

_LISTED = 10
_COMPARED = 100
"""Names that are told, and those that are looked at for a near one, to somebody who asks for a file there is not."""


class Workspace:
    """One tree of files.

    Attributes:
        used: bytes in files.
        count: files and directories.
    """

    def __init__(self, clock: Callable[[], int], *, size: int, files: int) -> None:
        """Make an empty one.

        Args:
            clock: nanoseconds since the epoch.
            size: bytes that its files may hold together.
            files: files and directories that there may be.
        """
        self._clock = clock
        self.size = size
        self.files = files
        self.used = self.count = 0
        self._inode = 0
        self._turn = 0
        self._before: dict[str, File] = {}
        self._quiet = True
        self._root = Directory("", None)
        self._root.parent = self._root
        self._settle(self._root, 0o711)
        self.home = self._directory(self._root, HOME[1:], 0o755)
        self._directory(self._root, "tmp", 0o777)
        device = self._directory(self._root, "dev", 0o711)
        null = device.entries["null"] = Nothing()
        self._settle(null, 0o666)
        null.holders = 1
        self._root.fixed = device.fixed = True
        self.current = self.home
        self.count = 0

    # --- paths -----------------------------------------------------------------------------------------------

    def find(self, path: str, *shown: object) -> Place:
        """Follow a path.

        Args:
            path: it may begin at the root or at the current directory.
            shown: the path as the program gave it, for errors, or two of which it is one.

        Raises:
            OSError: a directory on the way does not exist or is a file, or a name is too long.
            UnicodeEncodeError: it could be no name of a file anywhere.
        """
        if not path:
            raise failure(errno.ENOENT, *shown)
        if len(os.fsencode(path)) > PATH:
            raise failure(errno.ENAMETOOLONG, *shown)
        node: File | Directory | None = self._root if path[0] == "/" else self.current
        holder, name, slash = None, "", False
        for part in path.split("/"):
            if not part:
                slash = True
                continue
            if node is None:
                raise failure(errno.ENOENT, *shown)
            if isinstance(node, File):
                raise failure(errno.ENOTDIR, *shown)
            slash = part == "."
            if slash or part == "..":
                node, holder, name = node if slash else node.parent, None, ""
                continue
            if len(part) > NAME or (not part.isascii() and len(os.fsencode(part)) > NAME):
                raise failure(errno.ENAMETOOLONG, *shown)
            holder, name = node, part
            node = node.entries.get(part)
        return Place(node, holder, name, slash)

    def node(self, path: str, shown: object) -> File | Directory:
        """What a path leads to.

        Raises:
            OSError: nothing is there.
        """
        found = self.find(path, shown)
        if found.node is None:
            raise failure(errno.ENOENT, shown)
        if found.slash and isinstance(found.node, File):
            raise failure(errno.ENOTDIR, shown)
        return found.node

    def directory(self, path: str, shown: object) -> Directory:
        """The directory that a path leads to.

        Raises:
            OSError: none is there.
        """
        found = self.node(path, shown)
        if isinstance(found, File):
            raise failure(errno.ENOTDIR, shown)
        return found

    def path_of(self, directory: Directory) -> str:
        """The path of a directory.

        Raises:
            FileNotFoundError: it was removed.
        """
        names = []
        while directory is not self._root:
            if directory.parent is None:
                raise failure(errno.ENOENT)
            names.append(directory.name)
            directory = directory.parent
        return "/" + "/".join(reversed(names))

    # --- names -----------------------------------------------------------------------------------------------

    def make_file(self, place: Place, mode: int, shown: object) -> File:
        """A new empty file where there is nothing."""
        holder = self._writable(place, shown)
        self._check_count(shown)
        made = File()
        self._settle(made, mode)
        made.holders = 1
        made.turn = self._turn
        self.count += 1
        self._put(holder, place.name, made)
        return made

    def make_directory(self, path: str, mode: int, shown: object) -> None:
        """A new directory."""
        place = self.find(path, shown)
        if place.node is not None:
            raise failure(errno.EEXIST, shown)
        holder = self._writable(place, shown)
        self._check_count(shown)
        self._directory(holder, place.name, mode)
        holder.modified = self._clock()

    def remove_directory(self, path: str, shown: object) -> None:
        """Remove an empty directory."""
        place = self.find(path, shown)
        if isinstance(place.node, File):
            raise failure(errno.ENOTDIR, shown)
        if place.node is self._root:
            raise failure(errno.EBUSY, shown)
        if place.node is not None and place.holder is None:
            raise failure(errno.ENOTEMPTY if path.rstrip("/").endswith("..") else errno.EINVAL, shown)
        holder, node = self._taken(place, shown)
        if node.entries:  # type: ignore[union-attr]  # not a file: see above
            raise failure(errno.ENOTEMPTY, shown)
        self._drop(holder, place.name, node)

    def remove_file(self, path: str, shown: object) -> None:
        """Remove a file's name; the file goes when no descriptor has it."""
        place = self.find(path, shown)
        if isinstance(place.node, Directory):
            raise failure(errno.EISDIR, shown)
        if place.node is not None and place.slash:
            raise failure(errno.ENOTDIR, shown)
        holder, node = self._taken(place, shown)
        self._drop(holder, place.name, node)

    def rename(self, source: str, target: str, shown: tuple[object, object]) -> None:
        """Give a file or directory another name, in the place of what has that name."""
        origin = self.find(source, *shown)
        goal = self.find(target, *shown)
        code = self._hindrance(origin, goal)
        if code is not None:
            raise failure(code, *shown)
        holder, node = self._taken(origin, *shown)
        if goal.node is node:
            return
        new_holder = self._writable(goal, *shown)
        if goal.node is not None:
            self._taken(goal, *shown)
            self._drop(new_holder, goal.name, goal.node)
        del holder.entries[origin.name]
        if isinstance(node, Directory):
            node.name, node.parent = goal.name, new_holder
        self._put(new_holder, goal.name, node)
        holder.modified = new_holder.modified

    def _hindrance(self, origin: Place, goal: Place) -> int | None:
        """The error that one may not be renamed to the other; None where it may."""
        node, onto = origin.node, goal.node
        if origin.holder is None or goal.holder is None:
            return errno.EBUSY
        if node is None:
            return errno.ENOENT
        if isinstance(node, File) and (origin.slash or goal.slash):
            return errno.ENOTDIR
        if self._inside(goal.holder, node):
            return errno.EINVAL
        if self._inside(origin.holder, onto):
            return errno.ENOTEMPTY
        if isinstance(node, File):
            return errno.EISDIR if isinstance(onto, Directory) else None
        if isinstance(onto, File):
            return errno.ENOTDIR
        if onto is not None and onto is not node and onto.entries:
            return errno.ENOTEMPTY
        return errno.EROFS if any(inside.fixed for _, inside in _files(node, "")) else None

    def _inside(self, directory: Directory | None, above: File | Directory | None) -> bool:
        """Whether a directory is another one, or below it."""
        while directory is not None and directory is not above:
            directory = None if directory is self._root else directory.parent
        return directory is not None

    def _writable(self, place: Place, *shown: object) -> Directory:
        """The directory in which something is to get a name."""
        if place.holder is None or (place.holder.parent is None):
            raise failure(errno.ENOENT, *shown)
        if place.holder.fixed:
            raise failure(errno.EACCES, *shown)
        return place.holder

    def _taken(self, place: Place, *shown: object) -> tuple[Directory, File | Directory]:
        """What is to lose its name, and the directory that has it."""
        if place.node is None:
            raise failure(errno.ENOENT, *shown)
        holder = self._writable(place, *shown)
        if place.node.fixed:
            raise failure(errno.EROFS, *shown)
        return holder, place.node

    def _put(self, holder: Directory, name: str, node: File | Directory) -> None:
        holder.entries[name] = node
        holder.modified = self._clock()
        self._quiet = False

    def _drop(self, holder: Directory, name: str, node: File | Directory) -> None:
        del holder.entries[name]
        holder.modified = self._clock()
        self._quiet = False
        if isinstance(node, File):
            self.release(node)
        else:
            node.parent = None
            self.count -= 1

    def _directory(self, holder: Directory, name: str, mode: int) -> Directory:
        made = holder.entries[name] = Directory(name, holder)
        self._settle(made, mode)
        self.count += 1
        return made

    def _settle(self, node: Node, mode: int) -> None:
        self._inode += 1
        node.inode = self._inode
        node.mode = mode
        node.accessed = node.modified = self._clock()
        node.fixed = False

    def _check_count(self, shown: object) -> None:
        if self.count >= self.files:
            raise failure(errno.ENOSPC, shown, more=f" (limit files={self.files:,})")

    def stamp(self, node: Node, times: tuple[int, int] | None) -> None:
        """Set when something was accessed and modified, in nanoseconds; None is now."""
        now = self._clock()
        node.accessed, node.modified = times or (now, now)

    # --- contents --------------------------------------------------------------------------------------------

    def write(self, file: File, position: int, data: bytes | memoryview) -> int:
        """Put bytes into a file; a gap before them is filled with zeros."""
        size, end = len(file.data), position + len(data)
        if isinstance(file, Nothing) or position == end:
            return end - position
        self._changeable(file)
        self._room(end - size)
        if position > size:
            file.data.extend(bytes(position - size))
        file.data[position:end] = data
        self._written(file, max(0, end - size))
        return end - position

    def resize(self, file: File, size: int) -> None:
        """Cut a file, or fill it up with zeros."""
        if isinstance(file, Nothing):
            return
        self._changeable(file)
        grown = size - len(file.data)
        self._room(grown)
        if grown > 0:
            file.data.extend(bytes(grown))
        else:
            del file.data[size:]
        self._written(file, grown)

    def release(self, file: File) -> None:
        """One name or descriptor less leads to a file."""
        file.holders -= 1
        if not file.holders:
            self.used -= len(file.data)
            self.count -= 1

    def _changeable(self, file: File) -> None:
        if file.fixed:
            raise failure(errno.EROFS)

    def _room(self, grown: int) -> None:
        if grown > self.size - self.used:
            raise failure(errno.ENOSPC, more=f" (limit workspace={self.size:,} bytes)")

    def _written(self, file: File, grown: int) -> None:
        self.used += grown
        file.modified = self._clock()
        file.turn = self._turn
        self._quiet = False

    # --- runs ------------------------------------------------------------------------------------------------

    def begin(self, inputs: Mapping[str, bytes | None], fixed: Collection[str] = ()) -> None:
        """Begin a run: put these files into the workspace, and note what there is.

        Args:
            inputs: contents by path, relative to the workspace; what is there by that name is replaced. None stands
                for nothing.
            fixed: the paths of those that stay as they are.

        Raises:
            OSError: they do not fit.
        """
        for path, data in inputs.items():
            if data is not None:
                self._bring(f"{HOME}/{path}", data, fixed=path in fixed)
        self._turn += 1
        self._before = dict(_files(self.home, "")) if self.home.entries else {}
        self._quiet = True

    def _bring(self, path: str, data: bytes, *, fixed: bool) -> None:
        names = path.split("/")
        for depth in range(2, len(names)):
            above = "/".join(names[:depth])
            if self.find(above, path).node is None:
                self.make_directory(above, 0o755, path)
        place = self.find(path, path)
        if isinstance(place.node, Directory):
            raise failure(errno.EISDIR, path)
        file = place.node or self.make_file(place, 0o644, path)
        file.fixed = False
        self.resize(file, 0)
        self.write(file, 0, data)
        file.fixed = fixed

    def changes(self) -> dict[str, bytearray | None]:
        """What has become of the workspace's files since the run began: contents by path, in order; None for gone."""
        if self._quiet:
            return {}
        now = dict(_files(self.home, ""))
        gone: dict[str, bytearray | None] = {path: None for path in self._before if path not in now}
        for path, file in now.items():
            if file.turn == self._turn or self._before.get(path) is not file:
                gone[path] = file.data
        return dict(sorted(gone.items()))

    def told(self, path: str) -> str:
        """What to say to somebody who looks for a file that is not there: which there are, and which is near."""
        names = [name for name, _ in _files(self.home, "")]
        if not names:
            return f"files here are the program's own workspace, {HOME}, which is empty"
        shown = ", ".join(names[:_LISTED]) + (f" … ({len(names):,} in all)" if len(names) > _LISTED else "")
        wanted = path.rpartition("/")[2]
        near = [name for name in names if name.rpartition("/")[2] == wanted][:1] or get_close_matches(
            path.removeprefix(f"{HOME}/"), names[:_COMPARED], n=1
        )
        meant = f"; did you mean {near[0]!r}?" if near else ""
        return f"files here are the program's own workspace, {HOME}: {shown}{meant}"


def _files(directory: Directory, prefix: str) -> Iterator[tuple[str, File]]:
    """Every file below a directory with its path from there, in the order of the paths."""
    pending: list[tuple[str, File | Directory]] = [(prefix, directory)]
    while pending:
        path, node = pending.pop()
        if isinstance(node, File):
            yield path, node
        else:
            start = f"{path}/" if path else ""
            pending += sorted(((start + name, inside) for name, inside in node.entries.items()), reverse=True)
