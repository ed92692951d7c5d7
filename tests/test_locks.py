"""A name is held by one at a time, and by nobody who has died."""

from __future__ import annotations

import errno
import fcntl
import os
import signal
import threading
from pathlib import Path

import pytest

from codeact.locks import FileLocks, Locks, Taken, ThreadLocks


@pytest.fixture(params=["threads", "files"])
def locks(request: pytest.FixtureRequest, tmp_path: Path) -> Locks:
    return ThreadLocks() if request.param == "threads" else FileLocks(tmp_path / "db", "task")


def test_one_holds_a_name(locks: Locks) -> None:
    with locks.hold("a"), locks.hold("b"):
        assert locks.is_held("a")
        with pytest.raises(Taken), locks.hold("a"):
            pass
        assert locks.is_held("a")
    assert not locks.is_held("a")
    with locks.hold("a"):
        assert locks.is_held("a")


def test_of_many_at_once_one_holds_it(locks: Locks) -> None:
    inside, most, held = 0, 0, 0
    guard = threading.Lock()

    def work() -> None:
        nonlocal inside, most, held
        for _ in range(200):
            try:
                with locks.hold("a"):
                    with guard:
                        inside += 1
                        held += 1
                        most = max(most, inside)
                    with guard:
                        inside -= 1
            except Taken:
                pass

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == 1
    assert held


def test_who_is_killed_holds_nothing(tmp_path: Path) -> None:
    locks = FileLocks(tmp_path / "db", "task")
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            with locks.hold("a"):
                os.write(writing, b"x")
                signal.pause()
        finally:
            os._exit(1)
    os.read(reading, 1)
    with pytest.raises(Taken), locks.hold("a"):
        pass
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    os.close(reading)
    os.close(writing)
    assert [path.name for path in tmp_path.iterdir()] == ["db-task-a"]
    with locks.hold("a"):
        assert locks.is_held("a")
    assert list(tmp_path.iterdir()) == []


def test_a_child_does_not_hold_what_its_parent_holds(tmp_path: Path) -> None:
    locks = FileLocks(tmp_path / "db", "task")
    reading, writing = os.pipe()
    with locks.hold("a"):
        child = os.fork()
        if child == 0:
            os.close(writing)
            os.read(reading, 1)
            os._exit(0)
    with locks.hold("a"):
        pass
    os.close(writing)
    os.waitpid(child, 0)
    os.close(reading)


def test_another_holders_file_is_left_alone(tmp_path: Path) -> None:
    locks = FileLocks(tmp_path / "db", "task")
    first = locks.hold("a")
    first.__enter__()
    (tmp_path / "db-task-a").unlink()
    with locks.hold("a"):
        first.__exit__(None, None, None)
        assert locks.is_held("a")


def test_where_there_are_no_locks_that_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def none(file: int, operation: int) -> None:
        raise OSError(errno.ENOLCK, "no locks available")

    monkeypatch.setattr(fcntl, "flock", none)
    with pytest.raises(OSError, match="no locks available"), FileLocks(tmp_path / "db", "task").hold("a"):
        pass
    assert list(tmp_path.iterdir()) == []
