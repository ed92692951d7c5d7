"""The workspace itself, beside the file system of this machine."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from collections.abc import Callable
from contextlib import chdir
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wasm_runtime.guest.descriptors import Descriptors
from wasm_runtime.guest.parcel import pack, unpack
from wasm_runtime.guest.streams import Kinds, Opener, Raw
from wasm_runtime.guest.syscalls import Syscalls
from wasm_runtime.guest.workspace import Workspace


class Machine:
    """Files somewhere: functions of `os` and an `open`, with the handles that were opened."""

    def __init__(self, calls: Any, open_file: Callable[..., Any]) -> None:
        self.calls = calls
        self.open_file = open_file
        self.handles: list[Any] = []

    def do(self, name: str, *args: Any) -> Any:
        """Do one thing; what it gives, or how it fails."""
        try:
            if name == "open":
                handle = self.open_file(*args)
                self.handles.append(handle)
                return handle.tell()
            if name in HANDLED:
                if not self.handles:
                    return None
                handle = self.handles[args[0] % len(self.handles)]
                return getattr(handle, name)(*args[1:])
            return self.told(name, getattr(self.calls, name.partition("_")[0])(*args))
        except OSError as error:
            return type(error).__name__, error.errno, error.strerror, error.filename, error.filename2
        except ValueError as error:  # a closed file
            return type(error).__name__, str(error)

    def told(self, name: str, given: Any) -> Any:
        if name == "listdir":
            return sorted(given)
        if name == "stat":
            return given.st_mode & 0o170000, given.st_size if given.st_mode & 0o100000 else None
        return given

    def tree(self) -> Any:
        """All there is."""
        for handle in self.handles:
            handle.close()
        found, pending = {}, ["."]
        while pending:
            here = pending.pop()
            for name in self.calls.listdir(here):
                path = f"{here}/{name}"
                if self.calls.stat(path).st_mode & 0o40000:
                    found[path] = None
                    pending.append(path)
                else:
                    with self.open_file(path, "rb") as handle:
                        found[path] = handle.read()
        return found


HANDLED = {"read", "readline", "write", "seek", "tell", "truncate", "close"}

BEGUN = [
    ("mkdir", "a"),
    ("mkdir", "b"),
    ("mkdir", "a/b"),
    ("open", "c", "w+b", -1),
    ("write", 0, b"0123456789"),
    ("open", "a/c", "a+b", 0),
    ("write", 1, b"abc"),
]
"""What every example begins with: it takes a while to make something by chance."""

paths = st.sampled_from(["a", "b", "c", "a/b", "a/c", "b/a", "b/c", "a/b/c"]) | st.builds(
    lambda step, name, end: step + name + end,
    st.sampled_from(["", "./", "a/", "b/", "a/../", "c/./", "a//", "a/b/../"]),
    st.sampled_from(["a", "b", "c"]),
    st.sampled_from(["", "/", "/.", "/.."]),
)
numbers = st.integers(0, 3)
actions = st.one_of(
    st.tuples(
        st.just("open"),
        paths,
        st.sampled_from(["rb", "wb", "ab", "xb", "r+b", "w+b", "a+b", "x+b"]),
        st.sampled_from([-1, 0, 4]),
    ),
    st.tuples(st.just("read"), numbers, st.integers(-1, 30)),
    st.tuples(st.just("readline"), numbers),
    st.tuples(st.just("write"), numbers, st.binary(min_size=1, max_size=20)),
    st.tuples(st.just("seek"), numbers, st.integers(-5, 40), st.sampled_from([0, 0, 1, 2])),
    st.tuples(st.just("tell"), numbers),
    st.tuples(st.just("truncate"), numbers, st.none() | st.integers(0, 40)),
    st.tuples(st.just("close"), numbers),
    st.tuples(st.sampled_from(["mkdir", "rmdir", "unlink", "listdir", "stat"]), paths),
    st.tuples(st.sampled_from(["rename", "rename", "replace"]), paths, paths),
    st.tuples(st.just("truncate_path"), paths, st.integers(0, 40)),
)


def ours(size: int = 1 << 20, files: int = 100) -> tuple[Workspace, Machine]:
    workspace = Workspace(lambda: 7, size=size, files=files)
    calls = Syscalls(workspace, Descriptors(workspace, lambda _: None))

    class FileIO(Raw):
        def __init__(self, *args: Any) -> None:
            super().__init__(calls, *args)

    return workspace, Machine(calls, Opener(workspace, Kinds(FileIO)).open)


@settings(max_examples=300, deadline=None)
@given(st.lists(actions, max_size=40))
def test_it_does_what_a_file_system_does(done: list[tuple[Any, ...]]) -> None:
    workspace, mine = ours()
    home = tempfile.mkdtemp()
    try:
        with chdir(home):
            real = Machine(os, open)
            for step in [*BEGUN, *done]:
                assert mine.do(*step) == real.do(*step), step
            assert mine.tree() == real.tree()
    finally:
        shutil.rmtree(home)
    assert workspace.used == sum(len(content or b"") for content in mine.tree().values())
    assert workspace.count == len(mine.tree())


@settings(max_examples=100, deadline=None)
@given(st.lists(actions, max_size=40))
def test_the_quota_is_never_passed(done: list[tuple[Any, ...]]) -> None:
    workspace, mine = ours(size=40, files=6)
    for step in done:
        said = mine.do(*step)
        if isinstance(said, tuple) and said[1] == errno.ENOSPC:
            assert "limit" in said[2]
    assert sum(len(content or b"") for content in mine.tree().values()) == workspace.used <= 40
    assert len(mine.tree()) == workspace.count <= 6


FIXED: dict[str, tuple[Any, ...]] = {
    "written": ("open", "d/in", "r+b", 0),
    "written over": ("open", "d/in", "wb", 0),
    "appended": ("open", "d/in", "ab", 0),
    "cut": ("truncate_path", "d/in", 0),
    "removed": ("unlink", "d/in"),
    "renamed": ("rename", "d/in", "x"),
    "replaced": ("rename", "free", "d/in"),
    "moved with its directory": ("rename", "d", "e"),
    "touched": ("utime", "d/in"),
}


@pytest.mark.parametrize("case", FIXED)
def test_what_is_fixed_cannot_be_changed(case: str) -> None:
    workspace, mine = ours()
    workspace.begin({"free": b"1"})
    workspace.begin({"d/in": b"2"}, {"d/in"})
    assert mine.do(*FIXED[case])[1] == errno.EROFS
    assert mine.do("open", "d/in", "rb", 0) == 0
    assert mine.do("read", 0, -1) == b"2"
    assert workspace.changes() == {}
    workspace.begin({"d/in": b"3"})
    assert mine.do("open", "d/in", "r+b", 0) == 0


@pytest.mark.parametrize(
    "step",
    [
        ("open", "/x", "wb", 0), ("mkdir", "/x"), ("open", "/dev/x", "wb", 0), ("rmdir", "/workspace"), ("rename", "/tmp", "/x"),
        ("rename", "/workspace", "/x"), ("unlink", "/dev/null"), ("listdir", "/"), ("listdir", "/dev"), ("rename", "/tmp", "/workspace/t"),
        ("rename", "/dev/null", "n"), ("listdir", ".."),
    ],
)  # fmt: skip
def test_what_holds_the_workspace_cannot_be_changed(step: tuple[Any, ...]) -> None:
    assert ours()[1].do(*step)[1] == errno.EACCES


def test_a_directory_that_was_removed_leads_nowhere() -> None:
    _, mine = ours()
    for step in (("mkdir", "a"), ("chdir", "a"), ("rmdir", "../a")):
        assert mine.do(*step) is None
    for step in (("getcwd",), ("mkdir", "b"), ("open", "f", "wb", 0), ("stat", "..")):
        assert mine.do(*step)[1] == errno.ENOENT, step
    assert mine.do("chdir", "/workspace") is None
    assert mine.do("getcwd") == "/workspace"


def test_as_many_files_may_be_open_as_there_are_numbers() -> None:
    _, mine = ours()
    results = [mine.do("open", "f", "ab", 0) for _ in range(600)]
    assert results[-1][1] == errno.EMFILE
    for handle in mine.handles:
        handle.close()
    assert mine.do("open", "f", "ab", 0) == 0


# --- files as text -----------------------------------------------------------------------------------------------------

file_names = st.lists(
    st.text(st.characters(codec="utf-8", exclude_characters="/\0"), min_size=1, max_size=20).filter(
        lambda n: n not in {".", ".."}
    ),
    min_size=1,
    max_size=3,
).map("/".join)


@given(st.dictionaries(file_names, st.none() | st.binary(max_size=100), max_size=10))
def test_a_parcel_holds_what_was_packed(files: dict[str, bytes | None]) -> None:
    assert unpack(f"before{pack(files)}", 6, count=10, size=1000) == files


@given(st.text() | st.from_regex(r"\A\d{1,3}\0[a-c./\0\d]*\Z"), st.integers(0, 5))
def test_what_is_no_parcel_is_an_error_and_nothing_else(text: str, start: int) -> None:
    try:
        found = unpack(text, min(start, len(text)), count=10, size=1000)
    except ValueError:
        return
    assert sum(len(data or b"") for data in found.values()) <= len(text)


FORGED = {
    "no length": "a\0\x001\0x",
    "a length too long": "5\0a\x001\0",
    "a negative length": "5\0a\0-1\0x",
    "a length in other digits": "5\0a\0\u0662\0xx",
    "contents too short": "4\0a\x003\0xx",
    "contents too long": "4\0a\x001\0xx",
    "an absolute path": "5\0/e\x001\0x",
    "a path upwards": "7\0../b\x001\0x",
    "an empty path": "3\0\x001\0x",
    "no bytes": "4\0a\x001\0\u20ac",
    "a path that is no text": "4\0\u20ac\x001\0x",
    "out of order": "8\0b\x001\0a\x001\0xx",
    "half a pair": "2\0a\0",
    "huge": "999999999999\0",
    "larger than it may be": f"8\0a\x002000\0{'x' * 2000}",
    "more than there may be": f"{len(chr(0).join(f'{n:03}{chr(0)}' for n in range(50))) + 1}\0"
    + "".join(f"{n:03}\0\0" for n in range(50)),
}


@pytest.mark.parametrize("case", FORGED)
def test_forged_parcels(case: str) -> None:
    with pytest.raises(ValueError, match=r"more files|length|path|order|codec|as long as"):
        unpack(FORGED[case], 0, count=10, size=1000)
