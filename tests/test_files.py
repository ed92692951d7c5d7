"""Files that go in, that a program works with, and that come out, on every engine."""

from __future__ import annotations

import asyncio
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from codeact import File, Limits, Sandbox, run
from codeact.files import save

Make = Any


def told(result: Any) -> list[tuple[str, str, bytes | None]]:
    assert result.ok, result.observation()
    return [(file.path, file.state, file.data) for file in result.files]


# --- in and out ---------------------------------------------------------------------------------------------------


def test_a_program_reads_what_it_is_given_and_its_files_come_back(sandbox: Sandbox) -> None:
    program = (
        "with open('in.csv') as rows:\n    total = sum(int(row.split(',')[1]) for row in rows)\n"
        "with open('out/total.txt', 'w') as out:\n    out.write(str(total))\ntotal"
    )
    result = sandbox.run(program, files={"in.csv": b"a,1\nb,2\n", "out/old.txt": "héllo"})
    assert result.value == 3
    assert told(result) == [("out/total.txt", "new", b"3")]
    assert result.files[0].digest == hashlib.sha256(b"3").hexdigest()
    assert result.files[0].size == 1
    assert "files: out/total.txt (new, 1 bytes)" in result.observation()


def test_bytes_of_any_kind_cross_unchanged(sandbox: Sandbox) -> None:
    data = bytes(range(256)) * 3
    program = (
        "data = open('a.bin', 'rb').read()\nwith open('b.bin', 'wb') as out:\n    out.write(data[::-1])\nlen(data)"
    )
    for content in (data, bytearray(data), memoryview(data)):
        result = sandbox.run(program, files={"a.bin": content})
        assert told(result) == [("b.bin", "new", data[::-1])]


def test_text_becomes_utf8(sandbox: Sandbox) -> None:
    assert sandbox.run("open('a', 'rb').read()", files={"a": "né\r\n"}).value == "né\r\n".encode()


def test_only_what_was_touched_comes_back(sandbox: Sandbox) -> None:
    program = (
        "open('changed', 'a').write('!')\n"
        "open('same', 'w').write('s')\n"
        "open('read').read()\n"
        "open('/tmp/temporary', 'w').write('t')\n"
        "open('b/new', 'w')\nopen('a', 'wb').write(b'')"
    )
    given = {"changed": "c", "same": "s", "read": "r", "b/x": "", "untouched": "u"}
    result = sandbox.run(program, files=given)
    assert told(result) == [("a", "new", b""), ("b/new", "new", b""), ("changed", "changed", b"c!")]


def test_a_file_left_open_is_written_out(sandbox: Sandbox) -> None:
    result = sandbox.run("out = open('late.txt', 'w')\nout.write('late')\nNone")
    assert told(result) == [("late.txt", "new", b"late")]


def test_a_program_that_fails_leaves_its_files(sandbox: Sandbox) -> None:
    result = sandbox.run("open('a', 'w').write('1')\n1 / 0")
    assert result.error is not None
    assert [file.path for file in result.files] == ["a"]


def test_a_program_that_cannot_be_read_has_no_files(sandbox: Sandbox) -> None:
    assert sandbox.run("x = = 1", files={"a": "1"}).files == ()


def test_every_run_begins_with_what_it_is_given(sandbox: Sandbox) -> None:
    sandbox.run("open('left', 'w').write('1')")
    result = sandbox.run("open('left')")
    assert result.error is not None
    assert result.error.type == "FileNotFoundError"


def test_files_as_json(sandbox: Sandbox) -> None:
    result = sandbox.run("open('a', 'w').write('1')\nNone")
    digest = hashlib.sha256(b"1").hexdigest()
    found = json.loads(json.dumps(result.to_dict()))["files"]
    assert found == [{"path": "a", "state": "new", "size": 1, "digest": digest}]


async def _async_run(sandbox: Sandbox) -> object:
    return (await sandbox.run_async("open('a').read()", files={"a": "1"})).value


def test_the_async_twin_and_the_short_form(sandbox: Sandbox) -> None:
    assert asyncio.run(_async_run(sandbox)) == "1"
    assert run("open('a').read()", files={"a": "1"}, engine=sandbox.engine).value == "1"


# --- sessions -----------------------------------------------------------------------------------------------------


def test_a_session_keeps_its_files(sandbox: Sandbox) -> None:
    with sandbox.session() as session:
        assert told(session.run("open('a', 'w').write('1')\nNone", files={"in": "0"})) == [("a", "new", b"1")]
        assert told(session.run("open('a').read() + open('in').read()")) == []
        assert told(session.run("open('a', 'w').write('1')\nNone")) == []
        assert told(session.run("open('a', 'a').write('2')\nopen('in', 'w').write('9')\nNone")) == [
            ("a", "changed", b"12"),
            ("in", "changed", b"9"),
        ]
        assert session.run("x = = 1").files == ()
        assert told(session.run("open('in').read()", files={"in": "new"})) == []
        assert session.run("open('in').read()").value == "new"
        session.restore()
        assert session.run("open('in').read() + open('a').read()").value == "new12"


