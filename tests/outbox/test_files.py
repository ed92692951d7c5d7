"""The file of an outbox: who may read it, what it must be, and who else may use it."""

from __future__ import annotations

import errno
import fcntl
import os
import sqlite3
import stat
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from desk import Till, approved, proposal, refund_of

from codeact.actions import action
from codeact.outbox import Allow, Entry, Outbox, OutboxError
from codeact.outbox.entries import FINISH
from codeact.outbox.performing import Ended

HERE = Path(__file__).parent


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "outbox.db"


def test_only_its_owner_may_read_it(path: Path) -> None:
    before = os.umask(0)
    try:
        with Outbox(path) as outbox:
            outbox.submit([proposal()], task="t")
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [found.name for found in path.parent.iterdir()] == ["outbox.db"]


def test_what_is_in_it_is_there_the_next_time(path: Path) -> None:
    with Outbox(path) as outbox:
        found = outbox.submit([refund_of(1), refund_of({"a": {1, 2}, "b": (b"x", None)})], task="t")
    with Outbox(path) as outbox:
        assert outbox.entries() == found


def test_it_does_not_depend_on_the_folder_that_one_is_in(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(path.parent)
    with Outbox("outbox.db") as outbox, Outbox(path) as other:
        monkeypatch.chdir("/")
        (entry,) = outbox.submit([proposal()], task="t")
        assert other.get(entry.id) == entry


@pytest.mark.parametrize("name", ["a b.db", "a?mode=memory.db", "a#b%20.db", "file:x.db", "ü.db"])
def test_any_name_will_do(tmp_path: Path, name: str) -> None:
    with Outbox(tmp_path / name) as outbox:
        outbox.submit([proposal()], task="t")
    assert (tmp_path / name).stat().st_size > 0
    assert [found.name for found in tmp_path.iterdir()] == [name]


def _link(path: Path) -> None:
    path.symlink_to(path.parent / "elsewhere")


def _newer(path: Path) -> None:
    Outbox(path).close()
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE outbox_version SET version = 2")
    connection.close()


@pytest.mark.parametrize(
    ("prepare", "told"),
    [
        (lambda path: path.write_bytes(b"no database at all" * 100), "file is not a database"),
        (_link, "it is a symbolic link; name the file itself"),
        (_newer, "its outbox is of version 2, and this codeact knows version 1; use the codeact that made it"),
        (lambda path: path.mkdir(), "unable to open database file"),
        (lambda path: path.parent.rmdir(), "it cannot be made: No such file or directory"),
    ],
)
def test_what_is_no_outbox_says_so(path: Path, prepare: object, told: str) -> None:
    prepare(path)
    with pytest.raises(OutboxError, match=told) as caught:
        Outbox(path)
    assert str(path) in str(caught.value)


def test_what_is_no_path_says_so() -> None:
    with pytest.raises(TypeError, match="path=5: expected the path of a file"):
        Outbox(5)  # type: ignore[arg-type]  # what a mistake looks like


def test_a_damaged_file_says_so(path: Path) -> None:
    with Outbox(path) as outbox:
        outbox.submit([refund_of("x" * 5000)], task="t")
    raw = bytearray(path.read_bytes())
    raw[4096:] = b"\xff" * (len(raw) - 4096)
    path.write_bytes(raw)
    with pytest.raises(OutboxError, match="malformed|disk image"), Outbox(path) as outbox:
        outbox.entries()


def test_a_damaged_entry_says_which(path: Path) -> None:
    with Outbox(path) as outbox:
        (entry,) = outbox.submit([proposal()], task="t")
        with outbox._ledger.store.change():
            outbox._ledger.store.connection.execute("UPDATE outbox_entry SET arguments = '{'")
        with pytest.raises(OutboxError, match=f"entry {entry.id}: its arguments cannot be read"):
            outbox.entries()


_COLUMNS = [
    "id",
    "task",
    "run",
    "seq",
    "name",
    "arguments",
    "digest",
    "line",
    "created",
    "decided",
    "by",
    "keyed",
    "error",
]


@pytest.mark.parametrize(
    ("column", "value"),
    [*((column, "x'00ff'") for column in _COLUMNS), ("id", "'7'"), ("arguments", "'7'"), ("created", "'noon'")],
)
def test_a_row_that_is_no_entry_says_which(path: Path, column: str, value: str) -> None:
    with Outbox(path) as outbox:
        outbox.submit([proposal()], task="t")
        with outbox._ledger.store.change():
            outbox._ledger.store.connection.execute(f'UPDATE outbox_entry SET "{column}" = {value}')
        with pytest.raises(OutboxError, match=f"its {column} cannot be read"):
            outbox.entries()


@pytest.mark.parametrize("again", [False, True])
def test_a_file_that_was_moved_is_not_written_to_any_more(path: Path, again: bool) -> None:
    till = Till()
    with Outbox(path, actions=till.actions, rules=[Allow("refund")]) as outbox:
        outbox.submit([refund_of(1)], task="t")
        path.rename(path.with_name("moved.db"))
        if again:
            Outbox(path).close()
        for call in (outbox.perform, lambda: outbox.submit([refund_of(2)], task="t")):
            with pytest.raises(OutboxError, match="outbox.db: it has been moved or removed since it was opened"):
                call()
    with Outbox(path.with_name("moved.db"), actions=till.actions) as outbox:
        assert [entry.state for entry in outbox.perform()] == ["done"]
    assert till.effects == ["c1 1"]


def test_others_may_have_tables_of_their_own_in_it(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("CREATE TABLE entry (x)")
    with Outbox(path, rules=[Allow("refund")], actions=Till().actions) as outbox:
        outbox.submit([proposal()], task="t")
        assert [entry.state for entry in outbox.perform()] == ["done"]
        assert connection.execute("SELECT count(*) FROM entry").fetchone() == (0,)
    connection.close()


def test_a_transaction_is_on_the_disk_when_it_has_ended(path: Path) -> None:
    with Outbox(path) as outbox:
        assert outbox._ledger.store.connection.execute("PRAGMA synchronous").fetchone() == (3,)  # EXTRA


def test_a_database_that_cannot_be_written_to_is_an_error_and_nothing_is_begun(path: Path) -> None:
    till = Till()
    with Outbox(path, actions=till.actions, rules=[Allow("refund")]) as outbox:
        outbox.submit([refund_of(1)], task="t")
        outbox._ledger.store.connection.execute("PRAGMA query_only = ON")
        with pytest.raises(OutboxError, match="attempt to write a readonly database"):
            outbox.perform()
        outbox._ledger.store.connection.execute("PRAGMA query_only = OFF")
        assert till.effects == []
        assert [entry.state for entry in outbox.entries()] == ["approved"]


def test_an_end_that_cannot_be_put_on_the_disk_leaves_unknown(path: Path) -> None:
    @action
    def refund(charge_id: str, amount: int) -> None:
        outbox._ledger.store.connection.execute("PRAGMA query_only = ON")

    with Outbox(path, actions=[refund], rules=[Allow("refund")]) as outbox:
        outbox.submit([refund_of(1)], task="t")
        with pytest.raises(OutboxError, match="attempt to write a readonly database"):
            outbox.perform()
        outbox._ledger.store.connection.execute("PRAGMA query_only = OFF")
        (entry,) = outbox.entries()  # whoever performed it does not any more, though the process lives
        assert entry.state == "unknown"


def test_many_threads_perform_each_entry_once(path: Path) -> None:
    till = Till()
    with (
        Outbox(path, actions=till.actions, rules=[Allow("refund")]) as one,
        Outbox(path, actions=till.actions) as other,
        ThreadPoolExecutor(8) as pool,
    ):
        one.submit([refund_of(amount) for amount in range(20)], task="t")
        done = [entry for ended in pool.map(lambda n: (one, other)[n % 2].perform(), range(8)) for entry in ended]
        assert sorted(entry.arguments["amount"] for entry in done) == list(range(20))
        assert {entry.state for entry in one.entries()} == {"done"}
    assert Counter(till.effects) == Counter(f"c1 {amount}" for amount in range(20))


def test_the_count_of_a_rule_holds_for_many_threads(path: Path) -> None:
    with ThreadPoolExecutor(8) as pool, Outbox(path, rules=[Allow("refund", count=5)]) as outbox:
        list(pool.map(lambda amount: outbox.submit([refund_of(amount)], task="t"), range(24)))
        assert Counter(entry.state for entry in outbox.entries()) == {"approved": 5, "proposed": 19}


RACER = """
import sys
from pathlib import Path
from desk import refund_of
from codeact.actions import action
from codeact.outbox import Allow, Outbox

folder = Path(sys.argv[1])

@action
def refund(charge_id: str, amount: int) -> None:
    with (folder / "effects").open("a") as file:
        file.write(f"{amount}\\n")

with Outbox(folder / "outbox.db", actions=[refund], rules=[Allow("refund", count=15)]) as outbox:
    print("ready", flush=True)
    input()
    for amount in range(20):
        outbox.submit([refund_of(amount)], task="t")
        outbox.perform()
"""


def test_many_processes_perform_each_entry_once(tmp_path: Path) -> None:
    racers = [
        subprocess.Popen(
            [sys.executable, "-c", RACER, tmp_path],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(HERE)},
        )
        for _ in range(4)
    ]
    for racer in racers:
        assert racer.stdout.readline() == "ready\n"
    for racer in racers:
        racer.stdin.write("\n")
        racer.stdin.flush()
    for racer in racers:
        assert (racer.communicate(timeout=120)[1], racer.returncode) == ("", 0)
    with Outbox(tmp_path / "outbox.db") as outbox:
        found = outbox.entries()
    assert Counter(entry.state for entry in found) == {"done": 15, "proposed": 5}
    effects = (tmp_path / "effects").read_text().split()
    assert sorted(map(int, effects)) == sorted(entry.arguments["amount"] for entry in found if entry.state == "done")


def _forked(child: object) -> int:
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            child()
            status = 0
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_child_opens_an_outbox_of_its_own(path: Path) -> None:
    with Outbox(path) as outbox:
        (entry,) = outbox.submit([proposal()], task="t")

        def child() -> None:
            with pytest.raises(OutboxError, match="before a fork; open it anew"):
                outbox.entries()
            outbox.close()
            with Outbox(path) as own:
                approved(own, entry)

        assert _forked(child) == 0
        assert outbox.get(entry.id).state == "approved"


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_performer_that_died_is_dead_also_where_its_child_lives_on(path: Path) -> None:
    release, hold = os.pipe()
    hear, tell = os.pipe()

    @action
    def refund(charge_id: str, amount: int) -> None:
        if os.fork() == 0:
            os.close(hold)
            os.write(tell, b"x")
            os.read(release, 1)  # until the test has seen what it wants to see
            os._exit(0)
        os.read(hear, 1)
        os._exit(0)

    with Outbox(path, actions=[refund], rules=[Allow("refund")]) as outbox:
        (entry,) = outbox.submit([refund_of(1)], task="t")

        def performer() -> None:
            with Outbox(path, actions=[refund]) as own:
                own.perform()

        try:
            assert _forked(performer) == 0
            assert outbox.get(entry.id).state == "unknown"
        finally:
            for descriptor in (hold, release, hear, tell):
                os.close(descriptor)


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_performer_that_is_slow_is_not_taken_for_dead(path: Path) -> None:
    with Outbox(path, rules=[Allow("refund")]) as outbox:
        (entry,) = outbox.submit([refund_of(1)], task="t")
        begun, end = os.pipe(), os.pipe()

        @action
        def refund(charge_id: str, amount: int) -> str:
            if os.fork() == 0:  # a child that ends takes nothing from its parent
                os._exit(0)
            os.wait()
            os.write(begun[1], b"x")
            os.read(end[0], 1)
            return "slow"

        pid = os.fork()
        if pid == 0:
            try:
                with Outbox(path, actions=[refund]) as own:
                    own.perform()
            finally:
                os._exit(0)
        try:
            os.read(begun[0], 1)
            with Outbox(path, actions=[refund]) as other:
                assert [one.get(entry.id).state for one in (outbox, other)] == ["started", "started"]
                assert other.perform() == []
        finally:
            os.write(end[1], b"x")
            assert os.waitpid(pid, 0)[1] == 0
        assert (outbox.get(entry.id).state, outbox.get(entry.id).value) == ("done", "slow")
        for descriptor in (*begun, *end):
            os.close(descriptor)


def test_a_performer_whose_lock_was_out_of_sight_knows_better(path: Path) -> None:
    @action
    def refund(charge_id: str, amount: int) -> str:
        (lock,) = path.parent.glob("*-performer-*")
        lock.unlink()
        assert outbox.get(entry.id).state == "unknown"
        return "done all the same"

    with Outbox(path, actions=[refund], rules=[Allow("refund")]) as outbox:
        (entry,) = outbox.submit([refund_of(1)], task="t")
        assert [one.value for one in outbox.perform()] == ["done all the same"]
        assert outbox.get(entry.id).state == "done"


def test_what_was_settled_meanwhile_stays_as_it_was_settled(path: Path) -> None:
    @action
    def refund(charge_id: str, amount: int) -> None:
        (lock,) = path.parent.glob("*-performer-*")
        lock.unlink()
        outbox.settle(entry.id, "failed", by="ada")

    with Outbox(path, actions=[refund], rules=[Allow("refund")]) as outbox:
        (entry,) = outbox.submit([refund_of(1)], task="t")
        (ended,) = outbox.perform()
        assert (ended.state, ended.by) == ("failed", "ada")


def test_whoever_was_taken_for_dead_does_not_end_what_another_has_begun_again(path: Path) -> None:
    first: list[Entry] = []

    @action
    def refund(charge_id: str, amount: int, idempotency_key: str) -> str:
        if first:
            late = outbox._ledger.end(first[0], Ended(FINISH, "of the first"))
            assert (late.state, late.value) == ("started", None)
            return "of the second"
        first.append(outbox.get(entry.id))
        (lock,) = path.parent.glob("*-performer-*")
        lock.unlink()
        outbox.settle(entry.id, "again", by="ada")
        assert [one.value for one in outbox.perform()] == ["of the second"]
        return "of the first"

    with Outbox(path, actions=[refund], rules=[Allow("refund")]) as outbox:
        (entry,) = outbox.submit([refund_of(1)], task="t")
        assert [one.value for one in outbox.perform()] == ["of the second"]


def test_what_a_dead_performer_has_left_is_swept_away_and_what_a_living_one_holds_is_not(path: Path) -> None:
    left = path.with_name(f"{path.name}-performer-0123456789abcdef")
    left.touch()
    seen: list[list[str]] = []

    @action
    def refund(charge_id: str, amount: int) -> None:
        with Outbox(path) as other:
            other.entries()
        seen.append([found.name for found in path.parent.glob("*-performer-*")])

    with Outbox(path, actions=[refund], rules=[Allow("refund")]) as outbox:
        assert not left.exists()
        outbox.submit([refund_of(1)], task="t")
        outbox.perform()
    assert len(seen[0]) == 1
    assert [found.name for found in path.parent.iterdir()] == ["outbox.db"]


def test_a_lock_that_somebody_has_swept_away_is_made_anew(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    flock = fcntl.flock
    looks: list[str] = []

    def swept(file: int, operation: int) -> None:
        if operation & fcntl.LOCK_EX and len(looks) < 2:
            looks.append("early")
            for lock in path.parent.glob("*-performer-*"):
                lock.unlink()
            if len(looks) == 1:
                raise BlockingIOError  # whoever sweeps still holds it
        flock(file, operation)

    till = Till()
    with Outbox(path, actions=till.actions, rules=[Allow("refund")]) as outbox:
        outbox.submit([refund_of(1)], task="t")
        monkeypatch.setattr(fcntl, "flock", swept)
        assert [entry.state for entry in outbox.perform()] == ["done"]
    assert len(looks) == 2
    assert [found.name for found in path.parent.iterdir()] == ["outbox.db"]


def test_where_there_are_no_locks_nothing_is_performed(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def none(file: int, operation: int) -> None:
        raise OSError(errno.ENOLCK, "no locks available")

    till = Till()
    with Outbox(path, actions=till.actions, rules=[Allow("refund")]) as outbox:
        outbox.submit([refund_of(1)], task="t")
        monkeypatch.setattr(fcntl, "flock", none)
        with pytest.raises(OSError, match="no locks available"):
            outbox.perform()
        assert till.effects == []
        assert [entry.state for entry in outbox.entries()] == ["approved"]
    assert [found.name for found in path.parent.iterdir()] == ["outbox.db"]