def test_a_handle_outlives_its_run(sandbox: Sandbox) -> None:
    with sandbox.session() as session:
        assert told(session.run("out = open('a', 'w')\nout.write('1')\nNone")) == [("a", "new", b"1")]
        assert told(session.run("out.write('2')\nout.close()")) == [("a", "changed", b"12")]


# --- what may go in -------------------------------------------------------------------------------------------------

MISUSES: dict[str, tuple[Any, type[Exception], str]] = {
    "no mapping": (["a"], TypeError, "expected a mapping"),
    "a path that is none": ({1: b""}, TypeError, "expected paths as str"),
    "a content that is none": ({"a": 1}, TypeError, r"files\['a'\]: expected bytes or str, got int"),
    "a host's file": ({"a": Path("/etc/passwd")}, TypeError, "expected bytes or str"),
    "nothing": ({"": b""}, ValueError, "empty"),
    "absolute": ({"/etc/passwd": b""}, ValueError, "absolute"),
    "upwards": ({"a/../../b": b""}, ValueError, "upwards"),
    "up": ({"..": b""}, ValueError, "upwards"),
    "here": ({".": b""}, ValueError, "empty part"),
    "a directory": ({"a/": b""}, ValueError, "empty part"),
    "a slash too many": ({"a//b": b""}, ValueError, "empty part"),
    "NUL": ({"a\0b": b""}, ValueError, "NUL"),
    "lone surrogates": ({"\ud800": b""}, ValueError, "surrogates"),
    "text of lone surrogates": ({"a": "\ud800"}, ValueError, "surrogates"),
    "a long name": ({"x" * 256: b""}, ValueError, "too long"),
    "a long path": ({"x/" * 2048 + "y": b""}, ValueError, "too long"),
    "a file and a directory": ({"a": b"", "a/b": b""}, ValueError, "a file and a directory"),
    "too large": ({"a": bytes(6000), "b": bytes(6000)}, ValueError, "12,000 bytes are more than the limit workspace"),
    "too many": ({f"d/{n}": b"" for n in range(20)}, ValueError, "21 files and directories are more than the limit"),
}


@pytest.mark.parametrize("case", MISUSES)
def test_a_misuse_raises_at_once(case: str) -> None:
    files, kind, words = MISUSES[case]
    with pytest.raises(kind, match=words):
        Sandbox(engine="restricted", limits=Limits(workspace=10_000, files=20)).run("1", files=files)


def test_what_does_not_fit_into_a_session_is_its_result(make: Make) -> None:
    with make(workspace=100).session() as session:
        session.run("open('a', 'w').write('x' * 90)")
        result = session.run("1", files={"b": bytes(20)})
        assert result.error is not None
        assert "limit workspace=100 bytes" in result.error.message
        assert session.run("open('a').read()").value == "x" * 90


# --- the quota --------------------------------------------------------------------------------------------------------

FULL: dict[str, str] = {
    "written": "with open('a', 'wb') as out:\n    out.write(bytes(10_001))",
    "written in parts": "with open('a', 'wb') as out:\n    for _ in range(1000):\n        out.write(bytes(100))",
    "left in a buffer": "out = open('a', 'w')\nout.write('x' * 10_001)\nNone",
    "filled up": "open('a', 'wb').truncate(10_001)",
    "a gap": "out = open('a', 'wb')\nout.seek(10_000)\nout.write(b'xx')\nout.close()",
    "a huge gap": "out = open('a', 'wb')\nout.seek(10 ** 15)\nout.write(b'xx')\nout.close()",
    "temporary": "open('/tmp/a', 'wb').write(bytes(9000))\nwith open('b', 'wb') as out:\n    out.write(bytes(2000))",
}


@pytest.mark.parametrize("case", FULL)
def test_the_quota_holds(make: Make, case: str) -> None:
    result = make(workspace=10_000).run(FULL[case])
    assert result.error is not None, result.observation()
    assert result.error.type == "OSError"
    assert "No space left on device (limit workspace=10,000 bytes)" in result.error.message
    assert sum(file.size for file in result.files) <= 10_000


def test_what_is_removed_makes_room(make: Make) -> None:
    program = "for _ in range(50):\n    with open('a', 'wb') as out:\n        out.write(bytes(9000))\nNone"
    assert make(workspace=10_000).run(program).ok


def test_the_number_of_files_is_bounded(make: Make) -> None:
    result = make(files=20).run("for number in range(30):\n    open(str(number), 'w').close()")
    assert result.error is not None
    assert "(limit files=20)" in result.error.message
    assert len(result.files) == 20


def test_a_program_can_catch_the_end_of_the_room(make: Make) -> None:
    program = (
        "import errno\ntry:\n    with open('a', 'wb') as out:\n        out.write(bytes(20_000))\n"
        "except OSError as error:\n    code = error.errno\ncode == errno.ENOSPC"
    )
    if make().engine == "wasm":
        assert make(workspace=10_000).run(program).value is True


# --- errors -----------------------------------------------------------------------------------------------------------


def test_a_missing_file_is_an_error_that_says_what_there_is(sandbox: Sandbox) -> None:
    result = sandbox.run("open('sale.csv')", files={"sales.csv": "", "data/x.json": ""})
    assert result.error is not None
    assert result.error.type == "FileNotFoundError"
    assert result.error.message == (
        "[Errno 2] No such file or directory: 'sale.csv'\n"
        "files here are the program's own workspace, /workspace: data/x.json, sales.csv; did you mean 'sales.csv'?"
    )


@pytest.mark.parametrize("path", ["/etc/passwd", "../../../../etc/passwd", "/proc/self/mem", "/proc/self/environ"])
def test_there_is_no_other_file(sandbox: Sandbox, path: str) -> None:
    result = sandbox.run(f"open({path!r})")
    assert result.error is not None
    assert result.error.type == "FileNotFoundError"
    assert "the program's own workspace, /workspace, which is empty" in result.error.message


def test_a_file_elsewhere_is_found_by_its_name(sandbox: Sandbox) -> None:
    result = sandbox.run("open('/mnt/data/in.csv')", files={"deep/er/in.csv": ""})
    assert result.error is not None
    assert "did you mean 'deep/er/in.csv'?" in result.error.message


HOSTILE = {
    "NUL": ("'a\\0b'", "ValueError"),
    "a long name": ("'x' * 256", "OSError"),
    "a long path": ("'x/' * 5000", "OSError"),
    "a very long path": ("'x' * 10_000_000", "OSError"),
    "lone surrogates": ("'\\ud800'", "UnicodeEncodeError"),
    "nothing": ("''", "FileNotFoundError"),
    "a number": ("99", "OSError"),
    "a negative number": ("-1", "ValueError"),
    "a fraction": ("1.5", "TypeError"),
    "a directory": ("'.'", "IsADirectoryError"),
    "outside": ("'/x'", "PermissionError"),
    "a device": ("'/dev/x'", "PermissionError"),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_paths(sandbox: Sandbox, case: str) -> None:
    path, kind = HOSTILE[case]
    result = sandbox.run(f"open({path}, 'w')")
    assert result.error is not None
    assert result.error.type == kind
    assert len(result.observation()) < 5000


# --- saving -----------------------------------------------------------------------------------------------------------


def file(path: str, data: bytes | None = b"x") -> File:
    return File(path, "deleted" if data is None else "new", data, None)


def test_files_are_saved_below_a_directory(sandbox: Sandbox, tmp_path: Path) -> None:
    result = sandbox.run("open('a', 'w').write('1')\nopen('d/b', 'w').write('2')\nNone", files={"d/in": ""})
    assert result.save(tmp_path / "out") == (tmp_path / "out/a", tmp_path / "out/d/b")
    assert (tmp_path / "out/d/b").read_bytes() == b"2"
    assert not (tmp_path / "out/d/in").exists()


def test_saving_replaces_files_and_leaves_those_deleted(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("old")
    (tmp_path / "b").write_text("old")
    save([file("a"), file("b", None)], tmp_path)
    assert (tmp_path / "a").read_text() == "x"
    assert (tmp_path / "b").read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b"]


def test_saving_follows_no_link(tmp_path: Path) -> None:
    inside, outside = tmp_path / "in", tmp_path / "out"
    inside.mkdir()
    outside.mkdir()
    (outside / "kept").write_text("kept")
    (inside / "d").symlink_to(outside)
    (inside / "f").symlink_to(outside / "kept")
    with pytest.raises(OSError, match="in/d/kept"):
        save([file("d/kept")], inside)
    save([file("f")], inside)
    assert (outside / "kept").read_text() == "kept"
    assert not (inside / "f").is_symlink()


@pytest.mark.parametrize("path", ["../a", "/a", "a/../../b", "", "a\0b", "a//b"])
def test_saving_leads_nowhere_else(tmp_path: Path, path: str) -> None:
    with pytest.raises(ValueError, match="leads out of the directory"):
        save([file(path)], tmp_path)
